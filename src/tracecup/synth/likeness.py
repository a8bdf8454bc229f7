"""How alike a synthetic day and people's profiles are, and whether the day may be released.

After the tests of Bindschaedler and Shokri (S&P 2016); no proof stands behind them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import kernel
from tracecup.synth.semantics import PSEUDOCOUNT

ROUNDING = 1e-9
"""A number at its bound passes, whatever its last digits."""

Ints = NDArray[np.int64]
Places = NDArray[np.int32]
Visits = tuple[Ints, Places, Ints, Ints]
"""starts, place and count of `Profiles`, and every user's records."""
Bounds = tuple[int, float, float, float]
"""k, delta, maxgeo, maxinter."""


@kernel
def passes(day: Places, seed: Places, user: int, visits: Visits, n: int, bounds: Bounds) -> bool:
    """Whether a synthetic day made from `seed`, a day of `user`, passes all tests.

    At most the share maxinter of instants at the seed's place; geographic likeness to the user's
    profile at most maxgeo; at least k other users whose semantic likeness to the day differs from
    the user's own by at most delta. O(N), with k > 0 also O(users places).
    """
    records = visits[3]
    k, delta, maxgeo, maxinter = bounds
    same = 0
    for t in range(len(day)):
        same += day[t] == seed[t]
    if same > maxinter * len(day) + ROUNDING:
        return False
    seen = np.zeros(n, dtype=np.int64)
    for y in day:
        seen[y] += 1
    if geographic(seen, len(day), user, visits) > maxgeo + ROUNDING:
        return False
    if k == 0:
        return True
    ranked = _falling(seen, len(day))
    own = semantic(ranked, len(day), user, visits, n)
    others = 0
    for other in range(len(records)):
        if other != user and records[other] > 0:
            others += abs(semantic(ranked, len(day), other, visits, n) - own) <= delta + ROUNDING
            if others == k:
                return True
    return False


@kernel
def geographic(seen: Ints, length: int, user: int, visits: Visits) -> float:
    """sum_i min(p_i, q_i) of the visits `seen` (N,) of one day and a user's profile."""
    starts, place, count, records = visits
    n = len(seen)
    own = PSEUDOCOUNT * n + length
    theirs = PSEUDOCOUNT * n + records[user]
    alike = 0.0
    known = np.zeros(n, dtype=np.int64)
    for k in range(starts[user], starts[user + 1]):
        known[place[k]] = count[k]
    for i in range(n):
        alike += min((seen[i] + PSEUDOCOUNT) / own, (known[i] + PSEUDOCOUNT) / theirs)
    return alike


@kernel
def semantic(ranked: Ints, length: int, user: int, visits: Visits, n: int) -> float:
    """The same after matching rank by rank; `ranked` are a day's visits to places, falling."""
    starts, _, count, records = visits
    own = PSEUDOCOUNT * n + length
    theirs = PSEUDOCOUNT * n + records[user]
    places = starts[user + 1] - starts[user]
    ranks = max(len(ranked), places)
    alike: float = (n - ranks) * min(PSEUDOCOUNT / own, PSEUDOCOUNT / theirs)
    for r in range(ranks):
        mine = ranked[r] if r < len(ranked) else 0
        known = count[starts[user] + r] if r < places else 0
        alike += min((mine + PSEUDOCOUNT) / own, (known + PSEUDOCOUNT) / theirs)
    return alike


@kernel
def _falling(seen: Ints, most: int) -> Ints:
    """The counts 1..most in falling order, zeros left out."""
    often = np.zeros(most + 1, dtype=np.int64)
    places = 0
    for visits in seen:
        often[visits] += 1
        places += visits > 0
    ranked = np.empty(places, dtype=np.int64)
    r = 0
    for visits in range(most, 0, -1):
        for _ in range(often[visits]):
            ranked[r] = visits
            r += 1
    return ranked
