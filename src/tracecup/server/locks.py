"""Locks on a contest: in which order everybody takes them, so that nobody waits for ever.

Only inside a transaction; they end with it.
"""

from __future__ import annotations

from tracecup.server.models import Contest, Job, Round


def locked(contest: Contest, *, with_data: bool = False) -> Contest:
    """The contest as it is now, held with its rounds until the transaction ends.

    Jobs, contest, rounds, teams, log: everybody takes locks in this order. Rows that only refer to
    the contest (submissions, jobs) do not wait for it. `with_data` holds the jobs of its data, too,
    for acts that may throw these away: a worker that finishes one of them holds it first.
    """
    if with_data:
        list(Job.objects.select_for_update().filter(contest=contest, kind="data").order_by("pk"))
    held: Contest = Contest.objects.select_for_update(no_key=True).get(pk=contest.pk)
    list(Round.objects.select_for_update(no_key=True).filter(contest=held).order_by("pk"))
    return held
