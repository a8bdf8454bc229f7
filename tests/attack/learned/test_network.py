import numpy as np
import pytest

from tracecup.attack.learned.network import LEAST_LOG, Network, log_probabilities
from tracecup.attack.learned.shape import BLURS_KM, COUNT_SCALE, FEATURES, NetworkShape
from tracecup.city import City, Clock, Grid
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.traces import Traces

SHAPE = NetworkShape(regions=30, slots=3, hidden=8, embedding=5, rank=4)


@pytest.fixture(scope="module")
def city():
    return City(Grid.from_metres(6, 5, width_m=341.25, height_m=346.875), hospitals=[2, 17])


@pytest.fixture(scope="module")
def network():
    random = np.random.default_rng(5)
    arrays = {
        name: random.normal(0, 0.4, size).astype(np.float32) for name, size in SHAPE.arrays.items()
    }
    return Network(SHAPE, arrays)


def traces(regions, slots=3):
    regions = np.asarray(regions, dtype=np.int32)
    clock = Clock.regular(regions.shape[1] // slots, slots)
    return Traces(regions, np.arange(1, len(regions) + 1), clock)


def bent(x):
    return x * np.clip(x / 6 + 0.5, 0, 1)


def slow_probabilities(network, city, reference):
    """Every formula of the class docstring, one cell at a time, in float64."""
    n, slots, days = city.n_regions, reference.clock.slots, reference.clock.days
    a = {name: np.asarray(held, np.float64) for name, held in network.arrays.items()}
    near = np.exp(-np.abs(np.subtract.outer(np.arange(slots), np.arange(slots))).astype(float))
    near /= near.sum(1, keepdims=True)
    blurs = [np.exp(-city.grid.distances / reach) for reach in BLURS_KM]
    blurs = [b / b.sum(1, keepdims=True) for b in blurs]
    visits = np.zeros((reference.n_users, slots, n))
    for u, row in enumerate(reference.regions):
        for j, r in enumerate(row):
            if r >= 0:
                visits[u, j % slots, r] += 1 / days
    crowd = near @ visits.mean(0)
    answer = np.empty_like(visits)
    for u in range(reference.n_users):
        around, day = near @ visits[u], visits[u].mean(0)
        for t in range(slots):
            columns = [
                visits[u, t], around[t], around[t] @ blurs[0], around[t] @ blurs[1],
                day, day @ blurs[0], day @ blurs[1], day @ blurs[2], crowd[t],
            ]  # fmt: skip
            logits = np.empty(n)
            hidden = day_part = np.log1p(COUNT_SCALE * day) @ a["day_embedding"]
            hidden = bent(day_part + np.log1p(COUNT_SCALE * around[t]) @ a["slot_embedding"]
                          + a["slot_shift"][t])  # fmt: skip
            low_rank = a["regions"] @ (hidden @ a["mix"])
            for y in range(n):
                f = np.array(
                    [np.log(c[y] + e) for c, (_, e) in zip(columns, FEATURES, strict=True)]
                )
                h = bent(f @ a["first"] + a["slot"][t])
                h = bent(h @ a["second"] + a["second_bias"])
                logits[y] = h @ a["out"] + f @ a["skip"] + low_rank[y] + a["bias"][t, y]
            p = np.exp(logits - logits.max())
            answer[u, t] = p / p.sum()
    return answer


class TestProbabilities:
    def test_equal_a_slow_twin(self, city, network):
        random = np.random.default_rng(1)
        regions = random.integers(0, 30, (7, 12))
        regions[2, 4:7] = -1
        regions[3] = -1
        reference = traces(regions)
        found = network.probabilities(city, reference)
        assert np.abs(found - slow_probabilities(network, city, reference)).max() < 2e-6

    def test_sum_to_one(self, city, network):
        found = network.probabilities(city, traces([[0, 1, 2], [5, 5, 5]]))
        assert np.allclose(found.sum(-1), 1, atol=1e-5)

    def test_do_not_depend_on_threads(self, city, network, monkeypatch):
        reference = traces(np.random.default_rng(2).integers(0, 30, (150, 6)))
        monkeypatch.setenv("TRACECUP_THREADS", "1")
        one = network.probabilities(city, reference)
        monkeypatch.setenv("TRACECUP_THREADS", "3")
        assert np.array_equal(one, network.probabilities(city, reference))

    def test_do_not_depend_on_where_they_lie(self, city, network, request):
        reference = traces(np.random.default_rng(2).integers(0, 30, (150, 6)))
        held = network.probabilities(city, reference)
        request.getfixturevalue("in_small_parts")
        assert held.tobytes() == network.probabilities(city, reference).tobytes()

    def test_another_city_is_refused(self, network):
        other = City(Grid.from_metres(5, 5, width_m=300, height_m=300))
        with pytest.raises(InvalidTraces, match="30 regions and 3 slots a day, the case has 25"):
            network.probabilities(other, traces([[0, 1, 2]]))


class TestLogProbabilities:
    def test_equal_a_slow_twin(self, city, network):
        """By every network, for any users in any order; what is impossible ends at the least."""
        sure = Network(SHAPE, {name: 40 * held for name, held in network.arrays.items()})
        reference = traces(np.random.default_rng(1).integers(0, 30, (7, 12)))
        users = np.array([5, 0, 3])
        found = log_probabilities(city, reference, [network, sure])(users)
        for net, logs, near in zip((network, sure), found, (2e-5, 2e-2), strict=True):
            slow = slow_probabilities(net, city, reference)[users]
            expected = np.log(np.maximum(slow, np.exp(LEAST_LOG)))
            assert np.abs(logs - expected).max() < near
        assert found[1].min() == np.float32(LEAST_LOG)


class TestShape:
    @pytest.mark.parametrize(
        ("sizes", "words"),
        [({"hidden": 6}, "multiple of 4"), ({"rank": 0}, "must be >= 1")],
    )
    def test_sizes_that_cannot_be(self, sizes, words):
        with pytest.raises(InvalidParameter, match=words):
            NetworkShape(**{"regions": 4, "slots": 2, **sizes})
