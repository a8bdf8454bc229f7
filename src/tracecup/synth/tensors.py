"""Training tensors of PPMTF: who moved from where to where, and who was where in which slot.

Both tensors in one sparse list: a transition to j has context j, a visit in slot t context N + t.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tracecup.arrayfiles import header_of_day
from tracecup.errors import InvalidParameter
from tracecup.kernels import kernel
from tracecup.records import Timetable
from tracecup.rng import Rng
from tracecup.streams import child, stream_key, uniform
from tracecup.synth.training import Training

ELEMENT_CAP = 100
VALUE_CAP = 10


@dataclass(frozen=True, eq=False)
class MoveTensor:
    """Counts of user u: elements `offsets[u] : offsets[u + 1]` of origin, context, value.

    F[u, i, j] (transitions, first `transitions[u]` of them) has origin i and context j. There is
    no other tensor and no slot here; `Tensors` adds them. Five bytes an element.
    """

    offsets: NDArray[np.int64]
    transitions: NDArray[np.int32]
    origin: NDArray[np.uint16]
    context: NDArray[np.uint16]
    value: NDArray[np.uint8]
    n_locations: int

    @property
    def n_users(self) -> int:
        """Training users, n."""
        return len(self.transitions)

    @property
    def slots(self) -> int:
        """Slots in a day, T; none where moves are all there is."""
        return 0

    @property
    def visits(self) -> NDArray[np.int32]:
        """Non-zero visit elements of every user."""
        return (np.diff(self.offsets) - self.transitions).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Tensors(MoveTensor):
    """The moves of `MoveTensor`, and visits behind them.

    G[u, i, t] (visits) has origin i and context n_locations + t.
    """

    day: Timetable

    @property
    def slots(self) -> int:
        """Slots in a day, T."""
        return self.day.slots

    @cached_property
    def support(self) -> Support:
        """Where any training user ever moved and was."""
        key = np.unique(self.origin.astype(np.int64) << 16 | self.context)
        origin, context = key >> 16, key & 0xFFFF
        moves = context < self.n_locations
        targets = context[moves].astype(np.int32)
        starts = np.searchsorted(origin[moves], np.arange(self.n_locations + 1))
        visited = np.zeros((self.slots, self.n_locations), dtype=np.bool_)
        visited[context[~moves] - self.n_locations, origin[~moves]] = True
        return Support(starts.astype(np.int64), targets, visited)

    def fingerprint(self) -> str:
        """SHA-256 of the content: a resumed training checks that it sees the same data."""
        said = ", ".join(f"{name}={number}" for name, number in header_of_day(self.day).items())
        digest = hashlib.sha256(f"{self.n_locations} Day({said})".encode())
        for array in (self.offsets, self.transitions, self.origin, self.context, self.value):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Support:
    """What training data show at all, over all users: moves i -> `targets[starts[i] :
    starts[i + 1]]` (ascending) and `visited[t, i]`.
    """

    starts: NDArray[np.int64]
    targets: NDArray[np.int32]
    visited: NDArray[np.bool_]


def make_tensors(
    training: Training,
    *,
    element_cap: int = ELEMENT_CAP,
    value_cap: int = VALUE_CAP,
    rng: Rng = None,
) -> Tensors:
    """Count transitions and visits of every user and cap them (paper, appendix A).

    A user with more than `element_cap` non-zero elements in a tensor keeps a uniformly random
    subset of so many; counts above `value_cap` become `value_cap`. O(records log records).

    >>> from tracecup.traces import Traces
    >>> tensors = make_tensors(Training.of_traces(Traces.of([[0, 2, 2, 2]]), 3))
    >>> tensors.origin.tolist(), tensors.context.tolist(), tensors.value.tolist()
    ([0, 2, 0, 2, 2, 2], [2, 2, 3, 4, 5, 6], [1, 2, 1, 1, 1, 1])
    """
    _check_caps(element_cap, value_cap)
    n, locations = training.n_users, training.n_locations
    if locations + training.slots > 0xFFFF:
        raise InvalidParameter(
            "locations and slots together must be fewer than 65536, got "
            f"{locations} + {training.slots}"
        )
    user, before, after = training.steps()
    # One sort puts elements in order of user, tensor, origin, context.
    moves = _key(2 * user.astype(np.int64), before, after)
    stays = _key(
        2 * training.user.astype(np.int64) + 1, training.location, training.slot + locations
    )
    key, count = np.unique(np.concatenate([moves, stays]), return_counts=True)
    groups = np.searchsorted(key >> 32, np.arange(2 * n + 1)).astype(np.int64)
    keep = np.ones(len(key), dtype=np.bool_)
    _keep_some(groups, element_cap, *stream_key(rng), keep)
    key, count = key[keep], count[keep]
    sizes = np.minimum(np.diff(groups), element_cap).reshape(n, 2)
    return Tensors(
        np.concatenate([[0], np.cumsum(sizes.sum(axis=1))]).astype(np.int64),
        sizes[:, 0].astype(np.int32),
        (key >> 16 & 0xFFFF).astype(np.uint16),
        (key & 0xFFFF).astype(np.uint16),
        np.minimum(count, value_cap).astype(np.uint8),
        locations,
        training.day,
    )


def move_tensor(
    user: NDArray[np.int64],
    before: NDArray[np.int32],
    after: NDArray[np.int32],
    count: NDArray[np.float64],
    n_users: int,
    n_locations: int,
    *,
    element_cap: int = ELEMENT_CAP,
    value_cap: int = VALUE_CAP,
    rng: Rng = None,
) -> MoveTensor:
    """The tensor of moves alone, from distinct (user, before, after) in this order; capped alike.

    >>> ones = np.array([1.0, 20.0])
    >>> tensor = move_tensor(np.array([0, 0]), np.array([0, 2]), np.array([2, 2]), ones, 1, 3)
    >>> tensor.context.tolist(), tensor.value.tolist()
    ([2, 2], [1, 10])
    """
    _check_caps(element_cap, value_cap)
    groups = np.searchsorted(user, np.arange(n_users + 1)).astype(np.int64)
    keep = np.ones(len(user), dtype=np.bool_)
    _keep_some(groups, element_cap, *stream_key(rng), keep)
    sizes = np.minimum(np.diff(groups), element_cap)
    return MoveTensor(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        sizes.astype(np.int32),
        before[keep].astype(np.uint16),
        after[keep].astype(np.uint16),
        np.minimum(count[keep], value_cap).astype(np.uint8),
        n_locations,
    )


def _check_caps(element_cap: int, value_cap: int) -> None:
    if element_cap < 1 or not 1 <= value_cap <= 255:
        raise InvalidParameter(
            f"element_cap must be >= 1 and value_cap within 1..255, got {element_cap}, {value_cap}"
        )


def _key(
    group: NDArray[np.int64], origin: NDArray[np.int32], context: NDArray[np.int32]
) -> NDArray[np.int64]:
    return group << 32 | origin.astype(np.int64) << 16 | context.astype(np.int64)


@kernel
def _keep_some(
    groups: NDArray[np.int64],
    cap: int,
    key0: np.uint64,
    key1: np.uint64,
    keep: NDArray[np.bool_],
) -> None:
    """Selection sampling (Knuth, algorithm S): every subset of `cap` is equally likely."""
    for group in range(len(groups) - 1):
        left = groups[group + 1] - groups[group]
        needed = cap
        if left <= cap:
            continue
        group0, group1 = child(key0, key1, np.uint64(group))
        for e in range(groups[group], groups[group + 1]):
            keep[e] = left * uniform(group0, group1, np.uint64(e - groups[group])) < needed
            needed -= keep[e]
            left -= 1
