"""Score models of re-identification: how likely each user is behind each pseudonym.

All are sums over bags of distinct cells, or fall back to going cell by cell.
"""

from tracecup.attack.models.baseline import RandomR
from tracecup.attack.models.fuzzy import FuzzyR
from tracecup.attack.models.likelihood import visit_scores
from tracecup.attack.models.visitprob import HomeProbR, VisitProbR

__all__ = ["FuzzyR", "HomeProbR", "RandomR", "VisitProbR", "visit_scores"]
