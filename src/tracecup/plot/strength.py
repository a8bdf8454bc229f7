"""The pictures of the studies `strength` and `bounds`: shaded tables, then and now, and bounds.

Dark is safe; the strongest attack on a defence has a frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tracecup.plot.existing import DARK, frame
from tracecup.plot.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    VERMILION,
    Picture,
    draws,
    sheet,
)
from tracecup.study.bounds import FIELDS, ORDINARY, WITH_EQUALISE
from tracecup.study.results import StudyResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = dict[str, Any]
TITLES = {"reid": "$s_R$: share of users not named", "trace": "$s_T$: what stays unknown of places"}
SCORES = {"s_R": TITLES["reid"], "s_T": TITLES["trace"]}
SIDES = {
    "paper": "the paper's",
    "links": "linked one to one",
    "bayes": "Bayes",
    "learned": "learned",
    "blind": "never looks",
}
ROW, HEAD = 0.26, 2.2


@draws("strength")
def strength(result: StudyResult) -> list[Picture]:
    """Every defence against every attack, and the strongest attack then and now."""
    return [_shaded(result), _then_and_now(result)]


def _shaded(result: StudyResult) -> Picture:
    scores = result.tables["scores"].records()
    defences = result.tables["strongest"].records()
    columns = {kind: _columns(scores, kind) for kind in TITLES}
    figure = sheet(
        result.source, HEAD + ROW * len(defences), width=11.5,
        title=f"Every defence against every attack, mean of {result.sizes['teams']} teams",
    )  # fmt: skip
    panels = figure.subplots(1, 2, width_ratios=[len(columns[kind]) for kind in TITLES])
    for axes, (kind, title) in zip(panels, TITLES.items(), strict=True):
        _panel(axes, [r for r in scores if r["kind"] == kind], defences, columns[kind])
        axes.set_title(title, pad=16)
    labels = [f"{row['defence']}   $s_U$ {row['s_U']:.2f}" for row in defences]
    panels[0].set_yticks(np.arange(len(labels)), labels=labels)
    panels[1].set_yticks(np.arange(len(labels)), labels=[])
    alt = (
        f"Two shaded tables of {len(defences)} defences against "
        f"{sum(map(len, columns.values()))} attacks; the strongest attack on each defence that "
        "looks at the release has a frame."
    )
    return Picture("strength", alt, figure)


def _columns(scores: Sequence[Row], kind: str) -> list[tuple[str, str]]:
    """Attacks of a kind by side, weakest side first."""
    found = dict.fromkeys((r["side"], r["attack"]) for r in scores if r["kind"] == kind)
    return sorted(
        (pair for pair in found if pair[0] in SIDES), key=lambda pair: list(SIDES).index(pair[0])
    )


def _panel(
    axes: Axes, scores: Sequence[Row], defences: Sequence[Row], columns: Sequence[tuple[str, str]]
) -> None:
    place = {row["defence"]: at for at, row in enumerate(defences)}
    score = np.full((len(defences), len(columns)), np.nan)
    for row in scores:
        pair = (row["side"], row["attack"])
        if pair in columns:
            at = slice(None) if row["side"] == "blind" else place[row["defence"]]
            score[at, columns.index(pair)] = row["mean"]
    axes.imshow(score, cmap="cividis_r", vmin=0, vmax=1, aspect="auto")
    looking = [k for k, (side, _) in enumerate(columns) if side != "blind"]
    for at in range(len(defences)):
        for k, value in enumerate(score[at]):
            shade = "white" if value > 1 - DARK else INK
            said = f"{value:.2f}".removeprefix("0") if value < 0.995 else "1"
            axes.text(k, at, said, ha="center", va="center", fontsize=6.5, color=shade)
        axes.add_patch(frame(looking[int(np.argmin(score[at, looking]))], at))
    words = [name for _, name in columns]
    axes.set_xticks(np.arange(len(words)), labels=words, rotation=60, ha="right", fontsize=7)
    sides = [side for side, _ in columns]
    for side in dict.fromkeys(sides):
        first, last = sides.index(side), len(sides) - 1 - sides[::-1].index(side)
        axes.text((first + last) / 2, -0.75, SIDES[side], ha="center", fontsize=7, color=GREY)
        if first:
            axes.axvline(first - 0.5, color="white", lw=3, zorder=0.9)
    axes.tick_params(length=0)
    axes.grid(False)


def _then_and_now(result: StudyResult) -> Picture:
    """A line for each defence from the paper's strongest attack to the strongest now."""
    rows = result.tables["strongest"].records()
    figure = sheet(
        result.source, 1.5 + 0.3 * len(rows), width=9.5, title="How private it looked, and is"
    )
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (score, title) in zip(panels, SCORES.items(), strict=True):
        for at, row in enumerate(rows):
            then, now = row[f"{score}, paper"], row[score]
            axes.plot([now, then], [at, at], color=GREY, lw=2, zorder=1)
            for value, colour, ends in ((then, BLUE, f"{score}, paper"), (now, VERMILION, score)):
                low, high = row[f"{ends} low"], row[f"{ends} high"]
                if low is not None:
                    axes.plot([low, high], [at, at], color=colour, lw=4, alpha=0.35, zorder=2)
                axes.plot(value, at, "os"[colour == VERMILION], color=colour, zorder=3)
            axes.annotate(
                f"{now:.3f}".removeprefix("0"), (now, at), (0, 6), textcoords="offset points",
                ha="center", fontsize=6.5, color=VERMILION,
            )  # fmt: skip
        if score == "s_T":
            axes.axvline(rows[0]["prior only"], color=GREEN, ls="--", lw=1.2)
            axes.text(
                rows[0]["prior only"] + 0.012, len(rows) / 2, "never looks at the release",
                rotation=90, va="center", fontsize=7, color=GREEN,
            )  # fmt: skip
        axes.set_title(title)
        axes.set_xlim(-0.06, 1.03)  # room for what stands above a mark at 0
        axes.grid(axis="y", visible=False)
    labels = [f"{row['defence']}   $s_U$ {row['s_U']:.2f}" for row in rows]
    panels[0].set_yticks(np.arange(len(rows)), labels=labels)
    panels[0].invert_yaxis()
    panels[0].plot([], [], "o", color=BLUE, label="the paper's strongest attack")
    panels[0].plot([], [], "s", color=VERMILION, label="the strongest attack now")
    panels[0].legend(loc="upper center", bbox_to_anchor=(0.5, -0.07), ncols=2)
    worst = max(rows, key=lambda row: row["s_R, paper"] - row["s_R"])
    alt = (
        f"For every defence a line from its score under the paper's attacks to that under all "
        f"attacks; the longest for re-identification is {worst['defence']}: from "
        f"{worst['s_R, paper']:.2f} to {worst['s_R']:.2f}."
    )
    return Picture("then_and_now", alt, figure)


@draws("bounds")
def bounds(result: StudyResult) -> list[Picture]:
    """Every score with its bounds, and the two scores against each other."""
    return [_bounds(result), _correlated(result)]


def _bounds(result: StudyResult) -> Picture:
    rows = result.tables["bounds"].records()
    figure = sheet(
        result.source, 1.55 + 0.32 * len(rows), width=9.5,
        title="The strongest attack, and what no defence could exceed",
    )  # fmt: skip
    panels = figure.subplots(1, 2, sharey=True)
    for at, row in enumerate(rows):
        panels[0].plot(row["s_R"], at, "s", color=VERMILION, zorder=3)
        panels[1].plot(row["s_T"], at, "s", color=VERMILION, zorder=3)
        reid = row["guessing"] if row["group"] is None else row["group"]
        panels[0].barh(at, reid, color=GREY, alpha=0.13, height=0.72)
        panels[1].barh(at, row["prior only"], color=GREEN, alpha=0.13, height=0.72)
        mark = {"ls": "none", "ms": 11, "mew": 2, "zorder": 2}
        panels[0].plot(reid, at, "|", color=INK, **mark)
        panels[1].plot(row["prior only"], at, "|", color=GREEN, **mark)
        panels[1].plot(row["true link, hospitals"], at, "|", color=BLUE, **mark)
        panels[1].plot(row["told, Bayes"], at, "|", color=ORANGE, **mark)
    for axes, title in zip(panels, SCORES.values(), strict=True):
        axes.set_title(title)
        axes.set_xlim(-0.03, 1.03)
        axes.grid(axis="y", visible=False)
    labels = [f"{row['defence']}   $s_U$ {row['s_U']:.2f}" for row in rows]
    panels[0].set_yticks(np.arange(len(rows)), labels=labels)
    panels[0].invert_yaxis()
    for axes, keys in (
        (panels[0], (("strongest attack", VERMILION, "s"), ("guessing, or (g - 1)/g", INK, "|"))),
        (
            panels[1],
            (
                ("strongest attack", VERMILION, "s"),
                ("never looks", GREEN, "|"),
                ("true link: $1 - s_U$, hospitals weighed", BLUE, "|"),
                ("true link and Bayes", ORANGE, "|"),
            ),
        ),
    ):
        for label, colour, marker in keys:
            axes.plot([], [], marker, color=colour, label=label, mew=2)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.07), ncols=2)
    best = max(rows, key=lambda row: min(row["s_R"], row["s_T"] / row["prior only"]))
    alt = (
        f"Scores of {len(rows)} defences under the strongest attack as squares between bounds; "
        f"nearest to its bounds is {best['defence']}: {best['s_R']:.2f} and {best['s_T']:.2f}."
    )
    return Picture("bounds", alt, figure)


def _correlated(result: StudyResult) -> Picture:
    """The two minima of every defence, under the paper's attacks and under all."""
    rows = result.tables["bounds"].records()
    figure = sheet(result.source, 3.9, width=9.5, title="Do the two risks rise together?")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    said = {"the paper's attacks": ", paper", "all attacks": ""}
    for axes, (attacks, suffix) in zip(panels, said.items(), strict=True):
        for row in rows:
            x, y = row[f"s_R{suffix}"], row[f"s_T{suffix}"]
            ordinary = row["defence"] not in FIELDS[ORDINARY]
            axes.plot(x, y, "o" if ordinary else "D", color=BLUE if ordinary else ORANGE)
        _named(axes, [(r[f"s_R{suffix}"], r[f"s_T{suffix}"], r["defence"]) for r in rows])
        usual, more = (
            _correlation(result.tables["correlations"].row(attacks=attacks, defences=field))
            for field in (ORDINARY, WITH_EQUALISE)
        )
        axes.set_title(f"Under {attacks}: r = {usual}\nwith Equalise {more}", fontsize=9.5)
        axes.axhline(rows[0]["prior only"], color=GREEN, ls="--", lw=1.2)
        axes.text(0.0, rows[0]["prior only"] + 0.015, "never looks", fontsize=7, color=GREEN)
        axes.set_xlabel("$s_R$ of the strongest re-identification")
        axes.set_xlim(-0.04, 1.08)
        axes.set_ylim(-0.04, 1.0)
    panels[0].set_ylabel("$s_T$ of the strongest trace inference")
    panels[0].plot([], [], "o", color=BLUE, label="ordinary defences: r is theirs")
    panels[0].plot([], [], "D", color=ORANGE, label="cheating, no defence, Equalise")
    panels[0].legend(loc="lower right", bbox_to_anchor=(1, 0.16), fontsize=7)  # above Cheat(1)
    alt = (
        "Two scatter plots of re-identification against trace inference scores, under the "
        "paper's attacks and under all: points that lay along a line move to the left edge."
    )
    return Picture("questions", alt, figure)


def _correlation(row: Row) -> str:
    """r with its interval."""
    if row["r"] is None:
        return "none"
    spread = "" if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f})"
    return f"{row['r']:.2f}{spread}"


def _named(axes: Axes, points: Sequence[tuple[float, float, str]]) -> None:
    """Names beside points; one that would cover another is moved up, with a line to its point."""
    taken: list[tuple[float, float]] = []
    for x, y, name in sorted(points, key=lambda point: point[1]):
        left = x > 0.7
        height = y
        ahead = [b for a, b, _ in points if x + 0.03 < a < x + 0.25]
        while any(abs(height - other) < 0.045 and abs(x - at) < 0.4 for at, other in taken) or any(
            abs(height - other) < 0.03 for other in ahead
        ):
            height += 0.01
        taken.append((x, height))
        away = 0.025 if height == y else 0.07
        axes.annotate(
            name.partition(",")[0] if "MRLH" not in name else name, (x, y),
            (x - away if left else x + away, height), va="center",
            ha="right" if left else "left", fontsize=6.5,
            arrowprops=None if height == y else {"arrowstyle": "-", "color": GREY, "lw": 0.6},
        )  # fmt: skip
