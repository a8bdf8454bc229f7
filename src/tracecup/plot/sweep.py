"""The picture of a sweep: privacy against re-identification and against trace inference.

One mark per defence and data set, with intervals over users and seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tracecup.plot.style import COLOURS, GREY, INK, MARKERS, Picture, sheet, styled
from tracecup.study.results import Source, Table
from tracecup.study.sweeptable import label_of, summarize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NARROWEST = 0.05
MARGIN = 0.12


Intervals = Mapping[tuple[str, str], Mapping[str, Any]]
"""Ends `s_r_low`, `s_r_high`, `s_t_linked_low`, `s_t_linked_high` by data set and defence."""


def scatter(table: Table, intervals: Intervals | None = None) -> Picture | None:
    """s_R,min against s_T,linked of every defence; None unless both kinds of attack were run.

    Bars are intervals over users and seeds: those of `summarize`, or narrower ones from
    elsewhere.

    Marks stand at the minimum over trace inferences that use the release. Attacks that do not
    look at it reach the same for every defence: a dashed line (for several data sets a band).
    """
    rows = [r for r in summarize(table).records() if None not in (r["s_r_min"], r["s_t_min"])]
    if not rows:
        return None
    for row in rows:
        if row["s_t_linked"] is None:  # nothing but attacks that do not look
            row["s_t_linked"] = row["s_t_min"]
            row["s_t_linked_low"], row["s_t_linked_high"] = row["s_t_low"], row["s_t_high"]
    for row in rows:
        row.update((intervals or {}).get((row["data"], row["defence"]), {}))
        row["ends"] = _ends(row)
    names = list(dict.fromkeys(row["defence"] for row in rows))
    labels = {name: label_of(table.where(defence=name).column("tuned")) for name in names}
    ceilings = [row["s_t_prior"] for row in rows if row["s_t_prior"] is not None]
    using = "\n(minimum over attacks that use the release)" if ceilings else ""
    with styled():
        height = max(4.2, 1.4 + 0.24 * len(names))
        title = "Defences against their strongest attacks"
        figure = sheet(Source(_foot(table, rows)), height, title=title)
        axes = figure.subplots()
        for k, name in enumerate(names):
            # Eight colours and eight markers, shifted after each round: 64 different marks.
            colour, marker = COLOURS[k % 8], MARKERS[(k + k // 8) % 8]
            _marks(axes, [row for row in rows if row["defence"] == name], colour, marker)
            axes.plot([], [], marker, color=colour, mec=INK, mew=0.5, label=labels[name])
        _ceiling(axes, ceilings)
        axes.set(
            xlabel="$s_{R,min}$: privacy against re-identification",
            ylabel="$s_{T,linked}$: privacy against trace inference" + using,
            xlim=_range([x for row in rows for x in _reach(row, "s_r_min", 0)]),
            ylim=_range([*(y for row in rows for y in _reach(row, "s_t_linked", 1)), *ceilings]),
        )
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), title="defence")
    best = max(rows, key=lambda row: float(row["s_r_min"]) + float(row["s_t_linked"]))
    alt = (
        f"Scatter plot of {len(names)} defences; the largest sum of both minima has "
        f"{labels[best['defence']]}: {best['s_r_min']:.3f} and {best['s_t_linked']:.3f}."
    )
    return Picture("scatter", alt, figure)


def _ends(row: Mapping[str, Any]) -> tuple[Any, Any]:
    """Lengths of the bars across and up: below and above the mark; None for no bar."""
    found: list[Any] = []
    for value, ends in (("s_r_min", "s_r"), ("s_t_linked", "s_t_linked")):
        low, high = row[f"{ends}_low"], row[f"{ends}_high"]
        known = low is not None and high is not None and high > low
        bar = [[max(0.0, row[value] - low)], [max(0.0, high - row[value])]] if known else None
        found.append(bar)
    return found[0], found[1]


def _reach(row: Mapping[str, Any], column: str, which: int) -> tuple[float, float]:
    """A mark with its bar."""
    ends = row["ends"][which] or [[0.0], [0.0]]
    return row[column] - ends[0][0], row[column] + ends[1][0]


def _foot(table: Table, rows: Sequence[dict[str, Any]]) -> str:
    sets = {(row["data"], row["team"]) for row in rows}
    seeds, floor = max(row["seeds"] for row in rows), table.column("floor")[0]
    said = [
        f"{len(sets)} data set{_s(len(sets))}, {seeds} seed{_s(seeds)}",
        "defences as written" if floor is None else f"defences tuned to utility {floor:g}",
    ]
    if any(end is not None for row in rows for end in row["ends"]):
        over = "users and seeds" if seeds > 1 else "users"
        said.append(f"bars: 95 % intervals over {over}")
    if any(row["tuning"] == "coarse" for row in rows):
        coarse = dict.fromkeys(row["ran"] for row in rows if row["tuning"] == "coarse")
        said.append(f"knob too coarse to reach the floor: {', '.join(coarse)}")
    if any(row["valid"] is False for row in rows):
        said.append("hollow: below the floor")
    if any(row["s_t_prior"] is not None for row in rows):
        said.append("marks: trace inferences that use the release; the contest's minimum, "
                    "s_T,min, is the lower of mark and dashed line")  # fmt: skip
    return "; ".join(said)


def _ceiling(axes: Axes, ceilings: Sequence[float]) -> None:
    if not ceilings:
        return
    low, high = min(ceilings), max(ceilings)
    label = "no credit above:\nknown without\nthe release"
    if high > low:
        axes.axhspan(low, high, color=GREY, alpha=0.25, linewidth=0, label=label)
    axes.axhline(low, color=GREY, linestyle="--", linewidth=1.2, label="" if high > low else label)


def _marks(axes: Axes, rows: Sequence[dict[str, Any]], colour: str, marker: str) -> None:
    for row in rows:
        hollow = row["valid"] is False
        axes.errorbar(
            row["s_r_min"],
            row["s_t_linked"],
            xerr=row["ends"][0],
            yerr=row["ends"][1],
            fmt=marker,
            color=colour,
            markerfacecolor="white" if hollow else colour,
            markeredgecolor=colour if hollow else INK,
            markeredgewidth=1.5 if hollow else 0.5,
            elinewidth=1.0,
            capsize=2,
        )


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Around the values, never narrower than it makes sense to look at, within 0..1."""
    low, high = min(values), max(values)
    middle, half = (low + high) / 2, max(high - low, NARROWEST) / 2 * (1 + 2 * MARGIN)
    return max(-0.02, middle - half), min(1.02, middle + half)


def _s(count: int) -> str:
    return "" if count == 1 else "s"
