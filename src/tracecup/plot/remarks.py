"""What the paper's remarks leave open: aggregates, maximum knowledge, communication, seconds.

One picture a remark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracecup.plot.grids import Cell, grid
from tracecup.plot.labels import name_points
from tracecup.plot.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    Picture,
    draws,
    sheet,
)
from tracecup.study.results import StudyResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOOR = 0.7
LIGHT = "#B8C0CA"
# Share of an axis that a label of four digits takes.
LABEL_SHARE = 0.13
LOOKS = {
    "MRLH(1,1,0)": (BLUE, "s"), "MRLH(0,0,0.3)": (ORANGE, "^"), "KMeans(100)": (VERMILION, "P"),
    "PL(4,1)": (GREEN, "o"), "PL(1,1)": (SKY, "D"), "PL(0.1,1)": (PURPLE, "v"),
    "None": (BLACK, "*"),
}  # fmt: skip
MECHANISMS = {
    "PL": ("planar Laplace", GREEN, "o"),
    "RR": ("randomized response", ORANGE, "^"),
    "deletion": ("deletion", BLUE, "s"),
    "KMeans": ("k-means (winner)", PURPLE, "P"),
    "Cheat": ("Cheat(1)", VERMILION, "X"),
}
ATTACKS = (("o", BLUE, "-"), ("s", SKY, "--"), ("^", ORANGE, "-"), ("D", VERMILION, "-"))
ORDERS = {"users": "users $m$", "events": "events $l$", "regions": "regions $n$"}


@draws("beyond3")
def remarks(result: StudyResult) -> list[Picture]:
    """The four remarks; POI accuracy on every data set there is."""
    places = [name for name in result.tables if name.startswith("poi_")]
    return [
        _cheating(result),
        _knowledge(result),
        *(_poi(result, name) for name in places),
        _speed(result),
    ]


def _cheating(result: StudyResult) -> Picture:
    table = result.tables["cheating"]
    title = "Cheating where only aggregates have to be useful"
    figure = sheet(result.source_of("cheating"), 4.3, title=title)
    left, right = figure.subplots(1, 2)
    rows = [row for row in table.records() if row["share who cheat"] is not None]
    p = [row["share who cheat"] for row in rows]
    for column, label, colour, marker in (
        ("aggregate utility", "aggregate utility", BLACK, "D"),
        ("s_U", "utility by trace $s_U$", BLUE, "o"),
        ("s_R,min", "$s_{R,min}$", VERMILION, "s"),
        ("s_T,min", "$s_{T,min}$", GREEN, "^"),
    ):
        left.plot(p, [row[column] for row in rows], color=colour, marker=marker, label=label)
    left.set(title="Cheat(p)", xlabel="share p who exchange traces", ylabel="score")
    left.set_ylim(-0.04, 1.06)
    others = [row for row in table.records() if row["share who cheat"] is None]
    for some, label, colour, marker in (
        (rows, "Cheat(p)", VERMILION, "X"), (others, "other obfuscation", BLUE, "o"),
    ):  # fmt: skip
        x, y = [row["s_U"] for row in some], [row["aggregate utility"] for row in some]
        right.scatter(x, y, color=colour, marker=marker, s=36, label=label, zorder=3)
    right.axvline(FLOOR, color=LIGHT, linewidth=1.2, linestyle="--")
    right.axhline(FLOOR, color=LIGHT, linewidth=1.2, linestyle="--", label="a floor of 0.7")
    right.set(title="Both utilities", xlabel="utility by trace $s_U$", ylabel="aggregate utility")
    right.set(xlim=(-0.05, 1.08), ylim=(0.6, 1.06))
    figure.legend(loc="outside lower center", ncols=4)
    named = [*(row for row in rows if row["share who cheat"] in (0, 1)), *others]
    name_points(
        right,
        [(row["s_U"], row["aggregate utility"]) for row in named],
        [row["release"] for row in named],
        avoid=[(row["s_U"], row["aggregate utility"]) for row in rows],
    )
    alt = (
        "Left: as more users exchange traces, utility by trace falls to 0.05 and s_R rises to 1, "
        "while aggregate utility stays 1 and s_T stays near 0. Right: both utilities of cheating "
        "and other obfuscations."
    )
    return Picture("beyond3-cheating", alt, figure)


def _knowledge(result: StudyResult) -> Picture:
    table, points = result.tables["knowledge"], result.tables["points"]
    title = "An attacker who knows every original trace"
    figure = sheet(result.source_of("knowledge"), 4.5, title=title)
    left, right = figure.subplots(1, 2, width_ratios=(1.6, 1))
    for mechanism, (label, colour, marker) in MECHANISMS.items():
        rows = sorted(table.where(mechanism=mechanism).records(), key=lambda row: row["s_U"])
        x = [row["s_U"] for row in rows]
        for column, line, face in (
            ("s_R, maximum knowledge", "-", colour), ("s_R, partial knowledge", ":", "white"),
        ):  # fmt: skip
            left.plot(
                x, [row[column] for row in rows], color=colour, marker=marker, linestyle=line,
                markerfacecolor=face, label=label if face == colour else None,
            )  # fmt: skip
    left.plot([], [], color=GREY, marker="o", label="maximum knowledge")
    left.plot([], [], color=GREY, marker="o", linestyle=":", markerfacecolor="white",
              label="partial knowledge")  # fmt: skip
    left.axvline(FLOOR, color=GREY, linewidth=0.9, linestyle="--", label="utility floor 0.7")
    left.set(
        xscale="log", title="Privacy over utility", xlabel="utility $s_U$", ylabel="$s_{R,min}$"
    )
    left.set_xticks([0.003, 0.01, 0.03, 0.1, 0.3, 1], ["0.003", "0.01", "0.03", "0.1", "0.3", "1"])
    left.set_ylim(-0.03, 1.05)
    k, share = points.column("points"), points.column("share of users alone")
    right.plot(k, share, color=BLUE, marker="o", label="here")
    quoted = {3: 0.80, 4: 0.95}
    right.plot(list(quoted), list(quoted.values()), color=PURPLE, marker="D", linestyle="none",
               label="quoted: 1.5 million users")  # fmt: skip
    right.set(title="Users alone in the crowd", xlabel="known points of a trace", ylabel="share")
    right.set_ylim(-0.03, 1.05)
    right.set_xticks(k)
    right.legend(loc="lower right")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    alt = (
        "Left: re-identification privacy over utility against maximum and partial knowledge: "
        "with the originals known every release with any utility falls to 0, except cheating. "
        "Right: share of users who are alone with a few known points."
    )
    return Picture("beyond3-knowledge", alt, figure)


def _poi(result: StudyResult, name: str) -> Picture:
    table, stage = result.tables[name], name.removeprefix("poi_")
    city = "Tokyo" if stage == "tokyo" else "the built-in city"
    title = f"POI accuracy and what it costs, {city}"
    figure = sheet(result.source_of(name), 4.3, title=title)
    left, right = figure.subplots(1, 2, sharey=True)
    for release, (colour, marker) in LOOKS.items():
        some = table.where(release=release)
        label = f"{release} [{some.column('s_U')[0]:.2f}]"
        share = some.column("POI accuracy")
        for axes, column in ((left, "r2 (km)"), (right, "cost")):
            axes.plot(some.column(column), share, color=colour, marker=marker, label=label,
                      markersize=4.5)  # fmt: skip
    left.axvline(2.0, color=GREY, linewidth=0.9, linestyle="--")
    left.text(2.05, 0.4, "the paper's $r_2$", fontsize=8, color=GREY)
    left.set(title="By radius", xlabel="radius $r_2$ of what is sent (km)", ylabel="POI accuracy")
    right.set(title="By cost", xscale="log", xlabel="places sent / places within 1 km of the truth")
    right.set_xticks([0.3, 1, 3, 10], labels=["0.3", "1", "3", "10"])
    right.minorticks_off()
    left.set_ylim(-0.03, 1.05)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    alt = (
        "POI accuracy of seven releases against the radius of the places sent, and against how "
        "many places that is; utility in brackets."
    )
    return Picture(f"beyond3-{name.replace('_', '-')}", alt, figure)


def _speed(result: StudyResult) -> Picture:
    table, fitted = result.tables["speed"], result.tables["exponents"]
    figure = sheet(result.source_of("speed"), 6.0, title="Seconds as everything grows")
    panels = figure.subplots(2, 2)
    names = list(dict.fromkeys(table.column("attack")))
    for axes, (grows, label) in zip(panels.flat[:3], ORDERS.items(), strict=True):
        for name, (marker, colour, line) in zip(names, ATTACKS, strict=True):
            some = table.where(grows=grows, attack=name)
            axes.plot(some.column(grows), some.column("yardsticks a user"), color=colour,
                      marker=marker, linestyle=line, label=name)  # fmt: skip
        axes.set(xscale="log", yscale="log", xlabel=label, ylabel="time a user (yardsticks)")
        ticks = _apart(sorted(set(table.where(grows=grows).column(grows))))
        axes.set_xticks(ticks, labels=[str(tick) for tick in ticks])
        axes.minorticks_off()
    _exponents(panels[1, 1], result, names)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    alt = (
        "Time a user of fuzzy counting, Fuzzy-R, Markov re-identification and Markov tracking as "
        f"users, events and regions grow; a table of the {len(fitted)} fitted exponents."
    )
    return Picture("beyond3-speed", alt, figure)


def _apart(values: list[int]) -> list[int]:
    """Those values whose labels do not touch on a logarithmic axis, from the smallest on."""
    kept, gap = values[:1], (values[-1] / values[0]) ** LABEL_SHARE
    for value in values[1:]:
        if value >= kept[-1] * gap:
            kept.append(value)
    return kept


def _exponents(axes: Axes, result: StudyResult, names: list[str]) -> None:
    fitted = result.tables["exponents"]
    rows = [
        [
            Cell(name.split(" (")[0].replace(" and search", " + search")),
            *(Cell(f"{fitted.row(grows=g, attack=name)['exponent']:.1f}") for g in ORDERS),
        ]
        for name in names
    ]
    axes.set_title("Fitted exponents", pad=8)
    grid(axes, ("all users together", "$m$", "$l$", "$n$"), rows, (3.4, 0.8, 0.8, 0.8))
