"""The published split of users and the chains of the people-flow data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.datasets.splitting import keep_chains, split_users
from tracecup.errors import InvalidParameter


class TestSplitUsers:
    def test_a_fifth_rounded_down_tests(self):
        training, testing = split_users(19)
        assert (len(training), len(testing)) == (16, 3)

    def test_parts_are_ascending_and_apart(self):
        training, testing = split_users(1532, 500, 500)
        assert (np.diff(training) > 0).all()
        assert (np.diff(testing) > 0).all()
        assert not set(training) & set(testing)

    def test_legacy_shuffle_of_ten(self):
        # numpy.random.seed(1); a = arange(10); shuffle(a) gives 2 9 6 4 0 3 1 7 8 5.
        training, testing = split_users(10, 4, 3)
        assert training.tolist() == [2, 4, 6, 9]
        assert testing.tolist() == [0, 1, 3]

    def test_published_user_index_files_come_out(self, data_dir):
        """Of 1532 users with a chain, the published files hold these 500 and 500, in id order.

        Only which of the chosen users train is visible in the files: a string of 1000 letters,
        which only the right shuffle of the right number of users gives.
        """
        folder = data_dir / "ppmtfplus_pf"
        ids = {}
        for letter in "te":
            table = np.loadtxt(folder / f"{letter}userindex_TK.csv", delimiter=",", skiprows=1)
            ids[letter] = table[:, 0]
        published = [k in set(ids["t"]) for k in sorted([*ids["t"], *ids["e"]])]
        training, testing = split_users(1532, 500, 500)
        ours = [k in set(training) for k in sorted([*training, *testing])]
        assert ours == published

    @pytest.mark.parametrize(
        "wanted", [(10, 8, 3), (10, -1, None), (10, 11, None), (-1, None, None)]
    )
    def test_more_users_than_there_are(self, wanted):
        with pytest.raises(InvalidParameter):
            split_users(*wanted)


class TestKeepChains:
    def test_hand_made_chain(self):
        instant = np.array([1, 0, 0, 2, 1, 2, 5, 0, 1], dtype=np.int32)
        user = np.array([7, 7, 7, 7, 7, 7, 7, 9, 9])
        kept = keep_chains(user, instant, 3)
        assert kept.tolist() == [False, True, False, False, True, True, False, False, False]

    @given(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=40), st.integers(1, 4)
    )
    def test_agrees_with_the_rule_spelled_out(self, pairs, length):
        pairs = sorted(pairs, key=lambda pair: pair[0])
        user = np.array([u for u, _ in pairs], dtype=np.int64)
        instant = np.array([i for _, i in pairs], dtype=np.int32)
        chains: dict[int, list[int]] = {}
        for row, (u, i) in enumerate(pairs):
            chain = chains.setdefault(u, [])
            if len(chain) < length and i == len(chain):
                chain.append(row)
        expected = {row for chain in chains.values() if len(chain) == length for row in chain}
        assert set(np.flatnonzero(keep_chains(user, instant, length))) == expected
