"""The contest's numbers: utility, re-identification, trace inference, expected error.

Each comes with a per-user breakdown and a confidence interval over users.
"""

from tracecup.rooms import also_a_verb
from tracecup.score.bounds import (
    Bounds,
    group_bound,
    guessing_bound,
    hospital_share,
    true_link_bound,
)
from tracecup.score.inference import (
    HOSPITAL_WEIGHT,
    expected_error_score,
    inference_score,
)
from tracecup.score.intervals import Interval, mean_interval, ratio_interval, wilson_interval
from tracecup.score.reid import reid_score
from tracecup.score.result import Score
from tracecup.score.utility import FLOOR, REACH_KM, UtilityScore, is_valid, utility_score

__all__ = [
    "FLOOR",
    "HOSPITAL_WEIGHT",
    "REACH_KM",
    "Bounds",
    "Interval",
    "Score",
    "UtilityScore",
    "expected_error_score",
    "group_bound",
    "guessing_bound",
    "hospital_share",
    "inference_score",
    "is_valid",
    "mean_interval",
    "ratio_interval",
    "reid_score",
    "true_link_bound",
    "utility_score",
    "wilson_interval",
]

also_a_verb(__name__)
