"""The site's kinds of jobs: backups that organisers ask for, and the daily tidying.

See `tracecup.server.jobs.kinds`.
"""

from __future__ import annotations

from tracecup.server.jobs.kinds import JobKind
from tracecup.server.site import tidying
from tracecup.server.site.backup_job import handle_backup

KINDS = (
    JobKind("backup", 5, while_paused=True, chore=handle_backup),
    JobKind("tidy", 1, chore=tidying.handle_tidy),
)
DUE = (tidying.due,)
