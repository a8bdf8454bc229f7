"""The report: one self-contained HTML page about a contest, for people who were not there.

Written from facts (`tracecup.facts`); needs the extra `report` (vl-convert-python).
"""

from tracecup.report.page import report_html, write_report

__all__ = ["report_html", "write_report"]
