"""Pictures of the final round of 2019: its teams, who attacks alike, how sure places are.

From published sheets alone; nothing here knows a trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tracecup.plot.labels import name_points
from tracecup.plot.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    PURPLE,
    SKY,
    VERMILION,
    Picture,
    draws,
    sheet,
)
from tracecup.study.results import StudyResult, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

X, Y = "re-identification privacy $s_{R,min}$", "trace inference privacy $s_{T,min}$"
KINDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("reid", {"color": GREY, "marker": "o", "s": 20, "label": "re-identification files"}),
    ("trace", {"color": BLUE, "marker": "s", "s": 34, "label": "trace inference files"}),
    ("benchmark", {"color": VERMILION, "marker": "*", "s": 110, "label": "benchmark 000"}),
)
ATTACKS = {"reid": "re-identification", "trace": "trace inference"}
SYMBOLS = {"reid": "$s_R$", "trace": "$s_T$"}
AWARDS = {
    "best_anonymization_reid": "Best anonymization\n(re-identification), $s_{R,min}$",
    "best_anonymization_trace": "Best anonymization\n(trace inference), $s_{T,min}$",
    "best_reidentification": "Best re-identification,\nsum of $s_R$",
    "best_trace_inference": "Best trace inference,\nsum of $s_T$",
}


def final_round(result: StudyResult) -> Picture:
    """Both minima of every file of the final round, the paper's rows in colour."""
    table, numbers = result.tables["final"], result.numbers
    figure = sheet(result.source_of("final"), 4.8, 5.6, title="Privacy scores of the final round")
    axes = figure.subplots()
    for challenge, look in KINDS:
        rows = table.where(challenge=challenge).records()
        axes.scatter([r["s_R,min"] for r in rows], [r["s_T,min"] for r in rows], **look)
    name = "correlation, final round, trace-inference files and benchmark"
    low, high = numbers[f"{name}, 95% low"], numbers[f"{name}, 95% high"]
    axes.text(
        0.03, 0.97, f"R = {numbers[name]:.3f}  (paper: 0.895)\n95% {low:.2f} to {high:.2f}\n"
        "(blue and star, 18 files)", transform=axes.transAxes, va="top", fontsize=8.5,
    )  # fmt: skip
    axes.set(xlabel=X, ylabel=Y, xlim=(-0.03, 0.88), ylim=(-0.02, 0.82))
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    rows = table.where(challenge="trace").records()
    other = [(r["s_R,min"], r["s_T,min"]) for r in table.where(challenge="reid").records()]
    places = [(row["s_R,min"], row["s_T,min"]) for row in rows]
    name_points(axes, places, [row["team"] for row in rows], avoid=other)
    alt = (
        "Scatter plot of both minimum scores of the 34 files of the final round: they rise "
        "together from the benchmark at the lower left to teams 001 and 009 at the upper right."
    )
    return Picture("fig9-final", alt, figure)


@draws("teams2019")
def teams(result: StudyResult) -> list[Picture]:
    """Agreement, places, settling, ceiling, lone openers."""
    return [
        _agreement(result),
        _places(result),
        _settling(result),
        _ceiling(result),
        _openings(result),
    ]


def _agreement(result: StudyResult) -> Picture:
    figure = sheet(result.source, 4.75, title="Which attackers agree, final round")
    panels = figure.subplots(1, 2)
    for axes, kind in zip(panels, ATTACKS, strict=True):
        table = result.tables[f"agreement_{kind}"]
        image = _likeness(axes, table)
        axes.set_xlabel(ATTACKS[kind])
    bar = figure.colorbar(image, ax=list(panels), location="bottom", shrink=0.5, aspect=40)
    bar.set_label("correlation of two attackers' scores over files (dot: equal on 5 files or more)")
    alt = (
        "Two matrices of correlations between attackers. In re-identification most agree, and team "
        "017 handed in sample attack I3; in trace inference a block of strong teams agrees, and "
        "018 and 019 have the same scores."
    )
    return Picture("teams2019-agreement", alt, figure)


def _likeness(axes: Axes, table: Table) -> Any:
    names = list(dict.fromkeys([*table.column("attacker"), *table.column("other")]))
    at = {name: k for k, name in enumerate(names)}
    matrix = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(matrix, 1.0)
    for row in table.records():
        a, b = at[row["attacker"]], at[row["other"]]
        matrix[a, b] = matrix[b, a] = np.nan if row["R"] is None else row["R"]
        if row["same score"] >= 5:
            axes.plot([a, b], [b, a], linestyle="none", marker="o", color=INK, markersize=3.5)
    image = axes.imshow(matrix, cmap="RdBu", vmin=-1, vmax=1)
    labels = [name.removeprefix("team") for name in names]
    axes.set_xticks(range(len(names)), labels, rotation=90, fontsize=7)
    axes.set_yticks(range(len(names)), labels, fontsize=7)
    axes.grid(False)
    return image


def _places(result: StudyResult) -> Picture:
    figure = sheet(result.source, 4.6, title="How sure are the places?")
    panels = figure.subplots(1, 4)
    for axes, (award, words) in zip(panels, AWARDS.items(), strict=True):
        rows = result.tables["ranks"].where(award=award).records()
        heights = range(len(rows))
        attack = rows[0]["low users"] is None
        for y, row in zip(heights, rows, strict=True):
            axes.plot([row["low"], row["high"]], [y, y], linewidth=5, solid_capstyle="butt",
                      color=GREEN if attack else SKY)  # fmt: skip
            if not attack:
                axes.plot([row["low users"], row["high users"]], [y, y], color=BLUE, linewidth=1.8)
        axes.plot([row["rank"] for row in rows], heights, linestyle="none", marker="o", color=INK,
                  markersize=3.5)  # fmt: skip
        axes.set_yticks(list(heights), [row["team"] for row in rows], fontsize=7)
        axes.set(xlabel="place", xlim=(0, 18))
        axes.set_title(words, fontsize=8.5)
        axes.invert_yaxis()
    for colour, width, words in (
        (SKY, 5, "other attackers (drawn again)"),
        (BLUE, 1.8, "other users (drawn again)"),
        (GREEN, 5, "other files (drawn again)"),
    ):
        panels[0].plot([], [], color=colour, linewidth=width, label=words)
    figure.legend(loc="outside lower center", ncols=3)
    alt = (
        "Places with 95% intervals: first places of the defences stand, except that 009 and 001 "
        "may change in trace inference; 011 could be anywhere from third to last; four attackers "
        "could have won either attack award."
    )
    return Picture("teams2019-places", alt, figure)


def _settling(result: StudyResult) -> Picture:
    table = result.tables["settling"]
    figure = sheet(result.source, 3.4, 5.6, title="How many attackers does a minimum need?")
    axes = figure.subplots()
    for name, colour, marker in (("s_R", BLUE, "o"), ("s_T", VERMILION, "s")):
        axes.plot(table.column("teams"), table.column(name), color=colour, marker=marker,
                  label=f"${name}$")  # fmt: skip
    axes.axhline(0.01, color=GREY, linestyle="--", linewidth=1, label="0.01")
    axes.set(
        xlabel="teams that attack, beside the sample attacks",
        ylabel="minimum above that of all,\nmean over files and choices",
        yscale="log",
    )
    axes.legend()
    alt = (
        "The mean minimum falls with every further attacker and comes within 0.01 of that of all "
        "only with 12 to 14 of the 16 teams that attacked."
    )
    return Picture("teams2019-settling", alt, figure)


def _ceiling(result: StudyResult) -> Picture:
    rows = result.tables["ceiling"].records()
    figure = sheet(result.source, 5.2, 5.8, title="How far from the prior-only ceiling?")
    axes = figure.subplots()
    colours = {"trace": BLUE, "reid": GREY, "benchmark": VERMILION}
    for y, row in enumerate(rows):
        axes.plot([row["s_T,min"], row["ceiling"]], [y, y], color=PALE, linewidth=4, zorder=1)
        axes.plot(row["s_T,min"], y, marker="o", color=colours[row["challenge"]], markersize=4.5)
        axes.plot(row["ceiling"], y, marker="|", color=INK, markersize=7)
    axes.set_yticks(range(len(rows)), [_short(row["file"]) for row in rows], fontsize=6.4)
    axes.set(xlabel="$s_T$", xlim=(0, 0.85))
    axes.invert_yaxis()
    looks: tuple[tuple[str, dict[str, Any]], ...] = (
        ("$s_{T,min}$, trace inference file", {"color": BLUE, "marker": "o"}),
        ("re-identification file", {"color": GREY, "marker": "o"}),
        ("benchmark", {"color": VERMILION, "marker": "o"}),
        ("guess without the release (team 007)", {"color": INK, "marker": "|"}),
    )
    for label, look in looks:
        axes.plot([], [], linestyle="none", label=label, **look)
    figure.legend(loc="outside lower center", ncols=2)
    alt = (
        "For each file its minimum trace inference score and the score of an attacker who did not "
        "need the release, about 0.776: only files of 009 and 001 come within 0.1 of it."
    )
    return Picture("teams2019-ceiling", alt, figure)


def _openings(result: StudyResult) -> Picture:
    figure = sheet(result.source, 5.4, title="Who opened which file")
    panels = figure.subplots(1, 2)
    for axes, (kind, words) in zip(panels, ATTACKS.items(), strict=True):
        score = "s_R" if kind == "reid" else "s_T"
        rows = sorted(
            result.tables["openings"].where(score=score).records(), key=lambda r: r["lowest"]
        )
        for y, row in enumerate(rows):
            alone = row["openers"] == 1
            axes.plot([row["lowest"], row["second"]], [y, y], linewidth=2.4, zorder=1,
                      color=VERMILION if alone else PALE)  # fmt: skip
            axes.plot(row["lowest"], y, "o", color=BLUE, markersize=3.8)
            axes.plot(row["second"], y, "o", color=ORANGE, markersize=3.8)
            axes.text(row["lowest"] - 0.015, y, row["by"].removeprefix("team"), ha="right",
                      va="center", fontsize=5.8)  # fmt: skip
        axes.axvline(0.5, color=PURPLE, linestyle="--", linewidth=1)
        axes.set_yticks(range(len(rows)), [_short(row["file"]) for row in rows], fontsize=6.2)
        axes.set(title=words, xlabel=SYMBOLS[kind], xlim=(-0.09, 0.95))
    for label, look in (
        ("lowest score, by whom", {"color": BLUE, "marker": "o", "linestyle": "none"}),
        ("second lowest", {"color": ORANGE, "marker": "o", "linestyle": "none"}),
        ("opened by one alone", {"color": VERMILION, "linewidth": 2.4}),
        ("opened: below 0.5", {"color": PURPLE, "linestyle": "--", "linewidth": 1}),
    ):
        panels[0].plot([], [], label=label, **look)
    figure.legend(loc="outside lower center", ncols=4, columnspacing=1.2)
    alt = (
        "For each file the lowest and second lowest score: the files of team 011 were opened by "
        "team 012 alone, far below everybody else."
    )
    return Picture("teams2019-openings", alt, figure)


def _short(file: str) -> str:
    """Team and challenge of a file, as in `011 IDP`."""
    parts = file.removesuffix(".csv").split("_")
    return f"{parts[1].removeprefix('team')} {parts[-1]}" if len(parts) == 4 else file
