"""The data sets of a contest: one per team and challenge, the benchmark, the two sample teams.

Each is named as in 2019: `team001_data02_TRP`, the benchmark `team000_data01_IDP`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracecup.contest.challenges import DATA_SETS, AttackKind
from tracecup.contest.filenames import ATTACK_FILES, attack_file, team_file
from tracecup.errors import InvalidParameter

BENCHMARK_TEAM = 0
SAMPLE_TEAMS = 2
MAX_TEAMS = 900
CONTAINER = ".csv.zst"


@dataclass(frozen=True, order=True)
class Entry:
    """One data set of one team: its reference and original traces, and the release made of them.

    >>> Entry(1, "trace").label, Entry(1, "trace").file("ptable", ".csv")
    ('team001_data02_TRP', 'ptable_team001_data02_TRP.csv')
    """

    team: int
    challenge: AttackKind = "trace"

    @property
    def number(self) -> str:
        """The team's number as files write it: `001`."""
        return f"{self.team:03d}"

    @property
    def label(self) -> str:
        """How file names call it."""
        return f"{team_label(self.team)}_{DATA_SETS[self.challenge]}"

    @property
    def release(self) -> str:
        """The published file as score sheets name it: `pubtraces_team001_data02_TRP.csv`."""
        return self.file("pubtraces", ".csv")

    @property
    def is_benchmark(self) -> bool:
        """Whether it is the pseudonymized benchmark of the organisers."""
        return self.team == BENCHMARK_TEAM

    def file(self, kind: str, container: str = CONTAINER) -> str:
        """The name of one of its files: reftraces, orgtraces, anotraces, pubtraces, ptable."""
        return team_file(kind, self.number, self.challenge, container)

    def answer(self, kind: str, attacker: str, attempt: int = 1) -> str:
        """The name of an answer (etable, etraces) of a team (`003`) or of a sample attack (`I2`).

        >>> Entry(2).answer("etable", "001"), Entry(2).answer("etraces", "T1", 2)
        ('etable_team001-002_data02_TRP.csv.zst', 'etraces_T1-002_data02_TRP_try2.csv.zst')
        """
        suffix = CONTAINER if attempt == 1 else f"_try{attempt}{CONTAINER}"
        if attacker.isdigit():
            return attack_file(kind, attacker, self.number, self.challenge, suffix)
        if kind not in ATTACK_FILES:
            raise InvalidParameter(f"an answer is one of {', '.join(ATTACK_FILES)}, got {kind!r}")
        return f"{kind}_{attacker}-{self.number}_{DATA_SETS[self.challenge]}{suffix}"


BENCHMARK = Entry(BENCHMARK_TEAM, "reid")
"""The benchmark has one data set; 2019 called it `data01_IDP`, whatever is played."""


def team_label(team: int) -> str:
    """How folders are called.

    >>> team_label(7)
    'team007'
    """
    return f"team{team:03d}"


def opening_name(team: int) -> str:
    """The name of the opening of a team's commitment.

    >>> opening_name(3)
    'opening_team003.txt'
    """
    return f"opening_{team_label(team)}.txt"


def team_entries(teams: int, challenges: Sequence[AttackKind]) -> list[Entry]:
    """The entries of teams 1..teams, in the order of their file names."""
    if not 1 <= teams <= MAX_TEAMS:
        raise InvalidParameter(f"the number of teams must be within 1..{MAX_TEAMS}, got {teams}")
    return [Entry(team, kind) for team in range(1, teams + 1) for kind in sorted(challenges)]


def sample_entries(teams: int) -> list[Entry]:
    """The two sample teams, numbered after the others: 22 and 23 where 21 take part."""
    return [Entry(teams + k) for k in range(1, SAMPLE_TEAMS + 1)]


def is_published(valid: bool, hors_concours: bool) -> bool:
    """Whether attackers get a release: valid ones, and demonstrations that play hors concours."""
    return valid or hors_concours
