"""What a job is about: the rows that its payload names.

For the kinds of jobs that several features declare.
"""

from __future__ import annotations

from tracecup.server.models import Job, ResultSet, Round


def round_of(job: Job) -> Round:
    """The round, with its contest."""
    found: Round = Round.objects.select_related("contest").get(pk=job.payload["round"])
    return found


def result_set_of(job: Job) -> ResultSet:
    """The set of results, with its round and contest."""
    sets = ResultSet.objects.select_related("round__contest")
    found: ResultSet = sets.get(pk=job.payload["result_set"])
    return found
