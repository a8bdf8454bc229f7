"""A hook of the documentation: examples in docstrings (`>>>`) become code, not nested quotes.

Everything from a prompt to the next empty line goes into a fence.
"""

from __future__ import annotations

from typing import Any

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

PROMPT = ">>> "
BEFORE_FENCES = 100
"""Above the priority of fenced code, which then finds the fences."""


class Examples(Preprocessor):
    """Puts fences around doctests."""

    def run(self, lines: list[str]) -> list[str]:
        """The same lines with fences."""
        found: list[str] = []
        inside = fenced = False
        for line in lines:
            if line.lstrip().startswith("```"):
                fenced = not fenced
            if not fenced and not inside and line.startswith(PROMPT):
                found += ["", "```pycon"]
                inside = True
            elif inside and not line.strip():
                found.append("```")
                inside = False
            found.append(line)
        return [*found, "```"] if inside else found


class DoctestExtension(Extension):
    """The preprocessor as an extension."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Markdown's name
        """Register it."""
        md.preprocessors.register(Examples(md), "doctests", BEFORE_FENCES)


def on_config(config: Any) -> Any:
    """Called by MkDocs once: pages and docstrings are rendered with it."""
    config["markdown_extensions"].append(DoctestExtension())
    return config
