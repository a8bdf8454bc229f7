"""SGLT-D: each released day is told from the same user's same day."""

from __future__ import annotations

import numpy as np

from tracecup.city import City, Clock
from tracecup.obfuscate import SgltDefence
from tracecup.score import utility_score
from tracecup.synth import SGLT, Training
from tracecup.traces import Traces


class TestSgltDefence:
    def test_places_alone_in_their_class_stay(self, crowd: Traces, odd_city: City) -> None:
        method = SgltDefence(35, 0.0, par_c=0.0, par_m=0.0)
        out = method.obfuscate(odd_city, crowd, rng=1).as_traces().regions
        assert np.array_equal(out, crowd.regions)

    def test_regions_change_within_their_class(self, crowd: Traces, odd_city: City) -> None:
        plain = Traces(crowd.regions, crowd.users, Clock.regular(2, 3, 0, 1))
        training = Training.of_traces(plain, 35).placed(odd_city.grid)
        label = SGLT(8, 0.0, par_m=0.0).fit(training, rng=np.random.default_rng(4)).classes.label
        out = SgltDefence(8, 0.0, par_m=0.0).obfuscate(odd_city, crowd, rng=4)
        regions = out.as_traces().regions
        assert np.array_equal(label[regions], label[crowd.regions])
        assert (regions != crowd.regions).any()

    def test_forbidden_places_are_never_released(self, crowd: Traces, odd_city: City) -> None:
        out = SgltDefence(5, 1.0).obfuscate(odd_city, crowd, rng=2).as_traces().regions
        assert (out != crowd.regions).all()

    def test_more_classes_keep_more(self, commuters: Traces, contest_city: City) -> None:
        few = commuters.take_users(range(60))
        values = [
            utility_score(
                contest_city, few, SgltDefence(c, 0.0).obfuscate(contest_city, few, rng=1)
            ).value
            for c in (20, 200, 1000)
        ]
        assert values == sorted(values)

    def test_slots_may_begin_at_any_minutes(self, odd_city: City) -> None:
        clock = Clock(1, (480, 500, 900))
        cells = SgltDefence(3, 0.0).obfuscate(odd_city, Traces.of([[0, 1, 2]] * 3, clock), rng=1)
        assert cells.clock == clock
