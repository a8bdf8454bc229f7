"""The page of an audit: one HTML file without script that needs nothing else.

Findings in sentences, every number as a table, bars as inline pictures.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from tracecup import __version__
from tracecup.attack.naming import is_blind
from tracecup.facts.text import clean
from tracecup.report.auditanswer import answer_parts
from tracecup.report.markup import Html, element, join, policy_hash, scrolling, section, table
from tracecup.safeio import atomic_write
from tracecup.score import Interval
from tracecup.study.audit import BINS, Audit, Audited
from tracecup.study.auditwords import CAVEATS, percent, sentences
from tracecup.study.verdict import Answer

WIDTH, LABEL, ROW = 460, 140, 26
PLOT = WIDTH - LABEL - 60
STYLE = """
svg.bars { display: block; width: 100%; max-width: 36rem; height: auto; margin: .75rem 0; }
section h3 { margin-top: 1.5rem; }
svg.bars text { fill: var(--text); font-size: 13px; }
svg.bars .value { font-variant-numeric: tabular-nums; }
svg.bars .bar { fill: var(--accent); fill-opacity: .75; }
svg.bars .whisker, svg.bars .axis { stroke: var(--text); stroke-width: 1.5; fill: none; }
svg.bars .axis { stroke: var(--muted); stroke-width: 1; }
svg.bars .mark { stroke: var(--mark); stroke-width: 2; stroke-dasharray: 5 4; }
svg.bars .mark-label { fill: var(--mark); }
:root { --mark: #a3360b; }
@media (prefers-color-scheme: dark) { :root { --mark: #ffab73; } }
@media print { :root { --mark: #000000; } }
"""


@dataclass(frozen=True)
class Bar:
    """One bar: its label, its length, the ends of its whisker, and what is written behind it."""

    label: str
    value: float
    low: float
    high: float
    said: str


def write_audit(found: Answer | Audit, path: str | os.PathLike[str], *, top: int = 10) -> None:
    """Write the page of an answer, or of an audit alone, to `path`, whole or not at all."""
    with atomic_write(path) as file:
        file.write(audit_html(found, top=top).encode("utf-8"))


def audit_html(found: Answer | Audit, *, top: int = 10) -> str:
    """The page as text, with the `top` users at most risk; same audit, same bytes.

    Its content security policy allows no request and no script. Labels of users are escaped and
    cleaned of what could disturb the page.
    """
    answer = found if isinstance(found, Answer) else None
    audit = found.worst if isinstance(found, Answer) else found
    css = resources.files("tracecup.report").joinpath("page.css").read_text("utf-8") + STYLE
    policy = (
        f"default-src 'none'; style-src '{policy_hash(css)}'; base-uri 'none'; form-action 'none'"
    )
    head = [
        element("meta", (), {"charset": "utf-8"}),
        element("meta", (), {"http-equiv": "Content-Security-Policy", "content": policy}),
        element("meta", (), {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("meta", (), {"name": "color-scheme", "content": "light dark"}),
        element("title", "Audit of a release of location traces"),
        element("style", [Html(css)]),
    ]
    body = [
        element("a", "To the findings", {"class": "skip", "href": "#findings"}),
        _banner(audit),
        element(
            "main",
            [
                *(section(*part) for part in (answer_parts(answer, top) if answer else ())),
                section("findings", "What was found", _findings(audit, told=answer is not None)),
                *_identification(audit),
                section("inference", "Trace inference", _inference(audit)),
                section("users", "Users at most risk", _users(audit, top)),
                section("method", "How it was done", _method(audit)),
            ],
        ),
    ]
    page = element("html", [element("head", head), element("body", body)], {"lang": "en"})
    return f"<!doctype html>\n{page}\n"


def bars(
    title: str, rows: Sequence[Bar], top: float, said_top: str, mark: tuple[float, str] | None
) -> Html:
    """Horizontal bars from 0 to `top` with whiskers, and a dashed line at `mark`."""
    height = ROW * len(rows) + (44 if mark else 24)
    parts = []
    for k, row in enumerate(rows):
        middle = ROW * k + ROW / 2
        parts += [
            _text(LABEL - 8, middle + 4, clean(row.label, 20), {"text-anchor": "end"}),
            element(
                "rect",
                (),
                {
                    "class": "bar",
                    "x": f"{LABEL}",
                    "y": f"{middle - 8:g}",
                    "width": f"{_x(row.value, top) - LABEL:.2f}",
                    "height": "16",
                },
            ),
            *_whisker(_x(row.low, top), _x(row.high, top), middle),
            _text(LABEL + PLOT + 8, middle + 4, row.said, {"class": "value"}),
        ]
    foot = ROW * len(rows)
    parts.append(_line("axis", LABEL, 0, LABEL, foot))
    parts += [
        _text(LABEL - 8, foot + 16, "0", {"text-anchor": "end"}),
        _text(LABEL + PLOT, foot + 16, said_top, {"text-anchor": "middle"}),
    ]
    if mark:
        at = _x(mark[0], top)
        anchor = "start" if at < LABEL + PLOT / 2 else "end"
        parts.append(_line("mark", at, 0, at, foot + 22))
        parts.append(_text(at, foot + 38, mark[1], {"class": "mark-label", "text-anchor": anchor}))
    described = "; ".join(f"{clean(row.label)} {row.said}" for row in rows)
    line = f". Dashed line: {mark[1]}" if mark else ""
    return element(
        "svg",
        parts,
        {
            "class": "bars",
            "viewBox": f"0 0 {WIDTH} {height}",
            "role": "img",
            "aria-label": f"{title}: {described}{line}",
        },
    )


def _banner(audit: Audit) -> Html:
    tiles = [("Users", str(audit.users)), ("Events known", str(audit.events))]
    if audit.reid:
        tiles.append(("Re-identified", percent(audit.identified / audit.users)))
        tiles.append(("By guessing", percent(audit.guessing)))
    if audit.linked is not None:
        tiles.append(("s_T with the release", f"{audit.linked.score.value:.3f}"))
    if audit.prior is not None:
        tiles.append(("s_T at most, without it", f"{audit.prior.score.value:.3f}"))
    if audit.bounds.true_link is not None:
        tiles.append(("s_T at most, link known", f"{audit.bounds.true_link:.3f}"))
    if audit.utility is not None:
        tiles.append(("Utility s_U", f"{audit.utility.value:.3f}"))
    shown = [
        element("div", [element("dt", name), element("dd", value)], {"class": "tile"})
        for name, value in tiles
    ]
    return element(
        "header",
        [
            element("h1", "Audit of a release of location traces"),
            element(
                "p",
                "What known attacks find out from the release, beside guessing and prior knowledge",
                {"class": "lead"},
            ),
            element("dl", shown, {"class": "tiles"}),
        ],
    )


def _findings(audit: Audit, told: bool) -> list[Html]:
    """The findings; without the first sentence where the verdict has `told` it already."""
    said = [element("p", text) for text in sentences(audit)[told:]]
    return [*said, *(element("p", text, {"class": "note"}) for text in CAVEATS)]


def _identification(audit: Audit) -> list[Html]:
    if not audit.reid:
        return []
    rows = []
    for one in audit.reid:
        low, high = _complement(one.score.interval)
        rate = 1 - one.score.value
        rows.append(Bar(one.attack, rate, low, high, percent(rate)))
    top = _nice(max(*(row.high for row in rows), audit.guessing))
    mark = (audit.guessing, f"guessing: {percent(audit.guessing)}")
    title = "Share of pseudonyms with the right name"
    numbers = table(
        title,
        ("Attack", "Rate", "Low", "High", "s_R", "Seconds"),
        [
            (row.label, row.said, percent(row.low), percent(row.high), one.score.value, one.seconds)
            for row, one in zip(rows, audit.reid, strict=True)
        ],
    )
    content = [bars(title, rows, top, percent(top), mark), scrolling(numbers, title)]
    return [section("identification", "Re-identification", content)]


def _inference(audit: Audit) -> list[Html]:
    rows = [
        Bar(
            one.attack,
            one.score.value,
            one.score.interval.low,
            1.0 if one.score.interval.high is None else one.score.interval.high,
            f"{one.score.value:.3f}",
        )
        for one in audit.trace
    ]
    prior = audit.prior
    mark = None
    if prior is not None:
        mark = (prior.score.value, f"known without the release: {prior.score.value:.3f}")
    title = "Privacy against trace inference, s_T"
    numbers = table(
        title,
        ("Attack", "Uses the release", "s_T", "Low", "High", "Error, km", "Seconds"),
        [_row(one) for one in audit.trace],
    )
    note = element(
        "p",
        "Low is bad. A bar that ends right of the dashed line says that the attack is weaker than "
        "plain habit knowledge, not that users are safer than that.",
        {"class": "note"},
    )
    return [bars(title, rows, 1.0, "1", mark), note, scrolling(numbers, title)]


def _row(one: Audited) -> tuple[str | float | None, ...]:
    return (
        one.attack,
        "no" if is_blind(one.attack) else "yes",
        one.score.value,
        one.score.interval.low,
        one.score.interval.high,
        None if one.error is None else one.error.value,
        one.seconds,
    )


def _users(audit: Audit, top: int) -> list[Html]:
    risks = audit.worst(top)
    listed = table(
        f"The {len(risks)} users at most risk: most often named, then lowest own s_T",
        ("User", "Named by", "Own s_T with the release", "Own s_T without it"),
        [
            (
                clean(risk.user),
                ", ".join(risk.identified_by) or ("nobody" if audit.reid else "not scored"),
                risk.s_t,
                risk.s_t_prior,
            )
            for risk in risks
        ],
    )
    counts = audit.histogram
    known = max(1, sum(counts))
    rows = [
        Bar(f"{k / BINS:.1f} to {(k + 1) / BINS:.1f}", n / known, n / known, n / known, str(n))
        for k, n in enumerate(counts)
    ]
    title = "Users by their own s_T with the release"
    quantiles = table(
        "Own s_T below which a share of the users lies",
        tuple(f"{q:.0%}" for q in audit.quantiles),
        [tuple(audit.quantiles.values())],
        row_heads=0,
    )
    shares = _nice(max(row.value for row in rows)) if sum(counts) else 1.0
    return [
        scrolling(listed, "Users at most risk"),
        element("h3", title),
        bars(title, rows, shares, percent(shares), None),
        scrolling(quantiles, "Quantiles"),
        element(
            "p",
            "The own s_T of a user is her lowest over the attacks, as if the attacker knew which "
            "one fits her best.",
            {"class": "note"},
        ),
    ]


def _method(audit: Audit) -> list[Html]:
    subject = audit.subject
    facts = [
        f"{audit.users} users; {subject.reference.clock.days} days of reference traces, "
        f"{subject.original.clock.days} days released, {subject.original.clock.slots} events a "
        f"day, {subject.city.n_regions} regions of which {len(subject.city.hospitals)} hospitals.",
        f"Intervals are at {100 * audit.confidence:.4g}%, with users as the independent unit.",
        *subject.notes,
        f"Made with tracecup {__version__}, seed {audit.seed}. This page loads and sends nothing.",
    ]
    return [element("ul", [element("li", clean(fact, 400)) for fact in facts])]


def _complement(interval: Interval) -> tuple[float, float]:
    return (0.0 if interval.high is None else 1 - interval.high), 1 - interval.low


def _nice(value: float) -> float:
    """The end of an axis: the next of 1, 2, 5 times a power of ten, at most 1."""
    step = 1e-6
    while step < 1:
        for factor in (1, 2, 5):
            if value <= step * factor:
                return step * factor
        step *= 10
    return 1.0


def _x(value: float, top: float) -> float:
    return LABEL + PLOT * min(max(value / top, 0.0), 1.0)


def _whisker(low: float, high: float, middle: float) -> list[Html]:
    if low == high:
        return []
    ends = ((low, 0, high, 0), (low, -4, low, 4), (high, -4, high, 4))
    return [_line("whisker", x1, middle + y1, x2, middle + y2) for x1, y1, x2, y2 in ends]


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Html:
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    return element("line", (), {"class": kind, **{k: f"{v:.2f}" for k, v in ends.items()}})


def _text(x: float, y: float, said: str, attributes: dict[str, str]) -> Html:
    return element("text", [join(said)], {"x": f"{x:.2f}", "y": f"{y:.2f}", **attributes})
