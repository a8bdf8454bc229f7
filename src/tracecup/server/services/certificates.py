"""Certificates: one for every award a team has won, and one for having taken part.

A certificate is a picture (SVG) without anything from outside; the page of it can be printed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from tracecup.server.access import Role
from tracecup.server.errors import not_found
from tracecup.server.models import Contest, Release, ResultSet, Round, Team

# The text of a certificate fills at most this width of its 842 units.
WIDTH = 700.0
TEMPLATE = "server/run/certificate.svg"


@dataclass(frozen=True)
class Certificate:
    """What a certificate says. `proof` names the results that it was made from."""

    contest: str
    team: str
    number: int
    round: str
    title: str
    line: str
    on: date
    proof: str


def certificates_of(team: Team) -> list[Certificate]:
    """The certificates of a team: awards first, for every round whose results are public."""
    found: list[Certificate] = []
    if team.status == "disqualified":
        return found
    for round in team.contest.rounds.exclude(released_at=None):
        results = ResultSet.objects.filter(round=round, state="published").first()
        if results is not None:
            found += _of_round(team, round, results)
    return found


def certificate(role: Role, number: int, place: int) -> Certificate:
    """One certificate (from 1) of a team, for the team itself and for organisers."""
    own = role.team is not None and role.team.number == number
    if not (own or role.organiser):
        raise not_found("certificate")
    team = Team.objects.filter(contest=role.contest, number=number, deleted_at=None).first()
    found = certificates_of(team) if team is not None else []
    if not 1 <= place <= len(found):
        raise not_found("certificate")
    return found[place - 1]


def teams_with_certificates(contest: Contest) -> list[tuple[Team, list[Certificate]]]:
    """All teams that have some."""
    teams = contest.teams.filter(deleted_at=None).order_by("number")
    found = [(team, certificates_of(team)) for team in teams]
    return [(team, made) for team, made in found if made]


def svg(certificate: Certificate) -> str:
    """The picture: A4 on its side, text and lines only."""
    lines = [
        _Line(certificate.contest, 150, 30),
        _Line(certificate.title, 230, 44, bold=True),
        _Line(certificate.team, 310, 38),
        _Line(certificate.line, 370, 20),
        _Line(certificate.on.isoformat(), 430, 18),
        _Line(certificate.proof, 520, 11, soft=True),
    ]
    return render_to_string(TEMPLATE, {"lines": lines, "certificate": certificate})


@dataclass(frozen=True)
class _Line:
    """A line of text in the middle, as large as fits."""

    text: str
    y: int
    largest: int
    bold: bool = False
    soft: bool = False

    @property
    def size(self) -> str:
        """The size of the letters; wide ones (Japanese) count twice."""
        ems = sum(1.0 if _is_wide(letter) else 0.58 for letter in self.text)
        return f"{min(self.largest, WIDTH / max(ems, 1.0)):.1f}"


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"


def _of_round(team: Team, round: Round, results: ResultSet) -> Iterator[Certificate]:
    on = (round.released_at or results.created_at).astimezone(round.contest.rules.tzinfo).date()

    def made(title: str, line: str) -> Certificate:
        return Certificate(
            round.contest.name,
            team.name,
            team.number,
            round.name,
            title,
            line,
            on,
            _("Result set %(number)d, %(scorer)s, inputs %(hash)s")
            % {
                "number": results.number,
                "scorer": results.scorer,
                "hash": results.inputs_sha256[:16],
            },
        )

    for row in awards_of(results):
        if row.get("rank") == 1 and _is_number(row.get("team"), team.number):
            yield made(
                str(row["title"]),
                _("First place in round %(round)s with %(value).4f")
                % {"round": round.name, "value": row["value"]},
            )
    entered = Release.objects.filter(round=round, team=team, submission__isnull=False).exists()
    if entered or team.submissions.filter(round=round, state="scored").exists():
        yield made(
            _("Certificate of participation"),
            _("took part in round %(round)s as team %(number)d")
            % {"round": round.name, "number": team.number},
        )


def awards_of(results: ResultSet) -> list[dict[str, Any]]:
    """The rows of the table of awards."""
    columns: dict[str, list[Any]] = results.tables.get("awards", {})
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _is_number(said: object, number: int) -> bool:
    text = str(said)
    return text.isdigit() and int(text) == number
