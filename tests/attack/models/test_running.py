from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tracecup.attack.models.running import RECORDS, Running, enter


def shown(scores: list[float]) -> Running:
    running = Running.of(1)
    for user, score in enumerate(scores):
        enter(running.users[0], running.scores[0], running.counts, 0, user, score)
    return running


class TestRunning:
    @given(st.lists(st.integers(-12, 12), min_size=1, max_size=40))
    def test_the_smallest_within_the_tie_of_the_maximum(self, steps: list[int]) -> None:
        scores = [5.0 + 4e-10 * step for step in steps]
        running = shown(scores)
        wanted = next(u for u, s in enumerate(scores) if s >= max(scores) - 1e-9)
        assert running.undecided().size == 0
        assert running.best().tolist() == [wanted]

    def test_more_candidates_than_are_kept_are_told(self) -> None:
        chain = [5.0 + 1e-11 * k for k in range(RECORDS + 1)]
        assert shown(chain).undecided().tolist() == [0]
        assert shown(chain[:-1]).undecided().tolist() == []
