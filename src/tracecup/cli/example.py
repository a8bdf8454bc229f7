"""`tracecup example`: the paper's worked example, scored from nothing.

Three users, four events, five regions: every score can be checked by hand.
"""

from __future__ import annotations

from rich.table import Table

from tracecup.cli.common import Json, emit


def example(as_json: Json = False) -> int:
    """Score the paper's worked example (its Figure 6) and print it as a small table.

    Example: `tracecup example`
    """
    from tracecup.contest.example import worked_example

    found = worked_example()
    table = Table(title="The paper's worked example", title_justify="left", title_style="bold")
    for name in ("user", "original", "obfuscated", "pseudonym", "guessed as", "inferred"):
        table.add_column(name)
    for row in found.rows:
        table.add_row(*row)
    table.caption = "\n".join(str(score) for score in found.scores)
    table.caption_justify = "left"
    emit(as_json, {s.name: s.value for s in found.scores}, table)
    return 0
