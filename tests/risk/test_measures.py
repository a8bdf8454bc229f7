from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowrisk import slow_risk, slow_unicity
from tracecup import Clock, SetTraces, Traces
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.risk import KINDS, home_work_risk, known_points_risk, unicity

# The seven users and four places of scikit-mobility's example `privacy_toy.csv`, an event for
# every hour in which anybody was recorded.
A, B, C, D, NONE = 0, 1, 2, 3, -1
TOY = Traces.of(
    [
        [A, B, C, D, NONE, NONE, NONE],
        [A, C, NONE, A, B, NONE, NONE],
        [B, C, NONE, A, D, NONE, NONE],
        [NONE, NONE, NONE, C, B, D, NONE],
        [NONE, NONE, NONE, C, D, NONE, A],
        [NONE, NONE, NONE, A, B, NONE, NONE],
        [NONE, NONE, NONE, A, A, NONE, D],
    ],
    Clock(1, (0, 60, 120, 180, 240, 300, 360)),
)
THIRD = 1 / 3
# What its documentation prints for these attacks.
PRINTED = [
    ("location", 2, 0, [THIRD, 0.5, THIRD, THIRD, 0.25, 0.25, 0.5]),
    ("location", 3, 0, [0.5, 1, 0.5, THIRD, THIRD, 0.25, 1]),
    ("sequence", 2, 0, [0.5, 0.5, 1, 0.5, 1, THIRD, 0.5]),
    ("sequence", 3, 0, [1, 1, 1, 1, 1, THIRD, 1]),
    ("location and time", 2, 0, [1, 1, 1, 1, 1, 0.5, 1]),
    ("unique location", 2, 0, [THIRD, 0.25, THIRD, THIRD, 0.25, 0.25, 0.25]),
    ("unique location", 3, 0, [0.5, THIRD, 0.5, THIRD, THIRD, 0.25, 0.25]),
    ("frequency", 2, 0, [THIRD, 1, THIRD, THIRD, THIRD, THIRD, 1]),
    ("frequency", 2, 0.5, [THIRD, 1, THIRD, THIRD, 0.25, 0.25, 1]),
    ("frequency", 3, 0.5, [0.5, 1, 0.5, THIRD, THIRD, 0.25, 1]),
    ("probability", 2, 0, [0.5, 1, 0.5, 1, 1, 1, 1]),
    ("probability", 2, 0.5, [THIRD, 0.5, THIRD, THIRD, 0.25, 1, 1]),
    ("probability", 3, 0.5, [0.5, 1, 0.5, THIRD, THIRD, 1, 1]),
    ("proportion", 2, 0, [THIRD, 1, THIRD, THIRD, THIRD, THIRD, 1]),
    ("proportion", 2, 0.5, [THIRD, 0.25, THIRD, THIRD, THIRD, THIRD, 0.25]),
    ("proportion", 3, 0.5, [0.5, THIRD, 0.5, THIRD, THIRD, THIRD, 0.25]),
]


@st.composite
def crowds(draw) -> tuple[Traces, SetTraces | None]:
    """Small crowds with gaps, released as they are or with other, several or no regions."""
    users, times = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    row = st.lists(st.integers(-1, 3), min_size=times, max_size=times)
    known = Traces.of(draw(st.lists(row, min_size=users, max_size=users)))
    if draw(st.booleans()):
        return known, None
    noise = np.random.default_rng(draw(st.integers(0, 1000)))
    cells = []
    for trace in known.regions.tolist():
        cells.append(
            [
                sorted({x if noise.random() < 0.7 else 0, *noise.integers(0, 4, extra)} - {-1})
                if x >= 0
                else []
                for x, extra in zip(trace, noise.integers(0, 2, times), strict=True)
            ]
        )
    return known, SetTraces.of_cells(cells)


class TestKnownPointsRisk:
    @pytest.mark.parametrize(("kind", "points", "tolerance", "printed"), PRINTED)
    def test_what_scikit_mobility_prints(self, kind, points, tolerance, printed):
        found = known_points_risk(kind, TOY, points=points, tolerance=tolerance)
        assert found.exact
        assert found.low.tolist() == pytest.approx(printed)

    @pytest.mark.parametrize("kind", KINDS)
    @settings(max_examples=40, deadline=None)
    @given(crowd=crowds(), points=st.integers(1, 4), tolerance=st.sampled_from([0.0, 0.3]))
    def test_equals_trying_everything(self, kind, crowd, points, tolerance):
        known, released = crowd
        found = known_points_risk(kind, known, released, points=points, tolerance=tolerance)
        slow = slow_risk(kind, known, released, points, tolerance)
        assert found.exact
        assert found.low.tolist() == pytest.approx(slow, nan_ok=True)

    @pytest.mark.parametrize("kind", KINDS)
    def test_bounds_hold_where_the_search_is_cut(self, kind):
        regions = np.random.default_rng(1).integers(-1, 9, (70, 24))
        known = Traces.of(regions % 7)
        whole = known_points_risk(kind, known, points=3)
        cut = known_points_risk(kind, known, points=3, budget=3)
        assert whole.exact
        assert (cut.low <= whole.low).all()
        assert (whole.low <= cut.high).all()

    def test_more_points_are_never_safer(self):
        known = Traces.of(np.random.default_rng(2).integers(-1, 12, (90, 20)))
        for kind in ("unique location", "location", "location and time", "sequence", "frequency"):
            risks = [known_points_risk(kind, known, points=k).low for k in (1, 2, 3)]
            assert (risks[0] <= risks[1]).all()
            assert (risks[1] <= risks[2]).all()

    def test_threads_change_nothing(self, monkeypatch):
        known = Traces.of(np.random.default_rng(3).integers(-1, 12, (90, 20)))
        found = []
        for count in ("1", "3"):
            monkeypatch.setenv("TRACECUP_THREADS", count)
            found.append(known_points_risk("sequence", known, points=2).low.tolist())
        assert found[0] == found[1]

    def test_users_without_records_are_not_measured(self):
        found = known_points_risk("location", Traces.of([[-1, -1], [0, 1]]), points=2)
        assert np.isnan(found.low[0])
        assert (found.measured, found.mean, found.alone) == (1, (1.0, 1.0), (1.0, 1.0))

    def test_a_release_that_shows_nothing_true_has_no_risk(self):
        released = SetTraces.of_cells([[[3], []], [[3], [3]]])
        for kind in KINDS:
            assert known_points_risk(kind, Traces.of([[0, 1], [0, 1]]), released).high.max() == 0

    @pytest.mark.parametrize(
        "wrong", [{"kind": "face"}, {"points": 0}, {"tolerance": 2.0}, {"budget": 0}]
    )
    def test_wrong_parameters(self, wrong):
        with pytest.raises(InvalidParameter):
            known_points_risk(**({"kind": "location", "known": TOY} | wrong))

    def test_wrong_shape(self):
        with pytest.raises(InvalidTraces, match=r"\(7, 7\).*\(1, 1\)"):
            known_points_risk("location", TOY, SetTraces.of_cells([[[0]]]))


class TestUnicity:
    @settings(max_examples=60, deadline=None)
    @given(crowd=crowds(), points=st.integers(1, 4))
    def test_equals_counting_all_choices(self, crowd, points):
        found = unicity(*crowd, points=points)
        assert found.per_user.tolist() == pytest.approx(slow_unicity(*crowd, points), nan_ok=True)
        assert not found.drawn.any()

    @settings(max_examples=30, deadline=None)
    @given(crowd=crowds(), points=st.integers(1, 3))
    def test_deleted_cells_may_fit_anything(self, crowd, points):
        known, released = crowd
        if released is None:
            return
        found = unicity(known, released, points=points, deleted="weak")
        wanted = slow_unicity(known, released, points, anywhere=True)
        assert found.per_user.tolist() == pytest.approx(wanted, nan_ok=True)

    def test_drawn_choices_are_near(self):
        known = Traces.of(np.random.default_rng(4).integers(-1, 6, (80, 30)))
        exact = unicity(known, points=2)
        drawn = unicity(known, points=2, most=1, samples=400, rng=1)
        assert exact.interval.low == exact.interval.high == exact.value
        assert (drawn.drawn == 400).all()
        # Hoeffding at 95 %: wrong in less than one run of twenty, and the seed is fixed.
        assert drawn.interval.low <= exact.value <= drawn.interval.high
        assert drawn.interval.high - drawn.interval.low < 0.02

    def test_same_seed_same_draws(self, monkeypatch):
        known = Traces.of(np.random.default_rng(5).integers(0, 6, (40, 30)))
        found = []
        for count in ("1", "3"):
            monkeypatch.setenv("TRACECUP_THREADS", count)
            found.append(unicity(known, points=3, most=1, rng=7).per_user.tolist())
        assert found[0] == found[1]

    def test_nobody_recorded(self):
        found = unicity(Traces.of([[-1]]), points=1)
        assert np.isnan(found.value)
        assert (found.interval.low, found.interval.high) == (0, 1)

    def test_wrong_parameters(self):
        with pytest.raises(InvalidParameter):
            unicity(TOY, points=0)


class TestBlocks:
    """Traces in files and blocks of a few users: the same digits."""

    RANDOM = np.random.default_rng(6)
    KNOWN = Traces.of(RANDOM.integers(-1, 9, (70, 24)) % 7)
    EXTRA = RANDOM.integers(0, 5, KNOWN.shape)
    CELLS = SetTraces.of_cells(
        [
            [[x] * (extra % 3) + [3] * (extra > 3) for x, extra in zip(*row, strict=True)]
            for row in zip(KNOWN.regions.tolist(), EXTRA.tolist(), strict=True)
        ]
    )

    @pytest.mark.parametrize("kind", KINDS)
    def test_known_points(self, kind, request):
        found = []
        for parts in (False, True):
            if parts:
                request.getfixturevalue("in_small_parts")
            one = known_points_risk(kind, self.KNOWN, self.CELLS, points=2, tolerance=0.1)
            found.append((one.low.tobytes(), one.high.tobytes()))
        assert found[0] == found[1]

    @pytest.mark.parametrize("deleted", ["strict", "weak"])
    def test_unicity(self, deleted, request):
        found = []
        for parts in (False, True):
            if parts:
                request.getfixturevalue("in_small_parts")
            one = unicity(self.KNOWN, self.CELLS, points=3, most=500, rng=3, deleted=deleted)
            found.append((one.per_user.tobytes(), one.drawn.tobytes(), one.interval))
        assert found[0] == found[1]

    def test_homes(self, request):
        found = []
        for parts in (False, True):
            if parts:
                request.getfixturevalue("in_small_parts")
            one = home_work_risk(self.KNOWN, self.CELLS, night=(0, 700))
            found.append((one.risk.tobytes(), one.home.tobytes(), one.work.tobytes()))
        assert found[0] == found[1]
