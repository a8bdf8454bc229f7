"""What organisers can do with a round: its times, submissions, releases and results.

Each function is declared once as an act of a page and of the API; what is dangerous needs `why`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tracecup.contest.rules import PHASES
from tracecup.server.organising import contests, repairs, running
from tracecup.server.organising import data_scores as run_scores
from tracecup.server.organising import data_site as run_site
from tracecup.server.organising import data_teams as run_teams
from tracecup.server.organising.act import CONTEST, ROUND, Acts, At, Done, Route
from tracecup.server.organising.data_scores import result_set_of
from tracecup.server.organising.data_teams import submission_of
from tracecup.server.organising.given import (
    Confirmed,
    Number,
    Reference,
    Shown,
    Switch,
    Why,
    instant_widget,
)
from tracecup.server.organising.takeback import take_back
from tracecup.server.web.context import Place

ACTS = Acts()
SUBMISSION = CONTEST + "/run/submissions/{ref}"


@ACTS.act("run-submissions", Route("POST", SUBMISSION + "/rerun", run_teams.SubmissionDetail))
def rerun(at: At, body: Why, ref: Reference) -> Done:
    """Have an answer scored again."""
    found = submission_of(at.role, ref)
    repairs.rerun(found, at.actor, body.why)
    said = gettext("It is scored again; the team loses no try.")
    return Done(said, lambda: run_teams.submission_detail(found))


@ACTS.act("run-submissions", Route("POST", SUBMISSION + "/withdraw", run_teams.SubmissionDetail))
def withdraw(at: At, body: Why, ref: Reference) -> Done:
    """Take a submission of a team away; `restore` undoes it."""
    repairs.withdraw(submission_of(at.role, ref), at.actor, body.why)
    return Done(gettext("Withdrawn; it can be restored."), lambda: _detail(at, ref))


@ACTS.act(
    "run-submissions",
    Route("POST", SUBMISSION + "/restore", run_teams.SubmissionDetail),
    name="unwithdraw",
)
def restore(at: At, body: Why, ref: Reference) -> Done:
    """Undo a withdrawal."""
    repairs.restore(submission_of(at.role, ref), at.actor, body.why)
    return Done(gettext("The submission counts again."), lambda: _detail(at, ref))


def _detail(at: At, ref: str) -> run_teams.SubmissionDetail:
    return run_teams.submission_detail(submission_of(at.role, ref))


@ACTS.act("run-judge", Route("POST", ROUND + "/publish", run_scores.JudgePage, in_round=True))
def publish(at: At, body: Why) -> Done:
    """Publish the judged releases now."""
    round = at.require_round()
    repairs.publish_now(round, at.actor, body.why)
    said = gettext("The releases are published; attacks may begin when their phase is open.")
    return Done(said, lambda: run_scores.judge_page(at.role, round))


@ACTS.act("run-judge", Route("POST", ROUND + "/unpublish", run_scores.JudgePage, in_round=True))
def unpublish(at: At, body: Why) -> Done:
    """Take the publication back, while nobody else has fetched any of it."""
    round = at.require_round()
    take_back(round, at.actor, body.why)
    said = gettext("The publication was taken back; releases wait until an organiser publishes.")
    return Done(said, lambda: run_scores.judge_page(at.role, round))


@ACTS.act("run-judge", Route("PUT", ROUND + "/auto-publish", in_round=True))
def auto_publish(at: At, body: Switch) -> Done:
    """Whether releases go out by themselves at the instant."""
    contests.set_auto_publish(at.require_round(), body.on, at.actor, body.why)
    return Done(
        gettext("Releases will be published automatically at the set time.")
        if body.on
        else gettext("Releases wait until an organiser publishes them.")
    )


@ACTS.act("run-scores", Route("PUT", ROUND + "/auto-results", in_round=True))
def auto_results(at: At, body: Switch) -> Done:
    """Whether the first results go out by themselves."""
    contests.set_auto_results(at.require_round(), body.on, at.actor, body.why)
    return Done(
        gettext("The first results will be published automatically.")
        if body.on
        else gettext("Results wait until an organiser publishes them.")
    )


@ACTS.act("run-scores", Route("PUT", ROUND + "/frozen", in_round=True))
def freeze(at: At, body: Switch) -> Done:
    """Hide the boards from everybody but organisers, or show them again."""
    running.freeze(at.require_round(), body.on, at.actor, body.why)
    return Done(
        gettext("Boards are frozen: pages, API and exports.")
        if body.on
        else gettext("Boards are shown again.")
    )


@ACTS.act("run-scores", Route("PUT", ROUND + "/archive-open", in_round=True), name="archive")
def open_archive(at: At, body: Switch) -> Done:
    """Give the archive to everybody who may see the results, or to organisers only."""
    running.open_archive(at.require_round(), body.on, at.actor, body.why)
    return Done(
        gettext("Everybody may fetch the archive.")
        if body.on
        else gettext("The archive is closed again.")
    )


@ACTS.act("run-scores", Route("POST", ROUND + "/result-sets", run_scores.ResultSetRow, 201, True))
def rescore(at: At, body: Why) -> Done:
    """Have a new set of results computed, as a draft."""
    made = repairs.ask_results(at.require_round(), at.actor, body.why)
    said = gettext("A new result set is being computed; it will be a draft.")
    return Done(said, lambda: run_scores.result_set_row(made))


@ACTS.act(
    "run-scores",
    Route(
        "POST",
        ROUND + "/result-sets/{int:number}/publish",
        run_scores.ResultSetRow,
        in_round=True,
    ),
)
def release(at: At, body: Why, number: Number) -> Done:
    """Make a set of results the published one."""
    found = result_set_of(at.require_round(), number)
    made = repairs.publish_results(found, at.actor, body.why)
    return Done(gettext("Results are public."), lambda: run_scores.result_set_row(made))


def _begins(label: Any, phase: str) -> Shown:
    """When a phase begins: to the second, as it is now, in the contest's zone."""
    options = {"help_text": "", "widget": instant_widget("%Y-%m-%d %H:%M:%S")}
    return Shown(label, initial=_as_it_is(phase), options=options)


def _as_it_is(phase: str) -> Callable[[Place], datetime | None]:
    def at(place: Place) -> datetime | None:
        now = getattr(place.round.rules.phases, phase) if place.round else None
        return now and now.astimezone(place.contest.rules.tzinfo).replace(tzinfo=None)

    return at


class PhaseTimes(Confirmed):
    """When the phases of a round begin; without an offset in the contest's zone."""

    announce: Annotated[datetime, _begins(_("Announcement: teams get their data"), "announce")]
    anonymize: Annotated[datetime, _begins(_("Anonymization begins"), "anonymize")]
    judge: Annotated[datetime, _begins(_("Anonymization ends, the judge works"), "judge")]
    attack: Annotated[datetime, _begins(_("Releases are published, attack begins"), "attack")]
    results: Annotated[datetime, _begins(_("Attack ends, results"), "results")]


@ACTS.act("run-settings", Route("PUT", ROUND + "/phases", run_site.PlanRow, in_round=True))
def phases(at: At, body: PhaseTimes) -> Done:
    """When the phases of a round begin."""
    instants = {phase: getattr(body, phase) for phase in PHASES}
    plan = running.set_phases(at.require_round(), instants, at.actor, body.why, body.confirm)
    return Done(gettext("The phases have their times."), lambda: run_site.plan_row(plan))
