"""The rules of a contest as data: what `contest.toml` says, with the paper's values as defaults.

A key is declared once, in `model` or `rounds`; reading, checking, writing and the documentation
follow from it.
"""

from tracecup.contest.rules.model import (
    PRESETS,
    AwardRules,
    ChallengeRules,
    CityRules,
    ClockRules,
    FeedbackRules,
    LessonRules,
    LimitRules,
    Rules,
    SampleRules,
    ScoreRules,
)
from tracecup.contest.rules.rounds import (
    PHASES,
    ROUND_WEIGHTS,
    Conflict,
    PhaseName,
    Phases,
    RoundRules,
)

__all__ = [
    "PHASES",
    "PRESETS",
    "ROUND_WEIGHTS",
    "AwardRules",
    "ChallengeRules",
    "CityRules",
    "ClockRules",
    "Conflict",
    "FeedbackRules",
    "LessonRules",
    "LimitRules",
    "PhaseName",
    "Phases",
    "RoundRules",
    "Rules",
    "SampleRules",
    "ScoreRules",
]
