"""Figures 6 and 7: the worked example with all its scores, and the two functions behind them.

Small enough to follow with pencil and paper.
"""

from __future__ import annotations

import numpy as np

from tracecup.city import City, Grid
from tracecup.contest.example import worked_example
from tracecup.score import REACH_KM, expected_error_score, inference_score, utility_score
from tracecup.study.context import Context
from tracecup.study.reproduce import study
from tracecup.study.results import WORKED, Comparison, StudyResult, Table
from tracecup.traces import SetTraces, Traces

S_U, S_R, S_T = 6.9478125 / 12, 1 / 3, 0.853125 / 13
STEP_M, STEPS = 50, 61


@study(
    "fig6",
    "Worked example: anonymization, attacks, all scores",
    "Figure 6",
    "Three users, four events, five regions. One of three pseudonyms is guessed wrong, so the "
    "re-identification score is 1 - 2/3 = 1/3.",
)
def run_example(context: Context) -> StudyResult:
    """The example of the paper through the same functions that score a contest."""
    example = worked_example()
    columns = ("user", "original", "obfuscated", "pseudonym", "guessed user", "inferred trace")
    scores = {score.name: score.value for score in example.scores}
    by_hand = "by hand from the paper's definitions"
    return StudyResult(
        WORKED,
        {"example": Table.of(columns, example.rows)},
        scores,
        (
            Comparison.equal("s_R", S_R, scores["s_R"], 1e-12, "stated in the paper"),
            Comparison.equal("s_U", S_U, scores["s_U"], 1e-12, by_hand),
            Comparison.equal(
                "s_T of user 1, region 2 a hospital", S_T, scores["s_T"], 1e-12, by_hand
            ),
        ),
        {"users": 3, "events": 4, "regions": 5},
        ("The paper's text infers the trace of user 1 only; s_T and the expected error are hers.",),
    )


@study(
    "fig7",
    "From distance to score: g_U and g_T",
    "Figure 7",
    "Utility falls linearly with the distance and is lost at 2 km; privacy rises linearly and is "
    "complete at 2 km.",
)
def run_functions(context: Context) -> StudyResult:
    """Both functions, read off the scores of single events at growing distance."""
    city = City(Grid.from_metres(STEPS, 1, width_m=STEP_M, height_m=STEP_M))
    here = Traces.of(np.zeros((STEPS, 1), dtype=np.int32))
    there = Traces.of(np.arange(STEPS, dtype=np.int32)[:, None])
    utility = utility_score(city, here, SetTraces.of_traces(there)).per_user
    privacy = inference_score(city, here, there).per_user
    km = expected_error_score(city, here, there).per_user
    rows = zip(km.tolist(), utility.tolist(), privacy.tolist(), strict=True)
    table = Table.of(("distance_km", "g_U", "g_T"), rows)
    middle = round(REACH_KM / 2 * 1000 / STEP_M)
    return StudyResult(
        WORKED,
        {"functions": table},
        {"lambda_U_km": REACH_KM, "lambda_T_km": REACH_KM},
        (
            Comparison.equal("g_U(1 km)", 0.5, float(utility[middle])),
            Comparison.equal("g_T(1 km)", 0.5, float(privacy[middle])),
            Comparison.equal("g_U(2 km)", 0.0, float(utility[2 * middle])),
            Comparison.equal("g_T(2 km)", 1.0, float(privacy[2 * middle])),
        ),
    )
