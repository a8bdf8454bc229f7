"""Original traces -> obfuscated traces: the paper's mechanisms, the 2019 entries, others.

Importing this package registers all of them under their names.
"""

from tracecup.obfuscate.base import Knob, Obfuscator
from tracecup.obfuscate.cheat import Cheat
from tracecup.obfuscate.cloak import Cloak
from tracecup.obfuscate.compose import Compose, parse_obfuscator
from tracecup.obfuscate.equalise import Equalise
from tracecup.obfuscate.geo_opt import GeoOpt
from tracecup.obfuscate.kmeans_confusion import KMeans, KMeansReport
from tracecup.obfuscate.mdav import MDAV
from tracecup.obfuscate.mix_zone import MixZone
from tracecup.obfuscate.mrlh import MRLH
from tracecup.obfuscate.none import NoObfuscation
from tracecup.obfuscate.optimal import Optimal, OptimalUser
from tracecup.obfuscate.planar_laplace import PlanarLaplace, planar_laplace_noise
from tracecup.obfuscate.rare_shift import RareShift
from tracecup.obfuscate.remapped_laplace import RemappedLaplace
from tracecup.obfuscate.rr import RR
from tracecup.obfuscate.sglt_defence import SgltDefence
from tracecup.obfuscate.swap import Swap
from tracecup.obfuscate.tune import to_utility

__all__ = [
    "MDAV",
    "MRLH",
    "RR",
    "Cheat",
    "Cloak",
    "Compose",
    "Equalise",
    "GeoOpt",
    "KMeans",
    "KMeansReport",
    "Knob",
    "MixZone",
    "NoObfuscation",
    "Obfuscator",
    "Optimal",
    "OptimalUser",
    "PlanarLaplace",
    "RareShift",
    "RemappedLaplace",
    "SgltDefence",
    "Swap",
    "parse_obfuscator",
    "planar_laplace_noise",
    "to_utility",
]
