"""The published sheets of a round of 2019, for the studies that look at them.

Read once for a run; the rows of the paper are the trace-inference files and the benchmark.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from tracecup.contest.challenges import AttackKind
from tracecup.contest.sheets import Sheet, read_sheet, read_utilities
from tracecup.contest.sheets.standings import Standings, standings
from tracecup.study.context import Context

RoundName = Literal["preliminary", "final"]

# The trace-inference files and the benchmark, as in the paper.
PAPER_ROWS = ("*_TRP.csv", "pubtraces_team000_*")


@dataclass(frozen=True, eq=False)
class PublishedRound:
    """Both sheets and the utilities of a round, and the standings that follow."""

    reid: Sheet
    trace: Sheet
    utility: dict[str, float]
    standings: Standings
    paper: Standings
    """The same over the paper's rows."""

    @property
    def sheets(self) -> tuple[Sheet, Sheet]:
        """Re-identification, trace inference."""
        return self.reid, self.trace

    @property
    def valid_teams(self) -> list[str]:
        """The paper's teams: the valid trace-inference files, in the order of the sheet."""
        rows = self.paper.board.releases
        return [row.name for row in rows if row.valid and not row.benchmark]

    def minima(self, kind: AttackKind) -> dict[str, float]:
        """File -> lowest score over all attackers and sample attacks."""
        return self.standings.board.board(kind).minimum()


@cache
def published_round(context: Context, name: RoundName) -> PublishedRound:
    """A round from the folder `results` of the data."""
    reid = read_sheet(context.path(f"results/{name}_reidentification.csv"), "reid")
    trace = read_sheet(context.path(f"results/{name}_traceinference.csv"), "trace")
    utility = read_utilities(context.path(f"results/{name}_utility.csv"))
    return PublishedRound(
        reid,
        trace,
        utility,
        standings(reid, trace, utility),
        standings(reid, trace, utility, only=PAPER_ROWS),
    )
