"""A folder of files in the manner of 2019 becomes a finished contest of the server.

Everything is read, judged and scored first; then all rows come in one transaction, or none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.contest.entries import Entry
from tracecup.contest.judging.judge import Judge
from tracecup.contest.legacy2019.court import Court2019, Say
from tracecup.contest.legacy2019.folder import Folder, rules_of, scan, take_samples
from tracecup.contest.rules import Phases, Rules
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.entries import SAMPLES
from tracecup.server.errors import Refused
from tracecup.server.jobs.queue import dead_jobs, pending
from tracecup.server.jobs.worker import Worker
from tracecup.server.models import Contest, Person, ResultSet, Round
from tracecup.server.organising.rows2019 import Rows, Stored
from tracecup.server.resultsets import (
    published,
)

KINDS = ("sample", "results", "archive")
WAIT_SECONDS = 0.5
NAMED = 5


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


def import_folder(
    root: Path,
    actor: Actor,
    *,
    slug: str,
    name: str,
    is_public: bool = False,
    organisers: Sequence[Person] = (),
    hors_concours: Sequence[int] = (),
    samples: tuple[int, int] | None = None,
    say: Say = lambda *_: None,
) -> Imported:
    """Import a folder; `BrokenFolder` names every missing or broken file and then nothing is kept.

    The results are asked for as a job; `finish` does it here, or the server's worker by itself.
    """
    _require_free(slug)
    folder = scan(root)
    two = take_samples(folder, samples)
    folder.refuse()
    rules, city, times = rules_of(folder, two)
    rules = _over(rules).renamed(name)
    teams = _teams(folder, two, hors_concours)
    for entry in [entry for entry in folder.files if entry.team > teams and entry not in two]:
        folder.ignored += folder.files.pop(entry).values()
    folder.refuse()
    with TemporaryDirectory(dir=_work_folder(), prefix=f"{os.getpid()}-import-") as work:
        court = Court2019(folder, Judge(rules, city, times), Path(work), frozenset(hors_concours))
        sets = court.all(teams, say)
        public = [court.sample(there, here.team) for there, here in zip(two, SAMPLES, strict=False)]
        folder.refuse()
        # Long, so not while others wait for the database; blobs that nobody names do no harm.
        stored = Stored(folder, [*sets, *public])
        with transaction.atomic():
            into = Rows(folder, rules, actor, set(hors_concours), stored)
            contest, round = into.contest(slug, name, is_public, organisers, teams)
            into.rows(sets, public)
            into.ask_results()
    said = _not_looked_at(folder)
    said += [f"{one.entry.label}: {one.given.reason}" for one in sets if one.missing]
    scored = [answer for one in sets for answer in one.answers]
    said += [f"{one.file.path}: cannot be scored: {one.why}" for one in scored if not one.scores]
    handed = [one for one in sets if (one.handed_in or one.missing) and one.entry.team]
    valid = sum(one.given.valid for one in handed)
    answers = sum(one.file.by_team and one.scores is not None for one in scored)
    return Imported(contest, round, teams, len(handed), valid, answers, tuple(said))


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


def _not_looked_at(folder: Folder) -> list[str]:
    names = [str(path.relative_to(folder.root)) for path in folder.ignored]
    if not names:
        return []
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return [f"not looked at, since their names are none of 2019: {', '.join(names[:NAMED])}{more}"]


def _require_free(slug: str) -> None:
    if Contest.objects.filter(slug=slug).exists():
        raise Refused("conflict", _("Another contest has this address already."))


def _over(rules: Rules) -> Rules:
    """Phases are kept if they are over; a finished contest has none in the future."""
    last = rules.rounds[0]
    if last.phases.results is not None and last.phases.results > clock.now():
        return replace(rules, rounds=(replace(last, phases=Phases()),))
    return rules


def _teams(folder: Folder, two: Sequence[Entry], apart: Sequence[int]) -> int:
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


def _work_folder() -> Path:
    folder: Path = settings.CONFIG.folder / "work"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
