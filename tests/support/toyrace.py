"""A race of toys: a city of 36 regions, people with habits, a defence of untrained attackers."""

from __future__ import annotations

import numpy as np

from tracecup.attack.learned import NetworkShape, modelfile
from tracecup.attack.learned.network import Network
from tracecup.city import City, Clock, Grid
from tracecup.study.context import Context, Team
from tracecup.study.results import BUILT_IN
from tracecup.traces import Traces

CITY = City(Grid.from_metres(6, 6, width_m=541.25, height_m=546.875), hospitals=[3, 20])
SHAPE = NetworkShape(36, 3, 32, 192, 64)


def shipped(name: str) -> modelfile.DefenceModel:
    """A defence of the toy city, as one that a race left: two attackers, untrained."""
    random = np.random.default_rng(4)

    def net() -> Network:
        arrays = {
            part: random.normal(0, 0.1, sizes).astype(np.float32)
            for part, sizes in SHAPE.arrays.items()
        }
        return Network(SHAPE, arrays)

    said = modelfile.Training(("KMeans(3)", "Equalise, round 1"), 2, "toys", 3, 0, 0.0)
    ground = modelfile.Ground.of(CITY, SHAPE.slots)
    return modelfile.DefenceModel(ground, said, net(), (net(), net()), 6, 2.0, 0.01)


def toy(self: Context, number: int, users: int) -> Team:
    random = np.random.default_rng(number)
    habit = np.tile(random.integers(0, 36, (users, 3)), (1, 16))
    noise = random.integers(0, 36, habit.shape)
    regions = np.where(random.random(habit.shape) < 0.7, habit, noise).astype(np.int32)
    known = Traces.of(regions[:, :24], Clock.regular(8, 3))
    later = Traces.of(regions[:, 24:], Clock.regular(8, 3, first_time=24))
    return Team(f"toy {number}", CITY, known, later, BUILT_IN)
