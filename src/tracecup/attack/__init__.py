"""Attacks: from a case to an ID table (re-identification) or to inferred traces.

Importing this room makes its methods known by name.
"""

from tracecup.attack.aggregates import AggMia, aggregate_membership
from tracecup.attack.base import InferenceAttack, ReidAttack
from tracecup.attack.case import Case
from tracecup.attack.infer import (
    BayesT,
    FuzzyT,
    HomeProbT,
    LpmT,
    PriorT,
    RandomT,
    ReplayT,
    TfT,
    VisitProbT,
)
from tracecup.attack.learned import LearnedR, LearnedT
from tracecup.attack.match import (
    argmax_table,
    assignment_table,
    greedy_table,
    log_sinkhorn,
    match_table,
    soft_links,
)
from tracecup.attack.measures import Measure, Measured, UnicityMeasure
from tracecup.attack.models import (
    BayesR,
    FuzzyR,
    HomeProbR,
    LpmR,
    Markov0R,
    MarkovR,
    MmcR,
    RandomR,
    TfR,
    VisitProbR,
)
from tracecup.attack.naming import parse_inference, parse_reid
from tracecup.attack.portfolio import sample_attacks, strong_attacks, winner_attacks
from tracecup.attack.scores import MatrixScores, Scores
from tracecup.rooms import also_a_verb

__all__ = [
    "AggMia",
    "BayesR",
    "BayesT",
    "Case",
    "FuzzyR",
    "FuzzyT",
    "HomeProbR",
    "HomeProbT",
    "InferenceAttack",
    "LearnedR",
    "LearnedT",
    "LpmR",
    "LpmT",
    "Markov0R",
    "MarkovR",
    "MatrixScores",
    "Measure",
    "Measured",
    "MmcR",
    "PriorT",
    "RandomR",
    "RandomT",
    "ReidAttack",
    "ReplayT",
    "Scores",
    "TfR",
    "TfT",
    "UnicityMeasure",
    "VisitProbR",
    "VisitProbT",
    "aggregate_membership",
    "argmax_table",
    "assignment_table",
    "greedy_table",
    "log_sinkhorn",
    "match_table",
    "parse_inference",
    "parse_reid",
    "sample_attacks",
    "soft_links",
    "strong_attacks",
    "winner_attacks",
]

also_a_verb(__name__)
