"""Room 4, synthesizers: from training traces to traces of people who do not exist.

PPMTF and PPMTF+ with homes, SGD, Markov, Uniform, and the data of a contest.
"""

from tracecup.synth.base import Model, Synthesizer
from tracecup.synth.ppmtf import PPMTF, PpmtfModel, PPMTFPlus
from tracecup.synth.tensors import Tensors, make_tensors
from tracecup.synth.training import Day, Training

__all__ = [
    "PPMTF",
    "Day",
    "Model",
    "PPMTFPlus",
    "PpmtfModel",
    "Synthesizer",
    "Tensors",
    "Training",
    "make_tensors",
]
