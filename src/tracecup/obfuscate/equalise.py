"""Equalise: every user of a group is as likely as the others under all models of a portfolio.

Attackers trained on it with little data get little, those with much data get more; study `race`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.learned import DEFEND, defence_model
from tracecup.attack.learned.network import log_probabilities
from tracecup.attack.prior import slot_prior
from tracecup.city import City
from tracecup.obfuscate.base import Knob, Obfuscator, single_cells
from tracecup.obfuscate.equalising import Scores, descend, stakes_of
from tracecup.obfuscate.grouping import group_sizes, similar_groups
from tracecup.registry import parameter, register
from tracecup.rng import Rng, generator
from tracecup.score import FLOOR
from tracecup.traces import SetTraces, Traces, visit_counts

GROUP = "users in a group, who shall be taken for each other"
MODEL = (
    "file of a trained defence, shipped = the one of the built-in city; none = plain habit models"
)
SPREAD = "spread of the targets under plain habit models; a trained defence brings its own"
NONE = "none"
FEW = 1000
"""Users below whom a trained defence says that it hides less: the guide has what was measured."""
WEIGHT_OF_ONE = 0.012
"""Where the search for the weight of the scores begins, with two plain models of 25 users."""

Floats = NDArray[np.float32]


@register(
    "obfuscator",
    "Equalise",
    "equal likelihoods inside groups, under a portfolio of models",
    "tracecup's own; described and measured in the guide, Learned attacks and a race",
)
@dataclass(frozen=True)
class Equalise(Obfuscator):
    """For every user minimise price + weight |sum over cells of L[t, y] - target|^2 at the floor.

    L stacks log p_k(y | v, t) of the members v of her group under the models k of a portfolio,
    centred over the members: if the sums are the same for all of them, no attacker who uses one of
    these models can tell who is who. `model=none` takes habit models that need no training; a
    trained file holds the release models of attackers who were trained on earlier rounds of this
    very defence. Hospital regions are moved out of reach, as many as the floor allows: where
    moving all of them is too dear, the most helpful ones move and nothing else does.

    Every cell has one region. A set could gain nothing: a random member of it costs at most as
    much utility on average, since the price is concave in the distance, and being made from the
    set it tells no more. Likewise a random far region for a deleted cell.

    The models need reference traces, which are public in a contest. Without them the original
    traces stand in, which protects less: the attackers' view is then only guessed.
    """

    group: int = parameter(25, GROUP, low=2)
    model: str = parameter(NONE, MODEL, text=True, positional=False)
    noise: float = parameter(15.0, SPREAD, low=0, positional=False)
    sweeps: int = parameter(12, "passes over all cells", low=1, positional=False)
    floor: float = parameter(FLOOR, "utility to end at", low=0, high=1, positional=False)
    hospital: bool = parameter(True, "move hospitals out of reach", positional=False)

    knobs: ClassVar[tuple[Knob, ...]] = (Knob("floor", weak=1.0, strong=0.0),)

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return self._obfuscate_knowing(city, original, original, rng)

    def _obfuscate_knowing(
        self, city: City, original: Traces, reference: Traces, rng: Rng
    ) -> SetTraces:
        random = generator(rng)
        habit, models, scores = self._portfolio(city, reference)
        blurred = _blurred(city, habit.mean(axis=1), 0.8)
        groups = similar_groups(np.sqrt(blurred), self.group)
        stakes = stakes_of(groups, habit, models, scores)
        noise, weight = self._settings(models)
        answers = descend(
            city,
            original,
            stakes,
            random,
            floor=self.floor,
            noise=noise,
            sweeps=self.sweeps,
            weight=weight,
            hospitals=self.hospital,
        )
        return single_cells(answers, original)

    def _settings(self, count: int) -> tuple[float, float]:
        """The spread of the targets, and where the search for the weight of the scores begins.

        A trained defence is what its race ended with.
        """
        if self.model == NONE:
            return self.noise, float(WEIGHT_OF_ONE * (2 / count) ** 1.9) * 25 / self.group
        trained = defence_model(self.model)
        return trained.noise, trained.weight * trained.group / self.group

    @property
    def crowd(self) -> int | None:
        """Its groups: the best that it can reach, although no proof says that it does."""
        return self.group

    def crowds(self, users: int) -> tuple[int, ...]:
        """The sizes of its groups, which are as equal as they can be and may exceed `group`."""
        return group_sizes(users, self.group)

    def note(self, users: int) -> str:
        """A race is played with whole teams; of few users a trained defence hides little."""
        if self.model == NONE or users >= FEW:
            return ""
        return (
            f"a trained defence was raced with teams of 2000 users; of {users} it hides far less, "
            "also from attackers who train nothing: attack the release before relying on it"
        )

    def guarantee(self, events: int = 400) -> str:
        """Nothing is promised by proof: an attacker may know a model that the portfolio lacks."""
        return ""

    def _portfolio(self, city: City, reference: Traces) -> tuple[Floats, int, Scores]:
        """Habits p(x | u, t), how many models score a release, and their scores."""
        if self.model == NONE:
            habit = slot_prior(city, reference).probabilities
            tables = [make(city, reference, habit) for make in PLAIN_MODELS]
            return habit, len(tables), lambda users: np.stack([table[users] for table in tables])
        trained = defence_model(self.model)
        trained.ground.check(city, reference.clock.slots, DEFEND)
        habit = trained.prior.probabilities(city, reference)
        nets = (trained.prior, *trained.models)
        return habit, len(nets), log_probabilities(city, reference, nets)


def _blurred(city: City, table: Floats, reach_km: float) -> Floats:
    """The last axis spread over the city with exp(-d / reach), rows of the kernel summing to 1."""
    kernel = np.exp(-city.grid.distances / reach_km)
    kernel /= kernel.sum(axis=1, keepdims=True)
    flat = table.reshape(-1, table.shape[-1]) @ kernel.astype(np.float32)
    return np.asarray(flat.reshape(table.shape), dtype=np.float32)


def _logs(table: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(table, 1e-12)), dtype=np.float32)


def _log_habit(city: City, reference: Traces, habit: Floats) -> Floats:
    return _logs(habit)


def _log_noisy(city: City, reference: Traces, habit: Floats) -> Floats:
    """The habit through a channel that moves a region by about 350 m."""
    return _logs(0.95 * _blurred(city, habit, 0.35) + 0.05 / city.n_regions)


def _log_blurred(city: City, reference: Traces, habit: Floats) -> Floats:
    return _logs(_blurred(city, habit, 0.8))


def _log_crowd(city: City, reference: Traces, habit: Floats) -> Floats:
    """Mostly what everybody does: an attacker who believes in heavy noise."""
    return _logs(0.05 * habit + 0.95 * habit.mean(axis=0))


def _fuzzy(city: City, reference: Traces, habit: Floats) -> Floats:
    """Fuzzy counts of the reference, the same at all slots: the 2019 winner's score."""
    counts = np.log1p(visit_counts(reference, city.n_regions))
    return _every_slot(_blurred(city, counts, 0.35), habit)


def _counts(city: City, reference: Traces, habit: Floats) -> Floats:
    return _every_slot(np.log1p(visit_counts(reference, city.n_regions)), habit)


def _every_slot(table: Floats, habit: Floats) -> Floats:
    return np.ascontiguousarray(np.broadcast_to(table[:, None], habit.shape), dtype=np.float32)


PLAIN_MODELS = (_log_habit, _log_noisy, _log_blurred, _log_crowd, _fuzzy, _counts)
"""Score functions of attackers who train nothing."""
