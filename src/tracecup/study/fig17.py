"""Figure 17: what the synthesizers' traces are good for.

Visit fractions, population by time of day and transitions, against the training traces.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from tracecup.study.context import Context
from tracecup.study.fig16 import source_of
from tracecup.study.published import UTILITY
from tracecup.study.reproduce import study
from tracecup.study.results import Comparison, StudyResult, Table
from tracecup.study.towns import PEOPLE_FLOW, Measured, measured

METRICS = ("VF-TV", "TP-TV-Top50", "TM-EMD")
SERIES = ("PPMTF", "PPMTF+", "SGD", "Uniform", "Real")
# Ratios of VF-TV in the paper's words: "almost the same", "in the same way as".
ALMOST, AS_GOOD = (0.8, 1.05), (0.85, 1.15)

Rows = Mapping[str, Sequence[float]]


@study(
    "fig17",
    "Utility of the synthesizers",
    "Figure 17",
    "SGD, which knows no users, is almost as bad as Uniform in visit fractions; PPMTF+ is as good "
    "as PPMTF in all three metrics, much better than Uniform and near Real.",
)
def run(context: Context) -> StudyResult:
    """Three metrics of five series in every town; the work is shared with Figure 16."""
    found = measured(context)
    ours = {one.name: _rows(one) for one in found}
    columns = ("town", "synthesizer", *METRICS)
    return StudyResult(
        source_of(found),
        {
            "ours": Table.of(columns, _flat(ours)),
            "published": Table.of(columns, _flat(UTILITY)),
        },
        {},
        tuple(c for town, rows in ours.items() for c in _compared(town, rows, context.quick)),
        {f"{what} ({one.name})": size for one in found for what, size in one.sizes.items()},
        (
            "The Foursquare file is not in our hands. The built-in city stands in: check-ins of "
            "its people, one arrival in ten over four weeks, 1024 regions instead of 1000 places.",
            "People flow has regions, and one day of each person: the paper leaves VF-TV out "
            "there, and so do we.",
        ),
    )


def _rows(one: Measured) -> Rows:
    left_out = METRICS[0] if one.source == PEOPLE_FLOW else ""
    return {
        name: [
            math.nan if metric == left_out or metric not in row else row[metric].value
            for metric in METRICS
        ]
        for name, row in ((name, one.usefulness[name]) for name in SERIES)
    }


def _flat(towns: Mapping[str, Rows]) -> Iterator[tuple[str | float, ...]]:
    for town, rows in towns.items():
        for name, values in rows.items():
            yield (town, name, *values)


def _way(rows: Rows, metric: int) -> float:
    """Where PPMTF+ lies between Real (0) and Uniform (1)."""
    real, uniform = rows["Real"][metric], rows["Uniform"][metric]
    return (rows["PPMTF+"][metric] - real) / (uniform - real)


def _compared(town: str, rows: Rows, quick: bool) -> Iterator[Comparison]:
    if town in UTILITY:
        yield from _beside(town, rows)
    for first, second, band, words in (
        ("SGD", "Uniform", ALMOST, "the paper: almost the same"),
        ("PPMTF+", "PPMTF", AS_GOOD, "the paper: as good as PPMTF"),
    ):
        ratio = rows[first][0] / rows[second][0]
        if not math.isnan(ratio):
            paper = _mean([held[first][0] / held[second][0] for held in UTILITY.values()])
            what = f"VF-TV of {first} over that of {second} ({town})"
            low, high = (None, None) if quick else band
            yield Comparison(what, paper, ratio, low, high, f"{words}; published: six cities")
    for k, metric in enumerate(METRICS):
        if not math.isnan(way := _way(rows, k)):
            ways = [_way(held, k) for held in UTILITY.values()]
            why = f"other data; six cities: {min(ways):.2f} to {max(ways):.2f}"
            what = f"{metric} of PPMTF+, way from Real (0) to Uniform (1) ({town})"
            yield Comparison(what, _mean(ways), way, why=why)


def _beside(town: str, rows: Rows) -> Iterator[Comparison]:
    """A city of the user's own Foursquare file beside the published numbers."""
    for name, values in UTILITY[town].items():
        for metric, paper, value in zip(METRICS, values, rows[name], strict=True):
            why = "we never had this file, so no band"
            yield Comparison(f"{metric} of {name}, {town}", paper, value, why=why)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
