from __future__ import annotations

import numpy as np
import pytest

from tracecup import City, Clock, Grid, SetTraces, Traces
from tracecup.attack.presence import presence
from tracecup.errors import InvalidParameter, InvalidTraces

CITY = City(Grid.from_metres(5, 4, width_m=500, height_m=500))
CLOCK = Clock.regular(3, slots=4)


def walkers(seed: int, users: int = 20) -> tuple[Traces, Traces]:
    """Everybody goes to and fro between two places of her own; earlier and later days."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 20, (users, 2))
    steps = [np.take_along_axis(pairs, rng.integers(0, 2, (users, 12)), axis=1) for _ in "ab"]
    return Traces.of(steps[0], CLOCK), Traces.of(steps[1], CLOCK)


class TestPresence:
    def test_people_with_habits_are_told(self):
        earlier, later = walkers(1)
        found = presence(CITY, earlier, SetTraces.of_traces(later), 1)
        assert found.auc > 0.9
        assert found.member.sum() == 10

    def test_a_release_of_nothing_tells_nothing(self):
        earlier, later = walkers(2)
        nothing = SetTraces.of_cells([[[]] * 12] * 20)
        nothing = SetTraces(nothing.offsets, nothing.regions, later.users, CLOCK)
        assert presence(CITY, earlier, nothing, 1).auc == 0.5

    def test_auc_is_the_share_of_pairs(self):
        earlier, later = walkers(3)
        found = presence(CITY, earlier, SetTraces.of_traces(later), 2)
        pairs = [
            0.5 * (a >= b) + 0.5 * (a > b)
            for a in found.scores[found.member]
            for b in found.scores[~found.member]
        ]
        assert found.auc == pytest.approx(np.mean(pairs))
        assert found.interval.low <= found.auc <= found.interval.high

    def test_same_seed_same_halves(self):
        earlier, later = walkers(4)
        cells = SetTraces.of_traces(later)
        first, second = (presence(CITY, earlier, cells, 5) for _ in "ab")
        assert first.member.tolist() == second.member.tolist()
        assert first.auc == second.auc

    def test_wrong_use(self):
        earlier, later = walkers(5, users=3)
        with pytest.raises(InvalidTraces, match="at least 4 users"):
            presence(CITY, earlier, SetTraces.of_traces(later))
        earlier, later = walkers(5, users=6)
        with pytest.raises(InvalidTraces, match="6 users"):
            presence(CITY, earlier, SetTraces.of_traces(later).take_users([0, 1]))
        with pytest.raises(InvalidParameter, match="confidence"):
            presence(CITY, earlier, SetTraces.of_traces(later), confidence=1.0)
