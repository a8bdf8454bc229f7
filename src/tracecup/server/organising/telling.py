"""What teams are told by themselves: that rules or deadlines changed, before and after.

On their pages and the contest's at once, and by e-mail where the server has a mail server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from django.conf import settings
from django.utils.translation import gettext as _

from tracecup.server.access import Actor
from tracecup.server.models import Contest
from tracecup.server.organising.rulewords import label, value
from tracecup.server.teams.messages import MAX_TEXT, announce


class Change(Protocol):
    """A key of the rules with its values before and after."""

    @property
    def key(self) -> str: ...

    @property
    def before(self) -> str: ...

    @property
    def after(self) -> str: ...


def tell_teams(contest: Contest, changes: Sequence[Change], actor: Actor) -> None:
    """Announce changed rules on the pages of teams; nothing where nobody is there to read it."""
    if not changes or not contest.teams.filter(deleted_at=None, bot="").exists():
        return
    zone = contest.rules.tzinfo
    lines = [
        f"{label(one.key)}: {value(one.key, one.before, zone)} → {value(one.key, one.after, zone)}"
        for one in changes
    ]
    text = "\n".join([_("These rules hold from now on (before → after):"), *lines])
    title = _("The rules have changed")
    if all(".phases." in one.key for one in changes):
        title = _("Deadlines have changed")
    announce(
        contest,
        title,
        text[:MAX_TEXT],
        actor,
        mail=bool(settings.CONFIG.mail_url),
        public=True,
    )
