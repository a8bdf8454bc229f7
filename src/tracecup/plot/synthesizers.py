"""Pictures of synthesizers: visit fractions, diversity, usefulness, privacy against alpha.

Each synthesizer keeps its colour and marker; what is published stands beside ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tracecup.plot.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    PURPLE,
    VERMILION,
    Picture,
    draws,
    sheet,
)
from tracecup.study.results import StudyResult, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOKS = {
    "PPMTF": (BLUE, "o"),
    "PPMTF+": (VERMILION, "s"),
    "SGD": (GREEN, "^"),
    "Uniform": (BLACK, "X"),
    "Real": (PURPLE, "D"),
}
PLACES = {"office": (BLUE, ""), "bar": (ORANGE, "////")}
LETTERS = {"o": "office", "b": "bar"}
METRICS = {
    "VF-TV": "visit fractions: VF-TV",
    "TP-TV-Top50": "population: TP-TV-Top50",
    "TM-EMD": "transitions: TM-EMD",
}
AGAINST_ALPHA = {
    "reid_rate": "re-identification rate",
    "membership_advantage": "membership advantage",
    "TP-TV-Top50": "TP-TV-Top50",
    "TM-EMD": "TM-EMD (cells, log scale)",
}
LINES = {"SGD": (0, (5, 2)), "Uniform": (0, (1, 1.5)), "Real": (0, (4, 1.5, 1, 1.5))}


@draws("fig15")
def visit_fractions(result: StudyResult) -> list[Picture]:
    """The example's traces and distributions above, two places of the built-in city below."""
    figure = sheet(result.source, 5.6, title="How long people stay at a place")
    (traces, example), (city, hours) = figure.subplots(2, 2)
    _example(traces, result.tables["traces"])
    traces.set_title("example: five people, ten times")
    _bars(example, result.tables["example"])
    example.set_title("example: visit fractions")
    _bars(city, result.tables["city"])
    city.set(title="built-in city: two regions", xlabel="share of her time away from home")
    city.set(yscale="log", ylim=(5e-4, 1.5))
    city.set_yticks([0.001, 0.01, 0.1, 1], labels=["0.001", "0.01", "0.1", "1"])
    table = result.tables["hours"]
    for (place, (colour, _)), marker in zip(PLACES.items(), "os", strict=True):
        shares = [100 * share for share in table.column(place)]
        hours.plot(table.column("hour"), shares, color=colour, marker=marker, markersize=3.5,
                   label=place)  # fmt: skip
    ticks = range(0, 25, 4)
    hours.set_xticks(ticks, labels=[f"{hour}:00" for hour in ticks])
    hours.set(title="built-in city: time of day", ylabel="hours of visitors (%)")
    hours.set_ylim(bottom=0)
    hours.legend(loc="upper left")
    alt = (
        "Above: traces of five people and the distributions of their visit fractions, long stays "
        "in the office, short ones in the bar. Below: the same for two regions of the built-in "
        "city, and the hours at which visitors are there: the office by day, the bar at night."
    )
    return [Picture("fig15", alt, figure)]


def _example(axes: Axes, table: Table) -> None:
    rows = table.column("places")
    for y, row in enumerate(rows):
        for x, letter in enumerate(row):
            colour, hatch = PLACES.get(LETTERS.get(letter, ""), (PALE, ""))
            axes.bar(x, 0.8, width=0.9, bottom=y - 0.4, color=colour, hatch=hatch,
                     edgecolor="white", linewidth=0)  # fmt: skip
    axes.set_yticks(range(len(rows)), labels=[f"user {k + 1}" for k in range(len(rows))])
    axes.set_xticks(range(len(rows[0])), labels=[str(x + 1) for x in range(len(rows[0]))])
    axes.set(xlabel="time", ylim=(len(rows) - 0.5, -0.5), xlim=(-0.55, len(rows[0]) - 0.45))
    axes.tick_params(length=0)
    axes.grid(False)


def _bars(axes: Axes, table: Table) -> None:
    bins = np.arange(len(table))
    for k, (place, (colour, hatch)) in enumerate(PLACES.items()):
        axes.bar(bins + (k - 0.5) * 0.4, table.column(place), width=0.38, color=colour,
                 hatch=hatch, edgecolor="white", linewidth=0, label=place)  # fmt: skip
    ends = zip(table.column("above"), table.column("up to"), strict=True)
    axes.set_xticks(bins, labels=[f"{low:g}–{high:g}" for low, high in ends])
    axes.set(xlabel="share of her time at the place", ylabel="share of visitors")
    axes.grid(axis="x", visible=False)
    axes.legend()


@draws("fig16")
def diversity(result: StudyResult) -> list[Picture]:
    """Same and Diff joined by a line, a row for every town, on both scales."""
    text, program = result.tables["text"], result.tables["program"]
    paper = result.tables["published"]
    ours, cities = _towns(text), _towns(paper)
    names = ("PPMTF", "PPMTF+", "SGD")
    rows = len(ours) + len(cities)
    figure = sheet(result.source, 1.9 + 0.36 * rows, title="Do two teams get different people?")
    left, right = figure.subplots(1, 2, sharey=True)
    for y, town in enumerate(ours):
        for k, name in enumerate(names):
            for axes, table in ((left, text), (right, program)):
                _dumbbell(axes, table.row(town=town, synthesizer=name), y + (k - 1) * 0.24)
    for y, city in enumerate(cities, start=len(ours)):
        for k, name in enumerate(names[:2]):
            _dumbbell(right, paper.row(town=city, synthesizer=name), y + (k - 0.5) * 0.3)
    left.set_yticks(range(rows), labels=[*ours, *(f"{city}, published" for city in cities)])
    left.set_ylim(rows - 0.5, -0.5)
    left.text(0.5, (len(ours) + rows - 1) / 2, "not published\non this scale", ha="center",
              va="center", color=GREY)  # fmt: skip
    bars = "(bars: 0.1 SD)"
    left.set(title="the text's scale", xlabel=f"total variation {bars}", xlim=(0, 1))
    right.set(title="the program's scale", xlabel=f"squared distance {bars}")
    right.set_xlim(left=0)
    for axes in (left, right):
        axes.grid(axis="y", visible=False)
        axes.axhline(len(ours) - 0.5, color=GREY, linewidth=0.8)
    _legend_same_diff(figure, names)
    alt = (
        "Distances of the same virtual user in two teams and of different users: apart for PPMTF, "
        "equal for PPMTF+ and SGD, in our towns and in the published cities."
    )
    return [Picture("fig16", alt, figure)]


def _dumbbell(axes: Axes, row: dict[str, Any], y: float) -> None:
    """Same filled, Diff hollow, bars of a tenth of the standard deviation."""
    colour, marker = LOOKS[row["synthesizer"]]
    axes.hlines(y, row["Same"], row["Diff"], color=colour, linewidth=1.2)
    for what, face in (("Diff", "white"), ("Same", colour)):
        axes.errorbar(row[what], y, xerr=0.1 * row[f"{what} SD"], color=colour, marker=marker,
                      markersize=5, markerfacecolor=face, capsize=2, linewidth=1)  # fmt: skip


def _legend_same_diff(figure: Any, names: tuple[str, ...]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=LOOKS[name][0], marker=LOOKS[name][1], label=name) for name in names
    ]
    for label, face in (("same user, two teams", INK), ("different users", "white")):
        handles.append(
            Line2D([], [], color=INK, marker="o", linestyle="", markerfacecolor=face, label=label)
        )
    figure.legend(handles=handles, loc="outside lower center", ncols=5)


@draws("fig17")
def usefulness(result: StudyResult) -> list[Picture]:
    """A panel a metric, a row a town, a marker a synthesizer."""
    ours, paper = result.tables["ours"], result.tables["published"]
    towns, cities = _towns(ours), _towns(paper)
    rows = [*towns, *cities]
    figure = sheet(result.source, 1.9 + 0.34 * len(rows), title="Utility of the synthesizers")
    panels = figure.subplots(1, len(METRICS), sharey=True)
    for axes, (metric, title) in zip(panels, METRICS.items(), strict=True):
        for name, (colour, marker) in LOOKS.items():
            values = [ours.row(town=town, synthesizer=name)[metric] for town in towns]
            published = [paper.row(town=city, synthesizer=name)[metric] for city in cities]
            place = 0.13 * (list(LOOKS).index(name) - 2)
            y = np.arange(len(rows)) + place
            axes.scatter(values, y[: len(towns)], color=colour, marker=marker, s=26, label=name,
                         zorder=3)  # fmt: skip
            axes.scatter(published, y[len(towns) :], facecolors="none", edgecolors=colour,
                         marker=marker, s=22, linewidths=1.1, zorder=3)  # fmt: skip
        for row in range(len(rows) - 1):
            axes.axhline(row + 0.5, color=PALE, linewidth=0.6, zorder=0)
        axes.axhline(len(towns) - 0.5, color=GREY, linewidth=0.8)
        axes.grid(axis="y", visible=False)
        unit = "cells, " if metric == "TM-EMD" else ""
        axes.set(xlabel=f"{unit}lower is better", xlim=(0, None))
        axes.set_title(title, fontsize=9)
    panels[0].set_yticks(
        range(len(rows)), labels=[*towns, *(f"{city}, published" for city in cities)]
    )
    panels[0].set_ylim(len(rows) - 0.5, -0.5)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    alt = (
        "Three metrics for five series in our towns and the published cities: in visit fractions "
        "SGD lies with Uniform, PPMTF and PPMTF+ lie together near Real."
    )
    return [Picture("fig17", alt, figure)]


@draws("fig18")
def against_alpha(result: StudyResult) -> list[Picture]:
    """Four metrics over alpha; shaded: smallest to largest of our seeds."""
    from matplotlib.patches import Patch

    means, paper = result.tables["means"], result.tables.get("published")
    figure = sheet(result.source, 6.0, title="Privacy and utility of the synthesizers")
    panels = figure.subplots(2, 2).ravel()
    for axes, (metric, title) in zip(panels, AGAINST_ALPHA.items(), strict=True):
        for name in ("PPMTF", "PPMTF+"):
            colour, marker = LOOKS[name]
            some = means.where(synthesizer=name)
            x = some.column("alpha")
            axes.fill_between(x, some.column(f"{metric} low"), some.column(f"{metric} high"),
                              color=colour, alpha=0.15, linewidth=0)  # fmt: skip
            axes.plot(x, some.column(metric), color=colour, marker=marker, markersize=3.5,
                      label=f"{name}, ours", zorder=3)  # fmt: skip
            if paper is not None:
                held = paper.where(synthesizer=name)
                axes.plot(held.column("alpha"), held.column(metric), color=colour, marker=marker,
                          markerfacecolor="none", markersize=7, linestyle="", zorder=2.5,
                          label=f"{name}, published")  # fmt: skip
        for name, line in LINES.items():
            value = means.row(synthesizer=name, alpha=None)[metric]
            axes.axhline(value, color=LOOKS[name][0], linestyle=line, linewidth=1.5, label=name)
        axes.set(xscale="log", title=title, xlabel=r"$\alpha$")
        axes.set_xticks([1, 10, 100, 1000], labels=["1", "10", "100", "1000"])
        if metric == "TM-EMD":
            axes.set(yscale="log")
            axes.set_yticks([0.25, 0.5, 1, 2, 4], labels=["0.25", "0.5", "1", "2", "4"])
            axes.minorticks_off()
        elif metric != "TP-TV-Top50":
            axes.set_ylim(bottom=-0.03 * axes.get_ylim()[1])
    handles, labels = panels[0].get_legend_handles_labels()
    runs = means.column("runs")[0]
    handles.append(Patch(facecolor=GREY, alpha=0.3))
    labels.append(f"spread of our {runs} trainings")
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    alt = (
        "Re-identification rate, membership advantage, TP-TV-Top50 and TM-EMD over alpha: with "
        "alpha PPMTF is re-identified more often, PPMTF+ never more than by a random guess; both "
        "metrics of usefulness improve."
    )
    return [Picture("fig18", alt, figure)]


def _towns(table: Table) -> list[str]:
    return list(dict.fromkeys(table.column("town")))
