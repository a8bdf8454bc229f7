from __future__ import annotations

import dataclasses

import pytest

from tracecup.attack import Case
from tracecup.city import City, Clock
from tracecup.errors import InvalidTraces
from tracecup.traces import SetTraces, Traces


class TestCase:
    def test_keeps_what_it_is_given(self, toy_city: City) -> None:
        reference, released = Traces.of([[0, -1]]), SetTraces.of_cells([[[4], []]])
        case = Case(toy_city, reference, released)
        assert (case.city, case.reference, case.released) == (toy_city, reference, released)
        assert case.n_users == 1

    def test_is_frozen(self, toy_city: City) -> None:
        case = Case(toy_city, Traces.of([[0]]), SetTraces.of_cells([[[4]]]))
        with pytest.raises(dataclasses.FrozenInstanceError):
            case.city = toy_city  # type: ignore[misc]  # the point of the test

    def test_days_may_differ(self, toy_city: City) -> None:
        reference = Traces.of([[0, 1, 2, 3]], Clock.regular(2, slots=2))
        released = SetTraces.of_cells([[[4], []]], Clock.regular(1, slots=2))
        assert Case(toy_city, reference, released).n_users == 1

    def test_rejects_another_number_of_pseudonyms(self, toy_city: City) -> None:
        with pytest.raises(InvalidTraces, match="2 users have reference traces, but 1 pseud"):
            Case(toy_city, Traces.of([[0], [1]]), SetTraces.of_cells([[[4]]]))

    def test_rejects_nobody(self, toy_city: City) -> None:
        clock = Clock.regular(1, slots=1)
        nobody = Traces.of([[0]], clock).take_users(slice(0, 0))
        with pytest.raises(InvalidTraces, match="at least one user"):
            Case(toy_city, nobody, SetTraces.of_cells([], clock))

    def test_rejects_another_clock(self, toy_city: City) -> None:
        reference = Traces.of([[0, 1]], Clock.regular(1, slots=2))
        released = SetTraces.of_cells([[[4], []]], Clock.regular(2, slots=1))
        with pytest.raises(InvalidTraces, match="2 slots a day, released ones 1"):
            Case(toy_city, reference, released)

    def test_rejects_a_reference_region_outside_the_city(self, toy_city: City) -> None:
        with pytest.raises(InvalidTraces, match=r"reference region 5 .* 0\.\.4"):
            Case(toy_city, Traces.of([[5]]), SetTraces.of_cells([[[4]]]))

    def test_rejects_a_released_region_outside_the_city(self, toy_city: City) -> None:
        with pytest.raises(InvalidTraces, match=r"released region 7 .* 0\.\.4"):
            Case(toy_city, Traces.of([[0]]), SetTraces.of_cells([[[4, 7]]]))
