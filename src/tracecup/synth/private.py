"""Private: one chain of everybody, learned from counts with noise; differentially private by user.

Slot by slot like SGD, but nothing about a single training user can be learned beyond eps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import kernel
from tracecup.records import Timetable
from tracecup.registry import parameter, register, spell
from tracecup.rng import Rng
from tracecup.streams import TWO, child, uniform
from tracecup.synth.base import Model, Progress, Synthesizer, Walk
from tracecup.synth.decoding import LEAST_KM
from tracecup.synth.generate import first_above
from tracecup.synth.noisycounts import NoisyCounts, noisy_counts, on_simplex, weighted_counts
from tracecup.synth.training import Training

MAX_NEAR = 2000
"""Up to so many places distances are used: all pairs fit into 32 MB."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.int32]


@register(
    "synthesizer",
    "Private",
    "one chain of all training users from noisy counts; differentially private by user",
    "Laplace mechanism: C. Dwork et al., Calibrating Noise to Sensitivity in Private Data "
    "Analysis, TCC 2006; the synthesizer is ours",
)
@dataclass(frozen=True)
class Private(Synthesizer):
    """eps-differentially private for neighbours that differ by all records of one user.

    Four tables are counted, in each of which a user's records have the weights 1/(her number of
    them): places of the first slot, all places, whether steps stay (by slot), and steps (by slot,
    from, to). A user more or less changes a table by at most 1 in L1; Laplace noise of scale
    1/eps_k makes table k eps_k-private, and the eps_k sum to eps. Only the noisy tables are used
    further. Number and positions of places, slots and eps are public; the number of training
    users is not used.

    A trace begins by the first table. From place x into slot t it follows the noisy steps from x
    that passed the threshold, as far as their weight explains x's share of all visits. For the
    rest it stays (unless staying at x is among the noisy steps) by what is left of the stays of
    slot t, or goes to y in proportion to the visits there and, where positions are known, to
    1 / max(km, 1)^2.
    """

    eps: float = parameter(1.0, "budget of a user", low=0, low_open=True, high=1e6)

    def guarantee(self, events: int = 400) -> str:
        """Differential privacy of the model, so of any number of traces made from it."""
        return (
            f"{spell(self.eps)}-differentially private for all records of a training user, "
            "however many traces are made"
        )

    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> PrivateModel:
        """Count and add noise; the same seed gives the same model. O(records log records + T N)."""
        self.check()
        counts = noisy_counts(weighted_counts(training), self.eps, rng)
        return PrivateModel.of_counts(counts, training.day, training.positions)


@dataclass(frozen=True, eq=False)
class PrivateModel(Model):
    """`first` (N,) and `moves` (N, N) as cumulated shares (one row where all are alike).

    Steps into slot t from `origin[r]`, r in `groups[t] : groups[t + 1]`, lead to
    `target[starts[r] : starts[r + 1]]` with `cumulated` weights; such a row is followed with
    chance `follow[r]`, and staying is among its steps if `stays[r]`. Otherwise one stays with
    chance `stay[t]`.
    """

    trained_day: Timetable
    first: Floats
    moves: Floats
    groups: Ints
    origin: Ints
    starts: Ints
    target: Places
    cumulated: Floats
    follow: Floats
    stays: NDArray[np.bool_]
    stay: Floats

    @classmethod
    def of_counts(
        cls, counts: NoisyCounts, day: Timetable, positions: Floats | None = None
    ) -> PrivateModel:
        """From noisy tables and nothing else; `positions` in km are public."""
        n, slots = len(counts.first), day.slots
        row, target = np.divmod(counts.key, n)
        slot, source = np.divmod(row, n)
        distinct, first = np.unique(row, return_index=True)
        starts = np.append(first, len(row)).astype(np.int64)
        running = np.concatenate([[0.0], np.cumsum(counts.steps)])
        weight = np.diff(running[starts]) if len(distinct) else np.empty(0)
        places = on_simplex(counts.places)
        # Every user's steps weigh 1 in all: so much of them should leave x in each slot.
        total = np.maximum(counts.stays.sum(axis=1), 0.0)
        due = total[distinct // n] * places[distinct % n]
        # What the known steps leave open in a slot is divided by what each place still lacks.
        left = total - np.bincount(slot, counts.steps, slots)
        lacking = total - np.bincount(distinct // n, np.minimum(weight, due), slots)
        rest = _ratio(left, lacking)[distinct // n] * np.maximum(due - weight, 0.0)
        stayed = source == target
        diagonal = np.bincount(slot, counts.steps * stayed, slots)
        settled = np.bincount(slot, places[source] * stayed, slots)
        return cls(
            day,
            np.cumsum(on_simplex(counts.first)),
            _moves(places, positions),
            np.searchsorted(distinct, np.arange(slots + 1) * n).astype(np.int64),
            distinct % n,
            starts,
            target.astype(np.int32),
            running[1:] - np.repeat(running[starts[:-1]], np.diff(starts)),
            weight / (weight + rest),
            np.isin(distinct, row[stayed]),
            _ratio(counts.stays[:, 0] - diagonal, total * (1 - settled)),
        )

    @property
    def day(self) -> Timetable:
        return self.trained_day

    @property
    def n_locations(self) -> int:
        return len(self.first)

    def walk(self, order: Walk, low: int, high: int, out: Places) -> None:
        _walk_users(
            order.first_user + low,
            self.day.slots,
            order.instants,
            self.first,
            self.moves,
            (self.groups, self.origin, self.starts, self.target, self.cumulated),
            self.follow,
            self.stays,
            self.stay,
            order.kept,
            *order.key,
            out[low:high],
        )


def _moves(places: Floats, positions: Floats | None) -> Floats:
    """Where a move from each place leads, cumulated: by visits and nearness, not to itself."""
    n = len(places)
    if positions is None or not 1 < n <= MAX_NEAR:
        return np.cumsum(places)[None]
    x, y = positions.T
    weight = places / np.maximum((x[:, None] - x) ** 2 + (y[:, None] - y) ** 2, LEAST_KM**2)
    np.fill_diagonal(weight, 0.0)
    nowhere = weight.sum(axis=1) <= 0
    weight[nowhere] = 1.0
    moves: Floats = np.cumsum(weight, axis=1)
    return moves


def _ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole within 0..1, one half where nothing is left of either."""
    part, whole = np.maximum(part, 0.0), np.maximum(whole, 0.0)
    return np.where(whole > 0, np.minimum(part, whole) / np.where(whole > 0, whole, 1.0), 0.5)


@kernel
def _walk_users(
    first: int,
    slots: int,
    instants: int,
    opening: Floats,
    moves: Floats,
    rows: tuple[Ints, Ints, Ints, Places, Floats],
    follow: Floats,
    stays: NDArray[np.bool_],
    stay: Floats,
    kept: NDArray[np.bool_],
    key0: np.uint64,
    key1: np.uint64,
    out: Places,
) -> None:
    groups, origin, starts, target, cumulated = rows
    for u in range(out.shape[0]):
        user0, user1 = child(key0, key1, np.uint64(first + u))
        n = np.uint64(0)
        for day in range(out.shape[1]):
            x, place = 0, 0
            for instant in range(slots * instants):
                how, where = uniform(user0, user1, n), uniform(user0, user1, n + np.uint64(1))
                n += TWO
                t = instant // instants
                if instant == 0:
                    x = first_above(opening, 0, len(opening), where)
                else:
                    row = groups[t] + np.searchsorted(origin[groups[t] : groups[t + 1]], x)
                    known = row < groups[t + 1] and origin[row] == x
                    chance = follow[row] if known else 0.0
                    rest = 0.0 if known and stays[row] else stay[t]
                    if how < chance:
                        low, high = starts[row], starts[row + 1]
                        x = target[first_above(cumulated, low, high, where * cumulated[high - 1])]
                    elif how >= chance + (1.0 - chance) * rest:
                        law = moves[x if len(moves) > 1 else 0]
                        x = first_above(law, 0, len(law), where * law[-1])
                if kept[instant]:
                    out[u, day, place] = x
                    place += 1
