"""Score models of re-identification: how likely each user is behind each pseudonym.

From visits, from moves, or from both; every distinct cell or move is evaluated once.
"""

from tracecup.attack.models.baseline import RandomR
from tracecup.attack.models.bayes import BayesR
from tracecup.attack.models.fuzzy import FuzzyR
from tracecup.attack.models.likelihood import visit_scores
from tracecup.attack.models.lpm import LpmR
from tracecup.attack.models.markov import Markov0R, MarkovR
from tracecup.attack.models.mmc import MmcR
from tracecup.attack.models.tf import TfR
from tracecup.attack.models.visitprob import HomeProbR, VisitProbR

__all__ = [
    "BayesR",
    "FuzzyR",
    "HomeProbR",
    "LpmR",
    "Markov0R",
    "MarkovR",
    "MmcR",
    "RandomR",
    "TfR",
    "VisitProbR",
    "visit_scores",
]
