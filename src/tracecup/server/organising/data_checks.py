"""What has to be all right in a contest: times, teams, clock, queue, disk, city, appeals.

Each check says how it stands and, where it is not all right, what to do.
"""

from __future__ import annotations

from django.utils.translation import gettext as _
from ninja import Schema

from tracecup.contest.sheets import team_of
from tracecup.server.clockwatch import Doubt
from tracecup.server.jobs.data import (
    QueueCounts,
)
from tracecup.server.models import Appeal, Contest, Question, Round
from tracecup.server.organising.owncity import missing_files
from tracecup.server.resultsets import gone_teams, published, table_rows

LOW_DISK_BYTES = 1 << 30
# Jobs that wait longer than this make the page say so.
SLOW_SECONDS = 600
# One team has nobody to attack it.
FEWEST_TEAMS = 2


class Check(Schema):
    """One thing that is all right, or not; `next_step` says what to do about it."""

    name: str
    ok: bool
    sentence: str
    next_step: str


def checks(
    contest: Contest, queue: QueueCounts, free: int, *, late: bool, doubt: Doubt | None
) -> list[Check]:
    """All checks of a contest; `late`: an act of the judge should have happened already."""
    running = contest.paused_at is None
    slow = (queue.oldest_waiting_seconds or 0.0) > SLOW_SECONDS and running
    asked = Question.objects.filter(team__contest=contest, answered_at=None).count()
    appeals = Appeal.objects.filter(team__contest=contest, state="open").count()
    rounds = list(contest.rounds.all())
    # An imported round has results and no times.
    timed = all(one.rules.phases.scheduled or one.released_at for one in rounds)
    teams = contest.teams.filter(deleted_at=None).count()
    return [
        _check(
            _("Times"),
            timed,
            _("All phases have their times."),
            _("A round has no times yet: nothing will happen automatically."),
            _("Set them under Settings."),
        ),
        _check(
            _("Teams"),
            teams >= FEWEST_TEAMS,
            _("There are teams."),
            _("There are fewer than two teams."),
            _("Invite them under Teams, or let them register (Settings)."),
        ),
        _check(
            _("Clock"),
            running,
            _("It runs."),
            _("The contest is paused; nothing is accepted."),
            _("Resume it below when the reason is gone."),
        ),
        _check(
            _("Publication"),
            not any(map(_waits_for_publication, rounds)),
            _("Nothing waits for you."),
            _("Releases or results are ready and wait until an organiser publishes them."),
            _("Publish them under Judge or Scores."),
        ),
        _check(
            _("Awards"),
            not outdated_awards(contest),
            _("They are those of the newest results."),
            _("A team that won something has left the contest since results were computed."),
            _("Compute a new result set under Scores, look at it and publish it."),
        ),
        _check(
            _("Server's clock"),
            doubt is None,
            _("It goes evenly."),
            _(
                "It cannot be trusted: nothing happens automatically until you say which time "
                "is right."
            ),
            _("Compare it with another clock, then answer below."),
        ),
        _check(
            _("Automatic acts"),
            not (late and running),
            _("Nothing is late."),
            _("An act should have happened already."),
            _("Check whether a worker is running (health) and whether a job was given up."),
        ),
        _check(
            _("Queue"),
            not slow,
            _("Jobs are taken at once."),
            _("A job has been waiting for more than ten minutes."),
            _("Start another worker: tracecup worker."),
        ),
        _check(
            _("Jobs"),
            not queue.dead,
            _("None was given up."),
            _("Some jobs were given up after several attempts."),
            _("Read why below, then try again; teams lose no try by it."),
        ),
        _check(
            _("Disk"),
            free > LOW_DISK_BYTES,
            _("There is room."),
            _("Less than 1 GiB is left."),
            _("Make room: files are refused when it is full, and cost no try."),
        ),
        _check(
            _("City"),
            not missing_files(contest),
            _("It is there."),
            _("The rules name a city of your own; its files are not there."),
            _("Upload table and model under Settings; the data wait for them."),
        ),
        _check(
            _("Feedback"),
            not is_leaky(contest),
            _("It tells no more than the rules mean to."),
            _(
                "Exact scores are told and everybody may register: with several accounts somebody "
                "learns a whole ID table from scores alone."
            ),
            _("Tell bands, or close registration before the attacks (Settings)."),
        ),
        _check(
            _("Appeals"),
            not appeals,
            _("None is open."),
            _("A team waits for an answer."),
            _("Answer below."),
        ),
        _check(
            _("Questions"),
            not asked,
            _("None is open."),
            _("A team waits for an answer."),
            _("Answer below."),
        ),
    ]


def _waits_for_publication(round: Round) -> bool:
    """Whether something of a round is ready and goes out only by an organiser's hand."""
    if round.judged_at is not None and round.published_at is None:
        return not round.auto_publish
    if round.closed_at is None or round.released_at is not None:
        return False
    return not round.result_sets.filter(state="computing").exists()


def outdated_awards(contest: Contest) -> bool:
    """Whether published results give a place to a team that is out."""
    gone = gone_teams(contest)
    sets = [published(one) for one in contest.rounds.all()] if gone else []
    return any(
        row["rank"] is not None and team_of(row["team"]) in gone
        for one in sets
        if one is not None
        for row in table_rows(one, "awards")
    )


def is_leaky(contest: Contest) -> bool:
    """Whether exact feedback meets open registration: tries are counted by team and account."""
    return bool(contest.join_open and contest.rules.feedback.policy == "exact")


def _check(name: str, ok: bool, good: str, bad: str, next_step: str) -> Check:
    return Check(name=name, ok=ok, sentence=good if ok else bad, next_step="" if ok else next_step)
