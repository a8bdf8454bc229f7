from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from slowchains import Matrix, emission, likeliest_way, posterior

from tracecup.attack import Case
from tracecup.attack.markov import start_rows, user_chains
from tracecup.attack.markov.chains import Chains, Moves, Starts, day_periods
from tracecup.attack.markov.emission import emission_stencil
from tracecup.attack.markov.forward import chain_likelihoods
from tracecup.attack.markov.tracking import track
from tracecup.city import City, Grid
from tracecup.errors import InvalidTraces
from tracecup.traces import IdTable, SetTraces, Traces

ETA, SPREAD = 0.3, 0.5


@pytest.fixture(scope="module")
def worked() -> tuple[City, SetTraces, Chains, Starts]:
    """Two regions, start (0.6, 0.4), P = [[0.7, 0.3], [0.4, 0.6]]; {1}, deleted, {2}, {1,2}."""
    city = City(Grid.from_metres(2, 1, width_m=341.25, height_m=346.875))
    released = SetTraces.of_cells([[[0], [], [1], [0, 1]]])
    base = user_chains(Traces.of([[-1]]), 2)
    chains = Chains(
        Moves.of_traces(Traces.of([[-1]]), 2),
        base.keep,
        base.own,
        np.ones((1, 2)),
        np.array([[0.7, 0.3], [0.4, 0.6]]),
        np.eye(2),
        base.extra,
    )
    return city, released, chains, lambda low, high: np.array([[0.6, 0.4]])[low:high]


@pytest.fixture(scope="module")
def case(make_case: Callable[..., Case]) -> Case:
    """Cells of 0 to 4 regions; many days so that several are deleted in a row."""
    return make_case(7, users=5, slots=4, days=5, sizes=(0, 0, 1, 1, 2, 4), gaps=0.0)


def slow_day_cells(case: Case, pseudonym: int, eta: float) -> list[list[Matrix]]:
    released, d = case.released, case.city.grid.distances
    offset = np.arange(-20, 21)
    apart = np.sqrt((offset[:, None] * 0.346875) ** 2 + (offset * 0.34125) ** 2)
    z = np.exp(-apart[apart <= 2.0] / SPREAD).sum()
    cells = [
        emission(released.cell(pseudonym, t).tolist(), d, eta, SPREAD, z)
        for t in range(released.times)
    ]
    slots = released.clock.slots
    return [cells[low : low + slots] for low in range(0, released.times, slots)]


def model(case: Case) -> tuple[Chains, Starts]:
    chains = user_chains(case.reference, 35, "shrunk", 3.0)
    return chains, start_rows(case.reference, 35, "first", 3.0)


class TestChainLikelihoods:
    def test_worked_example(self, worked: tuple[City, SetTraces, Chains, Starts]) -> None:
        city, released, chains, starts = worked
        found = chain_likelihoods(
            city, released, chains, starts, np.ones((1, 1)), np.ones((1, 1), dtype=np.bool_)
        )
        # 0.234 without, half of it with the 1/|o| of the last cell
        assert found[0, 0] == pytest.approx(math.log(0.234 / 2), rel=1e-12)

    @pytest.mark.parametrize("eta", [0.0, ETA])
    def test_agrees_with_dense_forward_passes(self, case: Case, eta: float) -> None:
        chains, starts = model(case)
        stencil = emission_stencil(case.city, "robust" if eta else "member", ETA, SPREAD)
        wanted = np.ones((5, 5), dtype=np.bool_)
        wanted[2, 3] = False
        found = chain_likelihoods(case.city, case.released, chains, starts, stencil, wanted)
        assert found[2, 3] == -np.inf
        for k, u in np.argwhere(wanted):
            days = slow_day_cells(case, k, eta)
            parts = [posterior(chains.matrix(u), starts(u, u + 1)[0], day)[0] for day in days]
            assert found[k, u] == pytest.approx(sum(parts), rel=1e-10, abs=1e-10)

    def test_a_city_of_too_many_regions_is_refused(self, case: Case) -> None:
        city = City(Grid.from_metres(100, 50, width_m=100, height_m=100))
        chains, starts = model(case)
        with pytest.raises(InvalidTraces, match="5000 regions are too large"):
            track(city, case.released, IdTable.of(range(5)), chains, starts, np.ones((1, 1)))


class TestTrack:
    def test_worked_example(self, worked: tuple[City, SetTraces, Chains, Starts]) -> None:
        city, released, chains, starts = worked
        answers = {
            how: track(city, released, IdTable.of([0]), chains, starts, np.ones((1, 1)), how)
            for how in ("map", "viterbi")
        }
        # posterior of slot 2 = (0.538, 0.462), of slot 4 = (0.4, 0.6)
        assert answers["map"].tolist() == [[0, 0, 1, 1]]
        assert answers["viterbi"].tolist() == [[0, 0, 1, 1]]

    def test_worked_posteriors(self) -> None:
        chain, start = np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([0.6, 0.4])
        cells = [np.array(f, dtype=float) for f in ([1, 0], [1, 1], [0, 1], [1, 1])]
        likelihood, gamma = posterior(chain, start, cells)
        assert math.exp(likelihood) == pytest.approx(0.234)
        assert np.allclose(gamma[1], [0.53846, 0.46154], 0, 5e-6)
        assert np.allclose(gamma[3], [0.4, 0.6])
        assert likeliest_way(chain, start, cells) == [0, 0, 1, 1]

    @pytest.mark.parametrize("eta", [0.0, ETA])
    @pytest.mark.parametrize("estimate", ["bayes", "map", "viterbi"])
    def test_agrees_with_dense_passes(self, case: Case, eta: float, estimate: str) -> None:
        chains, starts = model(case)
        stencil = emission_stencil(case.city, "robust" if eta else "member", ETA, SPREAD)
        table = IdTable.of([3, 0, 4, 1, 2])
        found = track(case.city, case.released, table, chains, starts, stencil, estimate)
        weight = np.where(case.city.is_hospital, 10.0, 1.0)
        loss = weight[:, None] * np.minimum(1.0, case.city.grid.distances / 2.0)
        for u, k in enumerate(table.inverse()):
            chain, start = chains.matrix(u), starts(u, u + 1)[0]
            for day, cells in enumerate(slow_day_cells(case, k, eta)):
                answer = found[u, 4 * day : 4 * day + 4]
                if estimate == "viterbi":
                    ways = answer.tolist(), likeliest_way(chain, start, cells)
                    mine, best = (_weight(chain, start, cells, way) for way in ways)
                    assert mine == pytest.approx(best, rel=1e-9)
                    continue
                gamma = posterior(chain, start, cells)[1]
                if estimate == "map":
                    near_best = gamma >= gamma.max(axis=1, keepdims=True) - 1e-9
                    assert answer.tolist() == near_best.argmax(axis=1).tolist()
                else:
                    # the decision leaves out shares below 1e-4 and works in float32
                    risk = gamma @ loss
                    chosen = np.take_along_axis(risk, answer[:, None], axis=1)[:, 0]
                    assert np.allclose(chosen, risk.min(axis=1), 0, 3e-3)


class TestPeriodsOfTheDay:
    """Every way through every day, one by one: three regions, four slots, other matrices each."""

    @pytest.fixture
    def split(self, make_case: Callable[..., Case]) -> tuple[Case, Chains, Starts]:
        case = make_case(3, users=3, nx=3, ny=1, slots=4, days=6, sizes=(0, 0, 1, 2), gaps=0.0)
        chains = user_chains(case.reference, 3, "shrunk", 3.0)
        chains = replace(chains, periods=day_periods(case.reference, 3, 0.5))
        return case, chains, start_rows(case.reference, 3, "first", 3.0)

    def ways(self, case: Case, chains: Chains, starts: Starts, u: int, k: int, day: int) -> Matrix:
        """Weight of every way, shape (3, 3, 3, 3)."""
        matrices, period = chains.stochastic(u), chains.slot_periods(4)
        start = starts(u, u + 1)[0]
        weight = np.empty((3,) * 4)
        for way in product(range(3), repeat=4):
            value = start[way[0]]
            for t in range(3):
                value *= matrices[period[t]][way[t], way[t + 1]]
            for t in range(4):
                cell = case.released.cell(k, 4 * day + t).tolist()
                value *= cell.count(way[t]) / len(cell) if cell else 1.0
            weight[way] = value
        return weight

    def test_likelihoods(self, split: tuple[Case, Chains, Starts]) -> None:
        case, chains, starts = split
        every = np.ones((3, 3), dtype=np.bool_)
        found = chain_likelihoods(case.city, case.released, chains, starts, np.ones((1, 1)), every)
        for k, u in product(range(3), repeat=2):
            days = [math.log(self.ways(case, chains, starts, u, k, d).sum()) for d in range(6)]
            assert found[k, u] == pytest.approx(sum(days), rel=1e-10)

    @pytest.mark.parametrize("estimate", ["map", "viterbi"])
    def test_answers(self, split: tuple[Case, Chains, Starts], estimate: str) -> None:
        case, chains, starts = split
        table = IdTable.of([1, 2, 0])
        found = track(case.city, case.released, table, chains, starts, np.ones((1, 1)), estimate)
        for u, k in enumerate(table.inverse()):
            for day in range(6):
                weight = self.ways(case, chains, starts, u, int(k), day)
                answer = found[u, 4 * day : 4 * day + 4]
                if estimate == "viterbi":
                    assert weight[tuple(answer)] == pytest.approx(weight.max(), rel=1e-9)
                    continue
                for t in range(4):
                    gamma = weight.sum(axis=tuple(s for s in range(4) if s != t))
                    assert gamma[answer[t]] == pytest.approx(gamma.max(), rel=1e-9)


def _weight(chain: Matrix, start: Matrix, cells: list[Matrix], way: list[int]) -> float:
    moves = math.prod(chain[a, b] for a, b in pairwise(way))
    return float(start[way[0]] * moves * math.prod(f[x] for f, x in zip(cells, way, strict=True)))
