"""Chains: stages in order, one generator, names that parse."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.city import City
from tracecup.errors import InvalidParameter, UnknownMethod
from tracecup.obfuscate import MRLH, RR, Cheat, Compose, NoObfuscation, parse_obfuscator
from tracecup.traces import Traces


class TestCompose:
    def test_equals_the_stages_by_hand(self, crowd: Traces, odd_city: City) -> None:
        gen = np.random.default_rng(3)
        step = RR(2.0).obfuscate(odd_city, crowd, gen)
        by_hand = MRLH(1, 1, 0.3).obfuscate(odd_city, step.as_traces(), gen)
        chain = Compose((RR(2.0), MRLH(1, 1, 0.3)))
        assert chain.obfuscate(odd_city, crowd, rng=3) == by_hand

    def test_deletions_stay_deleted(self, crowd: Traces, odd_city: City) -> None:
        chain = Compose((MRLH(0, 0, 0.5), RR(0.0)))
        first = MRLH(0, 0, 0.5).obfuscate(odd_city, crowd, rng=3)
        out = chain.obfuscate(odd_city, crowd, rng=3)
        assert np.array_equal(out.sizes, first.sizes)
        assert out != first

    def test_chains_nest(self, crowd: Traces, odd_city: City) -> None:
        nested = Compose((RR(2.0), Compose((Cheat(0.5), MRLH(1, 0, 0.1)))))
        flat = Compose((RR(2.0), Cheat(0.5), MRLH(1, 0, 0.1)))
        assert nested.obfuscate(odd_city, crowd, 1) == flat.obfuscate(odd_city, crowd, 1)

    def test_keeps_the_first_guarantee(self) -> None:
        assert Compose((RR(2.0), Cheat(1.0))).guarantee(10) == RR(2.0).guarantee(10)

    def test_refuses_no_stage(self, crowd: Traces, odd_city: City) -> None:
        with pytest.raises(InvalidParameter, match="at least one"):
            Compose(()).obfuscate(odd_city, crowd)

    def test_refuses_replays(self, crowd: Traces, odd_city: City) -> None:
        with pytest.raises(InvalidParameter, match="cannot be chained"):
            Compose((NoObfuscation(), RR(1.0, replay=True))).obfuscate(odd_city, crowd)

    def test_checks_every_stage(self, crowd: Traces, odd_city: City) -> None:
        with pytest.raises(InvalidParameter, match=r"Cheat\.p must be"):
            Compose((NoObfuscation(), Cheat(2.0))).obfuscate(odd_city, crowd)


class TestParseObfuscator:
    def test_one_method(self) -> None:
        assert parse_obfuscator("rr(8)") == RR(8.0)

    def test_chain(self) -> None:
        assert parse_obfuscator("RR(1e+1) + Cheat(0.3)") == Compose((RR(10.0), Cheat(0.3)))

    @pytest.mark.parametrize("text", ["Nobody(1)", "RR(1)+Nobody"])
    def test_unknown_name(self, text: str) -> None:
        with pytest.raises(UnknownMethod, match="Nobody"):
            parse_obfuscator(text)

    @pytest.mark.parametrize("text", ["", "+RR(1)", "RR(1)+", "RR(1)++RR(1)"])
    def test_bad_grammar(self, text: str) -> None:
        with pytest.raises(InvalidParameter, match="a method is written"):
            parse_obfuscator(text)
