"""Whether two teams get different virtual users: Same-TV against Diff-TV, on both scales.

The text compares total variations across teams, the published program squared distances.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from tracecup.errors import InvalidTraces
from tracecup.usefulness.daytraces import DayTraces
from tracecup.usefulness.metric import Metric

PAIRS = 1000
SEED = 1
BAR = 0.1

SAME_TV = Metric(
    "Same-TV", "maximise", 0, 1, "", "distance of one user between two teams; Diff-TV is best"
)
DIFF_TV = Metric("Diff-TV", "maximise", 0, 1, "", "distance of two different users")
SAME_L2 = Metric("Same-L2", "maximise", 0, 2, "", "squared distance of one user between two teams")
DIFF_L2 = Metric("Diff-L2", "maximise", 0, 2, "", "squared distance of two users of a team")

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Distances of the same user and of different users, pair by pair, on one scale.

    `same_bar` and `diff_bar` are the published error bars, 0.1 population standard deviations;
    `t` and `p_value` belong to the two-sided paired t-test of Same against Diff.
    """

    same_metric: Metric
    diff_metric: Metric
    same: Floats
    diff: Floats

    @property
    def same_mean(self) -> float:
        """Mean distance between a user's two teams."""
        return float(self.same.mean())

    @property
    def diff_mean(self) -> float:
        """Mean distance between different users."""
        return float(self.diff.mean())

    @property
    def same_bar(self) -> float:
        """Error bar of `same_mean`."""
        return BAR * float(self.same.std())

    @property
    def diff_bar(self) -> float:
        """Error bar of `diff_mean`."""
        return BAR * float(self.diff.std())

    @property
    def t(self) -> float:
        """mean(same - diff) / (sample standard deviation / sqrt(pairs))."""
        gap = self.same - self.diff
        spread = float(gap.std(ddof=1)) if len(gap) > 1 else math.nan
        if spread == 0:
            return math.copysign(math.inf, gap[0]) if gap[0] else 0.0
        return float(gap.mean()) / (spread / math.sqrt(len(gap)))

    @property
    def p_value(self) -> float:
        """Two-sided p-value of `t` with pairs - 1 degrees of freedom; nan for a single pair."""
        return float(2 * special.stdtr(len(self.same) - 1, -abs(self.t)))

    def __str__(self) -> str:
        return (
            f"{self.same_metric.name} {self.same_mean:.4f} ± {self.same_bar:.4f}, "
            f"{self.diff_metric.name} {self.diff_mean:.4f} ± {self.diff_bar:.4f} "
            f"(t = {self.t:.2f}, p = {self.p_value:.3g}, {len(self.same)} pairs)"
        )


@dataclass(frozen=True, eq=False)
class Diversity:
    """Same against Diff on the text's scale and on the published program's."""

    text: Comparison
    program: Comparison


def diversity(
    team: DayTraces, other_team: DayTraces, pairs: int | None = None, seed: int = SEED
) -> Diversity:
    """Same-TV and Diff-TV between two teams' synthetic users, with d[u] = share of each location
    over all days of user u.

    2 * `pairs` users are drawn without replacement (Python's `random`, `seed`); u is the i-th,
    v the (pairs + i)-th. Text: Same = TV(d1[u], d2[u]), Diff = TV(d1[u], d2[v]). Program:
    squared Euclidean distances, and Diff within the first team, |d1[u] - d1[v]|^2. By default
    1000 pairs, or half the users where there are fewer than 2000. O(records of those users).

    >>> two = DayTraces.of([[[0, 0]], [[1, 1]]], n_locations=2)
    >>> found = diversity(two, two).text
    >>> found.same_mean, found.diff_mean
    (0.0, 1.0)
    """
    if (team.n_users, team.n_locations) != (other_team.n_users, other_team.n_locations):
        raise InvalidTraces(
            f"two teams need as many users and locations as each other, got {team.n_users} users "
            f"and {team.n_locations} locations, {other_team.n_users} and {other_team.n_locations}"
        )
    count = min(PAIRS, team.n_users // 2) if pairs is None else pairs
    if not 1 <= count <= team.n_users // 2:
        raise InvalidTraces(f"{team.n_users} users make 1..{team.n_users // 2} pairs, got {count}")
    drawn = random.Random(seed).sample(range(team.n_users), 2 * count)
    here, there = np.array(drawn[:count]), np.array(drawn[count:])
    d1, d2 = _shares(team, here), _shares(other_team, here)
    text = Comparison(SAME_TV, DIFF_TV, _tv(d1, d2), _tv(d1, _shares(other_team, there)))
    program = Comparison(SAME_L2, DIFF_L2, _squared(d1, d2), _squared(d1, _shares(team, there)))
    return Diversity(text, program)


def _shares(traces: DayTraces, users: NDArray[np.int64]) -> sparse.csr_array:
    """Distribution of the chosen users over locations, all days together, sparse rows."""
    flat = traces.locations[users].reshape(len(users), -1)
    row, event = np.nonzero(flat >= 0)
    total = np.bincount(row, minlength=len(users))
    if not total.all():
        raise InvalidTraces(f"user {int(users[total == 0][0])} has no observed location")
    cells = (1.0 / total[row], (row, flat[row, event]))
    return sparse.coo_array(cells, shape=(len(users), traces.n_locations)).tocsr()


def _tv(p: sparse.csr_array, q: sparse.csr_array) -> Floats:
    return 0.5 * np.asarray(abs(p - q).sum(axis=1)).ravel()


def _squared(p: sparse.csr_array, q: sparse.csr_array) -> Floats:
    return np.asarray((p - q).power(2).sum(axis=1)).ravel()
