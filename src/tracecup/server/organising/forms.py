"""Forms of the organisers' pages; what is right is decided by the services, not here.

Times are typed in the contest's zone. Every dangerous act has a field for the reason.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from tracecup.contest.rules import PHASES
from tracecup.server.models import Team
from tracecup.server.organising.data_teams import team_of
from tracecup.server.web.context import Place

MAX_WHY = 2000
# No division is called so: their names have no spaces around them.
AS_IT_IS = " "


class ActForm(forms.Form):
    """A form of one act; it knows the place it is shown at."""

    def __init__(self, *args: Any, place: Place, **more: Any) -> None:
        super().__init__(*args, **more)
        self.place = place
        if "mail" in self.fields and not settings.CONFIG.mail_url:
            self.fields["mail"].help_text = _(
                "No mail server is set: letters are only printed where this server was started."
            )
        self.prepare()

    def prepare(self) -> None:
        """Fill choices from the place."""


def why(help_text: Any = "") -> forms.CharField:
    """The reason that stands in the log."""
    return forms.CharField(
        label=_("Reason"),
        max_length=MAX_WHY,
        help_text=help_text or _("Stands in the log, for good."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


def instant(label: Any, **more: Any) -> forms.DateTimeField:
    """An instant, typed in the contest's zone."""
    return forms.DateTimeField(
        label=label,
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        **{"help_text": _("In the contest's time zone."), **more},
    )


def team_choices(place: Place) -> list[tuple[str, str]]:
    """Teams by number and name."""
    teams = place.contest.teams.filter(deleted_at=None)
    return [(str(team.number), f"{team.number} {team.name}") for team in teams]


class WhyForm(ActForm):
    """Only a reason."""

    why = why()


class NoForm(ActForm):
    """Nothing to say."""


class NumberForm(ActForm):
    """What it is about, by its number."""

    id = forms.IntegerField(widget=forms.HiddenInput)


class NumberWhyForm(NumberForm):
    """What it is about, and the reason."""

    why = why()


class ResumeForm(ActForm):
    """Go on after a pause."""

    shift = forms.BooleanField(
        label=_("Move every deadline that lies ahead by the length of the pause"),
        required=False,
        initial=True,
    )
    why = why()


class DeadlineForm(ActForm):
    """Another end of a phase for everybody."""

    phase = forms.ChoiceField(
        label=_("Phase"),
        choices=[("anonymize", _("Anonymization")), ("attack", _("Attack"))],
    )
    until = instant(_("New end"))
    follow = forms.BooleanField(
        label=_("Everything later moves along"), required=False, initial=True
    )
    why = why()


class AnnounceForm(ActForm):
    """A message to teams."""

    title = forms.CharField(label=_("Title"), max_length=200)
    text = forms.CharField(
        label=_("Message"), max_length=20_000, widget=forms.Textarea(attrs={"rows": 5})
    )
    team = forms.ChoiceField(label=_("To"), required=False)
    mail = forms.BooleanField(label=_("Also by e-mail"), required=False, initial=True)

    def prepare(self) -> None:
        """All teams or one."""
        self.fields["team"].choices = [("", _("all teams")), *team_choices(self.place)]


class ClockForm(ActForm):
    """Move a demo's clock."""

    hours = forms.FloatField(label=_("Hours to move the clock by"), initial=1)


class AppealsForm(ActForm):
    """The window for appeals."""

    until = instant(_("Open until"), required=False, help_text=_("Empty closes the window."))
    why = why()


class AnswerForm(NumberForm):
    """The answer to an appeal."""

    answer = forms.CharField(label=_("Answer"), max_length=2000, widget=forms.Textarea)
    accepted = forms.BooleanField(label=_("The appeal is right"), required=False)


class RehearseForm(ActForm):
    """How large a rehearsal is."""

    teams = forms.IntegerField(label=_("Bots"), min_value=2, max_value=21, initial=4)
    users = forms.IntegerField(label=_("Users"), min_value=10, max_value=500, initial=30)


class CsvForm(ActForm):
    """A list of teams."""

    text = forms.CharField(
        label=_("List of teams (CSV)"),
        max_length=1 << 20,
        strip=False,
        widget=forms.Textarea(attrs={"class": "code short", "rows": 7, "spellcheck": "false"}),
        help_text=_("Columns team, division, name, email; one line per person."),
    )
    mail = forms.BooleanField(label=_("Send the links by e-mail"), required=False, initial=False)


class TeamForm(ActForm):
    """A new team."""

    name = forms.CharField(label=_("Name"), max_length=120)
    division = forms.ChoiceField(label=_("Division"), required=False)
    hors_concours = forms.BooleanField(
        label=_("Out of competition (hors concours)"), required=False
    )

    def prepare(self) -> None:
        """The divisions of the contest."""
        names = [(name, name) for name in self.place.contest.divisions]
        self.fields["division"].choices = [("", _("none")), *names]


class OfTeamForm(ActForm):
    """An act about one team."""

    team = forms.ChoiceField(label=_("Team"))

    def prepare(self) -> None:
        """The teams of the contest."""
        self.fields["team"].choices = team_choices(self.place)


class TeamWhyForm(OfTeamForm):
    """A team and the reason."""

    why = why()


class ChangeTeamForm(OfTeamForm):
    """Another name or division of a team."""

    name = forms.CharField(
        label=_("New name"), max_length=120, required=False, help_text=_("Empty: as it is.")
    )
    division = forms.ChoiceField(label=_("Division"), required=False)

    def prepare(self) -> None:
        """The teams and divisions of the contest."""
        super().prepare()
        names = [(name, name) for name in self.place.contest.divisions]
        self.fields["division"].choices = [(AS_IT_IS, _("as it is")), ("", _("none")), *names]
        self.fields["division"].initial = AS_IT_IS


class MemberForm(ActForm):
    """Somebody in a team."""

    team = forms.IntegerField(widget=forms.HiddenInput)
    person = forms.IntegerField(widget=forms.HiddenInput)


class LinkForm(OfTeamForm):
    """A one-time link for a new member."""

    name = forms.CharField(label=_("Name of the person"), max_length=150, required=False)
    email = forms.EmailField(label=_("E-mail address"), required=False)
    mail = forms.BooleanField(label=_("Send it by e-mail"), required=False)


class OrganiserForm(ActForm):
    """A one-time link for another organiser."""

    name = forms.CharField(label=_("Name of the person"), max_length=150, required=False)
    email = forms.EmailField(label=_("E-mail address"), required=False)
    mail = forms.BooleanField(label=_("Send it by e-mail"), required=False)


class StatusForm(OfTeamForm):
    """Withdraw, disqualify, take back."""

    status = forms.ChoiceField(
        label=_("Status"),
        choices=[
            ("active", _("takes part")),
            ("withdrawn", _("withdrawn")),
            ("disqualified", _("disqualified")),
        ],
    )
    why = why(_("The team reads it, and it stands in the log."))


class ExtendForm(OfTeamForm):
    """More time or tries for one team."""

    phase = forms.ChoiceField(
        label=_("Phase"),
        choices=[("anonymize", _("Anonymization")), ("attack", _("Attack"))],
    )
    until = instant(_("Until"), required=False)
    extra_tries = forms.IntegerField(
        label=_("More tries"), min_value=0, max_value=1000, required=False, initial=0
    )
    why = why()


class RefForm(ActForm):
    """A submission and the reason."""

    ref = forms.CharField(max_length=12, widget=forms.HiddenInput)
    why = why()


class FlagForm(ActForm):
    """Something on or off, with the reason."""

    on = forms.BooleanField(required=False, widget=forms.HiddenInput)
    why = why()


class RulesForm(ActForm):
    """The text of the rules."""

    text = forms.CharField(
        label=_("contest.toml"),
        max_length=256 * 1024,
        strip=False,
        required=False,
        widget=forms.Textarea(attrs={"class": "code", "spellcheck": "false"}),
    )
    version = forms.IntegerField(widget=forms.HiddenInput)
    why = forms.CharField(
        label=_("Reason"),
        max_length=MAX_WHY,
        required=False,
        help_text=_("Needed to save; stands in the log, for good."),
    )

    def prepare(self) -> None:
        """The text as it is."""
        self.fields["text"].initial = self.place.contest.rules_text
        self.fields["version"].initial = self.place.contest.rules_version


class PhasesForm(ActForm):
    """When the phases of a round begin."""

    announce = instant(_("Announcement: teams get their data"))
    anonymize = instant(_("Anonymization begins"))
    judge = instant(_("Anonymization ends, the judge works"))
    attack = instant(_("Releases are published, attack begins"))
    results = instant(_("Attack ends, results"))
    why = why()

    def prepare(self) -> None:
        """As they are, in the contest's zone."""
        round, zone = self.place.round, self.place.contest.rules.tzinfo
        for phase in PHASES:
            self.fields[phase].help_text = ""
            self.fields[phase].widget.format = "%Y-%m-%dT%H:%M:%S"
            self.fields[phase].widget.attrs["step"] = "1"
            at = getattr(round.rules.phases, phase) if round else None
            if at is not None:
                self.fields[phase].initial = at.astimezone(zone).replace(tzinfo=None)


class DetailsForm(ActForm):
    """Who may see the contest and register."""

    is_public = forms.BooleanField(label=_("Everybody may see this contest"), required=False)
    join_open = forms.BooleanField(label=_("Teams may register by themselves"), required=False)
    divisions = forms.CharField(
        label=_("Divisions"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("One a line; empty if there are none."),
    )

    def prepare(self) -> None:
        """As it is."""
        contest = self.place.contest
        self.fields["is_public"].initial = contest.is_public
        self.fields["join_open"].initial = contest.join_open
        self.fields["divisions"].initial = "\n".join(contest.divisions)


class CityForm(ActForm):
    """A file of the contest's own city."""

    kind = forms.ChoiceField(
        label=_("What it is"),
        choices=[
            ("city", _("the table of regions (info_region.csv)")),
            ("model", _("the model of its people (tracecup train)")),
        ],
    )
    file = forms.FileField(label=_("File"))
    why = why()


class CloneForm(ActForm):
    """A new contest with the same rules."""

    name = forms.CharField(label=_("Name"), max_length=200)
    slug = forms.CharField(
        label=_("Address"), max_length=60, help_text=_("Small letters, digits, hyphens.")
    )
    starts = instant(
        _("First phase begins"),
        required=False,
        help_text=_("All other phases keep their distance. Empty: no times yet."),
    )
    with_teams = forms.BooleanField(
        label=_("Take the teams along (names only, new codes, no members)"), required=False
    )


class NewForm(forms.Form):
    """A new contest."""

    name = forms.CharField(label=_("Name"), max_length=200)
    slug = forms.CharField(
        label=_("Address"),
        max_length=60,
        help_text=_("Small letters, digits, hyphens; the contest will be at /c/ADDRESS/."),
    )
    is_public = forms.BooleanField(
        label=_("Everybody may see this contest"),
        required=False,
        help_text=_("Can be changed later."),
    )
    divisions = forms.CharField(
        label=_("Divisions"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("One a line; empty if there are none."),
    )
    text = forms.CharField(
        label=_("Rules (contest.toml)"),
        max_length=256 * 1024,
        strip=False,
        required=False,
        widget=forms.Textarea(attrs={"class": "code", "spellcheck": "false"}),
        help_text=_("Set the instants of the phases at the end; everything else has a default."),
    )


def chosen_team(place: Place, number: str) -> Team:
    """The team of a choice."""
    return team_of(place.role, int(number))
