"""The published utilities of the 37 sample obfuscations, and the replay against slow loops."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from tracecup.city import City
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import MRLH, RR, Cheat, Obfuscator, PlanarLaplace, parse_obfuscator
from tracecup.score import utility_score
from tracecup.traces import Traces

SAMPLES = {"A1": "None", "A2": "MRLH", "A3": "RR", "A4": "PL", "A5": "Cheat"}


def published(data_dir: Path) -> list[tuple[Obfuscator, float]]:
    with (data_dir / "results" / "osaka_sample_utilities.csv").open() as file:
        rows = list(csv.DictReader(file))
    methods = []
    for row in rows:
        name, *values = row["Ano"].split("-")
        inside = ",".join([*values, "replay=true"])
        methods.append((parse_obfuscator(f"{SAMPLES[name]}({inside})"), float(row["Util"])))
    return methods


class TestPublishedUtilities:
    # Both rules agree on these files: no member of a 2 x 2 block is 2 km away.
    @pytest.mark.parametrize("rule", ["organisers", "paper"])
    def test_all_37_to_the_ninth_digit(
        self, rule: str, data_dir: Path, osaka: tuple[City, Traces]
    ) -> None:
        city, original = osaka
        wanted = published(data_dir)
        assert len(wanted) == 37
        for method, utility in wanted:
            released = method.obfuscate(city, original)
            found = utility_score(city, original, released, rule=rule).value
            assert found == pytest.approx(utility, abs=1e-9), str(method)


class TestSlowLoops:
    """The organisers' order of draws, one cell after the other."""

    def test_mrlh(self, crowd: Traces, odd_city: City) -> None:
        draw = np.random.RandomState(3)
        deleted = [[draw.random_sample() < 0.4 for _ in row] for row in crowd.regions]
        out = MRLH(1, 0, 0.4, replay=True).obfuscate(odd_city, crowd, rng=3)
        assert np.array_equal(out.sizes == 0, deleted)

    def test_rr(self, crowd: Traces, odd_city: City) -> None:
        draw = np.random.RandomState(3)
        keep, each = math.exp(2) / (34 + math.exp(2)), 1 / (34 + math.exp(2))
        slow = []
        for region in crowd.regions.ravel():
            u = draw.random_sample()
            k = math.floor((u - keep) / each)
            slow.append(region if u < keep else (k if k < region else k + 1))
        assert RR(2.0, replay=True).obfuscate(odd_city, crowd, rng=3).regions.tolist() == slow

    def test_cheat(self, crowd: Traces, odd_city: City) -> None:
        order = np.arange(30)
        np.random.RandomState(3).shuffle(order)
        out = Cheat(0.5, replay=True).obfuscate(odd_city, crowd, rng=3).as_traces()
        assert np.array_equal(out.regions[:30], crowd.regions[order])


class TestSeed:
    def test_default_is_the_organisers_seed(self, crowd: Traces, odd_city: City) -> None:
        method = PlanarLaplace(2.0, 1.0, replay=True)
        assert method.obfuscate(odd_city, crowd) == method.obfuscate(odd_city, crowd, rng=1)

    @pytest.mark.parametrize("rng", [np.random.default_rng(1), -1, 2**32])
    def test_refuses_what_the_legacy_generator_does_not_take(
        self, rng: int, crowd: Traces, odd_city: City
    ) -> None:
        with pytest.raises(InvalidParameter, match="replay needs a whole seed"):
            RR(2.0, replay=True).obfuscate(odd_city, crowd, rng=rng)

    def test_replay_differs_from_the_default_draws(self, crowd: Traces, odd_city: City) -> None:
        assert RR(2.0).obfuscate(odd_city, crowd, 1) != RR(2.0, True).obfuscate(odd_city, crowd, 1)
