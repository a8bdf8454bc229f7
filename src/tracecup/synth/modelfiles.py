"""Model files of any kind: the one that a file holds.

PPMTF and PPMTF+ save their factors, SGLT its classes and seeds.
"""

from __future__ import annotations

from os import PathLike

from tracecup.arrayfiles import format_of
from tracecup.synth.ppmtf import PpmtfModel
from tracecup.synth.sglt import FILE, SgltModel


def load_model(path: str | PathLike[str]) -> PpmtfModel | SgltModel:
    """The model in a file that `save` wrote; anything else is an `InvalidFile`."""
    return SgltModel.load(path) if format_of(path) == FILE.name else PpmtfModel.load(path)
