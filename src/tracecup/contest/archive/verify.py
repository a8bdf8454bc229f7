"""Verification of an archive: everything in it is computed again and compared.

Files against the manifest, releases against the shuffle, commitments against what they fix and
what teams have receipts for, scores and results against the stored answers.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from tracecup.cluster import Jobs
from tracecup.contest.archive.folder import (
    COMMITMENTS_FILE,
    RECEIPTS_FILE,
    SEED_FILE,
    Archive,
)
from tracecup.contest.archive.manifest import (
    MANIFEST,
    check_manifest,
    files_of,
    is_safe_name,
)
from tracecup.contest.archive.parcel import Parcel
from tracecup.contest.archive.scored import results_of
from tracecup.contest.challenges import CHALLENGES
from tracecup.contest.entries import BENCHMARK_TEAM, Entry
from tracecup.contest.judging import flow
from tracecup.contest.judging.answers import ANSWERS, same_answer
from tracecup.contest.judging.commitment import SCORER, SORTED, content_hash, read_opening
from tracecup.contest.judging.judged import JudgedRelease
from tracecup.contest.judging.release_scores import ReleaseScores
from tracecup.contest.results.compute import SUMMARY_FILE, Results, sheet_table
from tracecup.contest.results.tables import csv_differences, parquet_differences
from tracecup.contest.sheets import Sheet, write_sheet
from tracecup.contest.smallfiles import read_json
from tracecup.engine import threads
from tracecup.errors import TraceCupError
from tracecup.jobs import done_as_they_come
from tracecup.safeio import plain_name
from tracecup.traces import SetTraces

T = TypeVar("T")
Progress = Callable[[int, int], None]


def verify(
    folder: Path,
    *,
    digest: str | None = None,
    rerun_samples: bool = False,
    progress: Progress | None = None,
    jobs: Jobs | None = None,
    shared: bool = False,
) -> list[str]:
    """Every difference between an archive and what its files say, in words; empty if all is well.

    `digest` is the published one of the manifest; without it the one in the archive is taken.
    With `rerun_samples` the sample attacks are run again and their answers compared. With `jobs`
    data sets are looked at there: the files of each travel, or are read at the same path if the
    folder is `shared`.
    """
    return _Verification(Archive(folder), digest, rerun_samples, progress, jobs, shared).all()


class _Verification:
    def __init__(
        self,
        archive: Archive,
        digest: str | None,
        rerun: bool,
        progress: Progress | None,
        jobs: Executor | None = None,
        shared: bool = False,
    ) -> None:
        self.jobs, self.shared = jobs, shared
        self.archive, self.digest, self.rerun, self.progress = archive, digest, rerun, progress
        self.found: list[str] = []

    def all(self) -> list[str]:
        with self.looking_at(MANIFEST):
            self.found += check_manifest(self.archive.root, self.digest)
        try:
            defenders, published = self.archive.defenders, self.archive.published()
            _ = self.archive.judge
        except TraceCupError as error:
            return [*self.found, f"nothing more can be checked: {error}"]
        self.each(defenders, _Verification.submission)
        self.each(self.archive.samples, _Verification.sample)
        with self.looking_at(COMMITMENTS_FILE):
            self.commitments()
        with self.looking_at(RECEIPTS_FILE):
            self.receipts()
        targets = self.each(published, _Verification.target, self.progress)
        if len(targets) == len(published):
            with self.looking_at("results"):
                self.results(results_of(self.archive, targets))
        return self.found

    def each(
        self,
        entries: Sequence[Entry],
        look: Callable[[_Verification, Entry], T],
        progress: Progress | None = None,
    ) -> list[T]:
        """Look at data sets in threads or as jobs; what is found is told in their order."""
        seen: dict[int, tuple[list[str], list[T]]] = {}
        with threads() if self.jobs is None else nullcontext(self.jobs) as pool:
            calls = ((k, self.call(entry, look)) for k, entry in enumerate(entries))
            for k, future in done_as_they_come(pool, calls):
                seen[k] = future.result()
                if progress is not None:
                    progress(len(seen), len(entries))
        results = list[T]()
        for k in range(len(entries)):
            self.found += seen[k][0]
            results += seen[k][1]
        return results

    def call(
        self, entry: Entry, look: Callable[[_Verification, Entry], T]
    ) -> Callable[[], tuple[list[str], list[T]]]:
        """A look at one data set as it is handed out: here, by path, or with its files."""
        asked = self.digest, self.rerun, look, entry
        if self.jobs is None:  # what was read is shared by threads, but does not travel
            return partial(_looked_at, self.archive, *asked)
        root = self.archive.root.absolute()
        if self.shared:
            return partial(_looked_at, Archive(root), *asked)
        try:
            parcel = Parcel.of(root, self.names, entry)
        except TraceCupError:  # a file that is none: to be told in the words it has here
            return partial(_known, _looked_at(Archive(root), *asked))
        return partial(_looked_at_parcel, parcel, *asked)

    @cached_property
    def names(self) -> list[str]:
        """The files of the archive."""
        return files_of(self.archive.root)

    @contextmanager
    def looking_at(self, what: str) -> Iterator[None]:
        """A file that cannot be read is a difference, and the rest is still looked at."""
        try:
            yield
        except (TraceCupError, KeyError, TypeError, AttributeError, ValueError) as error:
            self.found.append(f"{what}: cannot be checked: {error}")

    def submission(self, entry: Entry) -> None:
        """The verdict on what was handed in, and the release that was made of it."""
        archive = self.archive
        stored = archive.judged(entry)
        computed = flow.judge_release(archive, entry, stored.method, stored.hors_concours)
        where = _inside(archive, archive.submission_file(entry))
        for field in dataclasses.fields(JudgedRelease):
            said, is_so = getattr(stored, field.name), getattr(computed, field.name)
            if said != is_so:
                self.found.append(f"{where}: {field.name} is {said!r}, computed is {is_so!r}")
        if computed.published != archive.is_published(entry):
            expected = "be published" if computed.published else "not be published"
            self.found.append(f"{where}: {entry.release} should {expected}")
        elif computed.published:
            sealed = read_opening(archive.opening_file(entry.team, opened=False))
            self.shuffle(entry, archive.obfuscated(entry), sealed.version)

    def sample(self, entry: Entry) -> None:
        """A sample team's release is its original traces, shuffled by its public table."""
        self.archive.reference(entry)
        self.shuffle(entry, SetTraces.of_traces(self.archive.original(entry)))

    def shuffle(self, entry: Entry, obfuscated: SetTraces, version: str = SORTED) -> None:
        table, released = self.archive.id_table(entry), self.archive.released(entry)
        if not flow.is_shuffle(obfuscated, table, released, version):
            self.found.append(f"{entry.release}: is not the obfuscated file, shuffled by the table")

    def commitments(self) -> None:
        """Sealed before, opened after, and what they fix is what is there."""
        archive = self.archive
        path = archive.public / COMMITMENTS_FILE
        held, where = read_json(path), _inside(archive, path)
        if held.get("scorer") != SCORER:
            self.found.append(f"{where}: scorer is {held.get('scorer')!r}, this is {SCORER!r}")
        judged = {entry: archive.judged(entry) for entry in archive.defenders}
        wanted = flow.commitments({}, judged)
        if held.get("releases") != wanted["releases"]:
            self.found.append(f"{where}: does not list the releases as they were judged")
        sealed = dict(held.get("commitments", {}))
        teams = [Entry(team) for team in range(BENCHMARK_TEAM, archive.about.teams + 1)]
        self.each(teams, partial(_Verification.opening, committed=sealed))

    def opening(self, one: Entry, committed: Mapping[str, object]) -> None:
        """What is opened is what was committed to, and fixes the files that are there."""
        archive, team, wanted_hash = self.archive, one.team, committed.get(one.number)
        for opened in (True, False):
            path = archive.opening_file(team, opened=opened)
            opening = read_opening(path)
            where = _inside(archive, path)
            if opening.commitment != wanted_hash or content_hash(path) != wanted_hash:
                self.found.append(f"{where}: is not what was committed to ({wanted_hash})")
        own = [entry for entry in archive.defenders if entry.team == team]
        wanted = flow.seal(archive, own, opening.nonce).files
        for name in sorted({*wanted, *opening.files}):
            if wanted.get(name) != opening.files.get(name):
                self.found.append(f"{where}: the commitment does not fix {name} as it is")

    def receipts(self) -> None:
        """What lies here is what teams have receipts for, and what the commitments fix."""
        archive, fixed = self.archive, dict[str, str]()
        for team in range(BENCHMARK_TEAM, archive.about.teams + 1):
            fixed |= read_opening(archive.opening_file(team, opened=False)).files
        for name, received in sorted(archive.receipts.items()):
            if not is_safe_name(name):
                self.found.append(f"{name!r}: leads out of the archive")
                continue
            path, plain = archive.root / name, plain_name(name.rpartition("/")[2])
            if content_hash(path) != received.content_sha256:
                self.found.append(f"{name}: is not what the team has a receipt for")
            if fixed.get(plain, received.content_sha256) != received.content_sha256:
                self.found.append(f"{name}: the commitment fixes other bytes than the receipt")

    def target(self, entry: Entry) -> ReleaseScores:
        """Score all answers to a release again."""
        archive = self.archive
        if self.rerun:
            self.samples(entry)
        return flow.score_release(archive, entry, archive.all_attackers)

    def samples(self, entry: Entry) -> None:
        """Run the sample attacks again; their answers must be the stored ones."""
        archive, case = self.archive, flow.case_of(self.archive, entry)
        seed = flow.attack_seed(int(read_json(archive.secret / SEED_FILE)["seed"]))
        knew = archive.knew
        for name, player in flow.sample_players(archive.rules.samples).items():
            answers, told = flow.attack_and_tell(player, name, entry, case, seed)
            said = knew.get((entry.release, name), told)
            if said != told:
                self.found.append(f"{entry.release}: {name} knew {told!r}, stored is {said!r}")
            for kind, made in answers.items():
                paths = [
                    archive.answer_file(entry, CHALLENGES[kind].answer, name, k)
                    for k in range(1, len(made) + 1)
                ]
                for path, answer in zip(paths, made, strict=True):
                    if not same_answer(ANSWERS[kind].read(archive.judge, path), answer):
                        self.found.append(
                            f"{_inside(archive, path)}: {name} {ANSWERS[kind].differs}"
                        )

    def results(self, computed: Results) -> None:
        """All tables of results, value by value."""
        folder = self.archive.results
        for name, table in computed.tables.items():
            self.differ(folder / f"{name}.csv", csv_differences, table.csv())
            self.differ(folder / f"{name}.parquet", parquet_differences, table)
        for kind, sheet in computed.sheets.items():
            self.differ(folder / f"{kind}.csv", csv_differences, _sheet_text(sheet))
            self.differ(folder / f"{kind}.parquet", parquet_differences, sheet_table(sheet))
        self.differ(folder / SUMMARY_FILE, _json_differences, computed.summary)

    def differ(self, path: Path, look: Callable[[Path, T], list[str]], computed: T) -> None:
        where = _inside(self.archive, path)
        with self.looking_at(where):
            self.found += [f"{where}: {said}" for said in look(path, computed)]


def _looked_at(
    archive: Archive,
    digest: str | None,
    rerun: bool,
    look: Callable[[_Verification, Entry], T],
    entry: Entry,
) -> tuple[list[str], list[T]]:
    """One data set: what differs, and what was seen."""
    part, seen = _Verification(archive, digest, rerun, None), list[T]()
    with part.looking_at(entry.label):
        seen.append(look(part, entry))
    return part.found, seen


def _looked_at_parcel(
    parcel: Parcel,
    digest: str | None,
    rerun: bool,
    look: Callable[[_Verification, Entry], T],
    entry: Entry,
) -> tuple[list[str], list[T]]:
    """The same from files that travelled; what is found names the archive that they come from."""
    with parcel.unpacked() as folder:
        found, seen = _looked_at(Archive(folder), digest, rerun, look, entry)
        return [line.replace(str(folder), parcel.root) for line in found], seen


def _known(outcome: T) -> T:
    """What was found already."""
    return outcome


def _sheet_text(sheet: Sheet) -> str:
    with TemporaryDirectory() as folder:
        write_sheet(Path(folder) / "sheet.csv", sheet)
        return (Path(folder) / "sheet.csv").read_text()


def _json_differences(path: Path, expected: object) -> list[str]:
    stored, wanted = read_json(path), json.loads(json.dumps(expected))
    keys = sorted({*stored, *wanted})
    return [
        f"{key} is {stored.get(key)!r}, computed is {wanted.get(key)!r}"
        for key in keys
        if stored.get(key) != wanted.get(key)
    ]


def _inside(archive: Archive, path: Path) -> str:
    """A path as the manifest names it."""
    return path.relative_to(archive.root).as_posix()
