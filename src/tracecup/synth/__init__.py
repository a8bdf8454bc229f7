"""Synthesizers: from training traces to traces of people who do not exist.

PPMTF and PPMTF+ with homes, SGD, SGLT, Private, PD, Markov, Uniform, and the data of a contest.
"""

from tracecup.synth.base import Model, Synthesizer
from tracecup.synth.deniability import DeniabilityTest, seed_likelihoods
from tracecup.synth.deniable import PD, DeniableModel
from tracecup.synth.markov import Markov
from tracecup.synth.modelfiles import load_model
from tracecup.synth.ppmtf import PPMTF, PpmtfModel, PPMTFPlus
from tracecup.synth.private import Private, PrivateModel
from tracecup.synth.sgd import SGD
from tracecup.synth.sglt import SGLT, SgltModel
from tracecup.synth.teamdata import (
    CONTEST_SYNTHESIZER,
    ContestShape,
    TeamData,
    contest_data,
    team_data,
)
from tracecup.synth.tensors import Tensors, make_tensors
from tracecup.synth.training import Training
from tracecup.synth.uniform import Uniform

__all__ = [
    "CONTEST_SYNTHESIZER",
    "PD",
    "PPMTF",
    "SGD",
    "SGLT",
    "ContestShape",
    "DeniabilityTest",
    "DeniableModel",
    "Markov",
    "Model",
    "PPMTFPlus",
    "PpmtfModel",
    "Private",
    "PrivateModel",
    "SgltModel",
    "Synthesizer",
    "TeamData",
    "Tensors",
    "Training",
    "Uniform",
    "contest_data",
    "load_model",
    "make_tensors",
    "seed_likelihoods",
    "team_data",
]
