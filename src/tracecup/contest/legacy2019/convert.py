"""A folder of files in the manner of 2019 becomes an archive, as far as its files go.

Releases are judged; answers wait to be scored, and results to be computed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracecup.contest.archive.folder import (
    ABOUT_FILE,
    ANSWERS,
    ATTACKS_FILE,
    CITY_FILE,
    CLOCK_FILE,
    COMMITMENTS_FILE,
    About,
    Archive,
    versions,
)
from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.contest.entries import BENCHMARK_TEAM, Entry
from tracecup.contest.judging import flow
from tracecup.contest.judging.commitment import AS_HANDED_IN, fresh_nonce
from tracecup.contest.legacy2019.court import Court2019, Say
from tracecup.contest.legacy2019.folder import Folder, rules_of, scan, take_samples
from tracecup.contest.rules.file import RULES_FILE, rules_text
from tracecup.contest.season import in_archive
from tracecup.contest.smallfiles import make_folder, write_json, write_text

SOURCE = "a folder of 2019"
NAMED = 5


@dataclass(frozen=True)
class Converted:
    """The archive, and what could not be scored or was not looked at."""

    archive: Archive
    said: tuple[str, ...]


def to_archive(
    root: Path,
    out: Path,
    *,
    hors_concours: Collection[int] = (),
    samples: tuple[int, int] | None = None,
    say: Say = lambda *_: None,
) -> Converted:
    """Lay the files of a folder out as an archive in `out`, without results and manifest.

    `BrokenFolder` names every missing or broken file. Files that teams handed in are links to
    the folder, with their own names and bytes: the archive is to be imported, not to be kept.
    """
    folder = scan(root)
    two = take_samples(folder, samples)
    folder.refuse()
    rules = rules_of(folder, two)
    teams = _teams(folder, two, hors_concours)
    for entry in [entry for entry in folder.files if entry.team > teams and entry not in two]:
        folder.ignored += folder.files.pop(entry).values()
    folder.refuse()
    archive = Archive(out)
    write_text(out / ABOUT_FILE, About(teams, SOURCE, versions()).text)
    write_text(out / RULES_FILE, rules_text(in_archive(rules)))
    make_folder(archive.public)
    for name in (CITY_FILE, CLOCK_FILE):
        (archive.public / name).symlink_to(folder.shared[name].resolve())
    court = Court2019(folder, archive, frozenset(hors_concours))
    court.all(say)
    for there, here in zip(two, archive.samples, strict=False):
        court.sample(there, here)
    folder.refuse()
    _commit(archive)
    named = {kind: archive.sample_attacks(kind) for kind in ATTACK_KINDS}
    write_json(out / ANSWERS / ATTACKS_FILE, named)
    return Converted(archive, (*_not_looked_at(folder), *court.said))


def _commit(archive: Archive) -> None:
    """In 2019 nothing was committed to beforehand; the hashes fix what was found.

    Cells were published as they were handed in.
    """
    sealed = {}
    for team in range(BENCHMARK_TEAM, archive.about.teams + 1):
        own = [entry for entry in archive.defenders if entry.team == team]
        opening = flow.seal(archive, own, fresh_nonce(), AS_HANDED_IN)
        for opened in (False, True):
            path = archive.opening_file(team, opened=opened)
            write_text(path, opening.text, secret=not opened)
        sealed[Entry(team).number] = opening.commitment
    judged = {entry: archive.judged(entry) for entry in archive.defenders}
    write_json(archive.public / COMMITMENTS_FILE, flow.commitments(sealed, judged))


def _not_looked_at(folder: Folder) -> list[str]:
    names = [str(path.relative_to(folder.root)) for path in folder.ignored]
    if not names:
        return []
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return [f"not looked at, since their names are none of 2019: {', '.join(names[:NAMED])}{more}"]


def _teams(folder: Folder, two: Sequence[Entry], apart: Collection[int]) -> int:
    """How many teams take part; those after them were the samples."""
    first = min((entry.team for entry in two), default=None)
    teams = folder.teams if first is None else first - 1
    attackers = [int(one.attacker) for one in folder.answers if one.by_team]
    if any(number > teams for number in attackers) or not teams:
        folder.problems.append(
            f"{folder.root}: sample teams have the last two numbers, and attack nobody"
        )
    folder.problems += [
        f"hors concours: found team {number}, expected one of 1..{teams}"
        for number in apart
        if not 1 <= number <= teams
    ]
    return teams
