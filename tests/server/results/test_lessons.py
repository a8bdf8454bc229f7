"""What to learn: each sentence holds for a board that was worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tracecup.contest.correlation import Correlation
from tracecup.facts.board import AttackerFacts, BoardFacts, MatrixFacts, MatrixRow, ReleaseFacts
from tracecup.server.results.lessons import lessons

ATTACKERS = (AttackerFacts("001", "Ann"), AttackerFacts("I1", "", "VisitProb-R", sample=True))


def correlated(r: float) -> Correlation:
    return Correlation(r, None, None, 3, 0.95, "below four pairs")


@pytest.fixture
def board() -> BoardFacts:
    """Two releases: the sample attack is the strongest on the first, Ann on the second."""
    rows = (
        MatrixRow("001", "Ann", (None, 0.8), 0.8),
        MatrixRow("002", "Bob", (0.2, 0.4), 0.2),
        MatrixRow("000", "", (0.0, 0.0), 0.0, benchmark=True),
    )
    releases = (
        ReleaseFacts("001", "Ann", utility=0.75, reid_min=0.8, trace_min=0.6, place=1, ceiling=0.5),
        ReleaseFacts("002", "Bob", utility=0.9, reid_min=0.2, trace_min=0.3, place=2, ceiling=0.5),
    )
    return BoardFacts((), releases, (MatrixFacts("reid", ATTACKERS, rows),), correlated(0.1))


class TestLessons:
    def test_the_winner_first(self, board):
        assert lessons(board, 0.7)[0] == (
            "Ann came first with a utility of 0.750; the floor is 0.7. Under the strongest "
            "attacks its privacy was 0.800 against re-identification and 0.600 against trace "
            "inference."
        )

    def test_how_often_public_attacks_were_enough(self, board):
        assert any(said.startswith("In 1 of 2 cases no team") for said in lessons(board, 0.7))

    def test_who_was_the_strongest(self, board):
        row = MatrixRow("003", "Cyd", (0.1, 0.9), 0.1)
        more = replace(board.reid, rows=(*board.reid.rows, row))
        said = lessons(replace(board, matrices=(more,)), 0.7)
        assert "s_R: Ann was the strongest attacker of 2 of 3 releases." in said

    @pytest.mark.parametrize(
        ("r", "words"), [(0.1, "hardly go together"), (0.5, "in part"), (0.9, "also hid where")]
    )
    def test_what_the_correlation_says(self, board, r, words):
        said = lessons(replace(board, correlation=correlated(r)), 0.7)
        assert any(words in one and f"R = {r:.2f}" in one for one in said)

    def test_what_weak_attacks_left_is_no_merit(self, board):
        assert any(said.startswith("1 release scores above") for said in lessons(board, 0.7))

    def test_a_board_without_releases_teaches_nothing(self):
        assert (
            lessons(
                BoardFacts((), (), (), Correlation(None, None, None, 0, 0.95, "no releases")), 0.7
            )
            == []
        )
