"""What synthetic traces tell about the users a synthesizer was trained on.

Re-identification of one-day traces and a likelihood-ratio membership attack, as the published
evaluation of PPMTF+ defines them; all sparse: only transitions that somebody made cost anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from tracecup.engine import map_blocks
from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel
from tracecup.score.intervals import Interval, mean_interval

FLOOR = 1e-8
TIE = 1e-9
THRESHOLDS = 1000

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reidentification:
    """How often a one-day synthetic trace was linked to the training user of its own index.

    `guesses[u, d]` is the training user (position) that day d of synthetic user u resembles
    most; `baseline` is the rate of a random guess, 1/n. The interval is over synthetic users.
    """

    rate: float
    baseline: float
    guesses: NDArray[np.int32]
    interval: Interval


@dataclass(frozen=True, eq=False)
class Membership:
    """The best threshold's advantage TPR + TNR - 1 and accuracy, and the scores behind them.

    `scores[c, d]` is L(c, day d); targets are the training users, then the testing users. The
    threshold is chosen on the evaluated data, so the advantage is optimistic and slightly
    positive even without any leakage.
    """

    advantage: float
    accuracy: float
    threshold: float
    scores: Floats


def transition_profiles(
    users: ArrayLike, locations: ArrayLike, n_users: int, n_locations: int
) -> sparse.csr_array:
    """P_u(i, j): row-normalised counts over all consecutive records of each user.

    `users` (positions, ascending) and `locations` are columns of records in order of time.
    Sparse, shape (n_users, N^2), column i * N + j; rows (u, i) without counts are absent.
    O(records log records).

    >>> transition_profiles([0, 0, 0], [0, 1, 0], 1, 2).toarray().tolist()
    [[0.0, 1.0, 1.0, 0.0]]
    """
    user, place = np.asarray(users, dtype=np.int64), np.asarray(locations, dtype=np.int64)
    if user.shape != place.shape or user.ndim != 1:
        raise InvalidTraces(f"records need two columns of one length, got {user.shape}")
    if user.size and (int(user.min()) < 0 or int(user.max()) >= n_users):
        raise InvalidTraces(f"users must be within 0..{n_users - 1}")
    if place.size and (int(place.min()) < 0 or int(place.max()) >= n_locations):
        raise InvalidTraces(f"locations must be within 0..{n_locations - 1}")
    if np.any(np.diff(user) < 0):
        raise InvalidTraces("records must be ordered by user")
    pair = np.diff(user) == 0
    owner, before, after = user[:-1][pair], place[:-1][pair], place[1:][pair]
    column = before * n_locations + after
    counts = sparse.coo_array(
        (np.ones(len(owner)), (owner, column)), shape=(n_users, n_locations**2)
    ).tocsr()
    counts.sum_duplicates()
    row = np.repeat(np.arange(n_users), np.diff(counts.indptr)) * n_locations
    _, group = np.unique(row + counts.indices // n_locations, return_inverse=True)
    counts.data /= np.bincount(group, weights=counts.data)[group] if counts.nnz else 1.0
    return counts


def reidentification(
    synthetic: ArrayLike,
    training: sparse.csr_array,
    truth: ArrayLike | None = None,
    *,
    floor: float = FLOOR,
) -> Reidentification:
    """Attack each one-day trace alone: guess = argmax_u sum over transitions of log P_u(i, j).

    `synthetic` is (users, days, instants) of locations (-1: not observed), `training` the
    profiles of the n training users; log `floor` where u never made the transition. Ties (within
    1e-9) go to the smallest user, so a trace that shares nothing with anybody is guessed as user
    0. `truth[u]` is the training user that synthetic user u should be linked to (u by default;
    -1 for none). O(traces n + matches), memory O(n) per thread.

    >>> profiles = transition_profiles([0, 0, 1, 1], [0, 1, 1, 0], 2, 2)
    >>> reidentification([[[0, 1]], [[1, 0]]], profiles).rate
    1.0
    """
    days, n_locations = _check_days(synthetic, training)
    n = training.shape[0]
    target = np.arange(len(days)) if truth is None else np.asarray(truth, dtype=np.int64)
    if target.shape != (len(days),):
        raise InvalidTraces(f"truth needs one user per synthetic user, got {target.shape}")
    index = _index_pairs(training, n_locations)
    gain = np.log(index.probability) - math.log(floor)
    guesses = np.empty(days.shape[:2], dtype=np.int32)

    def work(low: int, high: int) -> None:
        _guess(days[low:high], *index.lookup, gain, n, guesses[low:high])

    map_blocks(work, len(days))
    right = (guesses == target[:, None]).mean(axis=1)
    return Reidentification(float(right.mean()), 1 / n, guesses, mean_interval(right))


def membership(
    synthetic: ArrayLike,
    training: sparse.csr_array,
    testing: sparse.csr_array,
    *,
    floor: float = FLOOR,
    thresholds: int = THRESHOLDS,
) -> Membership:
    """Tell training from testing users by L(c, day) = max over synthetic users of the log ratio.

    LLR(c, user, day) = sum over transitions of log P_c(i, j) - log mean_{u != c} P_u(i, j), the
    mean over all other training and testing users, zeros replaced by `floor` in both. The step
    from the last location of a day to the first of the next belongs to the later day. Member iff
    L > theta, with `thresholds` equidistant theta from lo = max_day min_c L up to (not
    including) hi = max L; days and users are pooled.

    A transition that nobody made adds log 1 = 0; one made by others only adds the same to every
    target, so each target corrects a common term on its own transitions alone. Whether anybody
    but c made it is decided by counting users, not by a difference of rounded sums.
    """
    days, n_locations = _check_days(synthetic, training)
    if testing.shape[1] != training.shape[1]:
        raise InvalidTraces("training and testing profiles have different locations")
    everyone = sparse.vstack([training, testing], format="csr")
    scores = _best_ratios(days, everyone, n_locations, floor)
    member = np.arange(everyone.shape[0]) < training.shape[0]
    if not member.any() or member.all():
        raise InvalidTraces("a membership attack needs training users and testing users")
    inside, outside = np.sort(scores[member].ravel()), np.sort(scores[~member].ravel())
    lo, hi = float(scores.min(axis=0).max()), float(scores.max())
    theta = lo + (hi - lo) * np.arange(thresholds) / thresholds
    hits = len(inside) - np.searchsorted(inside, theta, side="right")
    passes = np.searchsorted(outside, theta, side="right")
    advantage = hits / len(inside) + passes / len(outside) - 1
    accuracy = (hits + passes) / scores.size
    best = int(np.argmax(advantage))
    return Membership(
        float(advantage[best]),
        float(accuracy.max()),
        float(theta[best]),
        scores,
    )


@dataclass(frozen=True, eq=False)
class _PairIndex:
    """Profiles turned round: for every transition somebody made, who made it and how likely.

    The transitions from location i are `row[i] : row[i + 1]`, sorted by `destination`; the
    users of transition k are `start[k] : start[k + 1]` in `owner` and `probability`.
    """

    row: Ints
    destination: Ints
    start: Ints
    owner: Ints
    probability: Floats

    @property
    def lookup(self) -> tuple[Ints, Ints, Ints, Ints]:
        return self.row, self.destination, self.start, self.owner


def _index_pairs(profiles: sparse.csr_array, n_locations: int) -> _PairIndex:
    owner = np.repeat(np.arange(profiles.shape[0]), np.diff(profiles.indptr))
    column = profiles.indices.astype(np.int64)
    order = np.lexsort((owner, column))
    pairs, start = np.unique(column[order], return_index=True)
    row = np.searchsorted(pairs, np.arange(n_locations + 1) * n_locations)
    return _PairIndex(
        row.astype(np.int64),
        pairs % n_locations,
        np.append(start, len(column)).astype(np.int64),
        owner[order],
        profiles.data[order],
    )


def _best_ratios(
    days: NDArray[np.int32], profiles: sparse.csr_array, n_locations: int, floor: float
) -> Floats:
    """L(c, day), shape (targets, days)."""
    n = profiles.shape[0]
    if n < 2:
        raise InvalidTraces("a likelihood ratio needs at least two users")
    index = _index_pairs(profiles, n_locations)
    makers = np.diff(index.start)
    total = np.add.reduceat(index.probability, index.start[:-1]) if len(makers) else np.empty(0)
    common = math.log(floor) - np.log(total / (n - 1))
    alone = np.repeat(makers == 1, makers)
    # The subtraction is only used where another user's share remains.
    others = np.where(alone, 1.0, np.repeat(total, makers) - index.probability) / (n - 1)
    without = np.where(alone, math.log(floor), np.log(others))
    correction = np.log(index.probability) - without - np.repeat(common, makers)

    def work(low: int, high: int) -> Floats:
        best = np.full((n, days.shape[1]), -np.inf)
        _best_of_users(days[low:high], *index.lookup, common, correction, best)
        return best

    return np.asarray(np.maximum.reduce(map_blocks(work, len(days))))


def _check_days(synthetic: ArrayLike, profiles: sparse.csr_array) -> tuple[NDArray[np.int32], int]:
    days = np.asarray(synthetic)
    n_locations = math.isqrt(profiles.shape[1])
    if days.ndim != 3 or 0 in days.shape or days.dtype.kind not in "iu":
        raise InvalidTraces(
            "synthetic traces need a whole-number array of shape (users, days, instants), "
            f"got {days.dtype} {days.shape}"
        )
    if int(days.min()) < -1 or int(days.max()) >= n_locations:
        raise InvalidTraces(f"synthetic locations must be within -1..{n_locations - 1}")
    return np.ascontiguousarray(days, dtype=np.int32), n_locations


@kernel
def _find(row: Ints, destination: Ints, before: int, after: int) -> int:
    """Number of the transition before -> after, -1 if nobody made it (binary search)."""
    if before < 0 or after < 0:
        return -1
    low, high = row[before], row[before + 1]
    while low < high:
        middle = (low + high) >> 1
        if destination[middle] < after:
            low = middle + 1
        else:
            high = middle
    if low < row[before + 1] and destination[low] == after:
        return int(low)
    return -1


@kernel
def _guess(
    days: NDArray[np.int32],
    row: Ints,
    destination: Ints,
    start: Ints,
    owner: Ints,
    gain: Floats,
    n_users: int,
    guesses: NDArray[np.int32],
) -> None:
    score = np.empty(n_users)
    for u in range(days.shape[0]):
        for d in range(days.shape[1]):
            score[:] = 0.0
            for t in range(1, days.shape[2]):
                pair = _find(row, destination, days[u, d, t - 1], days[u, d, t])
                if pair >= 0:
                    for e in range(start[pair], start[pair + 1]):
                        score[owner[e]] += gain[e]
            bar = score.max() - TIE
            best = 0
            while score[best] < bar:
                best += 1
            guesses[u, d] = best


@kernel
def _best_of_users(
    days: NDArray[np.int32],
    row: Ints,
    destination: Ints,
    start: Ints,
    owner: Ints,
    common: Floats,
    correction: Floats,
    best: Floats,
) -> None:
    """best[c, d] = max over the users of the log-likelihood ratio of target c on day d."""
    n = best.shape[0]
    extra = np.empty(n)
    for u in range(days.shape[0]):
        last = -1
        for d in range(days.shape[1]):
            extra[:] = 0.0
            base = 0.0
            for t in range(days.shape[2]):
                here = days[u, d, t]
                pair = _find(row, destination, last, here)
                if pair >= 0:
                    base += common[pair]
                    for e in range(start[pair], start[pair + 1]):
                        extra[owner[e]] += correction[e]
                last = here
            for c in range(n):
                best[c, d] = max(best[c, d], base + extra[c])
