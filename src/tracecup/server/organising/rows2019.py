"""The rows of an imported contest: teams, files, submissions, releases, and the ask for results.

`import2019` calls this with everything read and scored; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from tracecup.contest.archive.folder import CITY_FILE, CLOCK_FILE, COMMITMENTS_FILE
from tracecup.contest.challenges import ANSWER_FILES, ATTACK_KINDS
from tracecup.contest.entries import Entry, team_label
from tracecup.contest.judging.commitment import (
    AS_HANDED_IN,
    SCORER,
    Opening,
    content_hash,
    fresh_nonce,
)
from tracecup.contest.judging.flow import SEALED, seal
from tracecup.contest.legacy2019.court import DataSet2019, ScoredAnswer
from tracecup.contest.legacy2019.folder import Folder
from tracecup.contest.rules import CityRules, Rules
from tracecup.contest.rules.file import rules_text
from tracecup.contest.smallfiles import json_text
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.entries import DataSet, keep_file
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
from tracecup.server.organising.contests import create_contest
from tracecup.server.results.service import compute_result_set
from tracecup.server.storage import Blob, store
from tracecup.server.teams.registration import insert_team

REASON = "imported from a folder of files"


class Stored:
    """The bytes of all files, stored, with what the commitments say about the secret ones."""

    def __init__(self, folder: Folder, sets: Sequence[DataSet2019]) -> None:
        self._blobs: dict[Path, Blob] = {}
        self._hashes: dict[tuple[Entry, str], str] = {}
        for one in sets:
            if one.handed_in is not None:
                one.files["anotraces"] = one.handed_in
            for kind, path in one.files.items():
                self._blobs[path] = store().put_file(path)
                if kind in SEALED:
                    self._hashes[one.entry, kind] = content_hash(path)
            for answer in one.answers:
                self._blobs[answer.file.path] = store().put_file(answer.file.path)
        for name in (CITY_FILE, CLOCK_FILE):
            self._blobs[folder.shared[name]] = store().put_file(folder.shared[name])

    def blob(self, path: Path) -> Blob:
        """The blob of a file."""
        return self._blobs[path]

    def content_hash(self, entry: Entry, kind: str) -> str | None:
        """SHA-256 of the plain content of a secret file; None where there is none."""
        return self._hashes.get((entry, kind))

    def opening(self, own: Sequence[DataSet2019]) -> Opening:
        """What a commitment for the data sets of one team would have fixed.

        In 2019 cells were published as they were handed in.
        """
        return seal(self, [one.entry for one in own], fresh_nonce(), AS_HANDED_IN)


class Rows:
    """The rows of one contest; everything happens inside the caller's transaction."""

    def __init__(
        self, folder: Folder, rules: Rules, actor: Actor, apart: set[int], stored: Stored
    ) -> None:
        self.folder, self.rules, self.actor, self.apart = folder, rules, actor, apart
        self.blob, self.opening = stored.blob, stored.opening
        self.at: datetime = clock.now()
        self.teams: dict[int, Team] = {}

    def contest(
        self, slug: str, name: str, is_public: bool, organisers: Sequence[Person], teams: int
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
        city = self.blob(self.folder.shared[CITY_FILE])
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
        for number in range(1, teams + 1):
            self.teams[number] = insert_team(
                made,
                f"Team {Entry(number).number}",
                self.actor,
                hors_concours=number in self.apart,
            )
        after = {"rules": made.rules_text, "teams": teams, "files": len(self.folder.files)}
        log.record(self.actor, "contest.imported", contest=made, subject="rules:1", after=after)
        return made, self.round

    def rows(self, sets: Sequence[DataSet2019], public: Sequence[DataSet2019]) -> None:
        """Files, submissions, releases, commitments."""
        for name in (CITY_FILE, CLOCK_FILE):
            kind = name.removesuffix(".csv")
            blob = self.blob(self.folder.shared[name])
            keep_file(self.round, name, blob, kind=kind, audience="all", visible_from=self.at)
        for one in public:
            self.files(one, dict.fromkeys(one.files, "all"))
        for one in sets:
            out = "all" if one.given.published else "judge"
            whose = {"reftraces": out, "pubtraces": out, "ptable": "judge"}
            whose["orgtraces"] = "team" if one.entry.team else "judge"
            whose |= {"anotraces": "judge"} if one.entry.is_benchmark else {}
            self.files(one, whose)
        self.seal(sets)
        for one in sets:
            self.answers(one)
        held = json_text(commitments(self.round))
        blob = store().put_blocks([held.encode()], 1 << 30)
        keep_file(
            self.round,
            COMMITMENTS_FILE,
            blob,
            kind="commitments",
            audience="all",
            visible_from=self.at,
        )

    def files(self, one: DataSet2019, audiences: dict[str, str]) -> None:
        """Store the files of a data set."""
        own = DataSet(one.entry, self.teams.get(one.entry.team))
        for kind, audience in audiences.items():
            if kind in one.files:
                blob = self.blob(one.files[kind])
                name = one.entry.file(kind)
                keep_file(
                    self.round,
                    name,
                    blob,
                    kind=kind,
                    audience=audience,
                    data_set=own,
                    visible_from=self.at,
                )

    def seal(self, sets: Sequence[DataSet2019]) -> None:
        """A release row for every data set, and an opening for every team.

        In 2019 nothing was committed to beforehand; the hashes fix what was imported.
        """
        for number in range(len(self.teams) + 1):
            own = [one for one in sets if one.entry.team == number]
            opening = self.opening(own)
            blob = store().put_blocks([opening.text.encode()], 1 << 20)
            whose = DataSet(own[0].entry, self.teams.get(number))
            name = f"opening_{team_label(number)}.txt"
            keep_file(self.round, name, blob, kind="opening", audience="judge", data_set=whose)
            for one in own:
                self.release(one, opening.commitment)

    def release(self, one: DataSet2019, commitment: str) -> None:
        """The judge's row about a data set, and what the team handed in."""
        team, given = self.teams.get(one.entry.team), one.given
        handed = None
        if team is not None and one.handed_in is not None:
            blob = self.blob(one.handed_in)
            handed = Submission.objects.create(
                **self.common(team, blob, one.handed_in.name),
                kind="release",
                challenge=one.entry.challenge,
                attempt=1,
                state="scored",
                chosen=True,
                valid=given.valid,
                reason=given.reason,
                score=given.utility,
                low=given.utility_low,
                high=given.utility_high,
            )
        Release.objects.create(
            round=self.round,
            team=team,
            challenge=one.entry.challenge,
            submission=handed,
            label=one.entry.label,
            **given.as_dict(),
            commitment=commitment,
            scores=self.sample_scores(one),
        )

    def sample_scores(self, one: DataSet2019) -> dict[str, Any]:
        """Scores of the sample attacks, if the folder holds the answers of all of them."""
        named = {
            column: attack
            for kind in ATTACK_KINDS
            for column, attack in self.rules.samples.columns(kind).items()
        }
        held = {a.file.attacker: a for a in one.answers if not a.file.by_team and a.scores}
        if not one.given.published or set(held) != set(named):
            return {}
        own, scores = DataSet(one.entry, self.teams.get(one.entry.team)), {}
        for column, answer in held.items():
            kind = ANSWER_FILES[answer.file.kind]
            blob, name = self.blob(answer.file.path), one.entry.answer(kind, column)
            keep_file(self.round, name, blob, kind=kind, audience="judge", data_set=own)
            scores[column] = {
                **(answer.scores or {}),
                "attack": named[column],
                "seconds": 0.0,
                "inputs_sha256": blob.sha256,
            }
        return scores

    def answers(self, one: DataSet2019) -> None:
        """What attackers handed in against a data set; without truth it failed by our fault."""
        for answer in one.answers:
            if answer.file.by_team:
                self.answer(one.entry, answer)

    def answer(self, entry: Entry, answer: ScoredAnswer) -> None:
        """One answer, with its score if the truth was there."""
        file, scores = answer.file, answer.scores
        blob = self.blob(file.path)
        numbers = {key: scores[key] for key in ("score", "low", "high")} if scores else {}
        Submission.objects.create(
            **self.common(self.teams[int(file.attacker)], blob, file.path.name),
            kind=file.kind,
            challenge=entry.challenge,
            target=entry.team,
            attempt=file.attempt,
            state="scored" if scores else "failed",
            reason=answer.why,
            **numbers,
        )

    def common(self, team: Team, blob: Blob, name: str) -> dict[str, Any]:
        """What all submissions of an import share."""
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

    def ask_results(self) -> None:
        """Sample attacks where the folder had none, then the results, as jobs."""
        enqueue_samples(self.round)
        for row in self.round.releases.all():
            if row.scores:
                Job.objects.filter(key__startswith=f"sample:{self.round.pk}:{row.label}:").update(
                    state="done", finished_at=self.at
                )
        compute_result_set(self.round, REASON, self.actor, automatic=True)
