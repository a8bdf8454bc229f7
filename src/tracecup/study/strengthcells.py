"""One team and one defence of the study `strength`: tuned, released, attacked; kept in a file.

The name of the file holds everything its content depends on; it grows attack by attack.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tracecup import __version__
from tracecup.attack import BayesR, Case, ReidAttack, parse_inference, parse_reid
from tracecup.attack.decision import Candidates, decide
from tracecup.attack.infer.linked import copy_linked
from tracecup.attack.learned import LearnedR
from tracecup.attack.match import match_table
from tracecup.attack.models.bayes import bayes_evidence
from tracecup.attack.prior import slot_prior
from tracecup.attack.scores import Scores
from tracecup.contest.judging.scorer import Scorer
from tracecup.obfuscate import Equalise
from tracecup.rng import child_seed
from tracecup.score import hospital_share
from tracecup.study.comparison import DefendedRelease, defence_draw, release
from tracecup.study.context import Context, Team, shipped_model_file
from tracecup.study.existingcells import Tuning
from tracecup.study.keptcells import key_of, read_cell, write_cell
from tracecup.traces import IdTable, Traces

FORMAT = 1
Side = Literal["paper", "links", "bayes", "learned", "blind", "told"]
Kind = Literal["reid", "trace"]
Held = dict[str, Any]
"""What is known of one defence on one team, as it stands in its file."""


@dataclass(frozen=True)
class Shield:
    """A defence of the study: its name in tables, how it is tuned.

    `group` is the size of the groups in which it makes users alike, where it does.
    """

    label: str
    tuning: Tuning
    group: int | None = None


@dataclass(frozen=True)
class Sword:
    """An attack of the study: its name in tables, how it is written, whose side it is on.

    In `written` {} stands for the tuned defence. Of the side "told" are attackers who
    are given the true ID table and either copy the release or decide by Bayes.
    """

    label: str
    written: str
    side: Side

    @property
    def kind(self) -> Kind:
        """Re-identification or trace inference."""
        return "reid" if self.written.partition("(")[0].endswith("-R") else "trace"


class Cells:
    """What is known of one defence on one team, and how to find out the rest."""

    def __init__(self, context: Context, team: Team, shield: Shield) -> None:
        """Nothing is computed before it is asked for."""
        self.team, self.shield = team, shield
        self.seed = context.seed_of("strength", team.name, shield.label)
        self.path = _path(context, team, shield)
        self.held: Held = read_cell(self.path, "met") or {"met": {}}
        self._scored: tuple[ReidAttack, Scores, float] | None = None

    def met(self, sword: Sword) -> dict[str, Any]:
        """What an attack achieves: score, interval over users, seconds, nats where it has any."""
        if sword.label not in self.held["met"]:
            made = self._release  # also fills in what is known of the defence
            self.held["met"][sword.label] = self._met(sword, made)
            write_cell(self.path, self.held)
        found: dict[str, Any] = self.held["met"][sword.label]
        return found

    def keep(self, held: Held) -> None:
        """Take over what was found out elsewhere."""
        self.held = held
        write_cell(self.path, self.held)

    def lacks(self, swords: Sequence[Sword]) -> int:
        """How many of these attacks have to be run."""
        return sum(sword.label not in self.held["met"] for sword in swords)

    @cached_property
    def _release(self) -> DefendedRelease:
        """The release, made again where only its scores were kept."""
        team, written = self.team, self.shield.tuning.written
        if "tuned" not in self.held:
            # With the draws of the release, so that its utility is the tuned one.
            method, how = self.shield.tuning.tuned(team, defence_draw(self.seed, written))
            self.held |= {"tuned": str(method), "tuning": how}
        made = release(
            team.city, team.reference, team.original, written,
            floor=None, seed=self.seed, tuned=self.held["tuned"],
        )  # fmt: skip
        self.held |= {
            "s_U": made.utility.value,
            "seconds": self.held.get("seconds", made.seconds),
            "hospital share": hospital_share(team.city, team.original),
        }
        return made

    def _met(self, sword: Sword, made: DefendedRelease) -> dict[str, Any]:
        started, more = time.perf_counter(), dict[str, Any]()
        answer: IdTable | Traces
        if sword.side == "told":
            answer = self._told(sword, made)
            shared = 0.0
        elif sword.kind == "reid":
            answer, shared, more = self._identified(sword, made)
        else:
            method = parse_inference(self._filled(sword.written))
            answer, shared = method.infer(made.case, self._draw(sword)), 0.0
        seconds = time.perf_counter() - started + shared
        scored = Scorer(self.team.city).score_answer(made.truth, sword.kind, answer)[sword.kind]
        if sword.side == "bayes" or "mixture" in sword.written:
            more["prior nats"] = slot_prior(made.case.city, made.case.reference).log_likelihood
        interval = scored.interval
        return {
            "score": scored.value,
            "low": interval.low,
            "high": interval.high,
            "seconds": seconds,
            **more,
        }

    def _identified(
        self, sword: Sword, made: DefendedRelease
    ) -> tuple[IdTable, float, dict[str, Any]]:
        """The table, seconds that the same scores took before, and how well they fit the truth."""
        method, draw = parse_reid(self._filled(sword.written)), self._draw(sword)
        plain = replace(method, match="argmax", tau=1.0)
        shared = 0.0
        if self._scored is None or self._scored[0] != plain:
            started = time.perf_counter()
            scores = method.scores(made.case, draw)
            self._scored = (plain, scores, time.perf_counter() - started)
        else:
            shared = self._scored[2]
        scores = self._scored[1]
        more = {}
        if isinstance(method, BayesR | LearnedR):
            more["nats"] = _nats(scores, _table(made), made.case)
        return match_table(scores, method.match, method.tau), shared, more

    def _told(self, sword: Sword, made: DefendedRelease) -> Traces:
        """Traces of an attacker who knows who is who."""
        case, table, draw = made.case, _table(made), self._draw(sword)
        if not sword.written:
            return copy_linked(case, table, draw)
        evidence = bayes_evidence(case, self._filled(sword.written), draw)
        regions = decide(
            case.city, evidence.prior, Candidates.of_table(table), evidence.channel,
            case.released,
        )  # fmt: skip
        return Traces(regions, case.reference.users, case.released.clock)

    def _draw(self, sword: Sword) -> int:
        """Attacks that run the same program of a defence do so with the same draws."""
        known = "known(" in sword.written
        return child_seed(self.seed, "attack", "known" if known else sword.label)

    def _filled(self, written: str) -> str:
        return written.format(self.held["tuned"])


def _table(made: DefendedRelease) -> IdTable:
    """Who is behind which pseudonym."""
    assert made.truth.table is not None
    return made.truth.table


def _nats(scores: Scores, table: IdTable, case: Case) -> float:
    """Mean log-probability of a released cell under its true user, who was not known then."""
    rows = scores.rows(0, scores.n_users)
    total = rows[np.arange(scores.n_users), table.users].sum()
    return float(total / max(1, int((np.diff(case.released.offsets) > 0).sum())))


def _path(context: Context, team: Team, shield: Shield) -> Path | None:
    if context.cells is None:
        return None
    depends = [
        FORMAT, __version__, _models(shield), context.seed, team.name, team.original.shape,
        repr(shield),
    ]  # fmt: skip
    word = shield.label.partition("(")[0].replace(" ", "_")
    name = f"{word}-{team.name.replace(' ', '_')}-{key_of(depends)}.json"
    return context.cells / "strength" / name


def _models(shield: Shield) -> list[str]:
    """Digests of the models that come with the package and play a part."""
    own = ("defence",) if shield.tuning.written.startswith(Equalise.name) else ()
    folder = resources.files("tracecup.attack.learned") / "models"
    files = (shipped_model_file(), *(folder / f"{name}.npz.zst" for name in ("attack", *own)))
    return [hashlib.sha256(file.read_bytes()).hexdigest()[:16] for file in files]
