"""The facts of a contest, computed once: who released what, scores, minima, awards, risks.

Plain frozen data; the report, the pages of the site, the API's JSON and the tables of the command
line are derived from it.
"""

from tracecup.facts.archive import board_of_archive, facts_of_archive
from tracecup.facts.board import (
    AttackerFacts,
    AwardFacts,
    BoardFacts,
    MatrixFacts,
    MatrixRow,
    PlaceFacts,
    ReleaseFacts,
)
from tracecup.facts.contest import CityFacts, ContestFacts, Population, TraceExample, UserRisks
from tracecup.facts.tables import board_facts

__all__ = [
    "AttackerFacts",
    "AwardFacts",
    "BoardFacts",
    "CityFacts",
    "ContestFacts",
    "MatrixFacts",
    "MatrixRow",
    "PlaceFacts",
    "Population",
    "ReleaseFacts",
    "TraceExample",
    "UserRisks",
    "board_facts",
    "board_of_archive",
    "facts_of_archive",
]
