"""Texts of organisers in a small Markdown, as HTML that can hold nothing but what is made here.

Headings, lists, quotes, code, rules, emphasis, links. Everything else is text: what somebody writes
is escaped piece by piece, and links lead only to pages, mailboxes and places of this site.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

# Bounded and without repetition inside repetition: a hostile text costs no more than its length.
_INLINE = re.compile(
    r"`(?P<code>[^`\n]{1,500})`"
    r"|\[(?P<label>[^\[\]\n]{1,300})\]\((?P<to>[^()\s]{1,500})\)"
    r"|\*\*(?P<strong>[^*\n]{1,500})\*\*"
    r"|\*(?P<em>[^*\s][^*\n]{0,500})\*"
    r"|(?P<address>https?://[^\s<>\"'()\[\]`*]{1,500})"
)
_LINK = re.compile(r"https?://[^\s]+|mailto:[^\s]+|/(?![/\\])[^\s]*")
_HEADING = re.compile(r"(#{1,4})\s+(.*?)[\s#]*")
_ITEM = re.compile(r"(?:([-*+])|(\d{1,4})[.)])\s+(.*)")
_RULE = re.compile(r"(?:-\s*){3,}|(?:\*\s*){3,}")
_TRAILING = ".,;:!?。、"


def render(text: str) -> SafeString:
    """A text as HTML; headings begin at the third level, single line ends are kept.

    >>> render("**Prizes** <script>")
    '<p><strong>Prizes</strong> &lt;script&gt;</p>'
    >>> render("[x](javascript:alert)")
    '<p>[x](javascript:alert)</p>'
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    return format_html_join("\n", "{}", ((block,) for block in _blocks(lines)))


def _blocks(lines: list[str]) -> Iterator[SafeString]:
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        end = at + 1
        if not line:
            pass
        elif line.startswith("```"):
            end = _until(lines, end, lambda one: one.strip().startswith("```"))
            yield format_html("<pre><code>{}</code></pre>", "\n".join(lines[at + 1 : end]))
            end += 1
        elif found := _HEADING.fullmatch(line):
            level = len(found[1]) + 2
            yield format_html("<h{}>{}</h{}>", level, _inline(found[2]), level)
        elif _RULE.fullmatch(line):
            yield mark_safe("<hr>")
        elif line.startswith(">"):
            end = _until(lines, at, lambda one: not one.strip().startswith(">"))
            said = [one.strip()[1:].strip() for one in lines[at:end]]
            yield format_html("<blockquote><p>{}</p></blockquote>", _lines(said))
        elif found := _ITEM.fullmatch(line):
            end = _until(lines, at, lambda one: not one.strip() or _begins_other(one))
            yield _list(lines[at:end], ordered=found[2] is not None)
        else:
            end = _until(lines, end, lambda one: not one.strip() or _begins_block(one))
            yield format_html("<p>{}</p>", _lines([one.strip() for one in lines[at:end]]))
        at = end


def _until(lines: list[str], begin: int, stop: Callable[[str], bool]) -> int:
    """The first line from `begin` on at which a block ends."""
    return next((k for k in range(begin, len(lines)) if stop(lines[k])), len(lines))


def _begins_other(line: str) -> bool:
    """Whether a line inside a list begins something else than an item."""
    return _begins_block(line) and _ITEM.fullmatch(line.strip()) is None


def _begins_block(line: str) -> bool:
    said = line.strip()
    return bool(
        said.startswith((">", "```"))
        or _HEADING.fullmatch(said)
        or _RULE.fullmatch(said)
        or _ITEM.fullmatch(said)
    )


def _list(lines: list[str], *, ordered: bool) -> SafeString:
    """Items; a line without a sign of its own goes on with the item before."""
    items: list[list[str]] = []
    for line in lines:
        found = _ITEM.fullmatch(line.strip())
        if found is None:
            items[-1].append(line.strip())
        else:
            items.append([found[3]])
    kind = "ol" if ordered else "ul"
    held = format_html_join("", "<li>{}</li>", ((_lines(one),) for one in items))
    return format_html("<{}>{}</{}>", kind, held, kind)


def _lines(lines: list[str]) -> SafeString:
    return format_html_join(mark_safe("<br>\n"), "{}", ((_inline(one),) for one in lines))


def _inline(text: str) -> SafeString:
    """Emphasis, code and links of a line; the rest is escaped."""
    made, at = [], 0
    for found in _INLINE.finditer(text):
        made += [escape(text[at : found.start()]), _piece(found)]
        at = found.end()
    return mark_safe("".join([*made, escape(text[at:])]))


def _piece(found: re.Match[str]) -> SafeString:
    if found["code"] is not None:
        return format_html("<code>{}</code>", found["code"])
    if found["strong"] is not None:
        return format_html("<strong>{}</strong>", found["strong"])
    if found["em"] is not None:
        return format_html("<em>{}</em>", found["em"])
    if found["address"] is not None:
        to = found["address"].rstrip(_TRAILING)
        return format_html("{}{}", _anchor(to, to), found["address"][len(to) :])
    if _LINK.fullmatch(found["to"]) is None:
        return format_html("{}", found[0])
    return _anchor(found["to"], found["label"])


def _anchor(to: str, label: str) -> SafeString:
    return format_html('<a href="{}" rel="nofollow noopener">{}</a>', to, label)
