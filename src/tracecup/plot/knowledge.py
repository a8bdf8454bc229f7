"""The picture of the study `knowledge`: what an attacker who learns has to know.

High is safe.
"""

from __future__ import annotations

from tracecup.plot.race import SCORES
from tracecup.plot.style import BLUE, VERMILION, Picture, draws, sheet
from tracecup.study.knowledge import KNOWS, NEVER, OTHERS, TARGET
from tracecup.study.results import StudyResult


@draws("knowledge")
def knowledge(result: StudyResult) -> list[Picture]:
    """Attackers by what they know, by teams and by days of public data."""
    rows = result.tables["attackers"].records()
    most = max(row["teams"] for row in rows)
    days = max(row["days"] for row in rows)
    whole = [row for row in rows if (row["teams"], row["days"]) == (most, days)]
    figure = sheet(
        result.source, 3.4, width=10.5, title=f"What an attacker on {TARGET} has to know"
    )
    panels = figure.subplots(1, 3, sharey=True, width_ratios=(1.5, 1, 1))
    words = {NEVER: "never saw it", OTHERS: "saw other\nsizes of it", KNOWS: "knows the\nprogram"}
    for score, ends, colour, shift in (
        ("s_R", SCORES["s_R"], VERMILION, -0.2),
        ("s_T", SCORES["s_T"], BLUE, 0.2),
    ):
        for at, row in enumerate(whole):
            panels[0].bar(at + shift, row[score], 0.38, color=colour, alpha=0.85)
            panels[0].text(
                at + shift, row[score] + 0.02, f"{row[score]:.2f}", ha="center", fontsize=7
            )
        for axes, name, fixed, value in (
            (panels[1], "teams", "days", days),
            (panels[2], "days", "teams", most),
        ):
            some = sorted(
                (r for r in rows if r["attacker"] == KNOWS and r[fixed] == value),
                key=lambda row: row[name],
            )
            places = [row[name] for row in some]
            marker = "s-" if score == "s_R" else "o-"
            axes.plot(places, [row[score] for row in some], marker, color=colour)
            axes.set_xticks(places)
            low, high = ([row[end] for row in some] for end in ends)
            if None not in low:
                axes.fill_between(places, low, high, color=colour, alpha=0.15, lw=0)
    panels[0].set_xticks(range(len(whole)), labels=[words[row["attacker"]] for row in whole])
    panels[0].bar([0], [0], color=VERMILION, label="$s_R$: users not named")
    panels[0].bar([0], [0], color=BLUE, label="$s_T$: places not known")
    panels[0].legend(loc="upper right")
    panels[0].set_ylim(0, 1.05)
    panels[0].set_title(f"{most} teams, {days} days of references")
    panels[1].set_title("fewer teams")
    panels[1].set_xlabel("teams whose references are public")
    panels[2].set_title("fewer days")
    panels[2].set_xlabel("days of each reference")
    known = whole[-1]
    alt = (
        f"Bars and curves of an attacker's scores by what he knows; with the program and all "
        f"public data {known['s_R']:.2f} and {known['s_T']:.2f}."
    )
    return [Picture("attackers", alt, figure)]
