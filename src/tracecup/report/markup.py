"""HTML that cannot be broken by what is put into it: every plain string is escaped.

Names come from participants, so they are cleaned of what could disturb a page or a picture.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Mapping, Sequence

from tracecup.facts.text import Cell, clean, spelled

VOID = frozenset({"meta", "img", "input", "br", "link"})


class Html(str):
    """Text that is HTML already; a plain `str` never is."""

    __slots__ = ()


Part = str | Html | Iterable["str | Html"]


def element(
    name: str, content: Part = (), attributes: Mapping[str, str | bool] | None = None
) -> Html:
    """An element; plain strings inside it and in its attributes are escaped.

    True as an attribute's value writes the bare name, False leaves the attribute out.

    >>> element("p", ["1 < 2 ", element("b", "yes")], {"title": 'a "b"', "hidden": True})
    '<p title="a &quot;b&quot;" hidden>1 &lt; 2 <b>yes</b></p>'
    """
    said = "".join(
        f" {key}" if value is True else f' {key}="{html.escape(str(value), quote=True)}"'
        for key, value in (attributes or {}).items()
        if value is not False
    )
    if name in VOID:
        return Html(f"<{name}{said}>")
    return Html(f"<{name}{said}>{join(content)}</{name}>")


def join(content: Part) -> Html:
    """Parts one after another, plain strings escaped."""
    parts = [content] if isinstance(content, str) else content
    return Html(
        "".join(
            part if isinstance(part, Html) else html.escape(part, quote=False) for part in parts
        )
    )


def name_of(text: str) -> Html:
    """A participant's name inside a sentence, kept apart from the writing direction around it."""
    return element("bdi", clean(text))


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[Cell]], *, row_heads: int = 1
) -> Html:
    """A table with a caption, column heads and `row_heads` leading row heads.

    Numbers are right-aligned, None is a dash; text cells are isolated from the writing direction
    around them, as names are.
    """
    lines = [list(row) for row in rows]
    numeric = [all(_is_number(line[k]) for line in lines) for k in range(len(header))]
    head = [
        element("th", name, {"scope": "col", **({"class": "number"} if right else {})})
        for name, right in zip(header, numeric, strict=True)
    ]
    body = [
        element("tr", [_cell(value, k < row_heads) for k, value in enumerate(line)])
        for line in lines
    ]
    return element(
        "table",
        [
            element("caption", caption),
            element("thead", [element("tr", head)]),
            element("tbody", body),
        ],
    )


def scrolling(content: Html, label: str) -> Html:
    """A box that scrolls sideways when it is too wide, also with the keyboard."""
    return element(
        "div",
        [content],
        {"class": "scroll", "role": "region", "tabindex": "0", "aria-label": label},
    )


def section(key: str, title: str, content: Sequence[Html]) -> Html:
    """A section of a page under its heading."""
    heading = element("h2", title, {"id": f"{key}-title"})
    return element("section", [heading, *content], {"id": key, "aria-labelledby": f"{key}-title"})


def data_block(identifier: str, value: object) -> Html:
    """JSON in an inert script element; no text in it can end the element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    said = html.escape(identifier, quote=True)
    return Html(f'<script type="application/json" id="{said}">{text}</script>')


def _is_number(value: Cell) -> bool:
    return value is None or isinstance(value, int | float)


def _cell(value: Cell, is_head: bool) -> Html:
    if value is None or isinstance(value, float):
        shown = Html(spelled(value))
    elif isinstance(value, Html):
        shown = value
    else:
        shown = element("bdi", str(value))
    attributes: dict[str, str | bool] = {"class": "number"} if _is_number(value) else {}
    if is_head:
        return element("th", [shown], {"scope": "row", **attributes})
    return element("td", [shown], attributes)


def policy_hash(text: str) -> str:
    """How a content security policy names a script or a style that stands in the page."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
