"""E-mails to people: a new password, invitations, notices about the account.

Written in the reader's language and sent apart from the request, so that an answer takes no
longer for an account that exists than for one that does not.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import connection
from django.utils import translation
from django.utils.translation import gettext as _

from tracecup.server.errors import Refused
from tracecup.server.models import Contest, Person, Team
from tracecup.server.people import links, throttle
from tracecup.server.people.links import (
    Invitation,
)

_post = ThreadPoolExecutor(max_workers=1, thread_name_prefix="post")
logger = logging.getLogger(__name__)


def ask_reset(typed: str, address: str, site: str) -> None:
    """Send a link for a new password to whom the name or address belongs; say nothing of it.

    The answer is the same for everybody: nothing. Too many questions from one address are
    `Refused`; too many about one account are not answered.
    """
    throttle.spend(throttle.RESET_ASKED, address, address)
    later(_send_reset, typed.strip().lower()[:254], site)


def invite(team: Team, name: str, email: str, link: str, site: str, days: int = 14) -> None:
    """The letter with a link that makes somebody a member; in the inviter's language."""
    contest = team.contest
    subject = _("{contest}: your place in team {team}").format(contest=contest.name, team=team.name)
    text = _(
        "{hello}\n\n"
        "You are invited to team {team} of {contest}.\n"
        "Open this link to make your account, or to join with the one you have:\n\n"
        "{address}\n\n"
        "It works once, within {days} days. Do not pass it on.\n"
    ).format(
        hello=_hello(name), team=team.name, contest=contest.name, address=site + link, days=days
    )
    later(_send, email, subject, text)


def invite_all(invitations: Iterable[Invitation], site: str) -> int:
    """A letter for every invitation with an e-mail address; how many those are."""
    named = [one for one in invitations if one.email]
    for one in named:
        invite(one.team, one.name, one.email, one.link, site)
    return len(named)


def invite_organiser(
    contest: Contest | None, name: str, email: str, link: str, site: str, days: int = 14
) -> None:
    """The letter with a link that makes somebody an organiser, of a contest or of the site."""
    what = contest.name if contest is not None else _("contests of your own")
    subject = _("Invitation to organise {what}").format(what=what)
    text = _(
        "{hello}\n\n"
        "You are invited to organise {what}.\n"
        "Open this link to make your account, or to accept with the one you have:\n\n"
        "{address}\n\n"
        "It works once, within {days} days. Do not pass it on.\n"
    ).format(hello=_hello(name), what=what, address=site + link, days=days)
    later(_send, email, subject, text)


def tell_password_changed(person: Person, site: str, *, by_link: bool = False) -> None:
    """A notice: who did not do it should know. `by_link`: everything else that let in has ended."""
    with translation.override(language_of(person)):
        subject = _("Your password was changed")
        ended = _("You are logged out everywhere else. Your API tokens still work.")
        if by_link:
            ended = _(
                "It was set with a link that was sent to you. You are logged out everywhere else,\n"
                "and all your API tokens are revoked: programs need new ones."
            )
        text = _(
            "{hello}\n\n"
            "The password of your account {username} at {site} was changed.\n"
            "{ended}\n\n"
            "If it was not you, set a new one here and tell the organisers:\n\n"
            "{address}\n"
        ).format(
            hello=_hello(person.first_name),
            username=person.username,
            site=site,
            ended=ended,
            address=f"{site}/reset/",
        )
    later(_send, person.email, subject, text)


def tell_email_changed(person: Person, before: str, site: str) -> None:
    """A notice to the address before."""
    with translation.override(language_of(person)):
        subject = _("Your e-mail address was changed")
        text = _(
            "{hello}\n\n"
            "Your account {username} at {site} has another e-mail address now;\n"
            "letters no longer come to this one. If it was not you, tell the organisers.\n"
        ).format(hello=_hello(person.first_name), username=person.username, site=site)
    later(_send, before, subject, text)


def language_of(person: Person) -> str:
    """The language somebody reads: of her account, else the one of this request."""
    return person.language or translation.get_language() or settings.LANGUAGE_CODE


def later(work: Callable[..., None], *args: Any) -> None:
    """Do something apart from the request; at once where everything runs in one process."""
    if getattr(settings, "TRACECUP_INLINE", False):
        work(*args)
    else:
        _post.submit(_quietly, translation.get_language(), work, *args)


def _quietly(language: str | None, work: Callable[..., None], *args: Any) -> None:
    try:
        with translation.override(language):
            work(*args)
    except Exception:
        logger.exception("a letter could not be written")
    finally:
        connection.close()


def _send_reset(typed: str, site: str) -> None:
    try:
        throttle.spend(throttle.RESET, typed, typed)
    except Refused:
        return
    for person, secret in links.reset_links(typed):
        with translation.override(language_of(person)):
            subject = _("A new password for {username}").format(username=person.username)
            text = _(
                "{hello}\n\n"
                "Somebody asked for a new password for your account {username} at {site}.\n"
                "If it was you, open this link within two hours; it works once:\n\n"
                "{address}\n\n"
                "With the new password you are logged out everywhere else, and your API tokens\n"
                "are revoked: programs need new ones.\n\n"
                "If it was not you, do nothing: your password stays as it is.\n"
            ).format(
                hello=_hello(person.first_name),
                username=person.username,
                site=site,
                address=f"{site}/link/{secret}/",
            )
        _send(person.email, subject, text)


def _send(to: str, subject: str, text: str) -> None:
    if not to:
        return
    try:
        EmailMessage(subject, text, to=[to]).send()
    except OSError as error:  # smtplib's errors are of this kind
        # The address stays out of the logs.
        logger.warning("a letter could not be sent: %s", type(error).__name__)


def _hello(name: str) -> str:
    return _("Hello {name},").format(name=name) if name else _("Hello,")
