"""What organisers can do with teams: lists, links, status, extensions, corrections.

Each function is declared once as an act of their page; those without a route have theirs in
`teams.api`, where captains ask, too. Secrets (links) are shown once, on the page that answers.
The operations of `OF_TEAMS` stand among those of `teams.api`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, cast

from django import forms
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from ninja import Field, Schema

from tracecup.server.errors import not_found
from tracecup.server.models import Extension, Person, Team
from tracecup.server.models import Member as Membership
from tracecup.server.organising import contests, running
from tracecup.server.organising import data_teams as run_teams
from tracecup.server.organising.act import CONTEST, Acts, At, Done, Route
from tracecup.server.organising.acts_clock import PHASE_CHOICES
from tracecup.server.organising.data_teams import team_of
from tracecup.server.organising.given import (
    HIDDEN,
    Choices,
    Confirmed,
    Number,
    Shown,
    TeamNumber,
    Why,
    form_of,
    reason,
    team_choices,
)
from tracecup.server.organising.teamcare import merge_teams, password_link
from tracecup.server.people import letters
from tracecup.server.people.links import link_by_number, link_path, new_link
from tracecup.server.people.links import revoke_link as revoke
from tracecup.server.people.membership import move_member, set_captain
from tracecup.server.people.membership import remove_member as remove
from tracecup.server.reasons import MAX_REASON
from tracecup.server.teams.api import (
    InvitationInfo,
    Invite,
    MadeLink,
    TeamInfo,
    TeamList,
    TeamListToDo,
    TeamPlan,
    invitation_info,
    made_link,
    organiser_link,
    team_info,
    team_plan,
)
from tracecup.server.teams.registration import MAX_TEAM_NAME, change_team, create_team
from tracecup.server.teams.teamlist import apply_csv, decoded, invitations_csv, plan_csv
from tracecup.server.web.context import Place

ACTS, OF_TEAMS = Acts(), Acts()
TEAM = CONTEST + "/teams/{int:number}"
MAX_LIST = 1 << 20
# No division is called so: their names have no spaces around them.
AS_IT_IS = " "
STATUS_CHOICES = [
    ("active", _("takes part")),
    ("withdrawn", _("withdrawn")),
    ("disqualified", _("disqualified")),
]


def _divisions(place: Place) -> Choices:
    return [("", gettext("none")), *((name, name) for name in place.contest.divisions)]


class Csv(Schema):
    """A list of teams; on the page also as a file, which is read instead of the text."""

    text: Annotated[
        str,
        Shown(
            _("List of teams (CSV)"),
            _("Columns team, division, name, email; one line per person."),
            options={
                "strip": False,
                "required": False,
                "widget": forms.Textarea(
                    attrs={"class": "code short", "rows": 7, "spellcheck": "false"}
                ),
            },
        ),
    ] = Field(max_length=MAX_LIST)
    mail: Annotated[bool, Shown(_("Send the links by e-mail"))] = False


class CsvForm(form_of(Csv, {})):  # type: ignore[misc]
    """A list as text or as a file; a file takes the place of the text, to be seen and changed."""

    data: Any
    file = forms.FileField(
        label=_("Or a file"),
        required=False,
        help_text=_("A table saved as CSV, in UTF-8 or as Japanese spreadsheets write it."),
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv,text/plain"}),
    )

    def clean(self) -> dict[str, Any]:
        """The text of the file, where there is one; what the API calls `send`."""
        held: dict[str, Any] = self.cleaned_data | {"send": self.cleaned_data.get("mail", False)}
        if held.get("file"):
            text = decoded(held["file"].read(MAX_LIST + 1))
            if text is None:
                self.add_error("file", gettext("A table of text, at most a million characters."))
            else:
                held["text"] = text
                self.data = self.data.copy()
                self.data[self.add_prefix("text")] = text
        return held


@OF_TEAMS.act(
    "run-teams",
    Route("POST", CONTEST + "/team-list/plan", TeamPlan),
    name="csv_check",
    form=CsvForm,
)
def plan_list(at: At, body: TeamList) -> Done:
    """What a list of teams will do; changes nothing. For organisers."""
    plan = plan_csv(at.contest, body.text)
    return Done("", lambda: team_plan(plan), {"plan": plan})


@OF_TEAMS.act(
    "run-teams",
    Route("POST", CONTEST + "/team-list", list[InvitationInfo], 201),
    name="csv_apply",
    form=CsvForm,
)
def apply_list(at: At, body: TeamListToDo) -> Done:
    """Carry out a list of teams: all of it, or nothing. For organisers."""
    made = apply_csv(at.contest, plan_csv(at.contest, body.text), at.actor)
    sent = letters.invite_all(made, at.site) if body.send else 0
    said = gettext("%(links)d links were made, %(sent)d sent. They are shown once: keep them now.")
    shown = {
        "invitations": made,
        "invitations_csv": invitations_csv(made, at.site),
        "site": at.site,
    }
    told = [invitation_info(one, at.site) for one in made]
    return Done(said % {"links": len(made), "sent": sent}, lambda: told, shown)


class NewTeamByOrganiser(Schema):
    """A team to be made by organisers."""

    name: Annotated[str, Shown(_("Name"))] = Field(min_length=1, max_length=MAX_TEAM_NAME)
    division: Annotated[str, Shown(_("Division"), choices=_divisions)] = Field("", max_length=80)
    hors_concours: Annotated[bool, Shown(_("Out of competition (hors concours)"))] = False


@OF_TEAMS.act("run-teams", Route("POST", CONTEST + "/teams", TeamInfo, 201), name="team")
def create(at: At, body: NewTeamByOrganiser) -> Done:
    """Make a team; for organisers."""
    made = create_team(
        at.contest,
        body.name,
        at.actor,
        division=body.division,
        hors_concours=body.hors_concours,
    )
    said = gettext("Team %(number)d was made.") % {"number": made.number}
    return Done(said, lambda: team_info(made))


class Invited(Schema):
    """Whom a one-time link is for."""

    name: Annotated[str, Shown(_("Name of the person"))] = Field("", max_length=150)
    email: Annotated[str, Shown(_("E-mail address"), kind=forms.EmailField)] = Field(
        "", max_length=320
    )
    mail: Annotated[bool, Shown(_("Send it by e-mail"))] = False


@ACTS.act("run-teams")
def link(at: At, body: Invited, number: TeamNumber) -> Done:
    """A one-time link for a new member."""
    found = team_of(at.role, number)
    secret = new_link("member", at.actor, team=found, name=body.name, email=body.email)
    if body.mail and body.email:
        letters.invite(found, body.name, body.email, link_path(secret), at.site)
    return _made(at, secret)


class InvitedForm(form_of(Invited, {})):  # type: ignore[misc]
    """On the page a letter is sent where it is asked for; days are those of the API."""

    def clean(self) -> dict[str, Any]:
        """What the API calls `send`."""
        held: dict[str, Any] = self.cleaned_data
        return held | {"send": held.get("mail", False)}


@OF_TEAMS.act(
    "run-teams",
    Route("POST", CONTEST + "/organisers", MadeLink, 201),
    name="organiser",
    form=InvitedForm,
)
def invite_organiser(at: At, body: Invite) -> Done:
    """A one-time link that makes an organiser of this contest; for organisers."""
    secret = organiser_link(at.actor, body, at.site, at.contest)
    done = _made(at, secret)
    return Done(done.message, lambda: made_link(at.site, secret), done.shown)


def _made(at: At, secret: str) -> Done:
    said = gettext("This link works once and is shown once.")
    return Done(said, shown={"link": at.site + link_path(secret)})


@ACTS.act("run-teams")
def revoke_link(at: At, number: Number) -> Done:
    """Make an invitation worthless."""
    revoke(link_by_number(at.contest, number), at.actor)
    return Done(gettext("The link no longer works."))


class TeamChange(Schema):
    """Another name or division."""

    name: Annotated[
        str | None, Shown(_("New name"), _("Empty: as it is."), options={"empty_value": None})
    ] = Field(None, max_length=MAX_TEAM_NAME)
    division: Annotated[
        str | None,
        Shown(
            _("Division"),
            choices=lambda place: [(AS_IT_IS, gettext("as it is")), *_divisions(place)],
            initial=lambda place: AS_IT_IS,
            options={"coerce": lambda chosen: None if chosen == AS_IT_IS else chosen},
        ),
    ] = Field(None, max_length=80)


@OF_TEAMS.act("run-teams", Route("PATCH", TEAM, TeamInfo))
def change(at: At, body: TeamChange, number: TeamNumber) -> Done:
    """Another name or division for a team; for organisers."""
    held = team_of(at.role, number)
    changed = change_team(held, at.actor, name=body.name, division=body.division)
    return Done(gettext("Saved."), lambda: team_info(changed))


@ACTS.act("run-teams", Route("POST", TEAM + "/delete"))
def delete_team(at: At, body: Why, number: TeamNumber) -> Done:
    """Take a team away that should not be; `undelete` brings it back."""
    contests.delete_team(team_of(at.role, number), at.actor, body.why)
    return Done(gettext("The team is deleted; it can be brought back below."))


@ACTS.act("run-teams", Route("POST", TEAM + "/undelete"))
def undelete_team(at: At, number: Number) -> Done:
    """Bring a deleted team back."""
    found = at.contest.teams.filter(number=number).first()
    if found is None:
        raise not_found("team")
    contests.undelete_team(found, at.actor)
    return Done(gettext("The team is back."))


class Member(Schema):
    """Somebody in a team."""

    team: Annotated[int, Shown(options=HIDDEN)]
    person: Annotated[int, Shown(options=HIDDEN)]


@ACTS.act("run-teams")
def remove_member(at: At, body: Member) -> Done:
    """Take somebody out of a team."""
    found = team_of(at.role, body.team)
    remove(found, _person(found, body.person), at.actor)
    return Done(gettext("This person is no longer in the team; its join code has changed."))


@ACTS.act("run-teams")
def captain(at: At, body: Member) -> Done:
    """Make somebody a captain of her team."""
    found = team_of(at.role, body.team)
    set_captain(found, _person(found, body.person), at.actor)
    return Done(gettext("This person is a captain now."))


class SecretLink(Schema):
    """The address of a link; it is shown once."""

    link: str


@ACTS.act("run-teams", Route("POST", CONTEST + "/password-links", SecretLink, 201))
def new_password(at: At, body: Member) -> Done:
    """A one-time link for a new password of a member who has no e-mail address."""
    found = team_of(at.role, body.team)
    secret = password_link(found, _person(found, body.person), at.actor)
    done = _made(at, secret)
    return Done(done.message, lambda: SecretLink(link=done.shown["link"]), done.shown)


def _person(team: Team, number: int) -> Person:
    held = team.members.select_related("person").filter(person=number).first()
    if held is None:
        raise not_found("member")
    return cast(Person, held.person)


class Merged(Why):
    """The team that the people of another one join."""

    into: Annotated[int, Shown(_("Into team"), choices=team_choices)] = Field(ge=1, le=999)


@ACTS.act("run-teams", Route("POST", TEAM + "/merge"))
def merge(at: At, body: Merged, number: TeamNumber) -> Done:
    """Put everybody of a team into another one, before data are out."""
    into = team_of(at.role, body.into)
    count = merge_teams(team_of(at.role, number), into, at.actor, body.why)
    said = ngettext(
        "%(count)d person is in team %(number)d now; the other team is deleted.",
        "%(count)d people are in team %(number)d now; the other team is deleted.",
        count,
    )
    return Done(said % {"count": count, "number": into.number})


def _members(place: Place) -> Choices:
    found = Membership.objects.filter(contest=place.contest).select_related("team", "person")
    return [
        (str(one.person_id), f"{one.person.username} ({one.team.number} {one.team.name})")
        for one in found.order_by("team__number", "person__username")
    ]


class MovedMember(Why):
    """Somebody who goes to another team."""

    person: Annotated[int, Shown(_("Person"), choices=_members)] = Field(ge=1, le=2**31 - 1)


@ACTS.act("run-teams", Route("POST", TEAM + "/move-here"))
def move_here(at: At, body: MovedMember, number: TeamNumber) -> Done:
    """Put somebody of another team into this one, also when data are out."""
    to = team_of(at.role, number)
    held = Membership.objects.filter(contest=at.contest, person=body.person).first()
    if held is None:
        raise not_found("member")
    if held.team_id != to.pk:
        move_member(held.team, held.person, to, at.actor, body.why)
    said = gettext("This person is in team %(number)d now; her tries go with her.")
    return Done(said % {"number": to.number})


class StatusChange(Why):
    """active, withdrawn or disqualified."""

    status: Annotated[str, Shown(_("Status"), choices=STATUS_CHOICES)] = Field(
        pattern="^(active|withdrawn|disqualified)$"
    )
    why: Annotated[str, reason(_("The team can read it, and it is kept in the log."))] = Field(
        min_length=1, max_length=MAX_REASON
    )


@ACTS.act("run-teams", Route("PUT", TEAM + "/status"))
def status(at: At, body: StatusChange, number: TeamNumber) -> Done:
    """Withdraw or disqualify a team, or take it back."""
    contests.set_status(team_of(at.role, number), body.status, body.why, at.actor)
    return Done(gettext("The team's status was changed; it can be changed back in the same way."))


class NewExtension(Why):
    """More time or tries of one team in one phase (anonymize, attack)."""

    phase: Annotated[str, Shown(_("Phase"), choices=PHASE_CHOICES)] = Field(
        pattern="^(anonymize|attack)$"
    )
    until: Annotated[datetime | None, Shown(_("Until"))] = None
    extra_tries: Annotated[int, Shown(_("More tries"))] = Field(0, ge=0, le=1000)


@ACTS.act(
    "run-teams", Route("POST", TEAM + "/extensions", run_teams.ExtensionRow, 201, in_round=True)
)
def extend(at: At, body: NewExtension, number: TeamNumber) -> Done:
    """More time or tries for one team."""
    made = running.extend(
        team_of(at.role, number),
        at.require_round(),
        body.phase,
        at.actor,
        until=body.until,
        extra_tries=body.extra_tries,
        reason=body.why,
    )
    said = gettext("Extended for this team; the judge waits for it.")
    return Done(said, lambda: run_teams.extension_row(made))


@ACTS.act("run-teams", Route("POST", CONTEST + "/extensions/{int:number}/take-back"))
def take_back(at: At, body: Confirmed, number: Number) -> Done:
    """Undo an extension."""
    found = Extension.objects.filter(team__contest=at.contest, pk=number).first()
    if found is None:
        raise not_found("extension")
    running.take_back_extension(found, at.actor, body.why, body.confirm)
    return Done(gettext("The extension was taken back."))
