"""The first part of an audit's page: the verdict, what to do, and what known points tell.

The attacks follow in `tracecup.report.audit`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracecup.facts.text import clean
from tracecup.report.markup import Html, element, scrolling, table
from tracecup.study.auditwords import percent
from tracecup.study.protections import USES
from tracecup.study.verdict import Answer
from tracecup.study.verdictwords import exposed, known_rows, verdict, what_to_do

Part = tuple[str, str, Sequence[Html]]


def answer_parts(answer: Answer, top: int) -> list[Part]:
    """(key, title, content) of every section, in the order of the page."""
    parts: list[Part] = [("verdict", "Verdict", _verdict(answer))]
    if answer.protections:
        parts.append(("what-to-do", "What to do", _protections(answer)))
    if answer.exposure is not None:
        parts.append(("known-points", "Known points", _known_points(answer)))
        if top:
            parts.append(("why", "The most exposed users, and why", _why(answer, top)))
    return parts


def _verdict(answer: Answer) -> list[Html]:
    first, *others = verdict(answer)
    # It names all families that were run and all that are known to be stronger.
    said = [element("p", [element("strong", clean(first, 3000))])]
    said += [element("p", clean(text, 600)) for text in others]
    if len(answer.settings) > 1:
        title = "Ways to cut the records, the worst first"
        rows = [(one.words, percent(one.rate), one.found.users) for one in answer.settings]
        said.append(scrolling(table(title, ("Setting", "Named", "Users"), rows), title))
    return said


def _protections(answer: Answer) -> list[Html]:
    title = "Protections run on the owner's own records"
    rows = [
        (
            one.name,
            "yes" if answer.helps(one) else "no",
            percent(one.rate),
            percent(one.alone),
            None if one.homes is None else percent(one.homes),
            one.points,
            one.crowds,
            one.flows,
            one.attack,
            one.guarantee or "none",
        )
        for one in answer.protections
    ]
    heads = (
        "Protection",
        "Enough",
        "Named",
        "Alone with 4 visits",
        "Homes found",
        "Points",
        "Crowds",
        "Flows",
        "Strongest attack",
        "Promise by proof",
    )
    uses = [element("li", [element("strong", name), f": {meaning}."]) for name, meaning in USES]
    said = [element("p", clean(text, 600)) for text in what_to_do(answer)]
    return [*said, scrolling(table(title, heads, rows), title), element("ul", uses)]


def _known_points(answer: Answer) -> list[Html]:
    if answer.exposure is None:
        return []
    title = "How often a person is alone with what is known of her"
    rows = known_rows(answer.exposure)
    listed = table(title, ("What is known", "How much", "Alone", "Mean risk or interval"), rows)
    note = element(
        "p",
        "Risk is 1 / (people who fit), in the mean over users; two numbers say what was found and "
        "what cannot be exceeded. For visits the interval of the share is given, which has no "
        "width where all choices were counted. Gaps are left out.",
        {"class": "note"},
    )
    return [scrolling(listed, title), note]


def _why(answer: Answer, top: int) -> list[Html]:
    rows = [(clean(user), clean("; ".join(why), 600)) for user, why in exposed(answer, top)]
    title = f"The {len(rows)} most exposed users"
    return [scrolling(table(title, ("User", "Why"), rows), title)]
