"""What organisers can do with the contest as a whole: appeals, jobs, its rules, its copies.

Each function is declared once as an act of a page and of the API; what is dangerous needs `why`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from ninja import Field, Schema

from tracecup.server.errors import not_found
from tracecup.server.jobs import data as queue
from tracecup.server.models import Appeal, Job
from tracecup.server.models.filekinds import CITY_FILES, KIND_OF_FILE
from tracecup.server.organising import contests, repairs, rulechange
from tracecup.server.organising import data as run
from tracecup.server.organising import data_site as run_site
from tracecup.server.organising.act import CONTEST, Acts, At, Done, Route
from tracecup.server.organising.given import (
    ActForm,
    Confirmed,
    Number,
    Shown,
    Why,
    rows,
)
from tracecup.server.organising.owncity import set_city_file
from tracecup.server.organising.rehearsal import rehearse as begin_rehearsal
from tracecup.server.reasons import MAX_REASON
from tracecup.server.teams import messages

ACTS = Acts()
MAX_RULES = 256 * 1024
SLUG = r"^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$"
Division = Annotated[str, Field(max_length=80)]


class Made(Schema):
    """A contest that was made or brought back."""

    slug: str
    name: str


class AppealsWindow(Why):
    """Until when teams may appeal; None closes the window."""

    until: Annotated[datetime | None, Shown(_("Open until"), _("Empty closes the window."))] = None


@ACTS.act("run", Route("PUT", CONTEST + "/appeals-window"), name="appeals")
def appeals_window(at: At, body: AppealsWindow) -> Done:
    """Open or close the window for appeals."""
    messages.open_appeals(at.contest, body.until, at.actor, body.why)
    return Done(gettext("Appeals are open.") if body.until else gettext("Appeals are closed."))


class AppealAnswer(Schema):
    """The organisers' answer."""

    answer: Annotated[str, Shown(_("Answer"), options=rows(10))] = Field(
        min_length=1, max_length=MAX_REASON
    )
    accepted: Annotated[bool, Shown(_("The appeal is right"))]


@ACTS.act("run", Route("POST", CONTEST + "/appeals/{int:number}/answer", run.AppealRow))
def answer(at: At, body: AppealAnswer, number: Number) -> Done:
    """Answer an appeal."""
    found = Appeal.objects.filter(team__contest=at.contest, pk=number).first()
    if found is None:
        raise not_found("appeal")
    messages.answer_appeal(found, body.answer, body.accepted, at.actor)
    return Done(gettext("The team has your answer."), lambda: run.appeal_row(found))


@ACTS.act("run", Route("POST", CONTEST + "/jobs/{int:number}/retry", queue.JobRow))
def retry(at: At, body: Why, number: Number) -> Done:
    """Put a job that was given up into the queue again."""
    found = Job.objects.filter(contest=at.contest, pk=number).first()
    if found is None:
        raise not_found("job")
    repairs.retry_job(found, at.actor, body.why)
    return Done(gettext("The job is in the queue again."), lambda: queue.job_row(found))


class RehearsalSize(Schema):
    """How many bots and users."""

    teams: Annotated[int, Shown(_("Bots"))] = Field(4, ge=2, le=21)
    users: Annotated[int, Shown(_("Users"))] = Field(30, ge=10, le=500)


@ACTS.act("run", Route("POST", CONTEST + "/rehearse", Made, 201))
def rehearse(at: At, body: RehearsalSize) -> Done:
    """Have bots play the contest's rules at a small size, in a contest of its own."""
    made = begin_rehearsal(at.contest, at.actor, teams=body.teams, users=body.users)
    said = gettext("The rehearsal %(name)s has begun; its state is shown below.") % {
        "name": made.slug
    }
    return Done(said, lambda: Made(slug=made.slug, name=made.name))


class RulesText(Schema):
    """A text of `contest.toml`."""

    text: str = Field(max_length=MAX_RULES)


class RulesChange(RulesText, Confirmed):
    """New rules; `version` is the one they were made from."""

    version: int | None = Field(None, ge=1, le=2**31 - 1)


class RulesForm(ActForm):
    """The text of the rules, to be checked or saved; only saving needs the reason."""

    text = forms.CharField(
        label=_("contest.toml"),
        max_length=MAX_RULES,
        strip=False,
        required=False,
        widget=forms.Textarea(attrs={"class": "code", "spellcheck": "false"}),
    )
    version = forms.IntegerField(widget=forms.HiddenInput)
    why = forms.CharField(
        label=_("Reason"),
        max_length=MAX_REASON,
        required=False,
        help_text=_("Required to save; kept in the log permanently."),
    )
    confirm = forms.CharField(max_length=60, required=False, widget=forms.HiddenInput)
    shown = {
        "text": Shown(initial=lambda place: place.contest.rules_text),
        "version": Shown(initial=lambda place: place.contest.rules_version),
    }


@ACTS.act(
    "run-settings",
    Route("POST", CONTEST + "/run/rules/plan", run_site.PlanRow),
    name="rules_check",
    form=RulesForm,
)
def plan_rules(at: At, body: RulesText) -> Done:
    """What a new text of the rules would do; changes nothing."""
    plan = run_site.plan_row(rulechange.plan_rules(at.contest, body.text))
    return Done("", lambda: plan, {"plan": plan})


@ACTS.act(
    "run-settings",
    Route("PUT", CONTEST + "/run/rules", run_site.PlanRow),
    name="rules_save",
    form=RulesForm,
)
def change_rules(at: At, body: RulesChange) -> Done:
    """Take a new text of the rules."""
    done = rulechange.change_rules(
        at.contest, body.text, at.actor, body.why, body.version, body.confirm
    )
    said = gettext("The rules were changed. The text before is in the list below.")
    return Done(said, lambda: run_site.plan_row(done))


class Details(Schema):
    """What is not a rule; what is left out stays as it is."""

    is_public: Annotated[
        bool | None,
        Shown(
            _("Everybody may see this contest"),
            initial=lambda place: place.contest.is_public,
        ),
    ] = None
    join_open: Annotated[
        bool | None,
        Shown(
            _("Teams may register themselves"),
            initial=lambda place: place.contest.join_open,
        ),
    ] = None
    divisions: Annotated[
        list[Division] | None,
        Shown(
            _("Divisions"),
            _("One per line; empty if there are none."),
            initial=lambda place: place.contest.divisions,
            options={**rows(3), "max_length": 2000},
        ),
    ] = Field(None, max_length=20)


@ACTS.act("run-settings", Route("PATCH", CONTEST + "/run/settings", run_site.SettingsPage))
def details(at: At, body: Details) -> Done:
    """Who may see the contest, whether teams may register, which divisions there are."""
    contests.set_details(
        at.contest,
        at.actor,
        is_public=body.is_public,
        join_open=body.join_open,
        divisions=body.divisions,
    )
    return Done(gettext("Saved."), lambda: run_site.settings_page(at.role))


CITY_CHOICES = [(kind, _(KIND_OF_FILE[kind].label)) for kind in CITY_FILES]


class CityFile(Why):
    """A file of the contest's own city; the API takes it as an upload."""

    kind: Annotated[str, Shown(_("What it is"), choices=CITY_CHOICES)]
    file: Annotated[Any, Shown(_("File"), kind=forms.FileField)]


@ACTS.act("run-settings")
def city(at: At, body: CityFile) -> Done:
    """Give the table of regions or the model of the contest's own city."""
    set_city_file(at.contest, body.kind, body.file, at.actor, body.why)
    return Done(gettext("The file is stored; all data will be generated again."))


class Clone(Schema):
    """A contest with the same rules; `starts` is when its first phase begins."""

    name: Annotated[str, Shown(_("Name"))] = Field(min_length=1, max_length=200)
    slug: Annotated[str, Shown(_("Address"), _("Small letters, digits, hyphens."))] = Field(
        min_length=1, max_length=60, pattern=SLUG
    )
    starts: Annotated[
        datetime | None,
        Shown(
            _("First phase begins"),
            _("All other phases move along with it. Leave it empty to set no times yet."),
        ),
    ] = None
    with_teams: Annotated[
        bool, Shown(_("Take the teams along (names only, new codes, no members)"))
    ] = False


@ACTS.act("run-settings", Route("POST", CONTEST + "/clone", Made, 201))
def clone(at: At, body: Clone) -> Done:
    """Make a contest with the same rules; for organisers who are staff."""
    run_site.require_staff(at.role.person)
    made = contests.clone_contest(
        at.contest,
        at.actor,
        name=body.name,
        slug=body.slug,
        starts=body.starts,
        with_teams=body.with_teams,
    )
    said = gettext("The contest was cloned; this is the new one.")
    return Done(said, lambda: Made(slug=made.slug, name=made.name), goto=made.slug)


@ACTS.act("run-settings", Route("POST", CONTEST + "/delete"))
def delete(at: At, body: Why) -> Done:
    """Take the contest away from everybody; `undelete` brings it back."""
    contests.delete(at.contest, at.actor, body.why)
    return Done(gettext("The contest is deleted; “New contest” can bring it back."), goto="/")


@ACTS.act("run-settings")
def forget(at: At, body: Why) -> Done:
    """Forget all players after the contest."""
    count = repairs.forget_people(at.contest, at.actor, body.why)
    return Done(
        gettext("%(count)d accounts were erased; this cannot be undone.") % {"count": count}
    )


@ACTS.act("run-backup")
def backup(at: At) -> Done:
    """Have a backup of the whole server made; for staff."""
    run_site.require_staff(at.role.person)
    repairs.ask_backup(at.actor)
    return Done(gettext("A backup is being made; it will be in the list."))
