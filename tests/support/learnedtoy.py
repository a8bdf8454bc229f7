"""A learned model with random weights for the small city of the generic checks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tracecup.attack.learned import Ground, LearnedModel, Network, NetworkShape, Training
from tracecup.checks.samples import SLOTS, small_city


def toy_model(path: Path) -> Path:
    """Write the model; it answers, but knows nothing."""
    city, random = small_city(), np.random.default_rng(1)
    shape = NetworkShape(city.n_regions, SLOTS, 4, 3, 2)

    def network() -> Network:
        arrays = {n: random.normal(0, 0.3, s).astype(np.float32) for n, s in shape.arrays.items()}
        return Network(shape, arrays)

    offsets = (2 * city.grid.nx - 1) * (2 * city.grid.ny - 1)
    LearnedModel(
        Ground.of(city, SLOTS),
        Training(("none",), 1, "random weights", 0, 1, 0.0),
        network(),
        network(),
        np.zeros((2, offsets), dtype=np.float32),
        np.zeros((city.n_regions, city.n_regions), dtype=np.float32),
        1.0,
        1.0,
    ).save(path)
    return path
