"""Certificates: one for every award a team has won, and one for having taken part.

A certificate is a picture (SVG) without anything from outside; the page of it can be printed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from django.template.loader import render_to_string
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from tracecup.contest.sheets import team_of
from tracecup.server.access import Role
from tracecup.server.errors import not_found
from tracecup.server.models import Contest, Release, ResultSet, Round, Team
from tracecup.server.results.data_board import facts_of
from tracecup.server.results.divisions import division_of
from tracecup.server.results.naming import award as award_words
from tracecup.server.resultsets import award_rows, overall, published

# The text of a certificate fills at most this width of its 842 units.
WIDTH = 700.0
TEMPLATE = "results/certificate.svg"


@dataclass(frozen=True)
class Certificate:
    """What a certificate says. `proof` names the results that it was made from.

    `award` is the key of the award, empty for having taken part.
    """

    award: str
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
    rounds = list(team.contest.rounds.all())
    told = [(one, published(one)) for one in rounds if one.released_at and not one.frozen]
    held = [(round, results) for round, results in told if results is not None]
    if len(held) == len(rounds) > 1:
        found += _of_contest(team, *held[-1])
    for round, results in held:
        found += _of_round(team, round, results)
        found += _of_division(team, round, results)
    return found


def won_by(team: Team) -> list[str]:
    """The awards that a team has won, in the reader's language."""
    return [one.title for one in certificates_of(team) if one.award]


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
    heading = [_Line(_("Certificate of award"), 108, 26, soft=True)] if certificate.award else []
    lines = [
        *heading,
        _Line(certificate.contest, 155, 30),
        _Line(certificate.title, 230, 44, bold=True),
        # For translators: whom the certificate is for, with what one adds out of politeness.
        _Line(_("{team}").format(team=certificate.team), 310, 38),
        _Line(certificate.line, 370, 20),
        _Line(date_format(certificate.on, "DATE_FORMAT"), 412, 18),
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
    """The awards of a round, and that the team took part in it."""
    for row in award_rows(results):
        if row["rank"] == 1 and _is_number(row["team"], team.number):
            line = _("First place in round %(round)s with %(value).4f")
            said = line % {"round": round.name, "value": row["value"]}
            yield _made(team, round, results, row["award"], award_words(row["award"])[0], said)
    entered = Release.objects.filter(round=round, team=team, submission__isnull=False).exists()
    if entered or team.submissions.filter(round=round, state="scored").exists():
        line = _("took part in round %(round)s as team %(number)d")
        said = line % {"round": round.name, "number": team.number}
        yield _made(team, round, results, "", _("Certificate of participation"), said)


def _of_division(team: Team, round: Round, results: ResultSet) -> Iterator[Certificate]:
    """First places among the teams of the own division, where others were before it over all."""
    for award in facts_of(results, {}).awards:
        mine = division_of(team.contest, award, team)
        won_all = {one.team for one in award.places if one.rank == 1}
        for place in mine.places if mine else ():
            if place.rank == 1 and _is_number(place.team, team.number):
                if place.team in won_all:
                    continue
                line = _("First place of division %(division)s in round %(round)s: %(value).4f")
                told = {"division": team.division, "round": round.name, "value": place.value}
                title = _("%(award)s, division %(division)s") % {
                    "award": award_words(award.key)[0],
                    "division": team.division,
                }
                yield _made(team, round, results, award.key, title, line % told)


def _of_contest(team: Team, round: Round, results: ResultSet) -> Iterator[Certificate]:
    """The awards over all rounds; `round` is the last one."""
    for key, award in overall(team.contest).items():
        for place in award.places:
            if place.rank == 1 and _is_number(place.team, team.number):
                line = _("First place over all rounds with %(value).4f") % {"value": place.value}
                yield _made(team, round, results, key, award_words(key)[0], line)


def _made(
    team: Team, round: Round, results: ResultSet, award: str, title: str, line: str
) -> Certificate:
    at = round.released_at or results.created_at
    proof = _("Result set %(number)d, %(scorer)s, inputs %(hash)s") % {
        "number": results.number,
        "scorer": results.scorer,
        "hash": results.inputs_sha256[:16],
    }
    on = at.astimezone(round.contest.rules.tzinfo).date()
    name = round.contest.name
    return Certificate(award, name, team.name, team.number, round.name, title, line, on, proof)


def _is_number(said: str, number: int) -> bool:
    text = team_of(said)
    return text.isdigit() and int(text) == number
