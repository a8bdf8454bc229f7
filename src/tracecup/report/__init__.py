"""The report: one self-contained HTML page about a contest, for people who were not there.

Reads facts or an archive, writes one file; needs the extra `report` (vl-convert-python).
"""

from tracecup.report.archive import facts_of_archive
from tracecup.report.facts import (
    Attacker,
    Award,
    CityMap,
    ContestFacts,
    Matrix,
    Population,
    Release,
    TraceExample,
)
from tracecup.report.page import report_html, write_report

__all__ = [
    "Attacker",
    "Award",
    "CityMap",
    "ContestFacts",
    "Matrix",
    "Population",
    "Release",
    "TraceExample",
    "facts_of_archive",
    "report_html",
    "write_report",
]
