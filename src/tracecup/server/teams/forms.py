"""Forms of teams: a new team, a join code, an invitation.

What they mean is checked by the services.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from tracecup.server.people.accounts import MAX_NAME
from tracecup.server.people.forms import NewAccountForm
from tracecup.server.teams.registration import MAX_TEAM_NAME


class TeamForm(forms.Form):
    """A team that registers by itself."""

    team = forms.CharField(label=_("Name of the team"), max_length=MAX_TEAM_NAME)
    division = forms.ChoiceField(label=_("Division"), required=False)

    def __init__(self, divisions: list[str], *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        if divisions:
            self.fields["division"].choices = [(one, one) for one in divisions]
        else:
            del self.fields["division"]


class TeamAndAccountForm(TeamForm, NewAccountForm):
    """A team that registers by itself, with the account of its captain."""

    field_order = ["team", "division", "username", "password", "name", "email"]


class CodeForm(forms.Form):
    """A join code, typed."""

    code = forms.CharField(
        label=_("Join code"),
        max_length=40,
        help_text=_("Twelve letters and digits, from your captain."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )


class InviteForm(forms.Form):
    """Whom a captain invites."""

    name = forms.CharField(label=_("Name (optional)"), max_length=MAX_NAME, required=False)
    email = forms.EmailField(
        label=_("E-mail (optional)"),
        required=False,
        help_text=_("The link goes there; without an address you pass it on yourself."),
    )
