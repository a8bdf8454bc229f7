"""What organisers can do with time: pause, deadlines, a demonstration's clock, a clock in doubt.

Each function is declared once as an act of a page and of the API; what is dangerous needs `why`,
what ends something at once a typed word.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from ninja import Field, Schema

from tracecup.server import clock
from tracecup.server.organising import data_site as run_site
from tracecup.server.organising import rulechange, running
from tracecup.server.organising.act import CONTEST, Acts, At, Done, Route
from tracecup.server.organising.given import Confirmed, Shown, Why

ACTS = Acts()
PHASE_CHOICES = [("anonymize", _("Anonymization")), ("attack", _("Attack"))]


@ACTS.act("run", Route("POST", CONTEST + "/pause"))
def pause(at: At, body: Why) -> Done:
    """Accept nothing and do nothing until `resume`."""
    running.pause(at.contest, at.actor, body.why)
    return Done(gettext("The contest is paused."))


class Resume(Confirmed):
    """`shift` moves all that lies ahead by the length of the pause."""

    shift: Annotated[
        bool, Shown(_("Move every deadline that lies ahead by the length of the pause"))
    ] = True


class Shifted(Schema):
    """By how many seconds everything ahead was moved."""

    seconds: float


@ACTS.act("run", Route("POST", CONTEST + "/resume", Shifted))
def resume(at: At, body: Resume) -> Done:
    """Go on after a pause."""
    moved = running.resume(at.contest, at.actor, body.why, body.shift, body.confirm)
    said = gettext("The contest goes on; no deadline was moved.")
    if moved:
        said = gettext("The contest goes on; everything ahead was moved by %(span)s.")
        said %= {"span": rulechange.shown_span(moved)}
    return Done(said, lambda: Shifted(seconds=moved.total_seconds()))


class Deadline(Confirmed):
    """Another end of a phase (anonymize, attack); with `follow` all later instants move along."""

    phase: Annotated[str, Shown(_("Phase"), choices=PHASE_CHOICES)] = Field(
        pattern="^(anonymize|attack)$"
    )
    until: Annotated[datetime, Shown(_("New end"))]
    follow: Annotated[bool, Shown(_("Everything later moves along"))] = True


@ACTS.act("run", Route("POST", CONTEST + "/deadline", run_site.PlanRow, in_round=True))
def deadline(at: At, body: Deadline) -> Done:
    """Another end of a phase for all teams."""
    plan = running.move_deadline(
        at.require_round(),
        body.phase,
        body.until,
        at.actor,
        body.why,
        follow=body.follow,
        confirm=body.confirm,
    )
    said = gettext("The deadline was moved; teams read it on their pages.")
    return Done(said, lambda: run_site.plan_row(plan))


@ACTS.act("run", Route("POST", CONTEST + "/clock-accept"))
def accept_clock(at: At, body: Confirmed) -> Done:
    """Say that the server's clock is right, after it was in doubt."""
    running.accept_clock(at.contest, at.actor, body.why, body.confirm)
    return Done(gettext("The clock is trusted again; what is due happens now."))


class Move(Schema):
    """How far to move the clock of a demo."""

    seconds: float = Field(ge=-3.2e8, le=3.2e8)


class Now(Schema):
    """The time on the contest's clock."""

    now: datetime


@ACTS.act(route=Route("POST", CONTEST + "/clock", Now))
def move_clock(at: At, body: Move) -> Done:
    """Move the clock of a demo or rehearsal."""
    now = running.move_clock(at.contest, body.seconds, at.actor)
    return Done(gettext("The clock was moved."), lambda: Now(now=now))


class Hours(Schema):
    """How far to move the clock of a demo, for people."""

    hours: Annotated[float, Shown(_("Hours to move the clock by"))] = 1


@ACTS.act("run", name="clock")
def move_by_hours(at: At, body: Hours) -> Done:
    """Move the clock of a demo or rehearsal by hours."""
    return move_clock(at, Move.model_construct(seconds=3600 * body.hours))


@ACTS.act("run")
def next_phase(at: At) -> Done:
    """Move the clock of a demo or rehearsal to the next phase."""
    now = clock.contest_now(at.contest)
    ahead = running.phase_ahead(at.require_round(), now)
    if ahead is None:
        return Done(gettext("No phase lies ahead."))
    running.move_clock(at.contest, (ahead[1] - now).total_seconds() + 1, at.actor)
    return Done(gettext("The clock was moved to the next phase."))
