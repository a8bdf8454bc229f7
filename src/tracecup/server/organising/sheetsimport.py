"""Published score sheets become a finished contest: board, matrices, awards, and no files.

Read first; then all rows come in one transaction, or none. Nothing can be scored anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import transaction

from tracecup.contest.archive.folder import CITY_FILE
from tracecup.contest.entries import Entry
from tracecup.contest.filenames import parse_file_name
from tracecup.contest.judging.commitment import SCORER
from tracecup.contest.results.from_sheets import SheetResults, reason_of, results_of_sheets
from tracecup.contest.rules import ChallengeRules, CityRules, Phases, RoundRules, Rules
from tracecup.contest.rules.file import RULES_FILE, read_rules, rules_text
from tracecup.contest.sheets import write_sheet
from tracecup.contest.sheets.folder import find_sheets, read_rounds
from tracecup.contest.sheets.rounds import Round as SheetRound
from tracecup.contest.sheets.standings import Standings
from tracecup.errors import InvalidTraces
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.entries import keep_file
from tracecup.server.models import Contest, Organiser, Person, Release, ResultSet, Round, Team
from tracecup.server.organising.contests import create_contest
from tracecup.server.storage import Blob, store
from tracecup.server.teams.registration import insert_team

PRESET = "organisers2019"
STEPS = ("announced", "judging", "judged", "published", "closed", "released")


@dataclass(frozen=True)
class ImportedSheets:
    """What came in; `said` tells what was odd in the sheets."""

    contest: Contest
    teams: int
    releases: int
    valid: int
    scores: int
    said: tuple[str, ...]
    results: ResultSet


def import_sheets(
    root: Path,
    actor: Actor,
    *,
    slug: str,
    name: str,
    is_public: bool = False,
    organisers: Sequence[Person] = (),
) -> ImportedSheets:
    """Import a folder of sheets (see `find_sheets`), with `contest.toml` if it has one.

    Without it the rules are those of 2019. Every round of the sheets has its results published.
    """
    rules = _rules(root, name)
    rounds, said = read_rounds(find_sheets(root), rules.scores.utility_floor)
    rules = _fitting(rules, rounds)
    results = [results_of_sheets(rules, one.standings) for one in rounds]
    files = [_stored(one) for one in results]
    teams = max(int(team) for one in rounds for team in one.standings.board.teams)
    with transaction.atomic():
        at = clock.now()
        contest = create_contest(
            actor,
            name=name,
            slug=slug,
            rules_text=rules_text(replace(rules, city=CityRules())),
            is_public=is_public,
            is_over=True,
        )
        # The server takes no rules that name a city's file; here there is none, and stays none.
        contest.rules_text = rules_text(rules)
        contest.save(update_fields=["rules_text"])
        for person in organisers:
            Organiser.objects.get_or_create(contest=contest, person=person, defaults={"since": at})
        held = {
            number: insert_team(contest, f"Team {Entry(number).number}", actor)
            for number in range(1, teams + 1)
        }
        for one, found, blobs in zip(rounds, results, files, strict=True):
            round = _over(contest, one.name, at)
            _releases(round, rules, one.standings, held)
            made = _published(round, found, blobs, at)
        after = {"rules": contest.rules_text, "teams": teams, "rounds": [o.name for o in rounds]}
        log.record(actor, "contest.imported", contest=contest, subject="rules:1", after=after)
    rows = [row for one in rounds for row in one.standings.board.releases if not row.benchmark]
    return ImportedSheets(
        contest,
        teams,
        len(rows),
        sum(row.valid for row in rows),
        sum(one.summary["attacks"] for one in results),
        tuple(said),
        made,
    )


def _rules(root: Path, name: str) -> Rules:
    own = root / RULES_FILE
    return (read_rules(own) if own.is_file() else Rules.preset(PRESET)).renamed(name)


def _fitting(rules: Rules, rounds: Sequence[SheetRound]) -> Rules:
    """The rules with the rounds and challenges of the sheets, all of them over."""
    if not rounds:
        raise InvalidTraces("no round has both sheets, re-identification and trace inference")
    known = {one.name: one for one in rules.rounds}
    played = {kind for one in rounds for kind in one.standings.board.challenges}
    return replace(
        rules,
        city=CityRules(builtin=None, file=CITY_FILE),
        challenges=ChallengeRules("trace" in played, "reid" in played),
        rounds=tuple(
            replace(known.get(one.name, RoundRules(one.name, one.weight)), phases=Phases())
            for one in rounds
        ),
    )


def _stored(found: SheetResults) -> dict[str, Blob]:
    """The tables and sheets as files of a result set."""
    with TemporaryDirectory() as work:
        folder = Path(work)
        paths = [path for name, held in found.tables.items() for path in held.write(folder, name)]
        for kind, sheet in found.sheets.items():
            write_sheet(folder / f"{kind}.csv", sheet)
            paths.append(folder / f"{kind}.csv")
        return {path.name: store().put_file(path) for path in paths}


def _over(contest: Contest, name: str, at: datetime) -> Round:
    """A round that is over, with public results."""
    round: Round = contest.rounds.get(name=name)
    round.contest = contest
    for step in STEPS:
        setattr(round, f"{step}_at", at)
    round.save()
    return round


def _releases(round: Round, rules: Rules, found: Standings, teams: dict[int, Team]) -> None:
    """A row for every file of the sheets; nobody handed in anything here."""
    for row in found.board.releases:
        said = parse_file_name(row.name)
        if said is None:
            raise InvalidTraces(f"{row.name} is no name of a released file")
        entry = Entry(int(said.team), said.challenge)
        utility = None if found.utility is None else found.utility[row.name]
        Release.objects.create(
            round=round,
            team=teams.get(entry.team),
            challenge=entry.challenge,
            submission=None,
            label=entry.label,
            valid=row.valid,
            reason=reason_of(rules, row.valid, utility),
            utility=utility,
        )


def _published(
    round: Round, found: SheetResults, blobs: dict[str, Blob], at: datetime
) -> ResultSet:
    """The results of a round, published at once; its sheets are what they were computed from."""
    for name, blob in blobs.items():
        keep_file(round, name, blob, kind="results", visible_from=at)
    inputs = "".join(blobs[f"{kind}.csv"].sha256 for kind in found.sheets)
    made: ResultSet = ResultSet.objects.create(
        round=round,
        number=1,
        state="published",
        scorer=SCORER,
        inputs_sha256=hashlib.sha256(inputs.encode()).hexdigest(),
        seconds=0.0,
        tables={name: dict(held.columns) for name, held in found.tables.items()},
        summary=dict(found.summary),
        files={name: [blob.sha256, blob.size] for name, blob in blobs.items()},
        created_at=at,
        published_at=at,
    )
    return made
