import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracecup.obfuscate.grouping import similar_groups


class TestSimilarGroups:
    @given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 5))
    def test_everybody_is_in_one_group_of_nearly_equal_size(self, users, size, seed):
        points = np.random.default_rng(seed).normal(size=(users, 3))
        groups = similar_groups(points, size)
        assert sorted(np.concatenate(groups).tolist()) == list(range(users))
        sizes = [len(group) for group in groups]
        assert max(sizes) - min(sizes) <= 1
        assert len(groups) == max(1, round(users / size))

    def test_clusters_stay_together(self):
        points = np.repeat([[0.0, 0.0], [10.0, 0.0], [0.0, 20.0], [10.0, 20.0]], 3, axis=0)
        mixed = np.random.default_rng(1).permutation(12)
        groups = similar_groups(points[mixed], 3)
        assert all(len(np.unique(points[mixed][group], axis=0)) == 1 for group in groups)

    def test_equal_points_are_cut_in_order(self):
        assert [g.tolist() for g in similar_groups(np.zeros((4, 2)), 2)] == [[0, 1], [2, 3]]
