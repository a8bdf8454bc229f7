"""Curves and small grids of numbers: the score functions, fuzzy counts.

Lines are labelled at their ends or in a legend outside the data.
"""

from __future__ import annotations

import numpy as np

from tracecup.plot.scatters import STAGES, stages
from tracecup.plot.style import BLACK, BLUE, GREEN, GREY, INK, VERMILION, Picture, draws, sheet
from tracecup.study.results import StudyResult


@draws("fig7")
def score_functions(result: StudyResult) -> list[Picture]:
    """g_U falling and g_T rising with distance."""
    table = result.tables["functions"]
    km = table.column("distance_km")
    figure = sheet(result.source, 2.9, title="From distance to score")
    panels = figure.subplots(1, 2, sharey=True)
    words = (
        ("g_U", "$g_U$: utility", r"distance $\alpha$ to the obfuscated cell (km)", BLUE),
        ("g_T", "$g_T$: privacy", r"distance $\beta$ to the inferred region (km)", VERMILION),
    )
    for axes, (name, title, label, colour) in zip(panels, words, strict=True):
        axes.plot(km, table.column(name), color=colour)
        axes.axvline(result.numbers["lambda_U_km"], color=INK, linewidth=0.9, linestyle="--")
        axes.set(title=title, xlabel=label, xlim=(0, 3), ylim=(-0.03, 1.08))
        axes.text(2.04, 0.5, r"$\lambda$ = 2 km", fontsize=8.5)
    panels[0].set_ylabel("score")
    alt = "Two curves over distance: utility falls from 1 to 0 at 2 km, privacy rises from 0 to 1."
    return [Picture("fig7", alt, figure)]


@draws("fig11")
def fuzzy_counts(result: StudyResult) -> list[Picture]:
    """5 x 5 grids of counts: raw, fuzzy, and with the winner's parameters."""
    table, numbers = result.tables["counts"], result.numbers
    figure = sheet(result.source, 3.1, title="Fuzzy counting: a visit to region 13")
    panels = figure.subplots(1, 3)
    tuned = numbers["winner eta_0"], numbers["winner lambda_0"]
    titles = (
        "raw counting",
        rf"fuzzy, $\eta_0$ = {numbers['eta_0']:g}, $\lambda_0$ = {numbers['lambda_0']:g}",
        rf"winner, $\eta_0$ = {tuned[0]:g}, $\lambda_0$ = {tuned[1]:g}",
    )
    for axes, name, title in zip(panels, table.columns[1:], titles, strict=True):
        counts = np.array(table.column(name), dtype=float).reshape(5, 5)
        axes.imshow(counts, origin="lower", cmap="Blues", vmin=0, vmax=0.5)
        for region, count in enumerate(counts.ravel().tolist()):
            y, x = divmod(region, 5)
            shade = "white" if count > 0.3 else INK
            axes.text(x - 0.42, y + 0.28, f"{region + 1}", fontsize=5.5, color=shade)
            if count:
                axes.text(
                    x,
                    y - 0.08,
                    f"{count:.3f}".rstrip("0").rstrip("."),
                    ha="center",
                    va="center",
                    color=shade,
                    fontsize=8,
                )
        axes.set_xticks(np.arange(-0.5, 5), labels=[])
        axes.set_yticks(np.arange(-0.5, 5), labels=[])
        axes.tick_params(length=0)
        axes.grid(True, color="#B8C0CA")
        axes.set_title(title, fontsize=9)
    alt = "Three 5 x 5 grids: 1 in the middle only; 0.2, 0.121, 0.099; 0.33, 0.121, 0.0802."
    return [Picture("fig11", alt, figure)]


@draws("beyond1")
def budgets(result: StudyResult) -> list[Picture]:
    """Utility and both privacy scores over the budget of an event and of the whole trace."""
    pictures = []
    for stage in stages(result):
        table = result.tables[stage]
        events = table.column("events")[0]
        title = f"Differential privacy over {events} events, {STAGES[stage]}"
        figure = sheet(result.source_of(stage), 4.4, title=title)
        panels = figure.subplots(1, 2, sharey=True)
        lines = (
            ("s_U", "utility $s_U$", BLUE, "o", "-"),
            ("s_R,min", "re-identification $s_{R,min}$", VERMILION, "s", "-"),
            ("s_T,min", "trace inference $s_{T,min}$", GREEN, "^", "-"),
            ("ceiling of s_T", "ceiling of $s_T$ (no release seen)", BLACK, "", ":"),
        )
        names = {
            "PL": (r"PL: $\epsilon$ per km and event", "planar Laplace"),
            "RR": (r"RR: $\epsilon$ per event", "randomized response"),
        }
        for axes, (mechanism, (label, words)) in zip(panels, names.items(), strict=True):
            some = table.where(mechanism=mechanism)
            x = some.column("epsilon per event")
            for column, text, colour, marker, line in lines:
                axes.plot(
                    x, some.column(column), color=colour, marker=marker, linestyle=line,
                    label=text, markersize=4.5,
                )  # fmt: skip
            axes.axhline(0.7, color=GREY, linewidth=0.9, linestyle="--", label="utility floor 0.7")
            axes.axvspan(min(x) / 1.3, 1 / events, color=GREY, alpha=0.15, linewidth=0,
                         label=r"$\epsilon$ of the trace at most 1")  # fmt: skip
            axes.set(xscale="log", xlabel=label, ylim=(-0.02, 1.03))
            axes.set_xlim(min(x) / 1.3, max(x) * 1.3)
            top = axes.secondary_xaxis(
                "top", functions=(lambda e, k=events: e * k, lambda e, k=events: e / k)
            )
            top.set_xlabel(rf"{words}: $\epsilon$ of the trace ({events} events)")
        panels[0].set_ylabel("score")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        alt = (
            "Two charts over the budget of an event, planar Laplace and randomized response: where "
            "the budget of the trace is small, utility is near zero; at the utility floor the "
            "budget of the trace is in the hundreds or thousands."
        )
        pictures.append(Picture(f"beyond1-{stage}", alt, figure))
    return pictures


@draws("fig19")
def at_home(result: StudyResult) -> list[Picture]:
    """Probability of being at home over the day; the part that the contest uses is marked."""
    table, seen = result.tables["home"], result.tables["contest"]
    hours, share = [minute / 60 for minute in table.column("minute")], table.column("probability")
    figure = sheet(result.source, 3.8, title="Probability of being at home")
    left, right = figure.subplots(1, 2)
    left.plot(hours, share, color=BLUE)
    left.axvspan(8, 18, color=GREEN, alpha=0.08, linewidth=0)
    left.text(13, 0.9, "what the contest uses", ha="center", fontsize=8.5)
    left.text(17.9, share[-1] + 0.03, f"{share[-1]:.2f}", ha="right", fontsize=8.5, color=BLUE)
    left.set(title="built-in city", ylabel="share of users at home", xlim=(6, 18))
    left.set_ylim(0, 1.03)
    # At 8:00 itself everybody is there by definition.
    later = [row for row in seen.records() if row["minute"] > seen.column("minute")[0]]
    for name, colour, marker in zip(
        seen.columns[1:], (BLUE, VERMILION, GREEN), "os^", strict=False
    ):
        right.plot(
            [row["minute"] / 60 for row in later], [row[name] for row in later], color=colour,
            marker=marker, markersize=4, label=name,
        )  # fmt: skip
    right.set(title="in the region of 8:00 again", ylabel="share of users who start there")
    right.set(xlim=(8, 18))
    right.set_ylim(bottom=0)
    right.legend(loc="upper center")
    for axes, first in ((left, 6), (right, 8)):
        ticks = range(first, 19, 2)
        axes.set_xticks(ticks, labels=[f"{hour}:00" for hour in ticks])
        axes.set_xlabel("time of day")
    alt = (
        "Left: share of users at home over the day, near 1 from 6:00 to 8:00, low at noon, a tenth "
        "at 18:00. Right: share in the region of 8:00 at later times, the built-in city beside "
        "the contest's own traces."
    )
    return [Picture("fig19", alt, figure)]
