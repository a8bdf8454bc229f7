from __future__ import annotations

import numpy as np
import pytest

from tracecup.attack import (
    argmax_table,
    assignment_table,
    greedy_table,
    match_table,
    soft_links,
)
from tracecup.attack.match import LINKS, MATCHES, link_one_to_one
from tracecup.errors import InvalidParameter

SCORES = np.random.default_rng(4).normal(size=(30, 30))


class TestMatchTable:
    def test_each_word_is_its_matcher(self) -> None:
        expected = [
            argmax_table(SCORES),
            greedy_table(SCORES),
            assignment_table(SCORES),
            argmax_table(soft_links(SCORES, 0.5)),
        ]
        for match, table in zip(MATCHES, expected, strict=True):
            assert match_table(SCORES, match, 0.5).users.tolist() == table.users.tolist()

    def test_another_word_is_refused(self) -> None:
        with pytest.raises(InvalidParameter, match="argmax, greedy, assignment, soft"):
            match_table(SCORES, "first")


class TestLinkOneToOne:
    @pytest.mark.parametrize("match", LINKS)
    def test_gives_every_user_once(self, match: str) -> None:
        assert link_one_to_one(SCORES, match).is_permutation

    def test_soft_maximises_the_sum_of_links(self) -> None:
        links = soft_links(SCORES, 2.0)
        best = assignment_table(links).users
        assert link_one_to_one(SCORES, "soft", 2.0).users.tolist() == best.tolist()
