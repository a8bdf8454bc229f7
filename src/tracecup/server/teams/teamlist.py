"""Many teams at once from a CSV file: first a plan that changes nothing, then all of it or nothing.

Columns `team,division,name,email`, one line per person; a team may have several lines. What was
taken out with `teams_csv` can be put in again: who is there already stays as she is.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.judging.service import ensure_data
from tracecup.server.models import Contest, Member, Team
from tracecup.server.people.accounts import MAX_NAME, Problem, checked_email, checked_text, problem
from tracecup.server.people.links import MEMBER, Invitation, link_path, new_link, open_links
from tracecup.server.teams.registration import (
    MAX_TEAM_NAME,
    MAX_TEAMS,
    division_problems,
    insert_team,
)
from tracecup.server.web.spreadsheets import harmless

COLUMNS = ("team", "division", "name", "email")
# What a list that was taken out has besides; `account` tells people without an address.
MORE = ("number", "account", "captain", "status")
MAX_CHARACTERS = 1 << 20
MAX_LINES = 5000
MAX_PROBLEMS = 50
Effect = Literal["new-team", "new-link", "replaced-link", "nothing"]


@dataclass(frozen=True)
class PlannedLine:
    """What one line of the file will do.

    `new-team`: makes the team and a link; `new-link`: one more link of the team; `replaced-link`:
    the open link of this address stops working; `nothing`: she is in the team already.
    """

    line: int
    team: str
    division: str
    name: str
    email: str
    effect: Effect


@dataclass(frozen=True)
class ListPlan:
    """What a file will do, or what is wrong with it; `text` is the file."""

    rows: tuple[PlannedLine, ...]
    problems: tuple[Problem, ...]
    text: str = field(default="", repr=False)

    @property
    def new_teams(self) -> int:
        """How many teams will be made."""
        return sum(row.effect == "new-team" for row in self.rows)

    @property
    def new_links(self) -> int:
        """How many links will be made."""
        return sum(row.effect != "nothing" for row in self.rows)


def plan_csv(contest: Contest, text: str) -> ListPlan:
    """Read a list of teams and say, line by line, what it will do. Changes nothing."""
    text = text.removeprefix("\ufeff")
    problems: list[Problem] = []
    lines = _lines(text, problems)
    rows = _ListPlanner(contest, problems).plan(lines)
    problems.sort(key=lambda one: int(one["line"]))
    return ListPlan(tuple(rows), tuple(problems[:MAX_PROBLEMS]), text)


def apply_csv(contest: Contest, plan: ListPlan, actor: Actor) -> list[Invitation]:
    """Do what was planned: all of it in one transaction. `Refused` if it is not the same any more.

    The links are shown once, here.
    """
    if plan.problems:
        raise Refused("invalid", _("The list has mistakes; nothing was done."), plan.problems)
    made: list[Invitation] = []
    with transaction.atomic():
        held = Contest.objects.select_for_update(no_key=True).get(pk=contest.pk)
        if plan_csv(held, plan.text).rows != plan.rows:
            raise Refused(
                "conflict",
                _(
                    "Teams or invitations have changed in the meantime; "
                    "please check the list again."
                ),
            )
        teams = _by_name(held)
        for row in plan.rows:
            team = teams.get(row.team.casefold())
            if team is None:
                team = insert_team(held, row.team, actor, row.division)
                teams[row.team.casefold()] = team
            if row.effect != "nothing":
                secret = new_link(MEMBER, actor, team=team, name=row.name, email=row.email)
                made.append(Invitation(team, row.email, link_path(secret), row.name))
        if plan.new_teams:
            ensure_data(held)
    return made


def invitations_csv(invitations: Sequence[Invitation], site: str) -> str:
    """The links as a CSV file, for organisers who write the letters themselves."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["number", *COLUMNS, "link"])
    for one in invitations:
        texts = (one.team.name, one.team.division, one.name, one.email)
        writer.writerow([one.team.number, *map(harmless, texts), site + one.link])
    return out.getvalue()


def teams_csv(contest: Contest) -> str:
    """Who takes part, one line per person, as `plan_csv` reads it; a team without people has one.

    >>> COLUMNS + MORE
    ('team', 'division', 'name', 'email', 'number', 'account', 'captain', 'status')
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([*COLUMNS, *MORE])
    people: dict[int, list[Member]] = {}
    for one in Member.objects.filter(contest=contest).select_related("person").order_by("pk"):
        people.setdefault(one.team_id, []).append(one)
    for team in contest.teams.filter(deleted_at=None).order_by("number"):
        for member in people.get(team.pk, [None]):
            person = member.person if member else None
            texts = (
                team.name,
                team.division,
                person.get_full_name() if person else "",
                person.email if person else "",
            )
            account = harmless(person.username) if person else ""
            captain = "yes" if member and member.captain else ""
            writer.writerow([*map(harmless, texts), team.number, account, captain, team.status])
    return out.getvalue()


def decoded(content: bytes) -> str | None:
    """The text of a CSV file: UTF-8, with or without a mark, or as Japanese spreadsheets write it.

    >>> decoded("名".encode("cp932")), decoded(b"\\xef\\xbb\\xbfteam"), decoded(b"\\xff\\x00")
    ('名', 'team', None)
    """
    for encoding in ("utf-8-sig", "cp932"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return text if len(text) <= MAX_CHARACTERS and "\0" not in text else None
    return None


def _lines(text: str, problems: list[Problem]) -> list[tuple[int, dict[str, str]]]:
    """Number and fields of every line that holds something."""
    if len(text) > MAX_CHARACTERS:
        problems.append(problem("", _("at most one million characters"), str(len(text))))
        return []
    header, _end, _rest = text.partition("\n")
    delimiter = max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    found: list[tuple[int, dict[str, str]]] = []
    columns: list[str] = []
    begin = 1
    try:
        for read in reader:
            values = [value.strip() for value in read]
            if not columns:
                columns = _header(values, problems)
                if problems:
                    return []
            elif len(found) == MAX_LINES:
                expected = _("at most {most} lines").format(most=MAX_LINES)
                problems.append(problem("", expected, "", begin))
                return []
            elif any(values):
                _line(begin, columns, values, found, problems)
            begin = reader.line_num + 1
    except csv.Error as error:
        problems.append(problem("", _("a line of a CSV file"), str(error), begin))
    if not columns and not problems:
        problems.append(problem("", ",".join(COLUMNS), "", 1))
    elif not found and not problems:
        problems.append(problem("", _("at least one line below the header"), "", 2))
    return found


def _header(values: list[str], problems: list[Problem]) -> list[str]:
    columns = [value.lower() for value in values]
    for name in columns:
        if name not in COLUMNS + MORE:
            problems.append(problem(name or "", ",".join(COLUMNS), name, 1))
        elif columns.count(name) > 1:
            problems.append(problem(name, _("every column once"), name, 1))
            break
    if "team" not in columns:
        problems.append(problem("team", _("a column called team"), ",".join(values), 1))
    return columns


def _line(
    number: int,
    columns: list[str],
    values: list[str],
    found: list[tuple[int, dict[str, str]]],
    problems: list[Problem],
) -> None:
    if len(values) != len(columns):
        expected = _("{n} fields, as in the header").format(n=len(columns))
        problems.append(problem("", expected, str(len(values)), number))
        return
    found.append((number, dict.fromkeys(COLUMNS, "") | dict(zip(columns, values, strict=True))))


class _ListPlanner:
    """Checks lines against the contest and against the lines before."""

    def __init__(self, contest: Contest, problems: list[Problem]) -> None:
        self.contest, self.problems = contest, problems
        self.teams = _by_name(contest)
        self.divisions = {name: team.division for name, team in self.teams.items()}
        self.invited = {
            (link.team_id, link.email.lower()) for link in open_links(MEMBER, contest) if link.email
        }
        self.members = {
            member.person.email.lower(): member.team_id
            for member in Member.objects.filter(contest=contest).select_related("person")
            if member.person.email
        }
        self.accounts = {
            (member.team_id, member.person.username.lower())
            for member in Member.objects.filter(contest=contest).select_related("person")
        }
        self.lines_of: dict[str, int] = {}
        self.new: dict[str, int] = {}

    def plan(self, lines: list[tuple[int, dict[str, str]]]) -> list[PlannedLine]:
        """What each line will do."""
        rows = [row for number, values in lines if (row := self._row(number, values)) is not None]
        taken = self.contest.teams.count() + len(self.new)
        if taken > MAX_TEAMS:
            expected = _("at most {n} teams in a contest").format(n=MAX_TEAMS)
            self.problems.append(problem("team", expected, str(taken)))
        return rows

    def _row(self, line: int, values: dict[str, str]) -> PlannedLine | None:
        bad: list[Problem] = []
        name = checked_text("team", values["team"], MAX_TEAM_NAME, bad)
        person = checked_text("name", values["name"], MAX_NAME, bad)
        email = checked_email(values["email"], bad)
        bad += division_problems(self.contest, values["division"])
        key, address = name.casefold(), email.lower()
        if not name:
            bad.append(problem("team", _("the name of the team")))
        division = self._division(key, values["division"], bad)
        team = self.teams.get(key)
        self._team(team, bad)
        if address:
            self._address(address, team, line, bad)
        self.problems += [{**one, "line": line} for one in bad]
        if bad:
            return None
        effect = self._effect(key, address, line)
        if team is not None and self._is_there(team, values):
            effect = "nothing"
        return PlannedLine(line, name, division, person, email, effect)

    def _division(self, key: str, division: str, bad: list[Problem]) -> str:
        """The division of the team; an empty one means: as before."""
        held = self.divisions.setdefault(key, division)
        if division and division != held:
            expected = held or _("no division, as in a line before or as it is")
            bad.append(problem("division", expected, division))
        return held

    def _team(self, team: Team | None, bad: list[Problem]) -> None:
        if team is not None and team.deleted_at is not None:
            bad.append(problem("team", _("a name that no deleted team has"), team.name))
        elif team is not None and (team.status != "active" or team.bot):
            bad.append(problem("team", _("a team that takes part, played by people"), team.name))

    def _address(self, address: str, team: Team | None, line: int, bad: list[Problem]) -> None:
        first = self.lines_of.setdefault(address, line)
        if first != line:
            expected = _("every address once; this one is in line {n}").format(n=first)
            bad.append(problem("email", expected, address))
        elif address in self.members and (team is None or self.members[address] != team.pk):
            bad.append(problem("email", _("somebody who is in no other team"), address))

    def _is_there(self, team: Team, values: dict[str, str]) -> bool:
        """Whether a line of a list that was taken out says what is so already."""
        account = values.get("account", "")
        if account:
            return (team.pk, account.lower()) in self.accounts
        return bool(values.get("number")) and not values["name"] and not values["email"]

    def _effect(self, key: str, address: str, line: int) -> Effect:
        team = self.teams.get(key)
        if team is None:
            first = self.new.setdefault(key, line)
            return "new-team" if first == line else "new-link"
        if address and self.members.get(address) == team.pk:
            return "nothing"
        return "replaced-link" if (team.pk, address) in self.invited else "new-link"


def _by_name(contest: Contest) -> dict[str, Team]:
    return {team.name.casefold(): team for team in contest.teams.all()}
