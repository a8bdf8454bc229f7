"""Score sheets as organisers publish them: reading, writing, and the standings that follow.

Released files against attackers, as in 2019: CSV, or a sheet of a workbook.
"""

from tracecup.contest.sheets.reading import read_sheet
from tracecup.contest.sheets.sheet import (
    FILE_COLUMN,
    MINIMUM_COLUMN,
    Sheet,
    column_of,
    team_of,
    write_sheet,
)
from tracecup.contest.sheets.utilities import read_utilities

__all__ = [
    "FILE_COLUMN",
    "MINIMUM_COLUMN",
    "Sheet",
    "column_of",
    "read_sheet",
    "read_utilities",
    "team_of",
    "write_sheet",
]
