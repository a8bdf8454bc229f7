"""An attack and an obfuscation of one's own; copy this file and change the two formulas.

In its folder: `tracecup check my_attack:CosineR` and `tracecup check my_attack:Jitter`.
"""

from dataclasses import dataclass

import numpy as np

from tracecup.attack import Case, ReidAttack
from tracecup.obfuscate import Obfuscator
from tracecup.registry import parameter, register
from tracecup.rng import generator
from tracecup.traces import SetTraces, Traces, visit_counts


@register("reid", "Cosine-R", "smallest angle between visit counts", "G. Salton, 1975")
@dataclass(frozen=True)
class CosineR(ReidAttack):
    """Score = cosine of the angle between a pseudonym's and a user's visits to the regions."""

    power: float = parameter(0.5, "exponent of the counts", low=0, low_open=True)

    def score_matrix(self, case: Case, rng=None):
        """One row per pseudonym, one column per user; the highest score of a row wins."""
        self.check()
        sides = [visit_counts(t, case.city.n_regions) for t in (case.released, case.reference)]
        released, reference = (side.astype(float) ** self.power for side in sides)
        released /= np.maximum(np.linalg.norm(released, axis=1, keepdims=True), 1e-9)
        reference /= np.maximum(np.linalg.norm(reference, axis=1, keepdims=True), 1e-9)
        return released @ reference.T


@register("obfuscator", "Jitter", "move every region by a few columns and rows")
@dataclass(frozen=True)
class Jitter(Obfuscator):
    """Every event moves by up to `steps` columns and rows and stops at the border."""

    steps: int = parameter(1, "largest move in columns and in rows", low=0, high=100)

    def _obfuscate(self, city, original: Traces, rng) -> SetTraces:
        move = generator(rng).integers(-self.steps, self.steps + 1, size=(2, *original.shape))
        x = np.clip(city.grid.x[original.regions] + move[0], 0, city.grid.nx - 1)
        y = np.clip(city.grid.y[original.regions] + move[1], 0, city.grid.ny - 1)
        moved = Traces(y * city.grid.nx + x, original.users, original.clock)
        return SetTraces.of_traces(moved)
