"""Days of single persons: what each occupation does, and that every person has her own stream."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tracecup.datasets.destinations import Ground
from tracecup.datasets.inhabitantdays import HABITS, simulate
from tracecup.datasets.inhabitants import DESK, FIELD, HOME, STUDENT, VISITOR, Inhabitants, settle
from tracecup.datasets.townplan import make_townplan
from tracecup.datasets.travelling import Window

WINDOW = Window(0, 10, 144)
KEY = (np.uint64(3), np.uint64(4))


@pytest.fixture(scope="module")
def ground():
    plan = make_townplan(16, 16, rng=1)
    grid = plan.city.grid
    return Ground(
        plan.attraction,
        np.cumsum(plan.attraction, axis=1),
        plan.station_of,
        grid.nx,
        grid.ny,
        grid.km_x,
        grid.km_y,
    )


@pytest.fixture(scope="module")
def habits():
    people = settle(make_townplan(16, 16, rng=1), 400, rng=2)
    return np.stack([getattr(people, name).astype(float) for name in HABITS], axis=1)


def run(ground, habits, days=1, first_user=0, warm_up=10, workdays=None):
    out = np.full((len(habits), days * WINDOW.instants), -1, dtype=np.int32)
    workdays = np.ones(days, dtype=np.bool_) if workdays is None else workdays
    simulate(*KEY, first_user, warm_up, workdays, habits, ground, WINDOW, out)
    return out


class TestHabits:
    def test_columns_are_the_fields_of_inhabitants(self):
        assert tuple(field.name for field in dataclasses.fields(Inhabitants)) == HABITS


class TestSimulate:
    def test_every_instant_is_filled(self, ground, habits):
        out = run(ground, habits, days=3)
        assert out.min() >= 0
        assert out.max() < 256

    def test_blocks_of_people_do_not_matter(self, ground, habits):
        whole = run(ground, habits)
        assert np.array_equal(run(ground, habits[100:200], first_user=100), whole[100:200])

    def test_days_begin_at_home(self, ground, habits):
        out = run(ground, habits, days=3)
        assert np.array_equal(out[:, ::144], np.repeat(habits[:, 1:2].astype(int), 3, axis=1))

    def test_work_on_workdays_only(self, ground, habits):
        desk = habits[(habits[:, 0] == DESK) & (habits[:, 1] != habits[:, 2])]
        out = run(ground, desk, days=2, workdays=np.array([True, False])).reshape(-1, 2, 144)
        at_work = (out == desk[:, 2, None, None]).mean(axis=(0, 2))
        assert at_work[0] > 0.2
        assert at_work[1] < 0.05

    def test_students_go_to_school(self, ground, habits):
        students = habits[habits[:, 0] == STUDENT]
        out = run(ground, students)
        assert (out[:, 60:84] == students[:, 2:3]).mean() > 0.5

    def test_field_workers_and_visitors_see_more_than_desk_workers(self, ground, habits):
        out = run(ground, habits)
        distinct = np.array([len(np.unique(row)) for row in out])
        seen = {kind: distinct[habits[:, 0] == kind].mean() for kind in (DESK, FIELD, VISITOR)}
        assert seen[FIELD] > 1.5 * seen[DESK]
        assert seen[VISITOR] > 1.2 * seen[DESK]

    def test_people_at_home_stay_there_longer(self, ground, habits):
        out = run(ground, habits)
        at_home = (out == habits[:, 1:2]).mean(axis=1)
        kinds = habits[:, 0]
        assert at_home[kinds == HOME].mean() > at_home[kinds == FIELD].mean()

    def test_own_stream_for_every_day(self, ground, habits):
        out = run(ground, habits, days=2).reshape(-1, 2, 144)
        assert (out[:, 0] != out[:, 1]).any(axis=1).mean() > 0.9

    def test_nobody_at_all(self, ground, habits):
        assert run(ground, habits[:0]).shape == (0, 144)
