from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tracecup.attack import Case, soft_links
from tracecup.attack.decision import Candidates, decide
from tracecup.errors import InvalidTraces
from tracecup.traces import IdTable, SetTraces

MakeCase = Callable[..., Case]


def _beliefs(seed: int, case: Case) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A random prior and a random channel for a case."""
    random, regions = np.random.default_rng(seed), case.city.n_regions
    shape = (case.n_users, case.released.clock.slots, regions)
    prior = random.dirichlet(np.full(regions, 0.3), size=shape[:2])
    channel = random.dirichlet(np.full(regions, 0.1), size=regions)
    return prior.astype(np.float32), channel.astype(np.float32)


def _slow_gains(
    case: Case,
    prior: NDArray[np.float32],
    candidates: Candidates,
    channel: NDArray[np.float32],
    user: int,
    event: int,
) -> tuple[NDArray[np.float64], float]:
    """Expected gain of every answer, and how much of the belief may be left out."""
    city, released = case.city, case.released
    here = prior[user, event % released.clock.slots].astype(np.float64)
    belief, rest = np.zeros(city.n_regions), 1.0
    for k, share in zip(candidates.pseudonyms[user], candidates.weights[user], strict=True):
        if k < 0:
            continue
        rest -= share
        members = released.cell(int(k), event)
        posterior = here * sum((channel[:, y].astype(np.float64) for y in members), np.zeros(1))
        belief += share * (posterior / posterior.sum() if posterior.sum() > 0 else here)
    belief += max(rest, 0.0) * here
    weight = np.where(city.is_hospital, 10.0, 1.0)
    gain = np.maximum(0.0, 1.0 - city.grid.distances / 2.0)
    weighed = belief * weight
    return weighed @ gain, float(weighed[weighed < 1e-3 * weighed.sum()].sum())


class TestCandidates:
    def test_keeps_the_heaviest_and_drops_the_light(self) -> None:
        links = np.array([[0.5, 0.005], [0.3, 0.6], [0.2, 0.395]])
        found = Candidates.of_links(links, most=2)
        assert found.pseudonyms.tolist() == [[0, 1], [1, 2]]
        assert np.allclose(found.weights, [[0.5, 0.3], [0.6, 0.395]])

    def test_nobody_is_sure_of_anything(self) -> None:
        found = Candidates.of_links(np.full((200, 200), 1 / 200))
        assert found.pseudonyms.shape == (200, 1)
        assert (found.pseudonyms == -1).all()
        assert (found.weights == 0).all()

    def test_a_table_gives_every_user_her_pseudonym(self) -> None:
        found = Candidates.of_table(IdTable.of([2, 0, 1]))
        assert found.pseudonyms.tolist() == [[1], [2], [0]]
        assert (found.weights == 1).all()


class TestDecide:
    @pytest.mark.parametrize("seed", range(6))
    def test_no_answer_has_a_larger_expected_gain(self, make_case: MakeCase, seed: int) -> None:
        case = make_case(seed, users=5, nx=9, ny=8, slots=3, days=2)
        prior, channel = _beliefs(seed, case)
        scores = np.random.default_rng(seed).normal(size=(5, 5))
        candidates = Candidates.of_links(soft_links(scores), most=3)
        answers = decide(case.city, prior, candidates, channel, case.released)
        for user in range(5):
            for event in range(case.released.times):
                gains, left_out = _slow_gains(case, prior, candidates, channel, user, event)
                assert gains[answers[user, event]] >= gains.max() - left_out - 1e-5

    def test_without_candidates_the_prior_decides(self, make_case: MakeCase) -> None:
        case = make_case(3, users=4, nx=9, ny=8)
        prior, channel = _beliefs(3, case)
        nobody = Candidates.nobody(4)
        answers = decide(case.city, prior, nobody, channel, case.released)
        slots = case.released.clock.slots
        assert (answers[:, :slots] == answers[:, slots:]).all()

    def test_a_sure_link_through_an_honest_channel_is_copied(self, make_case: MakeCase) -> None:
        case = make_case(4, users=6, nx=9, ny=8, sizes=(1,))
        prior, _ = _beliefs(4, case)
        honest = np.eye(case.city.n_regions, dtype=np.float32)
        table = IdTable.of([3, 1, 0, 2, 5, 4])
        answers = decide(case.city, prior, Candidates.of_table(table), honest, case.released)
        assert (answers == case.released.as_traces().regions[table.inverse()]).all()

    def test_a_deleted_cell_says_nothing(self, make_case: MakeCase) -> None:
        case = make_case(5, users=4, nx=9, ny=8, sizes=(0,))
        prior, channel = _beliefs(5, case)
        sure = Candidates.of_table(IdTable.of(range(4)))
        nobody = Candidates.nobody(4)
        answers = [decide(case.city, prior, c, channel, case.released) for c in (sure, nobody)]
        assert (answers[0] == answers[1]).all()

    def test_a_set_is_the_sum_of_its_members(self, make_case: MakeCase) -> None:
        """Two regions that one region is released as, half and half, tell as much as both."""
        case = make_case(6, users=1, nx=9, ny=8, slots=1, days=1)
        prior = np.full((1, 1, 72), 1 / 72, dtype=np.float32)
        channel = np.zeros((72, 72), dtype=np.float32)
        channel[40, [1, 2]] = 0.5
        channel[50, [1, 3]] = 0.4, 0.6
        cells = SetTraces.of_cells([[[1, 2]]])
        sure = Candidates.of_table(IdTable.of([0]))
        plain = type(case.city)(case.city.grid)  # no hospitals
        assert decide(plain, prior, sure, channel, cells).tolist() == [[40]]

    def test_apart_a_set_is_the_mean_of_what_its_members_say(self, make_case: MakeCase) -> None:
        """So that a factor of each column of the channel plays no part."""
        case = make_case(9, users=5, nx=9, ny=8, sizes=(0, 1, 2, 4))
        prior, channel = _beliefs(9, case)
        channel += np.float32(1e-4)
        factors = 10 ** np.random.default_rng(9).uniform(-2, 2, 72).astype(np.float32)
        sure = Candidates.of_table(IdTable.of(range(5)))

        def answers(table: NDArray[np.float32], apart: bool) -> list[list[int]]:
            return decide(case.city, prior, sure, table, case.released, apart=apart).tolist()

        assert answers(channel, True) == answers(channel * factors, True)
        assert answers(channel, False) != answers(channel * factors, False)
        single = make_case(9, users=5, nx=9, ny=8, sizes=(0, 1))
        both = [
            decide(single.city, prior, sure, channel, single.released, apart=apart)
            for apart in (False, True)
        ]
        assert np.array_equal(*both)
        means = np.zeros((5, case.released.times, 72))
        for user in range(5):
            for event in range(case.released.times):
                here = prior[user, event % case.released.clock.slots].astype(np.float64)
                members = case.released.cell(user, event)
                each = [here * channel[:, y] / (here * channel[:, y]).sum() for y in members]
                means[user, event] = np.mean(each, axis=0) if each else here
        weight = np.where(case.city.is_hospital, 10.0, 1.0)
        gains = (means * weight) @ np.maximum(0.0, 1.0 - case.city.grid.distances / 2.0)
        found = np.array(answers(channel, True))
        got = np.take_along_axis(gains, found[..., None], axis=2)[..., 0]
        weighed = means * weight
        small = weighed < 1e-3 * weighed.sum(axis=2, keepdims=True)
        left_out = np.where(small, weighed, 0).sum(axis=2)
        assert (got >= gains.max(axis=2) - left_out - 1e-5).all()

    def test_threads_change_nothing(
        self, make_case: MakeCase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case(7, users=70, nx=9, ny=8)
        prior, channel = _beliefs(7, case)
        candidates = Candidates.of_links(soft_links(np.random.default_rng(7).normal(size=(70, 70))))
        found = []
        for threads in ("1", "2", "5"):
            monkeypatch.setenv("TRACECUP_THREADS", threads)
            found.append(decide(case.city, prior, candidates, channel, case.released).tobytes())
        assert found[0] == found[1] == found[2]

    def test_refuses_what_does_not_fit(self, make_case: MakeCase) -> None:
        case = make_case(8, users=4, nx=9, ny=8)
        prior, channel = _beliefs(8, case)
        nobody = Candidates.nobody(4)
        with pytest.raises(InvalidTraces, match="do not fit"):
            decide(case.city, prior[:3], nobody, channel, case.released)
        with pytest.raises(InvalidTraces, match="do not fit"):
            decide(case.city, prior, Candidates.nobody(3), channel, case.released)
        far = Candidates(np.full((4, 1), 4, dtype=np.int32), np.ones((4, 1), dtype=np.float32))
        with pytest.raises(InvalidTraces, match="do not fit"):
            decide(case.city, prior, far, channel, case.released)
