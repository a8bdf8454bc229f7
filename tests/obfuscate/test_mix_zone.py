"""Exchanges between meetings: nothing is invented, the floor holds, pairs are the best ones."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.city import City, Clock
from tracecup.obfuscate import MixZone
from tracecup.obfuscate.cloak import block_numbers
from tracecup.obfuscate.mix_zone import _pairs
from tracecup.score import utility_score
from tracecup.traces import Traces


def released(method: MixZone, city: City, original: Traces, seed: int = 1) -> np.ndarray:
    return method.obfuscate(city, original, rng=seed).as_traces().regions


def slow_pair(city: City, zones: np.ndarray, dmax: float, a: np.ndarray, b: np.ndarray):
    """(events that differ, first, last, price) of the best exchange of two users' day."""
    d, slots = city.grid.distance(a, b), len(a)
    best = (0, 0, 0, 0.0)
    for first in range(slots):
        for last in range(first, slots):
            part = slice(first, last + 1)
            starts = first == 0 or zones[a[first]] == zones[b[first]]
            ends = last == slots - 1 or zones[a[last]] == zones[b[last]]
            if starts and ends and d[part].mean() <= dmax + 1e-9:
                differ = int((a[part] != b[part]).sum())
                price = float(np.minimum(d[part], 2).sum())
                if differ > best[0] or (differ == best[0] > 0 and price < best[3] - 1e-9):
                    best = (differ, first, last, price)
    return best


class TestMixZone:
    @pytest.mark.parametrize("method", [MixZone(), MixZone(8, zone=2, floor=0.3)], ids=str)
    def test_nobody_appears_and_nobody_is_lost(
        self, method: MixZone, commuters: Traces, contest_city: City
    ) -> None:
        out = released(method, contest_city, commuters)
        assert not np.array_equal(out, commuters.regions)
        assert np.array_equal(np.sort(out, axis=0), np.sort(commuters.regions, axis=0))

    def test_at_distance_zero_utility_stays_whole(
        self, commuters: Traces, contest_city: City
    ) -> None:
        cells = MixZone(dmax=0.0, floor=0.0).obfuscate(contest_city, commuters, rng=1)
        assert utility_score(contest_city, commuters, cells).value == 1.0

    def test_whole_traces_exchanged_are_cheating(self, contest_city: City) -> None:
        gen = np.random.default_rng(5)
        original = Traces.of(gen.integers(1024, size=(20, 6)))  # one long day
        out = released(MixZone(dmax=100.0, floor=0.0), contest_city, original)
        donor = [int(np.flatnonzero((original.regions == row).all(axis=1))[0]) for row in out]
        assert sorted(donor) == list(range(20))
        assert all(donor[donor[i]] == i != donor[i] for i in range(20))

    @pytest.mark.parametrize("k", [2, 4])
    @pytest.mark.parametrize("floor", [0.7, 0.95])
    def test_keeps_the_floor(
        self, k: int, floor: float, commuters: Traces, contest_city: City
    ) -> None:
        cells = MixZone(k, floor=floor, dmax=5.0).obfuscate(contest_city, commuters, rng=2)
        utility = utility_score(contest_city, commuters, cells).value
        assert floor - 1e-9 <= utility <= floor + 0.02

    def test_a_day_has_at_most_one_exchange_of_a_user_in_one_round(
        self, commuters: Traces, contest_city: City
    ) -> None:
        out = released(MixZone(), contest_city, commuters)
        for day in (0, 1):
            part = slice(20 * day, 20 * day + 20)
            changed = out[:, part] != commuters.regions[:, part]
            for row, now in zip(changed, out[:, part], strict=True):
                if row.any():
                    at = np.flatnonzero(row)
                    same = (commuters.regions[:, part][:, at] == now[at]).all(axis=1)
                    assert same.any()

    @pytest.mark.parametrize(("zone", "dmax"), [(1, 0.5), (1, 2.0), (3, 0.8)])
    def test_the_best_part_equals_a_slow_search(
        self, zone: int, dmax: float, crowd: Traces, odd_city: City
    ) -> None:
        zones = block_numbers(odd_city.grid, zone, zone)
        day = np.array(crowd.regions)
        ones, others = np.arange(30), np.arange(30, 60)
        gain, bounds, price = _pairs(odd_city, zones, dmax, ones, others, day, day)
        for a in ones:
            for b in range(30):
                wanted = slow_pair(odd_city, zones, dmax, day[a], day[30 + b])
                assert gain[a, b] == wanted[0]
                assert price[a, b] == pytest.approx(wanted[3], abs=1e-9)
                if wanted[0]:
                    first, last = bounds[:, a, b]
                    assert slow_part_price(odd_city, day[a], day[30 + b], first, last) == (
                        wanted[0],
                        pytest.approx(wanted[3], abs=1e-9),
                    )

    def test_one_user_stays(self, odd_city: City) -> None:
        original = Traces.of([[0, 34, 12]], Clock.regular(1, 3))
        assert np.array_equal(released(MixZone(), odd_city, original), original.regions)


def slow_part_price(city: City, a: np.ndarray, b: np.ndarray, first: int, last: int):
    part = slice(first, last + 1)
    d = np.minimum(city.grid.distance(a[part], b[part]), 2)
    return int((a[part] != b[part]).sum()), float(d.sum())
