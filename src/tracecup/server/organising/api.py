"""The organisers' API: the twins of their pages, and what they can do to contest, clock and teams.

Rounds, submissions and results are in `organiser_rounds`. What is dangerous needs `why`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Status

from tracecup.server.access import Role, role_in
from tracecup.server.errors import not_found
from tracecup.server.jobs import data as queue
from tracecup.server.models import Announcement, Appeal, Contest, Extension, Job
from tracecup.server.organising import contests, repairs
from tracecup.server.organising import (
    data as run,
)
from tracecup.server.organising import (
    data_log as run_log,
)
from tracecup.server.organising import (
    data_site as run_site,
)
from tracecup.server.organising import (
    data_teams as run_teams,
)
from tracecup.server.organising.api_bodies import (
    AppealAnswer,
    AppealsWindow,
    AppealText,
    Clone,
    Deadline,
    Details,
    Made,
    Message,
    Move,
    NewContest,
    NewExtension,
    Now,
    RehearsalSize,
    Resume,
    RulesChange,
    RulesText,
    Shifted,
    StatusChange,
    Why,
)
from tracecup.server.organising.data_teams import team_of
from tracecup.server.organising.rehearsal import rehearse as begin_rehearsal
from tracecup.server.people.asking import (
    RoundName,
    round_in,
)
from tracecup.server.people.auth import (
    actor_of,
    person_of,
)

router = Router()
CONTEST = "/contests/{slug}"


@router.get(CONTEST + "/run", response=run.RunPage)
def page(request: HttpRequest, slug: str, round: RoundName = None) -> run.RunPage:
    """Is everything all right: phase, next act, queue, disk, checks."""
    role = organiser_of(request, slug)
    return run.run_page(role, round_in(role, round))


@router.get(CONTEST + "/run/teams", response=run_teams.TeamsPage)
def teams(request: HttpRequest, slug: str, round: RoundName = None) -> run_teams.TeamsPage:
    """Who takes part."""
    role = organiser_of(request, slug)
    return run_teams.teams_page(role, round_in(role, round))


@router.get(CONTEST + "/run/settings", response=run_site.SettingsPage)
def settings(request: HttpRequest, slug: str) -> run_site.SettingsPage:
    """The rules as text, and their changes."""
    return run_site.settings_page(organiser_of(request, slug))


@router.get(CONTEST + "/run/audit", response=run_log.AuditPage)
def audit(
    request: HttpRequest,
    slug: str,
    action: Annotated[str, Query(max_length=60)] = "",
    actor: Annotated[str, Query(max_length=160)] = "",
    text: Annotated[str, Query(max_length=200)] = "",
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    check: bool = False,
) -> run_log.AuditPage:
    """The log, newest first; `check` walks the chain."""
    role = organiser_of(request, slug)
    return run_log.audit_page(role, action=action, actor=actor, text=text, page=page, check=check)


@router.post("/site/contests", response={201: Made})
def create(request: HttpRequest, body: NewContest) -> Status[Made]:
    """Make a contest; for staff."""
    run_site.require_staff(person_of(request))
    made = contests.create_contest(
        actor_of(request),
        name=body.name,
        slug=body.slug,
        rules_text=body.rules,
        is_public=body.is_public,
        divisions=body.divisions,
    )
    return Status(201, Made(slug=made.slug, name=made.name))


@router.post(CONTEST + "/clone", response={201: Made})
def clone(request: HttpRequest, slug: str, body: Clone) -> Status[Made]:
    """Make a contest with the same rules; for organisers who are staff."""
    role = organiser_of(request, slug)
    run_site.require_staff(role.person)
    made = contests.clone_contest(
        role.contest,
        actor_of(request),
        name=body.name,
        slug=body.slug,
        starts=aware(body.starts, role.contest),
        with_teams=body.with_teams,
    )
    return Status(201, Made(slug=made.slug, name=made.name))


@router.post(CONTEST + "/delete", response={204: None})
def delete(request: HttpRequest, slug: str, body: Why) -> Status[None]:
    """Take the contest away from everybody; `undelete` brings it back."""
    contests.delete(organiser_of(request, slug).contest, actor_of(request), body.why)
    return Status(204, None)


@router.post(CONTEST + "/undelete", response=Made)
def undelete(request: HttpRequest, slug: str) -> Made:
    """Bring a deleted contest back; for its organisers."""
    deleted = run_site.deleted_contests(person_of(request))
    found = next((one for one in deleted if one.slug == slug), None)
    if found is None:
        raise not_found("contest")
    contests.undelete(found, actor_of(request))
    return Made(slug=found.slug, name=found.name)


@router.post(CONTEST + "/run/rules/plan", response=run_site.PlanRow)
def plan_rules(request: HttpRequest, slug: str, body: RulesText) -> run_site.PlanRow:
    """What a new text of the rules would do; changes nothing."""
    role = organiser_of(request, slug)
    return run_site.plan_row(contests.plan_rules(role.contest, body.text))


@router.put(CONTEST + "/run/rules", response=run_site.PlanRow)
def change_rules(request: HttpRequest, slug: str, body: RulesChange) -> run_site.PlanRow:
    """Take a new text of the rules."""
    role = organiser_of(request, slug)
    done = contests.change_rules(role.contest, body.text, actor_of(request), body.why, body.version)
    return run_site.plan_row(done)


@router.patch(CONTEST + "/run/settings", response=run_site.SettingsPage)
def details(request: HttpRequest, slug: str, body: Details) -> run_site.SettingsPage:
    """Who may see the contest, whether teams may register, which divisions there are."""
    role = organiser_of(request, slug)
    contests.set_details(role.contest, actor_of(request), **body.model_dump())
    return run_site.settings_page(role)


@router.post(CONTEST + "/pause", response={204: None})
def pause(request: HttpRequest, slug: str, body: Why) -> Status[None]:
    """Accept nothing and do nothing until `resume`."""
    contests.pause(organiser_of(request, slug).contest, actor_of(request), body.why)
    return Status(204, None)


@router.post(CONTEST + "/resume", response=Shifted)
def resume(request: HttpRequest, slug: str, body: Resume) -> Shifted:
    """Go on after a pause."""
    contest = organiser_of(request, slug).contest
    moved = contests.resume(contest, actor_of(request), body.why, body.shift)
    return Shifted(seconds=moved.total_seconds())


@router.post(CONTEST + "/deadline", response=run_site.PlanRow)
def deadline(
    request: HttpRequest, slug: str, body: Deadline, round: RoundName = None
) -> run_site.PlanRow:
    """Another end of a phase for all teams."""
    role = organiser_of(request, slug)
    found = round_in(role, round)
    if found is None:
        raise not_found("round")
    until = aware(body.until, role.contest) or body.until
    plan = contests.move_deadline(
        found, body.phase, until, actor_of(request), body.why, follow=body.follow
    )
    return run_site.plan_row(plan)


@router.post(CONTEST + "/clock", response=Now)
def move_clock(request: HttpRequest, slug: str, body: Move) -> Now:
    """Move the clock of a demo or rehearsal."""
    contest = organiser_of(request, slug).contest
    return Now(now=contests.move_clock(contest, body.seconds, actor_of(request)))


@router.post(CONTEST + "/rehearse", response={201: Made})
def rehearse(request: HttpRequest, slug: str, body: RehearsalSize) -> Status[Made]:
    """Have bots play the contest's rules at a small size, in a contest of its own."""
    contest = organiser_of(request, slug).contest
    made = begin_rehearsal(contest, actor_of(request), teams=body.teams, users=body.users)
    return Status(201, Made(slug=made.slug, name=made.name))


@router.post(CONTEST + "/announcements", response={201: run.AnnouncementRow})
def announce(request: HttpRequest, slug: str, body: Message) -> Status[run.AnnouncementRow]:
    """Tell all teams, or one, something; also by e-mail."""
    role = organiser_of(request, slug)
    team = team_of(role, body.team) if body.team is not None else None
    made = contests.announce(
        role.contest, body.title, body.text, actor_of(request), team, mail=body.mail
    )
    return Status(201, run.announcement_row(made))


@router.post(CONTEST + "/announcements/{int:number}/retract", response=run.AnnouncementRow)
def retract(request: HttpRequest, slug: str, number: int, body: Why) -> run.AnnouncementRow:
    """Take an announcement off the pages."""
    found = _announcement(organiser_of(request, slug), number)
    contests.retract_announcement(found, actor_of(request), body.why)
    return run.announcement_row(found)


@router.post(CONTEST + "/announcements/{int:number}/restore", response=run.AnnouncementRow)
def restore(request: HttpRequest, slug: str, number: int) -> run.AnnouncementRow:
    """Put a retracted announcement back."""
    found = _announcement(organiser_of(request, slug), number)
    contests.restore_announcement(found, actor_of(request))
    return run.announcement_row(found)


@router.put(CONTEST + "/appeals-window", response={204: None})
def appeals_window(request: HttpRequest, slug: str, body: AppealsWindow) -> Status[None]:
    """Open or close the window for appeals."""
    contest = organiser_of(request, slug).contest
    contests.open_appeals(contest, aware(body.until, contest), actor_of(request), body.why)
    return Status(204, None)


@router.post(CONTEST + "/appeals", response={201: run.AppealRow})
def appeal(request: HttpRequest, slug: str, body: AppealText) -> Status[run.AppealRow]:
    """Appeal against a decision, as a team, while the window is open."""
    team = role_in(slug, person_of(request)).require_team()
    return Status(201, run.appeal_row(contests.appeal(team, body.text, actor_of(request))))


@router.post(CONTEST + "/appeals/{int:number}/answer", response=run.AppealRow)
def answer(request: HttpRequest, slug: str, number: int, body: AppealAnswer) -> run.AppealRow:
    """Answer an appeal."""
    role = organiser_of(request, slug)
    found = Appeal.objects.filter(team__contest=role.contest, pk=number).first()
    if found is None:
        raise not_found("appeal")
    contests.answer_appeal(found, body.answer, body.accepted, actor_of(request))
    return run.appeal_row(found)


@router.put(CONTEST + "/teams/{int:number}/status", response={204: None})
def status(request: HttpRequest, slug: str, number: int, body: StatusChange) -> Status[None]:
    """Withdraw or disqualify a team, or take it back."""
    team = team_of(organiser_of(request, slug), number)
    contests.set_status(team, body.status, body.why, actor_of(request))
    return Status(204, None)


@router.post(CONTEST + "/teams/{int:number}/delete", response={204: None})
def delete_team(request: HttpRequest, slug: str, number: int, body: Why) -> Status[None]:
    """Take a team away that should not be; `undelete` brings it back."""
    team = team_of(organiser_of(request, slug), number)
    contests.delete_team(team, actor_of(request), body.why)
    return Status(204, None)


@router.post(CONTEST + "/teams/{int:number}/undelete", response={204: None})
def undelete_team(request: HttpRequest, slug: str, number: int) -> Status[None]:
    """Bring a deleted team back."""
    found = organiser_of(request, slug).contest.teams.filter(number=number).first()
    if found is None:
        raise not_found("team")
    contests.undelete_team(found, actor_of(request))
    return Status(204, None)


@router.post(CONTEST + "/teams/{int:number}/extensions", response={201: run_teams.ExtensionRow})
def extend(
    request: HttpRequest, slug: str, number: int, body: NewExtension, round: RoundName = None
) -> Status[run_teams.ExtensionRow]:
    """More time or tries for one team."""
    role = organiser_of(request, slug)
    found = round_in(role, round)
    if found is None:
        raise not_found("round")
    made = contests.extend(
        team_of(role, number),
        found,
        body.phase,
        actor_of(request),
        until=aware(body.until, role.contest),
        extra_tries=body.extra_tries,
        reason=body.why,
    )
    return Status(201, run_teams.extension_row(made))


@router.post(CONTEST + "/extensions/{int:number}/take-back", response={204: None})
def take_back(request: HttpRequest, slug: str, number: int, body: Why) -> Status[None]:
    """Undo an extension."""
    role = organiser_of(request, slug)
    found = Extension.objects.filter(team__contest=role.contest, pk=number).first()
    if found is None:
        raise not_found("extension")
    contests.take_back_extension(found, actor_of(request), body.why)
    return Status(204, None)


@router.post(CONTEST + "/jobs/{int:number}/retry", response=queue.JobRow)
def retry(request: HttpRequest, slug: str, number: int, body: Why) -> queue.JobRow:
    """Put a job that was given up into the queue again."""
    role = organiser_of(request, slug)
    found = Job.objects.filter(contest=role.contest, pk=number).first()
    if found is None:
        raise not_found("job")
    repairs.retry_job(found, actor_of(request), body.why)
    return queue.job_row(found)


def organiser_of(request: HttpRequest, slug: str) -> Role:
    """The role of an organiser; others are refused."""
    role = role_in(slug, person_of(request))
    role.require_organiser()
    return role


def _announcement(role: Role, number: int) -> Announcement:
    found = Announcement.objects.filter(contest=role.contest, pk=number).first()
    if found is None:
        raise not_found("announcement")
    return found


def aware(at: datetime | None, contest: Contest) -> datetime | None:
    """An instant; one without an offset is in the contest's zone."""
    return at if at is None or at.tzinfo is not None else at.replace(tzinfo=contest.rules.tzinfo)
