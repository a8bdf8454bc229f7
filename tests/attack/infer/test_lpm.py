from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tracecup.attack import Case, LpmR, LpmT, TfR, TfT
from tracecup.attack.markov import start_rows, user_chains
from tracecup.attack.markov.emission import emission_stencil
from tracecup.attack.markov.tracking import track
from tracecup.registry import parse
from tracecup.traces import SetTraces


class TestLpmT:
    def test_follows_the_chains_of_the_linked_users(self, make_case: Callable[..., Case]) -> None:
        case = make_case(1, users=8, slots=4, gaps=0.0)
        table = LpmR("weak").identify(case)
        wanted = track(
            case.city,
            case.released,
            table,
            user_chains(case.reference, 35, "shrunk"),
            start_rows(case.reference, 35, "first"),
            emission_stencil(case.city),
        )
        inferred = LpmT().infer(case)
        assert np.array_equal(inferred.regions, wanted)
        assert inferred.users.tolist() == case.reference.users.tolist()

    def test_members_of_single_cells_are_the_truth(self, make_case: Callable[..., Case]) -> None:
        case = make_case(2, users=20, slots=5, days=4, gaps=0.0)
        same = Case(case.city, case.reference, SetTraces.of_traces(case.reference))
        inferred = LpmT(emission="member").infer(same)
        assert np.array_equal(inferred.regions, case.reference.regions)

    @pytest.mark.parametrize("how", ["bayes", "map", "viterbi"])
    def test_names_of_the_specification(self, how: str) -> None:
        assert str(parse("inference", f"lpm-t({how})")) == f"LPM-T({how})"

    def test_a_fitted_channel_serves_link_and_answer(self, make_case: Callable[..., Case]) -> None:
        case = make_case(5, users=8, gaps=0.0)
        known = LpmR(emission="fitted").fitted(case)
        wanted = LpmT(eta=known.eta, spread=known.spread).infer(case)
        assert np.array_equal(LpmT(emission="fitted").infer(case).regions, wanted.regions)


class TestTfT:
    def test_follows_the_factored_chains(self, make_case: Callable[..., Case]) -> None:
        case = make_case(3, users=8, slots=4)
        linker = TfR(2, iterations=3, start="first", match="assignment")
        table, chains = linker.identify(case, rng=4), linker.chains(case, rng=4)
        starts, stencil = start_rows(case.reference, 35, "first"), emission_stencil(case.city)
        wanted = track(case.city, case.released, table, chains, starts, stencil, "map")
        inferred = TfT(2, iterations=3, estimate="map").infer(case, rng=4)
        assert np.array_equal(inferred.regions, wanted)

    def test_gaps_are_filled_before(self, make_case: Callable[..., Case]) -> None:
        case = make_case(3, users=6, slots=4, gaps=0.3)
        linker = TfR(2, iterations=3, start="first", rounds=2, match="assignment")
        table, chains = linker.identify(case, rng=4), linker.chains(case, rng=4)
        starts, stencil = start_rows(case.reference, 35, "first"), emission_stencil(case.city)
        wanted = track(case.city, case.released, table, chains, starts, stencil)
        inferred = TfT(2, iterations=3, rounds=2).infer(case, rng=4)
        assert np.array_equal(inferred.regions, wanted)
