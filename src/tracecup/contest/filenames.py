"""The contest's file names: `pubtraces_team003_data02_TRP.csv` and its relatives.

Data set 01 (IDP) belongs to the re-identification challenge, 02 (TRP) to trace inference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tracecup.contest.challenges import (
    ANSWER_FILES,
    DATA_SETS,
    AttackKind,
    challenge_of_data_set,
)
from tracecup.errors import InvalidParameter
from tracecup.traces.files import PREFIXES

MAX_MEMBERS = 4096
"""Files in an archive that teams hand in; the client and the server count alike."""
BENCHMARK = "000"
ATTACK_FILES = tuple(ANSWER_FILES.values())
TEAM_FILES = tuple(prefix for prefix in PREFIXES if prefix not in ATTACK_FILES)

_NAME = re.compile(
    rf"([a-z]+)_team(?:(\d{{3,9}})-)?(\d{{3,9}})_({'|'.join(DATA_SETS.values())})(?:\.[A-Za-z0-9.]+)?",
    re.ASCII,
)
_TEAM = re.compile(r"\d{3,9}", re.ASCII)


@dataclass(frozen=True)
class ContestFile:
    """What a file name says: kind of file, team (of the data), challenge, and the attacker."""

    kind: str
    team: str
    challenge: AttackKind
    attacker: str | None = None


def team_file(kind: str, team: str, challenge: AttackKind, suffix: str = ".csv") -> str:
    """The name of a file that belongs to a team.

    >>> team_file("pubtraces", "003", "trace")
    'pubtraces_team003_data02_TRP.csv'
    """
    if kind not in TEAM_FILES:
        raise InvalidParameter(f"a team's file is one of {', '.join(TEAM_FILES)}, got {kind!r}")
    return f"{kind}_team{_checked(team)}_{DATA_SETS[challenge]}{suffix}"


def attack_file(
    kind: str, attacker: str, team: str, challenge: AttackKind, suffix: str = ".csv"
) -> str:
    """The name of an attacker's answer.

    >>> attack_file("etable", "004", "003", "trace")
    'etable_team004-003_data02_TRP.csv'
    """
    if kind not in ATTACK_FILES:
        raise InvalidParameter(f"an answer is one of {', '.join(ATTACK_FILES)}, got {kind!r}")
    return f"{kind}_team{_checked(attacker)}-{_checked(team)}_{DATA_SETS[challenge]}{suffix}"


def parse_file_name(name: str) -> ContestFile | None:
    """What a contest file's name says, or None for a name of another shape.

    >>> parse_file_name("etraces_team004-003_data02_TRP.csv.gz")
    ContestFile(kind='etraces', team='003', challenge='trace', attacker='004')
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    kind, attacker, team, data = found.groups()
    if kind not in (ATTACK_FILES if attacker else TEAM_FILES):
        return None
    return ContestFile(kind, team, challenge_of_data_set(data), attacker)


def _checked(team: str) -> str:
    if not _TEAM.fullmatch(team):
        raise InvalidParameter(f"a team's number has three digits or more, got {team!r}")
    return team
