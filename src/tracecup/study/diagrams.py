"""Figures 2, 3, 5 and 14: how a contest goes, as drawings without numbers.

The drawings themselves are in `plot.flows`.
"""

from __future__ import annotations

from tracecup.study.context import Context
from tracecup.study.reproduce import study
from tracecup.study.results import Source, StudyResult


@study(
    "diagrams",
    "How the contest, its flow and its synthesizer work",
    "Figures 2, 3, 5 and 14",
    "Overview of the contest, of the synthesizer, of the flow between a team, the judge and its "
    "attackers, and of PPMTF+.",
)
def run(context: Context) -> StudyResult:
    """Nothing to compute."""
    return StudyResult(Source(""))
