"""Trace inference: where every user was, from a case.

By linking and copying, by habits, or by both.
"""

from tracecup.attack.infer.baseline import RandomT, ReplayT
from tracecup.attack.infer.bayes import BayesT
from tracecup.attack.infer.fuzzy import FuzzyT
from tracecup.attack.infer.linked import HomeProbT, VisitProbT
from tracecup.attack.infer.lpm import LpmT, TfT
from tracecup.attack.infer.prior import PriorT

__all__ = [
    "BayesT",
    "FuzzyT",
    "HomeProbT",
    "LpmT",
    "PriorT",
    "RandomT",
    "ReplayT",
    "TfT",
    "VisitProbT",
]
