"""HTML that cannot be broken by what is put into it: every plain string is escaped.

Names come from participants, so they are cleaned of what could disturb a page or a picture.
"""

from __future__ import annotations

import html
import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

LONGEST_NAME = 60
VOID = frozenset({"meta", "img", "input", "br", "link"})
# Joiners belong to scripts and emoji; every other invisible format character can be used to
# reorder or hide text and is dropped.
KEPT_FORMAT = frozenset({"\u200c", "\u200d"})

Cell = str | int | float | None


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


def clean(text: str, longest: int = LONGEST_NAME) -> str:
    """A name fit to be shown: one line, no control, bidi or invisible characters, not too long.

    >>> clean("a\\u202eb\\n c\\x00")
    'ab c'
    >>> clean("x" * 100, longest=5)
    'xxxx…'
    """
    shown = "".join(
        " " if character.isspace() else character for character in text if _harmless(character)
    )
    shown = " ".join(shown.split())
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


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


def data_block(identifier: str, value: object) -> Html:
    """JSON in an inert script element; no text in it can end the element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    said = html.escape(identifier, quote=True)
    return Html(f'<script type="application/json" id="{said}">{text}</script>')


def spelled(value: float | None, digits: int = 3) -> str:
    """A number as the report writes it; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def _is_number(value: Cell) -> bool:
    return value is None or isinstance(value, int | float)


def _cell(value: Cell, is_head: bool) -> Html:
    if isinstance(value, float):
        shown = Html(spelled(value))
    elif value is None:
        shown = Html("–")
    elif isinstance(value, Html):
        shown = value
    else:
        shown = element("bdi", str(value))
    attributes: dict[str, str | bool] = {"class": "number"} if _is_number(value) else {}
    if is_head:
        return element("th", [shown], {"scope": "row", **attributes})
    return element("td", [shown], attributes)


def _harmless(character: str) -> bool:
    if character.isspace():
        return True
    code = ord(character)
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:  # not characters, invalid in SVG
        return False
    category = unicodedata.category(character)
    return category not in {"Cc", "Cs", "Cf", "Co"} or character in KEPT_FORMAT
