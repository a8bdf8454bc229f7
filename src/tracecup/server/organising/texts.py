"""What organisers write about a contest for everybody: description, prizes, terms, contact, FAQ.

In Markdown; every change is logged with the text before, so that it can be undone.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.errors import Problem
from tracecup.server import auditlog as log
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.locks import locked
from tracecup.server.models import Contest
from tracecup.server.models.contests import TEXTS

MAX_TEXT = 20_000


def set_texts(contest: Contest, actor: Actor, texts: Mapping[str, str | None]) -> None:
    """Change some texts; None leaves one as it is, an empty one is taken off the pages."""
    given = {
        name: said.replace("\r\n", "\n").replace("\0", "").strip()
        for name, said in texts.items()
        if name in TEXTS and said is not None
    }
    expected = _("at most %(most)d characters") % {"most": MAX_TEXT}
    problems = [
        Problem(0, name, str(len(said)), expected).as_dict()
        for name, said in given.items()
        if len(said) > MAX_TEXT
    ]
    if problems:
        raise Refused("invalid", _("Some fields are missing or wrong."), problems)
    with transaction.atomic():
        held = locked(contest)
        before = {name: held.texts.get(name, "") for name in given}
        if before == given:
            return
        held.texts = {name: said for name, said in {**held.texts, **given}.items() if said}
        held.save(update_fields=["texts"])
        changed = {name: said for name, said in given.items() if said != before[name]}
        log.record(
            actor,
            "contest.texts",
            contest=held,
            before={name: before[name] for name in changed},
            after=changed,
        )
    contest.refresh_from_db()
