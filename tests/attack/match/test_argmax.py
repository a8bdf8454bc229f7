from __future__ import annotations

from tracecup.attack import MatrixScores, argmax_table


class TestArgmaxTable:
    def test_users_may_repeat(self) -> None:
        assert argmax_table([[0, 1, 2], [0, 1, 2], [5, 1, 2]]).users.tolist() == [2, 2, 0]

    def test_takes_score_rows_too(self) -> None:
        assert argmax_table(MatrixScores([[0.0, 1.0], [1.0, 1.0]])).users.tolist() == [1, 0]
