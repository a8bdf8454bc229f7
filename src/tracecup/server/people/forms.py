"""Forms of the pages about people; what is right is decided by the services, not here.

`refuse` writes a service's refusal beside the fields it is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tracecup.server.errors import Refused
from tracecup.server.people.accounts import MAX_EMAIL, MAX_NAME, MAX_PASSWORD, MAX_USERNAME
from tracecup.server.people.tokens import MAX_DAYS
from tracecup.server.web.choosing import Choosing, zones


def refuse(form: forms.Form, refused: Refused) -> None:
    """Show a refusal in a form: at its fields, or on top.

    Bad lines of a text are no fields: the page lists them with their numbers.
    """
    placed = False
    for one in refused.problems:
        name = one.get("field")
        if name not in form.fields and one.get("line"):
            continue
        form.add_error(name if name in form.fields else None, _sentence(one))
        placed = True
    if not placed:
        form.add_error(None, refused.message)


def _sentence(one: Mapping[str, Any]) -> str:
    """What is accepted; Django's words about passwords are whole sentences already."""
    expected = str(one.get("expected", ""))
    if expected.endswith((".", "。")):
        return expected
    return gettext("Accepted: {expected}.").format(expected=expected)


def _password(label: Any, autocomplete: str, help_text: Any = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        max_length=MAX_PASSWORD,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": autocomplete}),
        help_text=help_text,
    )


def _new_password(label: Any) -> forms.CharField:
    return _password(
        label, "new-password", _("At least 10 characters; not a common word, not your name.")
    )


class LogInForm(forms.Form):
    """Name and password."""

    username = forms.CharField(
        label=_("Name of the account"),
        max_length=300,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )
    password = _password(_("Password"), "current-password")


class ResetForm(forms.Form):
    """Whose password was forgotten."""

    who = forms.CharField(
        label=_("Name of the account, or e-mail address"),
        max_length=MAX_EMAIL,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )


class NewPasswordForm(forms.Form):
    """A new password, after a link of a reset."""

    password = _new_password(_("New password"))


class NewAccountForm(forms.Form):
    """An account that a link, a join code or a registration makes."""

    username = forms.CharField(
        label=_("Name of the account"),
        max_length=MAX_USERNAME,
        help_text=_("You log in with it. Letters, digits and . + @ - _"),
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )
    password = _new_password(_("Password"))
    name = forms.CharField(
        label=_("Your name (optional)"),
        max_length=MAX_NAME,
        required=False,
        help_text=_("Your team and the organisers see it."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    email = forms.EmailField(
        label=_("E-mail (optional)"),
        required=False,
        help_text=_("For a new password and the organisers' announcements; teams do not see it."),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


class ProfileForm(forms.Form):
    """Name, e-mail, language, zone."""

    name = forms.CharField(
        label=_("Your name (optional)"),
        max_length=MAX_NAME,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    email = forms.EmailField(
        label=_("E-mail (optional)"),
        required=False,
        help_text=_("For a new password and the organisers' announcements; teams do not see it."),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        choices=[("", _("as the browser says")), *settings.LANGUAGES],
    )
    zone = forms.ChoiceField(
        label=_("Time zone"),
        required=False,
        choices=lambda: [("", _("as the browser says")), *zones()],
        widget=Choosing,
    )
    password = forms.CharField(
        label=_("Password, if the e-mail address changes"),
        max_length=MAX_PASSWORD,
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class ChangePasswordForm(forms.Form):
    """The password of today and the next one."""

    old = _password(_("Password of today"), "current-password")
    new = _new_password(_("New password"))


class TokenForm(forms.Form):
    """A new API token."""

    name = forms.CharField(
        label=_("What the token is for"),
        max_length=80,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": _("my laptop")}),
    )
    days = forms.IntegerField(
        label=_("Days until it expires"), min_value=1, max_value=MAX_DAYS, initial=90
    )


class EraseForm(forms.Form):
    """The password once more, before everything is forgotten."""

    password = _password(_("Your password, to be sure"), "current-password")
