from __future__ import annotations

import numpy as np
import pytest

from tracecup.errors import InvalidTraces
from tracecup.usefulness import DayTraces, Records, Timetable, evaluate_synthetic, grid_coordinates

NAMES = ["TP-TV", "TP-TV-Top50", "TP-SWD", "TM-TV", "TM-EMD", "VF-TV"]


def real(seed: int, users: int = 8, slots: int = 6, n: int = 9) -> Records:
    locations = np.random.default_rng(seed).integers(0, n, users * slots)
    return Records.of(
        np.repeat(np.arange(users), slots),
        locations,
        np.tile(np.arange(slots), users),
        n_locations=n,
        timetable=Timetable(0, 60, slots, slots),
    )


def as_days(records: Records, copies: int = 1) -> DayTraces:
    days = records.location.reshape(records.n_users, 1, -1)
    return DayTraces.of(np.repeat(days, copies, axis=1), n_locations=records.n_locations)


class TestEvaluateSynthetic:
    def test_has_every_metric_for_every_row(self):
        found = evaluate_synthetic(real(0), real(1), as_days(real(2)))
        assert list(found.synthetic) == list(found.real) == list(found.uniform) == NAMES

    def test_copying_the_training_traces_is_perfect(self):
        found = evaluate_synthetic(real(0), real(1), as_days(real(0), copies=3))
        assert {m.value for m in found.synthetic.values()} == {0.0}
        assert all(len(m.parts) == 3 for m in found.synthetic.values())

    def test_copying_the_testing_traces_equals_real(self):
        found = evaluate_synthetic(real(0), real(1), as_days(real(1), copies=2))
        for name in NAMES:
            assert found.synthetic[name].value == pytest.approx(found.real[name].value)

    def test_square_grid_by_default(self):
        given = evaluate_synthetic(real(0), real(1), as_days(real(2)), grid_coordinates(3, 3))
        default = evaluate_synthetic(real(0), real(1), as_days(real(2)))
        assert given.synthetic["TM-EMD"].value == default.synthetic["TM-EMD"].value

    def test_locations_that_are_no_square_need_coordinates(self):
        with pytest.raises(InvalidTraces, match="8 locations are no square grid"):
            evaluate_synthetic(real(0, n=8), real(1, n=8), as_days(real(2, n=8)))

    def test_short_days_have_no_visit_fractions(self):
        found = evaluate_synthetic(real(0, slots=4), real(1, slots=4), as_days(real(2, slots=4)))
        assert list(found.real) == NAMES[:-1]

    def test_what_does_not_fit_is_named(self):
        with pytest.raises(InvalidTraces, match="slots: 6 in training, 4 in synthetic"):
            evaluate_synthetic(real(0), real(1), as_days(real(2, slots=4)))
        with pytest.raises(InvalidTraces, match="n_locations: 9 in training, 4 in testing"):
            evaluate_synthetic(real(0), real(1, n=4), as_days(real(2)))
