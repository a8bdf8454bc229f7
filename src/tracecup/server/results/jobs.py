"""The kinds of jobs that make results, the archive and the report of a round.

See `tracecup.server.jobs.kinds`.
"""

from __future__ import annotations

from tracecup.server.jobs.kinds import Due, JobKind
from tracecup.server.results.kinds import archive, results
from tracecup.server.results.reporting import handle_report
from tracecup.server.results.service import close_round

KINDS = (
    JobKind("close", 80, act=close_round),
    JobKind(
        "results",
        20,
        while_paused=True,
        prepare=results.prepare,
        apply=results.apply,
        died=results.died,
        revived=results.revived,
    ),
    JobKind("archive", 10, while_paused=True, prepare=archive.prepare, apply=archive.apply),
    JobKind("report", 8, chore=handle_report),
)
DUE: tuple[Due, ...] = ()
