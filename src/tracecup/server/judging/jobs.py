"""The judge's kinds of jobs: acts in a round, what they have computed, and what bots play.

See `tracecup.server.jobs.kinds`.
"""

from __future__ import annotations

from tracecup.server.jobs.kinds import JobKind
from tracecup.server.judging import bots, schedule, service
from tracecup.server.judging.kinds import data, sample, score, shuffle
from tracecup.server.submissions import verdicts

KINDS = (
    JobKind("judge", 80, act=service.judge_round),
    JobKind("publish", 80, act=service.publish_round),
    JobKind("data", 70, prepare=data.prepare, apply=data.apply),
    JobKind("announce", 65, act=service.announce),
    JobKind("shuffle", 60, prepare=shuffle.prepare, apply=shuffle.apply),
    JobKind(
        "score",
        50,
        prepare=score.prepare,
        apply=score.apply,
        died=score.died,
        revived=score.revived,
    ),
    JobKind(verdicts.RECHECK, 48, chore=verdicts.recheck),
    JobKind("bot", 45, chore=bots.play),
    JobKind("sample", 40, prepare=sample.prepare, apply=sample.apply),
    JobKind("rehearse", 3, chore=bots.play_on),
)
DUE = (schedule.due_acts, bots.due)
