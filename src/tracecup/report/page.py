"""The report of a contest: one HTML file that needs nothing else, on or off the network.

Text for a student who was not there, and every number behind the charts.
"""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import metadata, resources

from tracecup.charts import maps, matrices, risk, scores, tracemaps
from tracecup.charts.figure import Figure
from tracecup.charts.words import status, who
from tracecup.contest.standing.awards import AWARDS
from tracecup.facts import AttackerFacts, AwardFacts, ContestFacts
from tracecup.facts.board import SYMBOLS, TITLES
from tracecup.facts.text import Cell, clean
from tracecup.methodnames import short_method
from tracecup.report.figures import figure, script, views_of
from tracecup.report.lessons import lessons
from tracecup.report.markup import Html, data_block, element, name_of, policy_hash, scrolling, table
from tracecup.safeio import atomic_write

VIEWS = "views"


def write_report(facts: ContestFacts, path: str | os.PathLike[str]) -> None:
    """Write the report of a contest to `path`, whole or not at all.

    The file is self-contained: its content security policy allows no request at all. The same
    facts give the same bytes. About 1 MB plus the maps, and about 5 s,
    most of it for the JavaScript and the still pictures.
    """
    text = report_html(facts)
    with atomic_write(path) as file:
        file.write(text.encode("utf-8"))


def report_html(facts: ContestFacts) -> str:
    """The report as text; see `write_report`."""
    facts.check()
    sections = _sections(facts)
    charts = [chart for section in sections for chart in section.charts]
    css = resources.files("tracecup.report").joinpath("page.css").read_text("utf-8")
    program = script()
    title = f"{clean(facts.name)}: report"
    head = [
        element("meta", (), {"charset": "utf-8"}),
        element(
            "meta",
            (),
            {"http-equiv": "Content-Security-Policy", "content": _policy(program, css)},
        ),
        element("meta", (), {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("meta", (), {"name": "color-scheme", "content": "light dark"}),
        element("meta", (), {"name": "referrer", "content": "no-referrer"}),
        element("title", title),
        element("style", [Html(css)]),
    ]
    body = [
        element("a", "Skip to the content", {"class": "skip", "href": "#content"}),
        _banner(facts),
        _contents(sections),
        element("main", [section.html for section in sections], {"id": "content"}),
        _footer(facts),
        data_block(VIEWS, views_of(charts)),
        element("script", [Html(program)], {"type": "module"}),
    ]
    page = element("html", [element("head", head), element("body", body)], {"lang": "en"})
    return f"<!doctype html>\n{page}\n"


class Section:
    """A part of the page: heading, text and charts."""

    def __init__(self, key: str, title: str, text: list[Html], *charts: Figure | None) -> None:
        self.key, self.title = key, title
        self.charts = [chart for chart in charts if chart is not None]
        heading = element("h2", title, {"id": f"{key}-heading"})
        self.html = element(
            "section",
            [heading, *text, *(figure(chart) for chart in self.charts)],
            {"id": key, "aria-labelledby": f"{key}-heading"},
        )


def _sections(facts: ContestFacts) -> list[Section]:
    board, city = facts.board, facts.city
    # The headings of these sections are the titles that the charts have elsewhere.
    minima = replace(scores.scatter(board), title="Lowest scores of every release")
    utility = replace(scores.utility(board, facts.floor), title="Utility against privacy")
    found = [
        Section("contest", "What this contest is", _contest_text(facts)),
        Section("rules", "The rules", [scrolling(_rules(facts), "The rules of this contest")]),
        Section("awards", "Awards and standings", _standings(facts)),
        Section("minima-section", "Two kinds of privacy", _minima_text(), minima),
        Section(
            "matrices",
            "Who broke whom",
            [
                element(
                    "p",
                    "Two tables of scores as pictures, one for each kind of attack. A row that "
                    "stands out is a weak release, a column that stands out is a strong attacker.",
                ),
                *_knew(facts),
            ],
            *map(matrices.heat_map, board.matrices),
        ),
        Section("utility-section", "What privacy costs", [], utility),
        Section(
            "risk-section",
            "The risk of each user",
            [],
            risk.risk_bands(facts),
            risk.risk_histogram(facts),
        ),
        Section(
            "maps",
            "The city and one user",
            [],
            maps.population_map(city, facts.population) if city and facts.population else None,
            tracemaps.example_maps(city, facts.example) if city and facts.example else None,
        ),
        Section("lessons", "What to learn from it", lessons(facts)),
    ]
    always = {"contest", "rules", "awards", "lessons"}
    return [section for section in found if section.charts or section.key in always]


def _policy(program: str, css: str) -> str:
    """No request to anywhere; only this very script and style, and pictures inside the page."""
    return (
        f"default-src 'none'; script-src '{policy_hash(program)}'; style-src '{policy_hash(css)}'; "
        "img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )


def _banner(facts: ContestFacts) -> Html:
    winner = next((award for award in facts.board.awards if award.winners), None)
    tiles = [("Releases", str(len(facts.board.releases))), ("Attackers", str(_attackers(facts)))]
    if facts.board.correlation.value is not None:
        tiles.append(("Correlation R", f"{facts.board.correlation.value:.3f}"))
    shown = [
        element("div", [element("dt", name), element("dd", value)], {"class": "tile"})
        for name, value in tiles
    ]
    if winner is not None:
        names = ", ".join(clean(name) for name in winner.winners)
        shown.append(
            element(
                "div",
                [element("dt", clean(winner.title)), element("dd", [element("bdi", names)])],
                {"class": "tile"},
            )
        )
    return element(
        "header",
        [
            element("h1", [name_of(facts.name)]),
            element("p", clean(facts.summary, 300), {"class": "lead"}),
            element("dl", shown, {"class": "tiles"}),
        ],
    )


def _attackers(facts: ContestFacts) -> int:
    names = {a.label for m in facts.board.matrices for a in m.attackers if not a.sample}
    return len(names)


def _contents(sections: list[Section]) -> Html:
    items = [
        element("li", [element("a", section.title, {"href": f"#{section.key}"})])
        for section in sections
    ]
    return element("nav", [element("ol", items)], {"aria-label": "Contents"})


def _contest_text(facts: ContestFacts) -> list[Html]:
    return [
        element(
            "p",
            "A location trace says where a person was, hour after hour. Each team gets the traces "
            "of its own users and changes them, so that they can be published: places may be "
            "moved, blurred to a set of regions, or deleted. The judge then shuffles the users and "
            "replaces their names by pseudonyms. That is the release.",
        ),
        element(
            "p",
            "Every team then attacks the releases of all others. It knows where the same users "
            "were on earlier days (the reference traces) and tries two things: re-identification, "
            "which pseudonym is which user; and trace inference, where each user really was.",
        ),
        element(
            "dl",
            [
                *_term(
                    "Utility, s_U",
                    "How close the released places are to the real ones, from 0 to 1. Below "
                    f"{facts.floor:g} a release is not valid.",
                ),
                *_term(
                    "Re-identification privacy, s_R",
                    "1 minus the share of pseudonyms that the attacker gave the right name.",
                ),
                *_term(
                    "Trace-inference privacy, s_T",
                    "How far the inferred places are from the real ones, from 0 (all right) to 1 "
                    "(all two kilometres off or more, unless the rules say otherwise). Hospital "
                    "regions count more, because being seen there hurts more.",
                ),
                *_term(
                    "Minimum",
                    "A release is as private as the strongest attack on it leaves it: s_R,min and "
                    "s_T,min are the lowest scores over all attackers. Higher is better for the "
                    "team.",
                ),
                *_term(
                    "Benchmark",
                    "Traces that the organisers only shuffled, without any change. It shows what "
                    "pseudonyms alone are worth.",
                ),
                *_term(
                    "Out of competition",
                    "A release that shows something and takes no part in the awards (hors "
                    "concours).",
                ),
            ],
            {"class": "terms"},
        ),
    ]


def _term(name: str, meaning: str) -> list[Html]:
    return [element("dt", name), element("dd", meaning)]


def _rules(facts: ContestFacts) -> Html:
    rows = [(clean(name), clean(value, 300)) for name, value in facts.rules]
    return table("The rules of this contest", ("Rule", "Value"), rows)


def _standings(facts: ContestFacts) -> list[Html]:
    board = facts.board
    shown = [scrolling(_award_table(board.awards), "Awards")] if board.awards else []
    rows = sorted(board.releases, key=lambda one: (not one.attacked, -(one.trace_min or 0.0)))
    with_error = any(one.expected_error_km is not None for one in rows)
    with_ranks = any(board.ranks(one) is not None for one in rows)
    header = ["Release", "Team", "Obfuscation", "s_U", "s_R,min", "at most"]
    header += ["s_T,min", "at most", "link known"]
    header += ["Expected error, km"] if with_error else []
    header += ["Rank interval (95%)"] if with_ranks else []
    body: list[list[Cell]] = []
    for one in rows:
        line: list[Cell] = [one.label, who(one), clean(short_method(one.method))]
        line += [one.utility, one.reid_min, one.bounds.reid]
        line += [one.trace_min, one.ceiling, one.true_link]
        line += [one.expected_error_km] if with_error else []
        line += [_ranks(board.ranks(one))] if with_ranks else []
        body.append([*line, status(one.status)])
    standings = table(
        "Standings: releases by privacy against trace inference", (*header, "Status"), body
    )
    return [
        *shown,
        scrolling(standings, "Standings"),
        *_bounds_text(facts),
        scrolling(_attack_table(facts), "Attackers"),
        element(
            "p",
            "Sums run over the targets that the rules name; own and invalid targets count 0, "
            "targets not attacked count 1. A lower sum is a stronger attacker.",
            {"class": "note"},
        ),
    ]


def _bounds_text(facts: ContestFacts) -> list[Html]:
    """What the bounds beside the scores say, and whom they take the credit from."""
    said = [
        "Beside each score stands the most that any release could have. For s_R it is what "
        "guessing leaves, or guessing inside a group where the method makes groups of users alike. "
        "For s_T it is what an attacker who never saw the release can reach. "
        '"Link known" is for an attacker who is told which pseudonym is whose: answering the '
        "released places gets s_T down to 1 - s_U or below, with all regions weighted alike."
    ]
    if facts.true_link_at_floor is not None:
        said.append(
            f"With the weight that hospitals have here, that is {facts.true_link_at_floor:.3f} for "
            f"a release at the floor {facts.floor:g}."
        )
    above = [one.label for one in facts.board.releases if one.uncredited]
    if above:
        many, it = ("lie", "them") if len(above) > 1 else ("lies", "it")
        said.append(
            f"{', '.join(above)} {many} above that: the attacks on {it} were weaker than plain "
            "prior knowledge, which is no merit of the defence."
        )
    return [element("p", " ".join(said), {"class": "note"})]


def _ranks(ranks: tuple[int, int] | None) -> str:
    if ranks is None:
        return "–"
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}–{ranks[1]}"


def _award_table(awards: tuple[AwardFacts, ...]) -> Html:
    rows = [
        (
            clean(award.title, 120),
            ", ".join(clean(name) for name in award.winners) or "nobody",
            award.value,
            _measure(award),
        )
        for award in awards
    ]
    return table("Awards", ("Award", "Winner", "Value", "Decided by"), rows)


def _measure(award: AwardFacts) -> str:
    """What decides an award, in words."""
    kind = AWARDS.get(award.key)
    measure = f"{kind.measure[0].lower()}{kind.measure[1:]}" if kind else "score"
    return f"{'lowest' if award.better == 'lower' else 'highest'} {measure}"


def _attack_table(facts: ContestFacts) -> Html:
    """One line per attacking team, the strongest trace inference first."""
    kinds = facts.board.matrices
    told = [{one.label: one for one in kind.attackers if not one.sample} for kind in kinds]
    names = {label: clean(one.name) for attackers in told for label, one in attackers.items()}
    sums = {one.label: one.sum for one in facts.board.trace.attackers if one.sum is not None}
    nothing = AttackerFacts("", "")
    rows: list[list[Cell]] = []
    for label in sorted(names, key=lambda one: sums.get(one, float("inf"))):
        line: list[Cell] = [label, names[label]]
        for attackers in told:
            one = attackers.get(label, nothing)
            line += [clean(one.attack), one.sum]
        rows.append(line)
    header = ["Attacker", "Team"]
    for kind in kinds:
        header += [TITLES[kind.kind].capitalize(), f"Sum of {SYMBOLS[kind.kind]}"]
    return table("Attackers: sums of the scores they left to others", header, rows)


def _knew(facts: ContestFacts) -> list[Html]:
    """What the judge's sample attacks knew, beside their scores; nothing where none tells it."""
    rows = [
        (one.release, f"{one.attacker} {clean(one.attack)}", SYMBOLS[matrix.kind], one.score,
         clean(one.knew, 500))
        for matrix in facts.board.matrices
        for one in matrix.knew
    ]  # fmt: skip
    if not rows:
        return []
    title = "What the sample attacks knew"
    said = (
        "The better an attacker knows people's habits, and what the method does, the lower the "
        "score it leaves. The nearer a prior's log-likelihood (nats) is to 0, the better it knows "
        "them."
    )
    shown = table(title, ("Release", "Sample attack", "Score", "Value", "It knew"), rows)
    return [
        element(
            "details",
            [element("summary", title), element("p", said), scrolling(shown, title)],
        )
    ]


def _minima_text() -> list[Html]:
    return [
        element(
            "p",
            "Do the two kinds of attack measure the same thing? In the paper's contest they nearly "
            "did (R = 0.895 over 17 teams and the benchmark), because teams that had to stand up "
            "to trace inference also made their users hard to re-identify.",
        )
    ]


def _footer(facts: ContestFacts) -> Html:
    made = (
        [element("p", ["Made with ", clean(facts.made_with, 300), "."])] if facts.made_with else []
    )
    return element(
        "footer",
        [
            *made,
            element(
                "p",
                [
                    "The contest and both findings: Takao Murakami and others, ",
                    element("cite", "Designing a Location Trace Anonymization Contest"),
                    ", PoPETs 2023.",
                ],
            ),
            element(
                "p",
                "Charts by Vega, Vega-Lite and Vega-Embed, copyright University of Washington "
                "Interactive Data Lab, BSD 3-clause licence, and their dependencies (D3 and "
                "others: ISC and MIT licences), contained in this file. This page loads nothing "
                "and sends nothing.",
            ),
            *_licence(),
        ],
    )


def _licence() -> list[Html]:
    """The conditions of the BSD 3-clause licence, which go with the chart library inside."""
    text = metadata.distribution("vl-convert-python").read_text("licenses/LICENSE") or ""
    _, _, conditions = text.partition("\n\n")
    if not conditions:
        return []
    paragraphs = [element("p", part.strip()) for part in conditions.split("\n\n")]
    summary = element("summary", "Terms of the BSD 3-clause licence")
    return [element("details", [summary, *paragraphs])]
