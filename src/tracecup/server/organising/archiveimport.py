"""An archive becomes a finished contest of the server; so does a folder of 2019, made an archive.

Everything is read, judged and scored first; then all rows come in one transaction, or none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.contest.archive.export import opened
from tracecup.contest.archive.folder import ABOUT_FILE, CITY_FILE, Archive
from tracecup.contest.archive.verify import verify
from tracecup.contest.challenges import ANSWER_FILES, ATTACK_KINDS, AttackKind
from tracecup.contest.entries import Entry
from tracecup.contest.judging.answers import ANSWERS, Truth, cell_scores
from tracecup.contest.judging.flow import may_attack
from tracecup.contest.judging.reasons import Reason
from tracecup.contest.judging.scorer import NOTHING
from tracecup.contest.legacy2019.convert import to_archive
from tracecup.contest.rules import CityRules, Phases, Rules
from tracecup.errors import BrokenFolder
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.jobs.queue import dead_jobs, pending
from tracecup.server.jobs.worker import Worker
from tracecup.server.models import Contest, Person, ResultSet, Round
from tracecup.server.organising.archiverows import ContestRows, ScoredAnswer, StoredBlobs
from tracecup.server.resultsets import (
    published,
)

Say = Callable[[int, int], None]
"""Called with (data sets done, data sets in all)."""
KINDS = ("sample", "results", "archive")
WAIT_SECONDS = 0.5


@dataclass(frozen=True)
class As:
    """What the imported contest is called, who runs it and who plays out of competition in it."""

    slug: str
    name: str
    is_public: bool = False
    organisers: Sequence[Person] = ()
    hors_concours: Sequence[int] = ()


@dataclass(frozen=True)
class Imported:
    """What came in. `said` tells what could not be scored and what was not looked at."""

    contest: Contest
    round: Round
    teams: int
    releases: int
    valid: int
    answers: int
    said: tuple[str, ...]

    @property
    def results(self) -> ResultSet | None:
        """The published results, once a worker has computed them."""
        return published(self.round)


def is_archive(path: Path) -> bool:
    """Whether something to be imported is an archive: a folder with its mark, or one file."""
    return path.is_file() or (path / ABOUT_FILE).is_file()


def import_archive(path: Path, actor: Actor, wanted: As, say: Say = lambda *_: None) -> Imported:
    """Import an archive, a folder or a zip: of a simulation, or exported by a server.

    It is verified first; `BrokenFolder` names every difference, and then nothing is kept. The
    results are asked for as a job; `finish` does it here, or the server's worker by itself.
    """
    _require_free(wanted.slug)
    with opened(path) as root:
        if differences := verify(root, progress=say):
            raise BrokenFolder(path, differences)
        return _bring_in(Archive(root), actor, wanted, "imported from an archive")


def import_folder(
    root: Path,
    actor: Actor,
    wanted: As,
    samples: tuple[int, int] | None = None,
    say: Say = lambda *_: None,
) -> Imported:
    """Import a folder of 2019; `BrokenFolder` names every missing or broken file.

    It is judged into an archive first, which is then imported like any other.
    """
    _require_free(wanted.slug)
    with TemporaryDirectory(dir=_work_folder(), prefix=f"{os.getpid()}-import-") as work:
        found = to_archive(
            root, Path(work), hors_concours=wanted.hors_concours, samples=samples, say=say
        )
        made = _bring_in(found.archive, actor, wanted, "imported from a folder of files")
    return replace(made, said=found.said)


def finish(imported: Imported) -> ResultSet:
    """Have the sample attacks run and the results computed here, in child processes.

    A server that runs on the same database helps; whoever stops, the other goes on.
    """
    heads = [f"{kind}:{imported.round.pk}:" for kind in KINDS]
    worker = Worker(f"import-{os.getpid()}", kinds=KINDS)
    while any(pending(head).exists() for head in heads):
        if not worker.run_one():
            time.sleep(WAIT_SECONDS)
    imported.round.refresh_from_db()
    found = imported.results
    if found is None:
        dead = dead_jobs(imported.contest).first()
        raise Refused(
            "internal",
            _("The results could not be computed: {why}").format(why=dead.error if dead else ""),
        )
    return found


def _bring_in(archive: Archive, actor: Actor, wanted: As, why: str) -> Imported:
    """An archive whose releases are judged; its answers are scored here."""
    rules = _over(archive.rules).renamed(wanted.name)
    answers = [one for entry in archive.defenders for one in _scored(archive, entry)]
    # Long, so not while others wait for the database; blobs that nobody names do no harm.
    stored = StoredBlobs(archive, answers)
    with transaction.atomic():
        into = ContestRows(archive, rules, actor, stored)
        contest, round = into.contest(
            wanted.slug, wanted.name, wanted.is_public, wanted.organisers, wanted.hors_concours
        )
        into.rows(answers)
        into.ask_results(why)
    handed = [
        given
        for entry, given in into.judged.items()
        if entry.team and given.reason != NOTHING.reason
    ]
    valid = sum(given.valid for given in handed)
    scored = sum(one.by_team and one.scores is not None for one in answers)
    return Imported(contest, round, archive.about.teams, len(handed), valid, scored, ())


def _scored(archive: Archive, entry: Entry) -> Iterator[ScoredAnswer]:
    """The answers to a data set, each try for itself."""
    there = {kind for kind in ("orgtraces", "ptable") if archive.locate(entry, kind).exists()}
    original = archive.original(entry) if "orgtraces" in there else None
    table = archive.id_table(entry) if "ptable" in there else None
    for kind, attacker, attempt, path in _answer_files(archive, entry):
        missing = [name for name in ANSWERS[kind].truth if name not in there]
        if original is None or missing:
            why = Reason.of("truth-missing", files=entry.file(missing[0], ".csv"))
            yield ScoredAnswer(entry, kind, attacker, attempt, path, None, why)
            continue
        answer = ANSWERS[kind].read(archive.judge, path)
        cell = archive.judge.score(Truth(original, table), {kind: [answer]})
        yield ScoredAnswer(entry, kind, attacker, attempt, path, cell_scores(cell, kind))


def _answer_files(archive: Archive, entry: Entry) -> Iterator[tuple[AttackKind, str, int, Path]]:
    """(kind, attacker, try, path) of all answers to a data set that are there."""
    for kind in ATTACK_KINDS:
        for attacker in (*archive.attackers, *archive.sample_attacks(kind)):
            for attempt in range(1, archive.rules.limits.attack_tries + 1):
                path = archive.answer_file(entry, ANSWER_FILES[kind], attacker, attempt)
                if may_attack(attacker, entry) and path.exists():
                    yield kind, attacker, attempt, path


def _require_free(slug: str) -> None:
    if Contest.objects.filter(slug=slug).exists():
        raise Refused("conflict", _("Another contest has this address already."))


def _over(rules: Rules) -> Rules:
    """The rules of the round that was played, the last one, with the city of the files.

    Phases are kept if they are over; a finished contest has none in the future.
    """
    last = rules.rounds[-1]
    if last.phases.results is not None and last.phases.results > clock.now():
        last = replace(last, phases=Phases())
    return replace(rules, rounds=(last,), city=CityRules(builtin=None, file=CITY_FILE))


def _work_folder() -> Path:
    folder: Path = settings.CONFIG.folder / "work"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
