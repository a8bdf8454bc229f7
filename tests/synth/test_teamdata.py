from __future__ import annotations

import numpy as np
import pytest

from tracecup import Clock, ContestClock, Traces
from tracecup.errors import InvalidParameter
from tracecup.jobs import ProcessJobs
from tracecup.records import Timetable
from tracecup.rng import child_seed
from tracecup.synth import (
    PPMTF,
    ContestShape,
    PPMTFPlus,
    Training,
    contest_data,
    team_data,
)

DAY = Timetable(360, 60, 12, 12)
SHAPE = ContestShape(n_users=6, reference_days=2, original_days=3)


@pytest.fixture(scope="module")
def model():
    """Twelve hours from 6:00, as in the contest."""
    random = np.random.default_rng(1)
    regions = random.integers(0, 9, (20, 12))
    training = Training.of_traces(Traces.of(regions, Clock.regular(1, 12, 360, 60)), 9)
    settings = PPMTFPlus(z=3, iterations=3, rho=20, masks=True, home="own")
    return settings.fit(training, rng=1)


class TestContestShape:
    def test_default_times(self):
        pick = ContestShape().pick(DAY)
        minutes = [360 + 5 * k for k in pick]
        assert (minutes[0], minutes[-1], len(pick)) == (8 * 60, 17 * 60 + 30, 20)

    @pytest.mark.parametrize(
        ("shape", "day", "said"),
        [
            (ContestShape(start=300), DAY, "not within"),
            (ContestShape(slots=21), DAY, "not within"),
            (ContestShape(start=482), DAY, "do not fall on"),
        ],
    )
    def test_times_outside_the_models_day(self, shape, day, said):
        with pytest.raises(InvalidParameter, match=said):
            shape.pick(day)

    def test_steps_must_divide_a_slot(self):
        with pytest.raises(InvalidParameter, match="steps of 7"):
            ContestShape(step=7).instants(DAY)

    def test_needs_users(self):
        with pytest.raises(InvalidParameter, match="n_users"):
            ContestShape(n_users=0)


class TestTeamData:
    def test_shape_and_clock(self, model):
        data = team_data(model, 1, 3, SHAPE)
        contest = ContestClock.regular(days=3, reference_days=2)
        assert data.reference.clock == contest.reference
        assert data.original.clock == contest.original
        assert data.original.shape == (6, 60)
        assert not data.original.has_gaps

    def test_both_parts_are_of_the_same_users(self, model):
        data = team_data(model, 1, 3, SHAPE)
        whole = model.sample(
            6, 5, child_seed(1, "team", 3), instants=12, pick=SHAPE.pick(model.day)
        )
        both = np.concatenate([data.reference.regions, data.original.regions], axis=1)
        assert np.array_equal(both, whole.regions)

    def test_teams_have_different_users(self, model):
        first, second = team_data(model, 1, 1, SHAPE), team_data(model, 1, 2, SHAPE)
        assert first.reference != second.reference

    def test_same_seed_same_data(self, model):
        first, second = team_data(model, 1, 1, SHAPE), team_data(model, 1, 1, SHAPE)
        assert first.reference == second.reference
        assert first.original == second.original

    def test_a_model_of_the_training_users_is_refused(self, model):
        with pytest.raises(InvalidParameter, match="fresh users"):
            team_data(model.using(PPMTF()), 1, 1, SHAPE)


class TestContestData:
    def test_one_for_each_team(self, model):
        found = list(contest_data(model, 1, 3, SHAPE))
        assert [data.team for data in found] == [1, 2, 3]
        assert found[1].original == team_data(model, 1, 2, SHAPE).original

    def test_an_executor_makes_the_same(self, model):
        wanted = list(contest_data(model, 1, 3, SHAPE))
        with ProcessJobs(1) as jobs:
            found = sorted(contest_data(model, 1, 3, SHAPE, jobs), key=lambda data: data.team)
        for ours, theirs in zip(found, wanted, strict=True):
            assert (ours.reference, ours.original) == (theirs.reference, theirs.original)
