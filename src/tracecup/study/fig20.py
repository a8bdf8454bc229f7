"""Figure 20: visit-probability vectors, VisitProb-R and VisitProb-T on a toy, step by step.

Every number in it can be checked by hand; the totals are those of the attack itself.
"""

from __future__ import annotations

import math

import numpy as np

from tracecup.attack import Case, VisitProbR, VisitProbT
from tracecup.attack.models.cellwise import FLOOR
from tracecup.city import City, Clock, Grid
from tracecup.study.context import Context
from tracecup.study.reproduce import study
from tracecup.study.results import WORKED, Comparison, StudyResult, Table
from tracecup.traces import SetTraces, Traces, visit_counts

CITY = City(Grid.from_metres(5, 1, width_m=341.25, height_m=346.875))
REFERENCE = Traces.of(
    [
        [0, 0, 1, 1, 0, 0, 1, 0, 4, 0, 0, 1],
        [3, 3, 4, 3, 2, 3, 3, 4, 3, 3, 4, 3],
        [2, 2, 3, 2, 1, 2, 2, 1, 2, 3, 2, 2],
    ],
    Clock.regular(3, slots=4),
)
# Pseudonym 2001 belongs to user 3; the other two are there because a release has all users.
RELEASED = SetTraces.of_cells(
    [
        [[2], [1, 3], [], [2]],
        [[0], [1], [0], [0]],
        [[3], [3], [2, 4], [4]],
    ],
    Clock.regular(1, slots=4),
)
WINNER = 3


@study(
    "fig20",
    "Sample attacks step by step",
    "Figure 20",
    "Visit probabilities come from the reference traces, with 1e-8 instead of zero. VisitProb-R "
    "multiplies them along a released trace (mean over a generalized cell, deleted cells left out) "
    "and names the likeliest user; VisitProb-T copies single regions, draws a member of a "
    "generalized cell and any region for a deleted one.",
)
def run(context: Context) -> StudyResult:
    """A toy of our own in which user 3 wins; three users, four cells, five regions."""
    counts = visit_counts(REFERENCE, CITY.n_regions).astype(np.float64)
    visits = np.where(counts > 0, counts / counts.sum(axis=1, keepdims=True), FLOOR)
    vectors = Table.of(
        ("user", *(f"x{r + 1}" for r in range(CITY.n_regions))),
        [(u + 1, *visits[u]) for u in range(3)],
    )
    likelihood, steps = np.ones(3), []
    for j in range(RELEASED.times):
        cell = RELEASED.cell(0, j)
        factor = visits[:, cell].mean(axis=1) if len(cell) else np.ones(3)
        likelihood = likelihood * factor
        steps.append((j + 1, _spelled(cell.tolist()), *factor, *likelihood))
    case = Case(CITY, REFERENCE, RELEASED)
    attack = np.exp(VisitProbR().score_matrix(case)[0])
    guess = int(VisitProbR().identify(case).users[0]) + 1
    inferred = VisitProbT().infer(case, context.seed).regions[guess - 1]
    columns = (
        "step", "cell", "factor of user 1", "factor of user 2", "factor of user 3",
        "likelihood of user 1", "likelihood of user 2", "likelihood of user 3",
    )  # fmt: skip
    output = [
        (j + 1, _spelled(RELEASED.cell(0, j).tolist()), _how(len(RELEASED.cell(0, j))), f"x{r + 1}")
        for j, r in enumerate(inferred.tolist())
    ]
    hand = "nothing printed; band: the product by hand, against the attack's own score"
    compared = [
        Comparison(
            f"likelihood of user {u + 1}",
            math.nan,
            float(attack[u]),
            float(likelihood[u]) * (1 - 1e-9),
            float(likelihood[u]) * (1 + 1e-9),
            hand,
        )
        for u in range(3)
    ]
    return StudyResult(
        WORKED,
        {
            "vectors": vectors,
            "steps": Table.of(columns, steps),
            "inferred": Table.of(("event", "cell", "how", "output"), output),
        },
        {"identified user": float(guess)},
        (Comparison.equal("user named by VisitProb-R", float(WINNER), float(guess)), *compared),
        {"users": 3, "events": RELEASED.times, "regions": CITY.n_regions},
        ("The toy is ours: the paper's text does not print the numbers of its figure.",),
    )


def _spelled(cell: list[int]) -> str:
    if not cell:
        return "deleted"
    names = [f"x{region + 1}" for region in cell]
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


def _how(size: int) -> str:
    return {0: "any region at random", 1: "as it is"}.get(size, "one member at random")
