"""Scatter plots of privacy scores: sample obfuscations, teams, clusters, expected error.

A point is a release; hollow points are below the utility floor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracecup.plot.labels import name_points
from tracecup.plot.style import (
    BLACK,
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    MARKERS,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    Picture,
    bare,
    draws,
    sheet,
)
from tracecup.plot.teams2019 import KINDS, final_round
from tracecup.study.field import tidy
from tracecup.study.fig9 import OBFUSCATED
from tracecup.study.results import StudyResult, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAMILIES = {
    "None": (BLACK, "*"),
    "MRLH": (BLUE, "s"),
    "RR": (ORANGE, "^"),
    "PL": (GREEN, "o"),
    "Cheat": (VERMILION, "X"),
}
BOT_FAMILIES = {
    "KMeans": (PURPLE, "P"),
    "RareShift": (SKY, "D"),
    "PL": (GREEN, "o"),
    "RR": (ORANGE, "^"),
    "MRLH": (BLUE, "s"),
    "Cheat": (VERMILION, "X"),
    "None": (GREY, "v"),
    "benchmark": (BLACK, "*"),
}
# Where most bots of Figure 9 crowd: small s_R.
CROWDED = 0.2
KEY_COLUMNS = 3
STAGES = {
    "long": "20-day traces of the built-in city",
    "sample": "2-day traces of the Osaka sample",
}
X, Y = "re-identification privacy $s_{R,min}$", "trace inference privacy $s_{T,min}$"
# Which points of Figure 8 are named.
NAMED = ("None", "Cheat(1)", "Cheat(0.5)", "PL(0.1,1)", "PL(4,1)", "RR(8)", "MRLH(1,1,0.5)")


def stages(result: StudyResult) -> list[str]:
    """The stages a result has tables for; the paper's long traces first."""
    return [name for name in STAGES if name in result.tables]


@draws("fig8")
def sample_obfuscations(result: StudyResult) -> list[Picture]:
    """s_R,min against s_T,min: the organisers' sub-sampling, and all cells."""
    pictures = []
    for stage in stages(result):
        table = result.tables[stage]
        title = f"The 37 sample obfuscations, {STAGES[stage]}"
        figure = sheet(result.source_of(stage), 4.6, title=title)
        left, right = figure.subplots(1, 2, sharex=True, sharey=True)
        for axes, ending, words in (
            (left, " organisers", "organisers' sub-sampling"),
            (right, "", "all cells"),
        ):
            _families(axes, table, ending)
            axes.set(title=words, xlabel=X)
            axes.margins(0.09)
        left.set_ylabel(Y)
        handles, labels = right.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=7)
        _name_samples(left, table, " organisers")
        _name_samples(right, table, "")
        alt = (
            f"Two scatter plots of privacy scores on {STAGES[stage]}: all families rise together "
            "except Cheat, which moves right without rising."
        )
        pictures.append(Picture(f"fig8-{stage}", alt, figure))
    return pictures


def _families(axes: Axes, table: Table, ending: str) -> None:
    x, y = f"s_R,min{ending}", f"s_T,min{ending}"
    for family, (colour, marker) in FAMILIES.items():
        rows = table.where(family=family, sweep=False).records()
        for valid in (True, False):
            some = [row for row in rows if row["valid"] is valid]
            axes.scatter(
                [row[x] for row in some], [row[y] for row in some], marker=marker, s=60 if
                family == "None" else 34, facecolors=colour if valid else "none",
                edgecolors=colour, linewidths=1.2, zorder=3, label=family if valid else None,
            )  # fmt: skip
        if not ending:
            swept = table.where(family=family, sweep=True).records()
            axes.scatter(
                [row[x] for row in swept], [row[y] for row in swept], marker=".", s=16,
                color=colour, zorder=2, alpha=0.7,
            )  # fmt: skip
    axes.scatter([], [], marker="o", facecolors="none", edgecolors=GREY, label="$s_U$ < 0.7")
    if not ending:
        axes.scatter([], [], marker=".", s=16, color=GREY, label="finer sweep")


def _name_samples(axes: Axes, table: Table, ending: str) -> None:
    rows = table.where(sweep=False).records() if ending else table.records()
    places = [(row[f"s_R,min{ending}"], row[f"s_T,min{ending}"]) for row in rows]
    named = [k for k, row in enumerate(rows) if row["method"] in NAMED and not row["sweep"]]
    name_points(
        axes,
        [places[k] for k in named],
        [rows[k]["method"] for k in named],
        avoid=places,
        colours=[FAMILIES[rows[k]["family"]][0] for k in named],
    )


@draws("fig9")
def teams(result: StudyResult) -> list[Picture]:
    """The final round, a season of bots, the preliminary round, as far as they are there."""
    pictures = []
    if "final" in result.tables:
        pictures.append(final_round(result))
    if "season" in result.tables:
        pictures.append(_season(result))
    if "preliminary" in result.tables:
        pictures.append(_preliminary(result))
    return pictures


def _season(result: StudyResult) -> Picture:
    """Every release of the season by number, the crowded corner again, and who is who."""
    rows = result.tables["season"].records()
    size = f"{result.sizes['teams (season)']} bots, {result.sizes['users (season)']} users"
    title = f"A season of {size}, 20-day traces"
    figure = sheet(result.source_of("season"), 6.4, title=title)
    panels = figure.subplot_mosaic([["all", "near"], ["key", "key"]], height_ratios=(3, 0.8))
    drawn = [row for row in rows if row["valid"] or _beside(row)]
    crowd = [row for row in drawn if row["s_R,min"] <= CROWDED and not _benchmark(row)]
    crowd = [row for row in crowd if row["s_T,min"] >= 0.5 * CROWDED]
    for axes, some in ((panels["all"], drawn), (panels["near"], crowd)):
        for family, (colour, marker) in BOT_FAMILIES.items():
            kin = [row for row in some if _family(row) == family]
            axes.scatter(
                [row["s_R,min"] for row in kin], [row["s_T,min"] for row in kin], color=colour,
                marker=marker, s=110 if marker == "*" else 34, zorder=3,
                label=family if axes is panels["all"] else None,
            )  # fmt: skip
        axes.set(xlabel=X)
        axes.margins(0.12)
    said = "all teams"
    if "correlation, season" in result.numbers:
        said = f"R = {result.numbers['correlation, season']:.3f} (paper: 0.895)"
    panels["all"].set(title=said, ylabel=Y)
    panels["near"].set_title("the crowded corner")
    _key(panels["key"], rows)
    figure.legend(loc="outside lower center", ncols=8, columnspacing=0.9, handletextpad=0.1)
    corner = [row["file"] for row in crowd]
    far = [row for row in drawn if row["file"] not in corner]
    for axes, some in ((panels["all"], far), (panels["near"], crowd)):
        places = [(row["s_R,min"], row["s_T,min"]) for row in some]
        other = [(row["s_R,min"], row["s_T,min"]) for row in drawn] if some is far else ()
        name_points(axes, places, [_number(row) for row in some], avoid=other, radius=4.5)
    alt = (
        "Scatter plots of both minimum scores of every release of a season of bots, the crowded "
        "corner again, and a key of their obfuscations: they rise together, except cheating, which "
        "has the highest s_R and the lowest s_T."
    )
    return Picture("fig9-season", alt, figure)


def _key(axes: Axes, rows: list[dict[str, Any]]) -> None:
    """Number and obfuscation of every team, in columns."""
    bare(axes)
    lines = [f"{_number(row)}  {_named(row)}" for row in rows if not _benchmark(row)]
    deep = -(-len(lines) // KEY_COLUMNS)
    for k in range(KEY_COLUMNS):
        text = "\n".join(lines[k * deep : (k + 1) * deep])
        axes.text(k / KEY_COLUMNS, 1, text, va="top", fontsize=7.6, linespacing=1.35,
                  transform=axes.transAxes)  # fmt: skip


def _benchmark(row: dict[str, Any]) -> bool:
    return bool(row["role"] == "benchmark")


def _beside(row: dict[str, Any]) -> bool:
    return bool(row["hors concours"])


def _number(row: dict[str, Any]) -> str:
    return "benchmark" if _benchmark(row) else str(int(row["team"]))


def _family(row: dict[str, Any]) -> str:
    return "benchmark" if _benchmark(row) else str(row["obfuscation"]).split("(")[0]


def _named(row: dict[str, Any]) -> str:
    name = tidy(row["obfuscation"]).replace("hospital=false", "no hospitals")
    if _beside(row):
        return f"{name}, hors concours"
    return name if row["valid"] else f"{name}, below the floor"


def _preliminary(result: StudyResult) -> Picture:
    """The preliminary round: trace-inference files and the benchmark, others in grey."""
    table, numbers = result.tables["preliminary"], result.numbers
    title = "Privacy scores of the preliminary round"
    figure = sheet(result.source_of("preliminary"), 4.8, title=title)
    axes, near = figure.subplots(1, 2)
    for panel in (axes, near):
        for challenge, look in KINDS:
            rows = table.where(challenge=challenge).records()
            panel.scatter([r["s_R,min"] for r in rows], [r["s_T,min"] for r in rows], **look)
        panel.set(xlabel=X)
    name = "correlation, trace-inference files and benchmark"
    low, high = numbers[f"{name}, 95% low"], numbers[f"{name}, 95% high"]
    axes.set(title="All files", ylabel=Y, xlim=(0.805, 0.995))
    near.set(title="Most obfuscated files, closer", xlim=(0.93, 0.985), ylim=(0.8215, 0.829))
    axes.text(
        0.03, 0.97, f"R = {numbers[name]:.3f}\n95% {low:.2f} to {high:.2f}\n(blue and star)\n\n"
        f"R = {numbers[OBFUSCATED]:.2f}\n(blue without 010)",
        transform=axes.transAxes, va="top", fontsize=8.5,
    )  # fmt: skip
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    rows = table.where(challenge="trace").records()
    for panel, some in (
        (axes, [row for row in rows if row["s_R,min"] < 0.9]),
        (near, [row for row in rows if row["s_R,min"] >= 0.93]),
    ):
        places = [(row["s_R,min"], row["s_T,min"]) for row in some]
        name_points(panel, places, [row["team"] for row in some])
    alt = (
        "Scatter plots of the minimum scores of the preliminary round: unobfuscated files at the "
        "lower left, all obfuscated ones close together at s_T about 0.825."
    )
    return Picture("fig9-preliminary", alt, figure)


@draws("fig10")
def clusters(result: StudyResult) -> list[Picture]:
    """The largest clusters before and after, in the same plane."""
    pictures = []
    for stage in stages(result):
        table, numbers = result.tables[stage], result.numbers
        title = f"Visit counts and the k-means defence, {STAGES[stage]}"
        figure = sheet(result.source_of(stage), 4.2, title=title)
        panels = figure.subplots(1, 2, sharex=True, sharey=True)
        for axes, when in zip(panels, ("before", "after"), strict=True):
            for cluster in sorted(set(table.column("cluster"))):
                rows = table.where(cluster=cluster)
                x, y = rows.column(f"x {when}"), rows.column(f"y {when}")
                look = {"color": COLOURS[cluster - 1], "marker": MARKERS[cluster - 1]}
                axes.scatter(x, y, s=16, alpha=0.55, linewidths=0, **look)
                axes.scatter(
                    [sum(x) / len(x)], [sum(y) / len(y)], s=60, edgecolors=BLACK,
                    linewidths=1, zorder=4, label=f"cluster {cluster} ({len(x)} users)", **look,
                )  # fmt: skip
            spread = numbers[f"spread {when} ({stage})"]
            axes.set(title=f"{when}: spread {spread:,.0f}", xlabel="first direction (visits)")
        for way, limits in (("x", panels[0].set_xlim), ("y", panels[0].set_ylim)):
            both = [*table.column(f"{way} before"), *table.column(f"{way} after")]
            low, high = min(both), max(both)
            limits(low - 0.05 * (high - low), high + 0.05 * (high - low))
        panels[0].set_ylabel("second direction (visits)")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        alt = (
            "Users of four clusters in a plane, before and after: clusters overlap before and are "
            "tight around their means after."
        )
        pictures.append(Picture(f"fig10-{stage}", alt, figure))
    return pictures


@draws("fig12")
def expected_error(result: StudyResult) -> list[Picture]:
    """s_T against the expected error, and the correlation by hospital weight."""
    pictures = []
    for stage in stages(result):
        points, weights = result.tables[stage], result.tables[f"{stage}_weights"]
        title = f"$s_T$ and the expected error, {STAGES[stage]}"
        figure = sheet(result.source_of(stage), 4.0, title=title)
        left, right = figure.subplots(1, 2)
        for row in points.records():
            benchmark = row["defence"] == "None"
            left.scatter(
                row["s_T,min"], row["expected error (km)"], s=90 if benchmark else 30,
                color=VERMILION if benchmark else BLUE, marker="*" if benchmark else "o",
                label="benchmark" if benchmark else None,
            )  # fmt: skip
        if stage == "long" and "teams" in result.tables:
            low = min(points.column("expected error (km)"))
            marks = result.tables["teams"].column("s_T,min")
            left.plot(marks, [low] * len(marks), linestyle="none", marker="|", color=PURPLE,
                      label="teams of the final, $s_T$ only")  # fmt: skip
        at = weights.row(weight=10.0)["R"]
        left.scatter([], [], s=30, color=BLUE, label="valid defence")
        left.set(title=f"hospital weight 10: R = {at:.3f}", xlabel=Y, ylabel="expected error (km)")
        left.legend(loc="best")
        w = weights.column("weight")
        right.fill_between(w, weights.column("low"), weights.column("high"), color=BLUE, alpha=0.15,
                           linewidth=0, label="95% interval")  # fmt: skip
        right.plot(w, weights.column("R"), color=BLUE, marker="o", label="ours")
        published = [c for c in result.comparisons if _at_weight(c.what, stage)]
        right.plot(
            [10, 100, 1000], [c.published for c in published], color=PURPLE, marker="D",
            linestyle="none", label="published (17 teams)",
        )  # fmt: skip
        right.set(title="Correlation by weight", xlabel="hospital weight", ylabel="R", xscale="log")
        right.set_ylim(min(0.0, *weights.column("low")) - 0.02, 1.02)
        right.legend(loc="lower left")
        alt = (
            "Left: trace inference score against expected error, one point a defence. Right: their "
            "correlation as the hospital weight grows from 1 to 1000, published values beside it."
        )
        pictures.append(Picture(f"fig12-{stage}", alt, figure))
    return pictures


def _at_weight(what: str, stage: str) -> bool:
    """Whether a comparison is one of the published correlations by weight."""
    return what.startswith("correlation at hospital weight") and what.endswith(f"({stage})")
