"""The paper's worked example (Figure 6): three users, four events, five regions in a row.

Small enough to check every score by hand.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracecup.city import City, Grid
from tracecup.score import (
    Score,
    expected_error_score,
    inference_score,
    reid_score,
    utility_score,
)
from tracecup.traces import IdTable, SetTraces, Traces

FIRST_PSEUDONYM = 2001


@dataclass(frozen=True)
class WorkedExample:
    """The example's rows as people read them (1-based), and its scores."""

    rows: list[tuple[str, ...]]
    scores: tuple[Score, ...]


def worked_example() -> WorkedExample:
    """Score the example: s_U = 6.9478125/12, s_R = 1/3, s_T of user 1 = 0.853125/13.

    The paper infers the trace of user 1 only; s_T and the expected error are hers.

    >>> [round(score.value, 6) for score in worked_example().scores]
    [0.578984, 0.333333, 0.065625, 0.426562]
    """
    city = City(Grid.from_metres(5, 1, width_m=341.25, height_m=346.875), hospitals=[1])
    original = Traces.of([[0, 2, 1, 0], [3, 3, 4, 4], [2, 3, 3, 3]])
    obfuscated = SetTraces.of_cells(
        [
            [[1], [2], [1, 3, 4], []],
            [[], [], [4], [4]],
            [[], [2], [2, 3], [0, 1, 2]],
        ]
    )
    truth, guess = IdTable.of([1, 2, 0]), IdTable.of([1, 1, 0])
    first, inferred = original.take_users([0]), Traces.of([[0, 0, 1, 3]])
    scores = (
        utility_score(city, original, obfuscated),
        reid_score(truth, guess),
        inference_score(city, first, inferred),
        expected_error_score(city, first, inferred),
    )
    pseudonym = truth.inverse()
    rows: list[tuple[str, ...]] = []
    for i in range(original.n_users):
        k = int(pseudonym[i])
        cells = [obfuscated.cell(i, j) + 1 for j in range(obfuscated.times)]
        rows.append(
            (
                str(i + 1),
                " ".join(str(r + 1) for r in original.regions[i]),
                " ".join(_spelled(cell.tolist()) for cell in cells),
                str(FIRST_PSEUDONYM + k),
                str(int(guess.users[k]) + 1),
                " ".join(str(r + 1) for r in inferred.regions[0]) if i == 0 else "-",
            )
        )
    return WorkedExample(rows, scores)


def _spelled(cell: list[int]) -> str:
    """A cell as the paper writes it: 3, {2,4,5}, * for deleted."""
    if not cell:
        return "*"
    return str(cell[0]) if len(cell) == 1 else "{" + ",".join(map(str, cell)) + "}"
