"""Room 5, original traces -> obfuscated traces: the paper's mechanisms and the 2019 entries.

Importing this package registers all of them under their names.
"""

from tracecup.obfuscate.base import Knob, Obfuscator
from tracecup.obfuscate.cheat import Cheat
from tracecup.obfuscate.compose import Compose, parse_obfuscator
from tracecup.obfuscate.kmeans_confusion import KMeans, KMeansReport
from tracecup.obfuscate.mrlh import MRLH
from tracecup.obfuscate.none import NoObfuscation
from tracecup.obfuscate.planar_laplace import PlanarLaplace, planar_laplace_noise
from tracecup.obfuscate.rare_shift import RareShift
from tracecup.obfuscate.rr import RR
from tracecup.obfuscate.tune import to_utility

__all__ = [
    "MRLH",
    "RR",
    "Cheat",
    "Compose",
    "KMeans",
    "KMeansReport",
    "Knob",
    "NoObfuscation",
    "Obfuscator",
    "PlanarLaplace",
    "RareShift",
    "parse_obfuscator",
    "planar_laplace_noise",
    "to_utility",
]
