"""The report of a round as one page, from what of its archive may be public.

A program of its own (`python -m tracecup.server.judging.compute.report FOLDER OUT`): drawing
reserves more address space than the children of the job queue may have. Team names come in on
stdin, as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from tracecup.facts import facts_of_archive
from tracecup.report import write_report


def write(folder: Path, out: Path, names: Mapping[str, str]) -> None:
    """Write the report of the archive in `folder`; `names` are the teams' names by number."""
    write_report(facts_of_archive(folder, names), out)


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]), json.load(sys.stdin))
