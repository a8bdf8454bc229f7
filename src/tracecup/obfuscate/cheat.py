"""Cheat: whole traces change hands among the first users before the judge shuffles them.

Safe against re-identification by construction, and worthless against trace inference: the
paper's counterexample (Section 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.kernels import kernel
from tracecup.obfuscate.base import Knob, Obfuscator, single_cells
from tracecup.obfuscate.replay import legacy_generator, replay_parameter
from tracecup.registry import parameter, register
from tracecup.rng import Rng, generator
from tracecup.traces import SetTraces, Traces

ROUNDING = 1e-9


@register(
    "obfuscator",
    "Cheat",
    "permute the whole traces of the first p of the users among themselves",
    "H. Kikuchi et al., Ice and Fire: Quantifying the Risk of Re-identification and Utility in "
    "Data Anonymization, AINA 2016",
)
@dataclass(frozen=True)
class Cheat(Obfuscator):
    """User i < n gets the trace of user perm[i], n = floor(p m), perm uniform; O(m l).

    Others stay as they are. With the same seed the permutation for n + 1 users is the one for n
    users with the new user swapped in, so the utility falls nearly steadily with p.

    >>> from tracecup.city import City, Grid
    >>> city = City(Grid.from_metres(5, 1, width_m=350, height_m=350))
    >>> shuffled = Cheat(0.5).obfuscate(city, Traces.of([[0], [1], [2], [3]]), rng=3)
    >>> sorted(shuffled.regions[:2].tolist()), shuffled.regions[2:].tolist()
    ([0, 1], [2, 3])
    """

    p: float = parameter(1.0, "share of the users that exchange traces", low=0, high=1)
    replay: bool = replay_parameter()

    knobs: ClassVar[tuple[Knob, ...]] = (Knob("p", weak=0.0, strong=1.0),)

    def guarantee(self, events: int = 400) -> str:
        """Independence of trace and user within the exchange, whatever an attacker knows."""
        if self.p == 0:
            return ""
        who = "all users" if self.p == 1 else "the users that exchange traces"
        return f"re-identification within {who} is no better than guessing; nothing for regions"

    def obfuscate_cells(self, city: City, cells: SetTraces, rng: Rng = None) -> SetTraces:
        """As a later stage: traces change hands whole, with their deleted and generalised cells."""
        self.check()
        return cells.take_users(self._donors(cells.n_users, rng)).renamed(cells.users)

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return single_cells(original.regions[self._donors(original.n_users, rng)], original)

    def _donors(self, users: int, rng: Rng) -> NDArray[np.int64]:
        """Whose trace each user gets, shape (users,)."""
        donors = np.arange(users, dtype=np.int64)
        if self.replay:
            few = donors[: int(self.p * users)]
            legacy_generator(rng).shuffle(few)
            return donors
        n = math.floor(self.p * users + ROUNDING)
        if n > 1:
            picks = generator(rng).integers(0, np.arange(1, n + 1))
            _insert_one_by_one(picks, donors)
        return donors


@kernel
def _insert_one_by_one(picks: NDArray[np.int64], donors: NDArray[np.int64]) -> None:
    """A uniform permutation, grown: user i swaps in at place picks[i], uniform on 0..i."""
    for i in range(len(picks)):
        donors[i] = donors[picks[i]]
        donors[picks[i]] = i
