"""One self-contained page of all pictures and numbers, and the same comparisons as Markdown.

Pictures are embedded; nothing is loaded from anywhere.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from tracecup.study.reproduce import Record, Study
from tracecup.study.results import COMPARISON_HEAD, Comparison, Table

MOST_ROWS = 60
QUICK = "Quick run: fewer users and steps"

STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --paper: #fff; --line: #d5dae1; --soft: #f3f5f7;
  --good: #00694d; --bad: #a84300; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --paper: #14181d; --line: #3a424c;
  --soft: #1e242b; --good: #4fd1a5; --bad: #ff9d5c; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { border-top: 1px solid var(--line); padding-top: 1.5rem; margin-top: 2rem; }
img { max-width: 100%; height: auto; background: #fff; }
figure { margin: 1rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; }
th, td { border: 1px solid var(--line); padding: 0.25rem 0.5rem; text-align: left;
  vertical-align: top; }
th { background: var(--soft); }
.inside { color: var(--good); font-weight: 600; }
.outside { color: var(--bad); font-weight: 600; }
.made { font-size: 0.8rem; opacity: 0.8; }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 0.75rem; }
.inside, .outside { white-space: nowrap; }
"""


@dataclass(frozen=True)
class Shown:
    """One study as the page shows it; `alts` and `pictures` by picture name."""

    study: Study
    record: Record
    alts: Mapping[str, str]
    pictures: Mapping[str, bytes]


def page(shown: Sequence[Shown], left_out: Sequence[str] = ()) -> str:
    """The page as HTML text."""
    links = "".join(f'<a href="#{one.study.id}">{escape(one.study.id)}</a>' for one in shown)
    body = "".join(_section(one) for one in shown)
    rest = "".join(f"<li>{escape(text)}</li>" for text in left_out)
    missing = f"<h2>Left out here</h2><ul>{rest}</ul>" if rest else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The paper, reproduced</title><style>{STYLE}</style></head><body>"
        "<h1>The paper, reproduced</h1><p>Figures and tables of <i>Designing a Location Trace "
        "Anonymization Contest</i> (PoPETs 2023), made again by tracecup, and what goes beyond "
        f"them.</p><nav>{links}</nav><main>{body}{missing}</main></body></html>\n"
    )


def summary(shown: Sequence[Shown], left_out: Sequence[str] = ()) -> str:
    """Every comparison with the paper as Markdown, study by study."""
    lines = ["# The paper, reproduced", ""]
    for one in shown:
        result = one.record.result
        lines += [f"## {one.study.id}: {one.study.title}", ""]
        labels = dict.fromkeys(s.label for s in (result.source, *result.sources.values()))
        said = [f"{text}." for text in (*labels, QUICK if one.record.quick else "") if text]
        lines += [" ".join(said), ""] if said else []
        if result.comparisons:
            lines += [COMPARISON_HEAD, *(c.markdown() for c in result.comparisons), ""]
        lines += [f"- {note}" for note in result.notes]
        lines += [""] if result.notes else []
    if left_out:
        lines += ["## Left out here", "", *(f"- {text}" for text in left_out), ""]
    return "\n".join(lines)


def _section(one: Shown) -> str:
    result, record = one.record.result, one.record
    parts = [
        f'<section id="{one.study.id}"><h2>{escape(one.study.id)}: {escape(one.study.title)}</h2>',
        f"<p><b>{escape(one.study.paper)}.</b> {escape(one.study.says)}</p>",
    ]
    for name, svg in one.pictures.items():
        uri = "data:image/svg+xml;base64," + base64.b64encode(svg).decode("ascii")
        alt = escape(one.alts[name], quote=True)
        parts.append(f'<figure><img src="{uri}" alt="{alt}"></figure>')
    if result.comparisons:
        head = ("what", "published", "ours", "band", "verdict", "why")
        parts.append(_table(head, (_compared(c) for c in result.comparisons)))
    if result.notes:
        parts.append("<ul>" + "".join(f"<li>{escape(n)}</li>" for n in result.notes) + "</ul>")
    if result.numbers:
        rows = [[escape(name), _spelled(value)] for name, value in result.numbers.items()]
        parts.append(f"<details><summary>Numbers</summary>{_table((), rows)}</details>")
    parts += [_folded(name, table) for name, table in result.tables.items()]
    sizes = ", ".join(f"{value} {name}" for name, value in result.sizes.items())
    made = [f"seed {record.seed}", f"{record.seconds:.1f} s"]
    made += [QUICK.lower()] if record.quick else []
    made += [" ".join(pair) for pair in record.versions.items()]
    told = dict.fromkeys((result.source, *result.sources.values()))
    said = [" ".join(part + "." for part in (s.label, s.attribution) if part) for s in told]
    parts.append(
        f'<p class="made">{escape(" ".join(said))} {escape(sizes)}{"; " if sizes else ""}'
        f"{escape('; '.join(made))}.</p></section>"
    )
    return "".join(parts)


def _compared(one: Comparison) -> list[str]:
    kind = {True: "inside", False: "outside", None: ""}[one.inside]
    verdict = f'<span class="{kind}">{escape(one.verdict)}</span>'
    return [
        escape(one.what),
        _spelled(one.published),
        _spelled(one.ours),
        escape(one.band),
        verdict,
        escape(one.why),
    ]


def _folded(name: str, table: Table) -> str:
    rows = [[_spelled(value) for value in row] for row in table.rows[:MOST_ROWS]]
    more = len(table) - len(rows)
    said = f"Table {name}" + (f" (first {len(rows)} of {len(table)} rows)" if more else "")
    return f"<details><summary>{escape(said)}</summary>{_table(table.columns, rows)}</details>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    head_row = f"<thead><tr>{top}</tr></thead>" if top else ""
    return f'<div class="scroll" tabindex="0"><table>{head_row}<tbody>{body}</tbody></table></div>'


def _spelled(value: object) -> str:
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.10g}"
    return "" if value is None else escape(str(value))
