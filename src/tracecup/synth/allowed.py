"""The semantic form of a seed: for every instant of a person's day the places that may replace it.

After Bindschaedler and Shokri (S&P 2016), with the steps of their published program.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import inlined, kernel
from tracecup.streams import ONE, child, uniform

FEWEST = 3
"""A class is thinned out only if as many places remain."""

Ints = NDArray[np.int64]
Places = NDArray[np.int32]
Blurring = tuple[float, float, float, bool, bool]
"""par_c, par_m, par_l, whether merged places are drawn at random, `compat`."""


@dataclass(frozen=True, eq=False)
class Classes:
    """Class of every place; class s has `members[starts[s] : starts[s + 1]]`, ascending."""

    label: Places
    starts: Ints
    members: Places

    @classmethod
    def of(cls, label: Places) -> Classes:
        """From the class of every place, numbered from 0.

        >>> Classes.of(np.array([1, 0, 1], dtype=np.int32)).members.tolist()
        [1, 0, 2]
        """
        starts = np.concatenate([[0], np.cumsum(np.bincount(label))]).astype(np.int64)
        return cls(label, starts, np.argsort(label, kind="stable").astype(np.int32))

    @property
    def arrays(self) -> tuple[Places, Ints, Places]:
        """As the kernels take them."""
        return self.label, self.starts, self.members


@kernel
def allowed_places(
    seed: Places,
    classes: tuple[Places, Ints, Places],
    blurring: Blurring,
    key0: np.uint64,
    key1: np.uint64,
    starts: Ints,
    places: Places,
) -> None:
    """Write the set of every instant into `places[starts[t] : starts[t + 1]]`.

    1. Of every class that the seed meets, floor(par_c size) places are left out for the whole
       trace if three remain.
    2. Around a change of place at f, `dist` instants ahead of t, the share par_m^(dist^2) of both
       classes is allowed from t until min(stay, dist) instants after f.
    3. The class of the seed's place is allowed.
    4. With probability par_l the seed's place is not. A set that this empties becomes all other
       places; with `compat` it stays empty.

    O(T places of the classes met).
    """
    par_c, par_m, par_l, drawn, compat = blurring
    thin0, thin1 = child(key0, key1, np.uint64(0))
    offset, size, local = _thinned(seed, classes, par_c, thin0, thin1)
    mix0, mix1 = child(key0, key1, np.uint64(1))
    allowed = _mixed(seed, classes[0], offset, size, len(local), par_m, drawn, mix0, mix1)
    forbid0, forbid1 = child(key0, key1, np.uint64(2))
    n = len(classes[0])
    starts[0] = 0
    for t in range(len(seed)):
        end = starts[t]
        forbidden = seed[t] if uniform(forbid0, forbid1, np.uint64(t)) < par_l else -1
        for k in range(len(local)):
            if allowed[t, k] and local[k] != forbidden:
                places[end] = local[k]
                end += 1
        if end == starts[t] and not compat:
            for i in range(n):
                if i != forbidden or n == 1:
                    places[end] = i
                    end += 1
        starts[t + 1] = end


@kernel
def _thinned(
    seed: Places,
    classes: tuple[Places, Ints, Places],
    par_c: float,
    key0: np.uint64,
    key1: np.uint64,
) -> tuple[Ints, Ints, Places]:
    """Of class s, if the seed meets it, `local[offset[s] : offset[s] + size[s]]` remain."""
    label, starts, members = classes
    offset = np.full(len(starts), -1)
    size = np.zeros(len(starts), dtype=np.int64)
    local = np.empty(len(label), dtype=np.int32)
    count, draw = 0, np.uint64(0)
    for x in seed:
        s = label[x]
        if offset[s] >= 0:
            continue
        offset[s] = count
        whole = starts[s + 1] - starts[s]
        size[s] = whole - int(par_c * whole)
        if size[s] < FEWEST:
            size[s] = whole
        need = size[s]
        for k in range(whole):
            if _chosen(need, whole - k, key0, key1, draw):
                local[count] = members[starts[s] + k]
                count += 1
                need -= 1
            draw += ONE
    return offset, size, local[:count]


@kernel
def _mixed(
    seed: Places,
    label: Places,
    offset: Ints,
    size: Ints,
    count: int,
    par_m: float,
    drawn: bool,
    key0: np.uint64,
    key1: np.uint64,
) -> NDArray[np.bool_]:
    """Which of the `count` remaining places each instant allows before one is forbidden."""
    slots = len(seed)
    until = np.empty(slots, dtype=np.int64)
    for t in range(slots - 1, -1, -1):
        until[t] = until[t + 1] if t + 1 < slots and seed[t + 1] == seed[t] else t + 1
    allowed = np.zeros((slots, count), dtype=np.bool_)
    draw = np.uint64(0)
    for t in range(slots):
        f = until[t]
        here = label[seed[t]]
        for k in range(offset[here], offset[here] + size[here]):
            allowed[t, k] = True
        if f == slots or label[seed[f]] == here:
            continue
        share = par_m ** float((f - t) ** 2)
        last = min(f + min(until[f] - f - 1, f - t), slots - 1)
        for s in (here, label[seed[f]]):
            need = int(share * size[s])
            for k in range(size[s]):
                taken = need > 0
                if drawn:
                    taken = _chosen(need, size[s] - k, key0, key1, draw)
                    draw += ONE
                if taken:
                    need -= 1
                    for later in range(t, last + 1):
                        allowed[later, offset[s] + k] = True
    return allowed


@inlined
def _chosen(need: int, left: int, key0: np.uint64, key1: np.uint64, draw: np.uint64) -> bool:
    """Whether one of `left` things is among the `need` to be taken; all subsets are as likely."""
    return uniform(key0, key1, draw) * left < need
