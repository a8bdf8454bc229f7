"""The data sets of a round on the server, and the files that belong to them.

Teams are numbered as in the contest's files; 0 is the benchmark, 901 and 902 are the samples.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime

from tracecup.contest.challenges import AttackKind
from tracecup.contest.entries import BENCHMARK, BENCHMARK_TEAM, Entry
from tracecup.contest.judging.judged import JudgedRelease
from tracecup.rng import child_seed
from tracecup.server import clock
from tracecup.server.models import Release, Round, StoredFile, Team
from tracecup.server.models.filekinds import KIND_OF_FILE, Audience, FileKind
from tracecup.server.storage import Blob

SAMPLES = (Entry(901), Entry(902))
JUDGED_FIELDS = tuple(field.name for field in fields(JudgedRelease))
"""The columns of a release that hold the judge's verdict."""
NEVER = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class DataSet:
    """A data set and whose it is (None: the organisers')."""

    entry: Entry
    team: Team | None = None

    @property
    def is_sample(self) -> bool:
        """Whether everything of it is public."""
        return self.entry in SAMPLES


def data_sets(round: Round) -> list[DataSet]:
    """The benchmark, the teams' data sets in the order of their numbers, the samples.

    Teams that left keep theirs: numbers have no gaps.
    """
    teams = [own for team in round.contest.teams.order_by("number") for own in sets_of(round, team)]
    return [DataSet(BENCHMARK), *teams, *(DataSet(entry) for entry in SAMPLES)]


def sets_of(round: Round, team: Team | None) -> list[DataSet]:
    """The data sets of one team (None: the benchmark's one)."""
    if team is None:
        return [DataSet(BENCHMARK)]
    played = round.contest.rules.challenges_played
    return [DataSet(Entry(team.number, kind), team) for kind in sorted(played)]


def entry_of(release: Release) -> Entry:
    """The data set of a release."""
    challenge: AttackKind = release.challenge
    return Entry(release.team.number if release.team else BENCHMARK_TEAM, challenge)


def judged_of(release: Release) -> JudgedRelease:
    """What the judge said about a release, as archives hold it."""
    return JudgedRelease(**{name: getattr(release, name) for name in JUDGED_FIELDS})


def knew_of(releases: Iterable[Release]) -> dict[str, dict[str, str]]:
    """What sample attacks knew, by release and column, as archives hold it.

    Attacks without a remark, releases of which nothing is told, and rows from before are left out.
    """
    told = {
        entry_of(one).release: {
            column: str(held["knew"]) for column, held in one.scores.items() if held.get("knew")
        }
        for one in releases
    }
    return {release: said for release, said in told.items() if said}


def round_seed(round: Round) -> int:
    """The seed of a round's data and sample attacks; tells nothing about other rounds."""
    return child_seed(int(round.contest.seed, 16), "round", round.name)


def begins(round: Round, phase: str) -> datetime:
    """When a phase begins; never, as long as it has no instant."""
    return getattr(round.rules.phases, phase) or NEVER


def keep_file(
    round: Round,
    name: str,
    blob: Blob,
    *,
    kind: str,
    audience: Audience | None = None,
    data_set: DataSet | None = None,
    visible_from: datetime | None = None,
) -> StoredFile:
    """Give a blob its name in a round; a file of that name before gives way.

    It is for whom its kind is, unless `audience` says otherwise.
    """
    entry = data_set.entry if data_set else None
    made, _ = StoredFile.objects.update_or_create(
        contest=round.contest,
        round=round,
        name=name,
        defaults={
            "team": data_set.team if data_set else None,
            "entry_team": entry.team if entry else None,
            "challenge": entry.challenge if entry else "",
            "kind": kind,
            "sha256": blob.sha256,
            "size": blob.size,
            "audience": audience or _audience(KIND_OF_FILE[kind], data_set),
            "visible_from": visible_from,
            "created_at": clock.now(),
        },
    )
    return made


def _audience(kind: FileKind, of: DataSet | None) -> Audience:
    """Who gets a file when it is made: of sample teams everybody, of the benchmark no team."""
    if of is not None and of.is_sample:
        return "all"
    ownerless = of is None or of.team is None
    return "judge" if kind.audience == "team" and ownerless else kind.audience


def digests(round: Round, names: Iterable[str]) -> dict[str, str]:
    """SHA-256 of files of a round by name, of those that are there."""
    found = StoredFile.objects.filter(round=round, name__in=list(names))
    return dict(found.values_list("name", "sha256"))
