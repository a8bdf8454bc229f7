"""The server's number on the laptop: checks a file by the contest's own rules before it is sent.

Uses the same judge as the server, on the rules, city and originals that were downloaded.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, cast

from tracecup.archives import reading_zip
from tracecup.city import read_city
from tracecup.client.naming import Meant, foreign, meant_by
from tracecup.contest.challenges import AttackKind, HandedKind
from tracecup.contest.filenames import MAX_MEMBERS, team_file
from tracecup.contest.judging.answers import read_handed
from tracecup.contest.judging.judge import Judge
from tracecup.contest.rules.file import RULES_FILE, read_rules
from tracecup.errors import (
    InvalidFile,
    InvalidParameter,
    InvalidTraces,
    Problem,
    UnreadableFile,
)
from tracecup.safeio import DATA_SUFFIXES, MIB
from tracecup.traces import SetTraces, Traces
from tracecup.traces.files import read_traces

REGIONS = "info_region"
JUNK = ("__MACOSX/", ".DS_Store", "Thumbs.db")


@dataclass(frozen=True)
class Found:
    """What a check says about one file: whether the server will take it, and its utility.

    `ok`: in the format of the contest. `valid`: also above the floor (releases only).
    """

    name: str
    kind: str
    challenge: str
    target: int | None
    ok: bool
    reason: str
    valid: bool | None = None
    utility: float | None = None
    low: float | None = None
    high: float | None = None
    problems: list[dict[str, Any]] = field(default_factory=list)

    @property
    def fine(self) -> bool:
        """Whether it would count as it is."""
        return self.ok and self.valid is not False


def round_of_folder(folder: Path) -> str | None:
    """The round whose data `tracecup client download` put into this folder, if that can be told.

    The folder holds the rules and is called like a round, or the contest has but one.
    """
    rules = folder / RULES_FILE
    if not rules.is_file():
        return None
    names = [one.name for one in read_rules(rules).rounds]
    called = folder.resolve().name
    if called in names:
        return called
    return names[0] if len(names) == 1 else None


class LocalJudge:
    """The judge of one round, from the folder that `tracecup client download` filled."""

    def __init__(self, folder: Path, round_name: str, team: int | None = None) -> None:
        self._folder, self._team = folder, team
        rules = read_rules(_there(folder, RULES_FILE, ("",)))
        city = read_city(_there(folder, REGIONS))
        self.judge = Judge(rules, city, rules.clock_of(round_name))

    def check(self, path: Path, meant: Meant) -> list[Found]:
        """Check a release, an answer, or every member of an archive."""
        if not path.is_file():
            raise UnreadableFile(path, "no such file")
        if meant.kind != "archive":
            return [self._one(path, meant)]
        with self._unpacked(path) as members:
            return [self._member(member) for member in members]

    def _member(self, path: Path) -> Found:
        if not _says(path.name):
            reason = "the name does not say what it is"
            return Found(path.name, "archive", "trace", None, False, reason)
        return self._one(path, meant_by(path.name))

    def _one(self, path: Path, meant: Meant) -> Found:
        said = (path.name, meant.kind, meant.challenge, meant.target)
        if self._team is not None and (reason := foreign(meant, self._team)):
            return Found(*said, False, reason)
        limit = self.judge.rules.limits.file_mib
        if path.stat().st_size > limit * MIB:
            return Found(*said, False, f"larger than {limit} MiB")
        try:
            # members of an archive are never archives
            given = read_handed(self.judge, cast(HandedKind, meant.kind), path)
        except (InvalidFile, InvalidTraces) as error:
            listed = error.problems if isinstance(error, InvalidFile) else ()
            problems = [vars(problem) for problem in listed]
            return Found(*said, False, "not in the format of the contest", problems=problems)
        if not isinstance(given, SetTraces):
            return Found(*said, True, "in the format of the contest")
        verdict = self.judge.verdict(self._original(meant), given)
        assert verdict.utility is not None
        interval = verdict.utility.interval
        return Found(
            *said,
            True,
            verdict.reason,
            verdict.valid,
            verdict.utility.value,
            interval.low,
            interval.high,
        )

    def _original(self, meant: Meant) -> Traces:
        """The team's own original traces of a data set, as downloaded."""
        team = self._team if self._team is not None else meant.team
        if team is None:
            raise InvalidParameter("which team's release is it? name the file as the contest does")
        return read_traces(
            _there(self._folder, _stem(team, meant.challenge)),
            n_regions=self.judge.city.n_regions,
            clock=self.judge.clock.original,
            users=self.judge.rules.users,
        )

    @contextmanager
    def _unpacked(self, path: Path) -> Iterator[list[Path]]:
        """The members of an archive, in a folder that goes away; sizes are bounded."""
        limit = self.judge.rules.limits.file_mib * MIB
        with tempfile.TemporaryDirectory(prefix="tracecup-") as folder:
            yield _unpack(path, Path(folder), limit)


def _unpack(path: Path, folder: Path, limit: int) -> list[Path]:
    def refusal(found: str) -> InvalidFile:
        return InvalidFile(path, [Problem(0, "", f"a broken archive ({found})", "a zip file")])

    with reading_zip(refusal), zipfile.ZipFile(path) as archive:
        return [_member(archive, one, folder, limit) for one in _members(archive)]


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    found = [one for one in archive.infolist() if not _is_junk(one)]
    if len(found) > MAX_MEMBERS:
        told = Problem(0, "", f"{len(found)} files", f"at most {MAX_MEMBERS}")
        raise InvalidFile(str(archive.filename), [told])
    return found


def _says(name: str) -> bool:
    """Whether a name says what the file is."""
    try:
        return meant_by(name).kind != "archive"
    except InvalidParameter:
        return False


def _is_junk(one: zipfile.ZipInfo) -> bool:
    """What file managers put into archives; the server leaves it out, too."""
    last = PurePosixPath(one.filename.replace("\\", "/")).name
    return one.is_dir() or one.filename.startswith(JUNK[0]) or last in JUNK


def _member(archive: zipfile.ZipFile, one: zipfile.ZipInfo, folder: Path, limit: int) -> Path:
    """One member under its own last name; what it says of folders is ignored."""
    name = PurePosixPath(one.filename.replace("\\", "/")).name
    target = folder / name
    if not _says(name):
        return target  # never written: a name from outside may be anything
    if one.file_size > limit:
        told = Problem(0, name, f"{one.file_size} bytes", f"at most {limit} bytes")
        raise InvalidFile(str(archive.filename), [told])
    if target.exists():
        told = Problem(0, name, "twice", "one file for each target and kind")
        raise InvalidFile(str(archive.filename), [told])
    with archive.open(one) as source, target.open("xb") as out:
        shutil.copyfileobj(source, out)
    return target


def _stem(team: int, challenge: AttackKind) -> str:
    return team_file("orgtraces", f"{team:03d}", challenge, "")


def _there(folder: Path, stem: str, suffixes: tuple[str, ...] = DATA_SUFFIXES) -> Path:
    for suffix in suffixes:
        if (folder / f"{stem}{suffix}").is_file():
            return folder / f"{stem}{suffix}"
    raise UnreadableFile(folder, f"has no {stem}; run tracecup client download first")
