from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tracecup import Clock, Traces
from tracecup.records import Records, Timetable
from tracecup.synth import Training
from tracecup.synth.seeds import Seeds, seed_day


def told(training, user, chance):
    out = np.empty(training.slots * training.instants_per_slot, dtype=np.int32)
    seed_day(Seeds.of_training(training).arrays, user, chance, out)
    return out.tolist()


class TestSeedDay:
    def test_a_place_is_kept_until_the_next_record(self):
        training = Training.of_traces(Traces.of([[-1, 2, -1, -1, 0, -1]], Clock.regular(1, 6)), 3)
        assert told(training, 0, 0.5) == [2, 2, 2, 2, 0, 0]

    def test_days_are_as_likely(self):
        regions = [[0, 0, 1, 1, -1, -1, 2, 2]]
        training = Training.of_traces(Traces.of(regions, Clock.regular(4, 2)), 3)
        chances = np.random.default_rng(1).random(600)
        first = [told(training, 0, chance)[0] for chance in chances]
        # Three days with records; false alarm: one in 10 000.
        assert stats.chisquare(np.bincount(first, minlength=3)).pvalue > 1e-4

    def test_somebody_without_records_borrows_a_day(self):
        training = Training.of_traces(Traces.of([[-1, -1], [1, 2]]), 3)
        assert told(training, 0, 0.9) == [1, 2]

    @pytest.mark.parametrize(("instants", "day"), [([0, 0, 1], [2, 0]), ([1, 1, 1], [2, 2])])
    def test_first_of_several_records_of_an_instant(self, instants, day):
        records = Records.of(
            [0, 0, 0],
            [2, 1, 0],
            instants,
            unix=[1, 2, 3],
            n_locations=3,
            timetable=Timetable(0, 60, 2, 2),
        )
        training = Training.of_records(records)
        assert told(training, 0, 0.0) == day


class TestProfiles:
    def test_gaps_do_not_count(self):
        training = Training.of_traces(
            Traces.of([[-1, 2, -1, 2], [-1, -1, -1, -1], [0, 1, 1, 2]]), 3
        )
        profiles = Seeds.of_training(training).profiles(3)
        assert profiles.records.tolist() == [2, 0, 4]
        assert profiles.place.tolist() == [2, 1, 0, 2]
