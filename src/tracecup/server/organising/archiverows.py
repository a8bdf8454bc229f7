"""The rows of an imported contest: teams, files, submissions, releases, and the ask for results.

`archiveimport` calls this with an archive whose answers are scored; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from tracecup.contest.archive.folder import CITY_FILE, CLOCK_FILE, COMMITMENTS_FILE, Archive
from tracecup.contest.challenges import ANSWER_FILES, ATTACK_KINDS, AttackKind
from tracecup.contest.entries import BENCHMARK_TEAM, Entry, opening_name
from tracecup.contest.judging.commitment import SCORER
from tracecup.contest.judging.judged import JudgedRelease
from tracecup.contest.rules import CityRules, Rules
from tracecup.contest.rules.file import rules_text
from tracecup.contest.smallfiles import json_text
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.entries import SAMPLES, DataSet, keep_file
from tracecup.server.judging.service import commitments, enqueue_samples
from tracecup.server.models import (
    Contest,
    Job,
    Organiser,
    Person,
    Release,
    Round,
    Submission,
    Team,
)
from tracecup.server.models.filekinds import (
    KIND_OF_FILE,
    RELEASED,
    SHARED_FILES,
    TRUTH,
    Audience,
)
from tracecup.server.organising.contests import create_contest
from tracecup.server.results.service import compute_result_set
from tracecup.server.storage import Blob, store
from tracecup.server.teams.registration import insert_team


@dataclass(frozen=True)
class ScoredAnswer:
    """An answer in an archive and its scores as JSON; `why` says why there are none.

    `attacker` is a team (`003`) or a sample attack (`I2`).
    """

    entry: Entry
    kind: AttackKind
    attacker: str
    attempt: int
    path: Path
    scores: Mapping[str, Any] | None
    why: str = ""

    @property
    def by_team(self) -> bool:
        """Whether a team made it, and not the organisers."""
        return self.attacker.isdigit()


class StoredBlobs:
    """The bytes of all files of an archive that rows will name, stored."""

    def __init__(self, archive: Archive, answers: Sequence[ScoredAnswer]) -> None:
        self._blobs: dict[Path, Blob] = {}
        for name in (CITY_FILE, CLOCK_FILE):
            self._put(archive.public / name)
        for team in range(BENCHMARK_TEAM, archive.about.teams + 1):
            self._put(archive.opening_file(team, opened=False))
        for entry in (*archive.defenders, *archive.samples):
            for kind in (*TRUTH, "anotraces"):
                self._put(archive.locate(entry, kind))
        for answer in answers:
            self._put(answer.path)

    def _put(self, path: Path) -> None:
        if path.exists():
            self._blobs[path] = store().put_file(path)

    def get(self, path: Path) -> Blob | None:
        """The blob of a file; None where there was no such file."""
        return self._blobs.get(path)

    def blob(self, path: Path) -> Blob:
        """The blob of a file that is there."""
        return self._blobs[path]


class ContestRows:
    """The rows of one contest; everything happens inside the caller's transaction."""

    def __init__(self, archive: Archive, rules: Rules, actor: Actor, stored: StoredBlobs) -> None:
        self.archive, self.rules, self.actor, self.stored = archive, rules, actor, stored
        self.judged = {entry: archive.judged(entry) for entry in archive.defenders}
        self.at: datetime = clock.now()
        self.teams: dict[int, Team] = {}

    def contest(
        self,
        slug: str,
        name: str,
        is_public: bool,
        organisers: Sequence[Person],
        hors_concours: Sequence[int],
    ) -> tuple[Contest, Round]:
        """The contest with its round, which is over, and its teams."""
        builtin = replace(self.rules, city=CityRules())
        made = create_contest(
            self.actor,
            name=name,
            slug=slug,
            rules_text=rules_text(builtin),
            is_public=is_public,
            is_over=True,
        )
        city = self.stored.blob(self.archive.public / CITY_FILE)
        # The server reads no city that is named in rules; this one is stored here and now.
        made.rules_text, made.city_sha256 = rules_text(self.rules), city.sha256
        made.save(update_fields=["rules_text", "city_sha256"])
        self.round: Round = made.rounds.get()
        self.round.contest = made
        for step in ("announced", "judging", "judged", "published", "closed"):
            setattr(self.round, f"{step}_at", self.at)
        self.round.save()
        for person in organisers:
            Organiser.objects.get_or_create(
                contest=made, person=person, defaults={"since": self.at}
            )
        apart = {entry.team for entry, given in self.judged.items() if given.hors_concours}
        for number in range(1, self.archive.about.teams + 1):
            self.team(made, number, number in apart or number in hors_concours)
        after = {
            "rules": made.rules_text,
            "teams": len(self.teams),
            "files": sum(self.has_files(entry) for entry in self.judged),
        }
        log.record(self.actor, "contest.imported", contest=made, subject="rules:1", after=after)
        return made, self.round

    def team(self, contest: Contest, number: int, hors_concours: bool) -> None:
        """A team; archives know its number, and whether and why it is out of the competition."""
        label = Entry(number).number
        made = insert_team(contest, f"Team {label}", self.actor, hors_concours=hors_concours)
        if (why := self.archive.withdrawn.get(label)) is not None:
            made.status = why if why in Team.STATUSES else "withdrawn"
            made.status_reason = why
            made.save(update_fields=["status", "status_reason"])
        self.teams[number] = made

    def has_files(self, entry: Entry) -> bool:
        """Whether the archive holds any file of a data set."""
        paths = (self.archive.locate(entry, kind) for kind in (*TRUTH, "anotraces"))
        return any(self.stored.get(path) is not None for path in paths)

    def rows(self, answers: Sequence[ScoredAnswer]) -> None:
        """Files, submissions, releases, commitments."""
        for kind in SHARED_FILES:
            name = KIND_OF_FILE[kind].file
            blob = self.stored.blob(self.archive.public / name)
            keep_file(self.round, name, blob, kind=kind, visible_from=self.at)
        for there, here in zip(self.archive.samples, SAMPLES, strict=True):
            self.files(there, DataSet(here), dict.fromkeys(TRUTH))
        for entry, given in self.judged.items():
            out: Audience = "all" if given.published else "judge"
            whose: dict[str, Audience | None] = {
                kind: out if kind in RELEASED else None for kind in TRUTH
            }
            whose |= {"anotraces": None} if entry.is_benchmark else {}
            self.files(entry, DataSet(entry, self.teams.get(entry.team)), whose)
        self.releases(answers)
        for answer in answers:
            if answer.by_team:
                self.answer(answer)
        held = json_text(commitments(self.round))
        keep_file(
            self.round,
            COMMITMENTS_FILE,
            store().put_blocks([held.encode()], 1 << 30),
            kind="commitments",
            visible_from=self.at,
        )

    def files(self, entry: Entry, own: DataSet, audiences: Mapping[str, Audience | None]) -> None:
        """Name the files of a data set, None: for whom their kind is.

        Sample teams have other numbers in the archive.
        """
        for kind, audience in audiences.items():
            blob = self.stored.get(self.archive.locate(entry, kind))
            if blob is not None:
                keep_file(
                    self.round,
                    own.entry.file(kind),
                    blob,
                    kind=kind,
                    audience=audience,
                    data_set=own,
                    visible_from=self.at,
                )

    def releases(self, answers: Sequence[ScoredAnswer]) -> None:
        """A release row for every data set, and the opening of every team."""
        for number in range(BENCHMARK_TEAM, self.archive.about.teams + 1):
            opening = self.stored.blob(self.archive.opening_file(number, opened=False))
            own = [entry for entry in self.judged if entry.team == number]
            whose = DataSet(own[0], self.teams.get(number))
            name = opening_name(number)
            keep_file(self.round, name, opening, kind="opening", data_set=whose)
            for entry in own:
                samples = [one for one in answers if one.entry == entry and not one.by_team]
                # An opening is its own text: its SHA-256 is the commitment.
                self.release(entry, self.judged[entry], opening.sha256, samples)

    def release(
        self,
        entry: Entry,
        given: JudgedRelease,
        commitment: str,
        samples: Sequence[ScoredAnswer],
    ) -> None:
        """The judge's row about a data set, and what the team handed in."""
        team, path = self.teams.get(entry.team), self.archive.locate(entry, "anotraces")
        blob, handed = self.stored.get(path), None
        if team is not None and blob is not None:
            handed = Submission.objects.create(
                **self.common(team, blob, path),
                kind="release",
                challenge=entry.challenge,
                attempt=1,
                state="scored",
                chosen=True,
                method=given.method,
                valid=given.valid,
                reason=given.reason,
                score=given.utility,
                low=given.utility_low,
                high=given.utility_high,
            )
        Release.objects.create(
            round=self.round,
            team=team,
            challenge=entry.challenge,
            submission=handed,
            label=entry.label,
            **given.as_dict(),
            commitment=commitment,
            scores=self.sample_scores(entry, given, samples),
        )

    def sample_scores(
        self, entry: Entry, given: JudgedRelease, answers: Sequence[ScoredAnswer]
    ) -> dict[str, Any]:
        """Scores of the sample attacks, if the archive holds the answers of all of them."""
        named = {
            column: attack
            for kind in ATTACK_KINDS
            for column, attack in self.archive.sample_attacks(kind).items()
        }
        held = {one.attacker: one for one in answers if one.scores}
        if not given.published or set(held) != set(named):
            return {}
        own, scores, knew = DataSet(entry, self.teams.get(entry.team)), {}, self.archive.knew
        for column, answer in held.items():
            kind, blob = ANSWER_FILES[answer.kind], self.stored.blob(answer.path)
            name = entry.answer(kind, column)
            keep_file(self.round, name, blob, kind=kind, data_set=own)
            scores[column] = {
                **(answer.scores or {}),
                "attack": named[column],
                "seconds": 0.0,
                "inputs_sha256": blob.sha256,
                "knew": knew.get((entry.release, column), ""),
            }
        return scores

    def answer(self, answer: ScoredAnswer) -> None:
        """One answer of a team, with its score; without truth it failed by our fault."""
        scores, blob = answer.scores, self.stored.blob(answer.path)
        numbers = {key: scores[key] for key in ("score", "low", "high")} if scores else {}
        method = self.archive.attack_names.get((answer.kind, answer.attacker), "")
        Submission.objects.create(
            **self.common(self.teams[int(answer.attacker)], blob, answer.path),
            kind=answer.kind,
            challenge=answer.entry.challenge,
            target=answer.entry.team,
            attempt=answer.attempt,
            state="scored" if scores else "failed",
            method=method,
            consent=bool(method),
            reason=answer.why,
            **numbers,
        )

    def common(self, team: Team, blob: Blob, path: Path) -> dict[str, Any]:
        """What all submissions of an import share; a link has the name of the file behind it."""
        name = path.resolve().name
        return {
            "contest": self.round.contest,
            "round": self.round,
            "team": team,
            "charged": False,
            "idempotency_key": f"import:{blob.sha256[:24]}:{name}"[:80],
            "file_name": name,
            "sha256": blob.sha256,
            "size": blob.size,
            "received_at": self.at,
            "via": self.actor.via,
            "scorer": SCORER,
            "scored_at": self.at,
        }

    def ask_results(self, why: str) -> None:
        """Sample attacks where the archive had none, then the results, as jobs."""
        enqueue_samples(self.round)
        for row in self.round.releases.all():
            if row.scores:
                Job.objects.filter(key__startswith=f"sample:{self.round.pk}:{row.label}:").update(
                    state="done", finished_at=self.at
                )
        compute_result_set(self.round, why, self.actor, automatic=True)
