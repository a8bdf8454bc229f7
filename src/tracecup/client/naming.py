"""What a file is meant to be: from its contest file name, or from what the participant says.

`anotraces_team001_data02_TRP.csv` is a release, `etable_team001-003_data02_TRP.csv` an answer
against team 3; an archive of such files speaks for many targets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Literal

from tracecup.contest.challenges import HANDED_FILES, HANDED_KINDS, AttackKind, HandedKind
from tracecup.contest.entries import BENCHMARK
from tracecup.contest.filenames import parse_file_name
from tracecup.errors import InvalidParameter

Kind = Literal[HandedKind, "archive"]
KINDS: tuple[Kind, ...] = (*HANDED_KINDS, "archive")


@dataclass(frozen=True)
class Meant:
    """What a file is: a release of a data set, an answer against a target, or an archive.

    `team` is the number that the name gives for the sender, where it gives one.
    """

    kind: Kind
    challenge: AttackKind = "trace"
    target: int | None = None
    team: int | None = None


def meant_by(name: str) -> Meant:
    """What a file name says.

    >>> meant_by("etraces_team001-003_data02_TRP.csv.gz")
    Meant(kind='trace', challenge='trace', target=3, team=1)
    >>> meant_by("answers.zip").kind
    'archive'
    """
    name = PurePath(name).name
    if name.lower().endswith(".zip"):
        return Meant("archive")
    said = parse_file_name(name)
    kind = HANDED_FILES.get(said.kind) if said else None
    if said is None or kind is None:
        raise InvalidParameter(
            f"{name}: the name does not say what it is; call it like "
            "anotraces_team001_data02_TRP.csv, etable_team001-003_data02_TRP.csv or "
            "etraces_team001-003_data02_TRP.csv, or say --kind, --challenge and --target"
        )
    if said.attacker is None:
        return Meant(kind, said.challenge, None, int(said.team))
    return Meant(kind, said.challenge, int(said.team), int(said.attacker))


def meant(name: str, kind: Kind | None, challenge: AttackKind | None, target: int | None) -> Meant:
    """What a file is, where the participant's own words go before its name.

    A file whose kind is said may have any name; the name then says nothing about the team.
    """
    try:
        said = meant_by(name)
    except InvalidParameter:
        if kind is None:
            raise
        said = Meant(kind)
    said = replace(said, kind=kind or said.kind, team=None if kind else said.team)
    if said.kind in ("release", "archive"):
        if target is not None:
            raise InvalidParameter("--target goes with answers (reid, trace) only")
        return replace(said, challenge=challenge or said.challenge, target=None)
    said = replace(
        said,
        challenge=challenge or said.challenge,
        target=said.target if target is None else target,
    )
    if said.target == BENCHMARK.team and challenge is None:
        said = replace(said, challenge=BENCHMARK.challenge)
    if said.target is None:
        raise InvalidParameter("an answer needs its target: say --target NUMBER (0: the benchmark)")
    return said


def foreign(said: Meant, team: int) -> str:
    """Why a file is not the team's own by its name; "" if it may be.

    >>> foreign(meant_by("anotraces_team002_data02_TRP.csv"), 1)
    'named as a file of team 2, but you are team 1; rename it, or say what it is with --kind'
    """
    if said.team is None or said.team == team:
        return ""
    return (
        f"named as a file of team {said.team}, but you are team {team}; "
        "rename it, or say what it is with --kind"
    )
