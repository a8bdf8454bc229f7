"""Figure 11: fuzzy counting, the idea of the best re-identification attack.

A visit also counts a little for the eight regions around it.
"""

from __future__ import annotations

import numpy as np

from tracecup.attack import FuzzyR
from tracecup.attack.portfolio import winner_attacks
from tracecup.registry import parse
from tracecup.study.context import Context
from tracecup.study.reproduce import study
from tracecup.study.results import WORKED, Comparison, StudyResult, Table

SIDE, TARGET = 5, 12
FIGURE = FuzzyR(0.2, 0.5)


@study(
    "fig11",
    "Fuzzy counting",
    "Figure 11",
    "A visit to region 13 of a 5 x 5 grid counts 0.2 there, 0.121 beside it and 0.099 at the "
    "corners (eta_0 = 0.2, lambda_0 = 0.5), where raw counting counts 1 in region 13 only.",
)
def run(context: Context) -> StudyResult:
    """Raw counts, the figure's fuzzy counts and those of the winner's tuned parameters."""
    tuned = parse("reid", winner_attacks()[0])
    assert isinstance(tuned, FuzzyR)
    raw = np.zeros((SIDE, SIDE))
    raw[divmod(TARGET, SIDE)] = 1.0
    figure, winner = np.zeros_like(raw), np.zeros_like(raw)
    middle = (slice(1, 4), slice(1, 4))
    figure[middle], winner[middle] = FIGURE.stencil(), tuned.stencil()
    rows = [
        (r + 1, raw.ravel()[r], figure.ravel()[r], winner.ravel()[r]) for r in range(SIDE * SIDE)
    ]
    spread = figure.ravel()
    compared = [
        Comparison.equal(f"count of region {region}", value, float(spread[region - 1]), 0.0005)
        for region, value in ((13, 0.2), (8, 0.121), (7, 0.099))
    ]
    return StudyResult(
        WORKED,
        {"counts": Table.of(("region", "raw", "fuzzy", "fuzzy, winner's parameters"), rows)},
        {
            "eta_0": 0.2,
            "lambda_0": 0.5,
            "winner eta_0": tuned.eta0,
            "winner lambda_0": tuned.lambda0,
        },
        tuple(compared),
        {"regions": SIDE * SIDE},
    )
