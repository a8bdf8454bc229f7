from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tracecup.attack.membership import membership, reidentification, transition_profiles
from tracecup.study.synthesizers import METRICS, PRIVACY, evaluate_synthesizer
from tracecup.usefulness import DayTraces, Records, Timetable, evaluate_synthetic, read_records


def real(seed: int, first_id: int = 0, users: int = 8, slots: int = 6) -> Records:
    locations = np.random.default_rng(seed).integers(0, 9, users * slots)
    return Records.of(
        np.repeat(np.arange(first_id, first_id + users), slots),
        locations,
        np.tile(np.arange(slots), users),
        n_locations=9,
        timetable=Timetable(0, 60, slots, slots),
    )


def synthetic(seed: int, users: int = 8) -> DayTraces:
    days = np.random.default_rng(seed).integers(0, 9, (users, 3, 6))
    return DayTraces.of(days, n_locations=9)


def slow_sgd(training: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Each instant drawn from what training users in the same place at the same time did next."""
    days = np.empty((count, training.shape[1]), dtype=int)
    days[:, 0] = rng.choice(training[:, 0], count)
    for t in range(1, training.shape[1]):
        for place in np.unique(days[:, t - 1]):
            here = days[:, t - 1] == place
            # Nobody moves into a place without a successor, so there is always a choice.
            days[here, t] = rng.choice(training[training[:, t - 1] == place, t], here.sum())
    return days


class TestEvaluateSynthesizer:
    def test_rows_and_names_of_the_published_tables(self):
        found = evaluate_synthesizer(real(0), real(1, 8), synthetic(2)).as_dict()
        assert list(found) == ["synthetic", "real", "uniform"]
        assert all(list(row) == [*METRICS, *PRIVACY] for row in found.values())
        assert json.loads(json.dumps(found)) == found

    def test_numbers_are_those_of_the_rooms(self):
        train, test, days = real(0), real(1, 8), synthetic(2)
        found = evaluate_synthesizer(train, test, days).synthetic
        useful = evaluate_synthetic(train, test, days).synthetic
        assert [found[name] for name in METRICS] == [useful[name].value for name in METRICS]
        known, others = (
            transition_profiles(r.user, r.location, r.n_users, 9) for r in (train, test)
        )
        assert found["reid_rate"] == reidentification(days.locations, known).rate
        advantage = membership(days.locations, known, others).advantage
        assert found["membership_advantage"] == advantage

    def test_copying_the_training_traces_is_useful_and_not_private(self):
        train = real(0)
        copy = DayTraces.of(train.location.reshape(8, 1, 6), n_locations=9)
        found = evaluate_synthesizer(train, real(1, 8), copy).synthetic
        assert found["TM-EMD"] == 0
        assert found["reid_rate"] == 1
        assert found["membership_advantage"] == 1

    def test_users_are_linked_by_id(self):
        train = real(0, first_id=100)
        copy = train.location.reshape(8, 1, 6)
        ids = np.arange(100, 108)
        same = DayTraces.of(copy, n_locations=9, user_ids=ids)
        assert evaluate_synthesizer(train, real(1), same).synthetic["reid_rate"] == 1
        other = DayTraces.of(copy, n_locations=9)
        assert evaluate_synthesizer(train, real(1), other).synthetic["reid_rate"] == 0

    def test_uniform_is_a_random_guess(self):
        found = evaluate_synthesizer(real(0), real(1, 8), synthetic(2)).uniform
        assert found["reid_rate"] == 1 / 8
        assert found["membership_advantage"] == 0

    def test_testing_records_of_different_lengths(self):
        test = Records.of(
            [8, 8, 8, 9],
            [0, 1, 2, 3],
            [0, 1, 2, 5],
            n_locations=9,
            timetable=Timetable(0, 60, 6, 6),
        )
        found = evaluate_synthesizer(real(0), test, synthetic(2))
        assert found.real["VF-TV"] is None
        assert 0 <= found.real["reid_rate"] <= 1

    def test_published_real_and_uniform_rows(self, data_dir: Path):
        folder = data_dir / "ppmtfplus_pf"
        train = read_records(folder / "traintraces_TK.csv", 400)
        test = read_records(folder / "testtraces_TK.csv", 400)
        copy = DayTraces.of(train.location.reshape(500, 1, 30), n_locations=400)
        found = evaluate_synthesizer(train, test, copy)
        printed = {
            "TP-TV": (0.38553, 0.54098),
            "TP-SWD": (0.32040, 1.51881),
            "TM-TV": (0.29951, 0.98835),
            "TM-EMD": (0.62226, 6.20919),
        }
        for name, (of_real, of_uniform) in printed.items():
            assert found.real[name] == pytest.approx(of_real, abs=5e-6)
            assert found.uniform[name] == pytest.approx(of_uniform, abs=5e-6)
        # A copy of the training traces gives its users away.
        assert found.synthetic["reid_rate"] > 0.99
        assert found.synthetic["membership_advantage"] > 0.5
        assert found.real["reid_rate"] < 0.01

    def test_published_privacy_of_sgd(self, data_dir: Path):
        # Published for SGD without copied instants: re-identification 0.0010, advantage 0.1246.
        # Five other seeds gave advantages of 0.114 to 0.129, so 0.03 is over four standard
        # deviations; 0.005 is 25 of 5000 traces where 5 to 10 are expected (p < 1e-4).
        folder = data_dir / "ppmtfplus_pf"
        train = read_records(folder / "traintraces_TK.csv", 400)
        test = read_records(folder / "testtraces_TK.csv", 400)
        days = slow_sgd(train.location.reshape(500, 30), 5000, np.random.default_rng(7))
        found = evaluate_synthesizer(
            train, test, DayTraces.of(days.reshape(500, 10, 30), n_locations=400)
        ).synthetic
        assert found["membership_advantage"] == pytest.approx(0.1246, abs=0.03)
        assert found["reid_rate"] < 0.005
