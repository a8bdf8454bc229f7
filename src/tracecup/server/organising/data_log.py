"""What the page of the log shows: who did what, with people and teams by their names of today.

The log itself knows numbers only, so that names can be erased without breaking its chain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import Schema

from tracecup.server.access import SYSTEM, Role
from tracecup.server.auditlog import check_chain
from tracecup.server.models import Contest, LogEntry, Person, Submission

LOG_PAGE = 100
PERSON = "person:"
NAMES_OF_TODAY = {"who", "about", "link"}


class LogRow(Schema):
    """An entry of the log. `who` and `about` are names of today; `link` shows the subject."""

    number: int
    at: datetime
    contest: str
    actor: str
    who: str
    action: str
    subject: str
    about: str
    link: str
    before: Any
    after: Any
    why: str
    hash: str


class AuditPage(Schema):
    """The log of a contest, newest first. The chain is checked over the whole site's log.

    `actors` are all who ever acted in the contest, with their names.
    """

    page: int
    pages: int
    total: int
    actions: list[str]
    action: str
    actors: dict[str, str]
    actor: str
    text: str
    rows: list[LogRow]
    chain_checked: bool
    chain_entries: int
    chain_faults: list[str]


def audit_page(
    role: Role,
    *,
    action: str = "",
    actor: str = "",
    text: str = "",
    page: int = 1,
    check: bool = False,
) -> AuditPage:
    """The log of a contest; `check` walks the chain of the whole site."""
    role.require_organiser()
    mine = LogEntry.objects.filter(contest=role.contest.slug)
    actions = sorted(set(mine.order_by().values_list("action", flat=True).distinct()))
    actors = who_is(mine.order_by().values_list("actor", flat=True).distinct())
    found = mine
    if action:
        found = found.filter(action=action)
    if actor:
        found = found.filter(actor=actor)
    if text:
        found = found.filter(subject__icontains=text) | found.filter(why__icontains=text)
    pages = Paginator(found.order_by("-number"), LOG_PAGE)
    here = pages.get_page(page)
    entries = list(here)
    subjects = _subjects(role.contest, entries)
    return AuditPage(
        page=here.number,
        pages=pages.num_pages,
        total=pages.count,
        actions=actions,
        action=action,
        actors=actors,
        actor=actor,
        text=text,
        rows=[log_row(one, actors, subjects) for one in entries],
        chain_checked=check,
        chain_entries=LogEntry.objects.count(),
        chain_faults=list(check_chain())[:20] if check else [],
    )


def log_row(
    one: LogEntry,
    actors: Mapping[str, str] | None = None,
    subjects: Mapping[str, tuple[str, str]] | None = None,
) -> LogRow:
    """An entry of the log; without `actors` and `subjects` as it is kept, by numbers."""
    about, link = (subjects or {}).get(one.subject, ("", ""))
    told = {"at", *NAMES_OF_TODAY}
    columns = {name: getattr(one, name) for name in LogRow.model_fields if name not in told}
    return LogRow(
        at=datetime.fromisoformat(one.at),
        who=(actors or {}).get(one.actor, one.actor),
        about=about,
        link=link,
        **columns,
    )


def who_is(actors: Iterable[str]) -> dict[str, str]:
    """Names of those who act in the log; whoever was erased stays a number."""
    wanted = sorted(set(actors))
    numbers = [int(one.removeprefix(PERSON)) for one in wanted if one.startswith(PERSON)]
    names = dict(Person.objects.filter(pk__in=numbers).values_list("pk", "username"))
    called = {f"{PERSON}{number}": name for number, name in names.items()}
    called[SYSTEM.label] = _("the server itself")
    return {one: called.get(one, one) for one in wanted}


def _subjects(contest: Contest, entries: list[LogEntry]) -> dict[str, tuple[str, str]]:
    """For each team and submission that entries are about: what it is called, where it is shown."""
    told = {one.subject for one in entries}
    teams = dict(contest.teams.values_list("number", "name"))
    page, found = reverse("run-teams", args=[contest.slug]), {}
    for number, name in teams.items():
        found[f"team:{number}"] = (name, f"{page}?team={number}")
    refs = [one.removeprefix("submission:") for one in told if one.startswith("submission:")]
    page = reverse("run-submissions", args=[contest.slug])
    rows = Submission.objects.filter(contest=contest, ref__in=refs)
    for ref, number, name, round_name in rows.values_list(
        "ref", "team__number", "team__name", "round__name"
    ):
        found[f"submission:{ref}"] = (
            f"{number} {name}",
            f"{page}?round={round_name}&show={ref}#shown",
        )
    return {subject: found[subject] for subject in told if subject in found}
