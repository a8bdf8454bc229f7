"""Figure 16: do two teams get different virtual users? Same-TV against Diff-TV.

On the text's scale and on the one on which the published numbers are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from tracecup.study.context import Context
from tracecup.study.published import DIVERSITY
from tracecup.study.reproduce import study
from tracecup.study.results import MOST, Comparison, Source, StudyResult, Table
from tracecup.study.towns import Measured, measured
from tracecup.usefulness import Diversity
from tracecup.usefulness.teamdiversity import Comparison as Distances

COLUMNS = ("town", "synthesizer", "Same", "Same SD", "Diff", "Diff SD", "t", "p", "pairs")
NEAR = 0.1
# Below this many pairs the difference of two means is not known to a tenth of a deviation.
ENOUGH_PAIRS = 1000


@study(
    "fig16",
    "Diversity of PPMTF and PPMTF+",
    "Figure 16",
    "A virtual user of PPMTF is alike in both teams (Same-TV below Diff-TV), so PPMTF lacks "
    "diversity; with PPMTF+ the two differ by much less than 0.1 standard deviations.",
)
def run(context: Context) -> StudyResult:
    """Same and Diff of every synthesizer in every town; the work is shared with Figure 17."""
    found = measured(context)
    tables = {
        "text": Table.of(COLUMNS, (_row(town, name, d.text) for town, name, d in _each(found))),
        "program": Table.of(
            COLUMNS, (_row(town, name, d.program) for town, name, d in _each(found))
        ),
        "published": Table.of(
            COLUMNS[:6],
            (
                (city, name, *same, *diff)
                for city, held in DIVERSITY.items()
                for name, (same, diff) in held.items()
            ),
        ),
    }
    comparisons = [c for one in found for c in (*_claims(one), *_beside(one))]
    return StudyResult(
        source_of(found),
        tables,
        {},
        tuple(comparisons),
        {f"{what} ({one.name})": size for one in found for what, size in one.sizes.items()},
        (
            "The paper's text defines Same-TV and Diff-TV as total variations across two teams; "
            "the published numbers are squared distances, and Diff is within one team. Both are "
            "shown.",
            "The Foursquare file is not in our hands: put it into the folder foursquare of the "
            "data to run the paper's cities. The built-in city stands in: check-ins of its "
            "people, one arrival in ten over four weeks.",
        ),
    )


def source_of(found: tuple[Measured, ...]) -> Source:
    """One line for a picture with several towns."""
    sources = list(dict.fromkeys(one.source for one in found))
    attribution = "; ".join(source.attribution for source in sources if source.attribution)
    labels = [source.label for source in sources]
    return Source("; ".join((*labels, "published: Foursquare, six cities")), attribution)


def _each(found: tuple[Measured, ...]) -> Iterator[tuple[str, str, Diversity]]:
    for one in found:
        for name, held in one.diversity.items():
            yield one.name, name, held


def _row(town: str, name: str, held: Distances) -> tuple[str | float, ...]:
    same = (held.same_mean, float(held.same.std()))
    diff = (held.diff_mean, float(held.diff.std()))
    return (town, name, *same, *diff, held.t, held.p_value, len(held.same))


def _claims(one: Measured) -> Iterator[Comparison]:
    """The two statements of the text, in standard deviations."""
    what = "{}: (Diff-TV - Same-TV) / standard deviation ({})"
    alike, fresh = one.diversity["PPMTF"].text, one.diversity["PPMTF+"].text
    why = "the paper: Same below Diff; band: by 0.1 or more"
    yield Comparison(what.format("PPMTF", one.name), math.nan, _apart(alike), NEAR, MOST, why)
    pairs, why = len(fresh.same), "the paper: much less than 0.1"
    if pairs >= ENOUGH_PAIRS:
        low, high = -NEAR, NEAR
    else:
        low, high, why = None, None, f"{why}; {pairs} pairs are too few for a band"
    yield Comparison(what.format("PPMTF+", one.name), math.nan, _apart(fresh), low, high, why)


def _apart(held: Distances) -> float:
    return (held.diff_mean - held.same_mean) / float(held.diff.std())


def _beside(one: Measured) -> Iterator[Comparison]:
    """A city of the user's own Foursquare file beside the published numbers."""
    for name, (same, diff) in DIVERSITY.get(one.name, {}).items():
        held = one.diversity[name].program
        why = "the program's scale; we never had this file, so no band"
        yield Comparison(f"{name}: Same, {one.name}", same[0], held.same_mean, why=why)
        yield Comparison(f"{name}: Diff, {one.name}", diff[0], held.diff_mean, why=why)
