from __future__ import annotations

import numpy as np

from tracecup.attack.channel import (
    Displacements,
    ExpectedReleases,
    count_displacements,
    first_channel,
    known,
    run_defence,
)
from tracecup.city import City, Clock, Grid
from tracecup.obfuscate import Obfuscator
from tracecup.rng import Rng
from tracecup.traces import SetTraces, Traces

CITY = City(Grid.from_metres(4, 3, width_m=341.25, height_m=346.875), hospitals=[5])


class TestCountDisplacements:
    def test_a_worked_case(self) -> None:
        original = Traces.of([[0, 5, 1, 2, -1]])
        cells = SetTraces.of_cells([[[1], [6], [1, 0], [3, 7], [4]]])
        found = count_displacements(CITY, original, cells)
        assert found.shifts[0, 2, 4] == 1 + 0.5  # one column east: 0 -> 1, half of 2 -> {3, 7}
        assert found.shifts[0, 2, 3] == 1  # 1 is in {1, 0}: generalised, not moved
        assert found.shifts[0, 3, 4] == 0.5  # 2 -> 7
        assert found.shifts[1, 2, 4] == 1  # the hospital 5 -> 6
        assert found.hospitals.tolist() == [[0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]]
        assert found.shifts.sum() == 4
        assert found.stay == 0.25

    def test_deleted_cells_count_nothing(self) -> None:
        found = count_displacements(CITY, Traces.of([[3, 5]]), SetTraces.of_cells([[[], []]]))
        assert found.shifts.sum() == 0


class TestDisplacements:
    def test_rows_are_the_histogram_moved_and_cut(self) -> None:
        shifts = np.zeros((2, 5, 7))
        shifts[:, 2, 3], shifts[:, 2, 4], shifts[:, 3, 3] = 3.0, 1.0, 4.0
        table = Displacements(shifts, np.zeros((1, 12))).channel(CITY, uniform=0.0)
        assert np.allclose(table.sum(axis=1), 1)
        assert np.allclose(table[0, [0, 1, 4]], [3 / 8, 1 / 8, 4 / 8])
        assert np.allclose(table[3, [3, 7]], [3 / 7, 4 / 7])  # nothing lies east of the border
        assert np.allclose(table[11, 11], 1)  # the last corner

    def test_a_hospital_has_its_own_table(self) -> None:
        shifts, own = np.zeros((2, 5, 7)), np.zeros((1, 12))
        shifts[:, 2, 3], own[0, 9] = 10.0, 15.0
        table = Displacements(shifts, own).channel(CITY, uniform=0.0, kernel_weight=5.0)
        assert np.allclose(table[5, [5, 9]], [0.25, 0.75])
        assert table[6, 6] == 1

    def test_without_any_count_regions_stay(self) -> None:
        table = Displacements(np.zeros((2, 5, 7)), np.zeros((1, 12))).channel(CITY, uniform=0.12)
        assert np.allclose(table, 0.88 * np.eye(12) + 0.01)


class TestRunDefence:
    def test_sees_what_the_defence_does(self) -> None:
        reference = Traces.of(np.arange(12)[None, :].repeat(3, axis=0), Clock.regular(3, 4))
        assert run_defence(CITY, reference, "None").stay == 1
        assert run_defence(CITY, reference, "PL(4,1)", rng=1).stay < 1

    def test_unobserved_events_are_not_counted(self) -> None:
        reference = Traces.of([[0, -1, 3], [-1, -1, -1]])
        assert run_defence(CITY, reference, "None").shifts.sum() == 2

    def test_a_chain_is_a_defence(self) -> None:
        found = run_defence(CITY, Traces.of([[0, 1], [2, 3]]), "RR(8)+Cheat(0.5)", rng=1)
        assert found.shifts.sum() == 4

    def test_a_defence_that_looks_at_references_gets_the_earlier_days(self, monkeypatch) -> None:
        """And defends the later ones, as in a training on public data."""
        asked = []

        class Looking(Obfuscator):
            def _obfuscate_knowing(
                self, city: City, original: Traces, reference: Traces, rng: Rng
            ) -> SetTraces:
                asked.append((reference.regions.tolist(), original.regions.tolist()))
                return SetTraces.of_traces(Traces((original.regions + 1) % 12, original.users,
                                                  original.clock))  # fmt: skip

            def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
                return SetTraces.of_traces(original)

        monkeypatch.setattr(known, "defence_named", lambda name: Looking())
        reference = Traces.of([[0, 1, 2, -1, 0, 1]], Clock.regular(3, 2))
        found = run_defence(CITY, reference, "Looking")
        assert asked == [([[0, 1]], [[2, 0, 0, 1]])]
        assert found.shifts[0, 2, 4] == 3  # all but the unobserved one go a column to the east
        assert found.shifts.sum() == 3
        day = Traces.of([[0, 1]])
        assert run_defence(CITY, day, "Looking").stay == 1  # one day cannot be cut


class TestFirstChannel:
    def test_is_likeliest_to_stay(self) -> None:
        table = first_channel(CITY)
        assert (table.argmax(axis=1) == np.arange(12)).all()
        assert np.allclose(table.sum(axis=1), 1)


class TestExpectedReleases:
    def test_is_the_product(self) -> None:
        random = np.random.default_rng(1)
        prior = random.dirichlet(np.ones(12), size=(4, 3)).astype(np.float32)
        channel = random.dirichlet(np.ones(12), size=12).astype(np.float32)
        slow = np.einsum("utx,xy->uty", prior, channel)
        found = ExpectedReleases(prior, channel).block(0, len(prior))
        assert np.allclose(found, slow, atol=1e-6)
