"""Which visits to re-label so that count vectors approach a common mean, cheapest gain first.

The count step of the 2019 winner's defence (`KMeans`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.city import Grid
from tracecup.engine import map_blocks, thread_count
from tracecup.kernels import kernel

MIN_GAIN = 1e-9
SLACK = 1e-9
BLOCK = 64


@dataclass(frozen=True)
class Moves:
    """Moves in the order in which they are worth making; one entry each.

    Relabel one visit of `user` in region `source` as region `target`: `price` is the utility
    lost, in cells; `ratio` is price per gain, the gain being the drop of |c - mu|^2.
    """

    user: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    price: NDArray[np.float64]
    ratio: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.user)

    def take(self, chosen: NDArray[np.int64]) -> Moves:
        """Some of the moves, in the given order."""
        return Moves(
            self.user[chosen],
            self.source[chosen],
            self.target[chosen],
            self.price[chosen],
            self.ratio[chosen],
        )


def improving_moves(
    counts: NDArray[np.float32],
    movable: NDArray[np.float32],
    means: NDArray[np.float64],
    labels: NDArray[np.int32],
    grid: Grid,
    reach_km: float,
    most: int,
    progress: Callable[[float, float], None] | None = None,
) -> Moves:
    """All moves that bring `counts` (m, X) nearer to the mean of their cluster, best first.

    With excess e = c - mu and deficit f = mu - c, a move from r (e_r > 0 at the start) to s
    (f_s > 0 at the start) gains 2 (e_r + f_s - 1) and costs min(1, d(r, s)/reach). Each user's
    moves are found greedily by price per gain; a move only lowers the gains of those that
    remain, so ratios never fall and one stable sort merges the users into the global greedy
    order. `movable` bounds the moves out of a region, `most` the moves of a user.
    O(moves X) time for a user at worst, O(m most) memory. Ties: smaller user, source, target.
    """
    users = len(counts)
    source = np.empty((users, most), dtype=np.int32)
    target = np.empty((users, most), dtype=np.int32)
    price, ratio = np.empty((users, most)), np.empty((users, most))
    made = np.full(users, -1, dtype=np.int64)
    prices = np.minimum(1.0, grid.offset_km / reach_km)

    def work(low: int, high: int) -> None:
        for i in range(low, high):
            mean = means[labels[i]]
            excess = counts[i] - mean
            sources = np.flatnonzero((excess > 0) & (movable[i] > 0))
            targets = np.flatnonzero(excess < 0)
            made[i] = _greedy_moves(
                sources,
                targets,
                excess[sources],
                -excess[targets],
                movable[i][sources].astype(np.int64),
                grid.x,
                grid.y,
                prices,
                source[i],
                target[i],
                price[i],
                ratio[i],
            )
        if progress is not None:
            progress(float(np.count_nonzero(made >= 0)), float(users))

    map_blocks(work, users, blocks=max(thread_count(), users // BLOCK))
    real = np.arange(most) < made[:, None]
    user = np.repeat(np.arange(users), made)
    found = Moves(user, source[real], target[real], price[real], ratio[real])
    return found.take(np.argsort(found.ratio, kind="stable"))


def cheapest_moves(
    counts: NDArray[np.float32],
    movable: NDArray[np.float32],
    means: NDArray[np.float64],
    labels: NDArray[np.int32],
    grid: Grid,
    reach_km: float,
    progress: Callable[[float, float], None] | None = None,
) -> Moves:
    """The moves that make all users of a cluster equal for the least price, cheapest first.

    The mean of a cluster is rounded to whole visits (`whole_visits`); each user's excess visits
    (as far as `movable`) go to the deficits by an optimal assignment under min(1, d/reach). Each
    move gains the same, one visit less on either side, so all users' moves are merged by price.
    O(excess^3) for a user at worst. Ties: smaller user, source, target.
    """
    from scipy.optimize import linear_sum_assignment

    wanted = np.stack([whole_visits(mean) for mean in means])
    found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]] | None]
    found = [None] * len(counts)

    def work(low: int, high: int) -> None:
        for i in range(low, high):
            over = counts[i].astype(np.int64) - wanted[labels[i]]
            source = np.repeat(
                np.arange(len(over)), np.minimum(np.maximum(over, 0), movable[i].astype(np.int64))
            )
            target = np.repeat(np.arange(len(over)), np.maximum(-over, 0))
            price = np.minimum(1.0, grid.distance(source[:, None], target[None, :]) / reach_km)
            rows, columns = linear_sum_assignment(price)
            found[i] = source[rows], target[columns], price[rows, columns]
        if progress is not None:
            progress(float(sum(one is not None for one in found)), float(len(found)))

    map_blocks(work, len(counts), blocks=max(thread_count(), len(counts) // BLOCK))
    made = [one for one in found if one is not None]
    user = np.repeat(np.arange(len(made)), [len(one[0]) for one in made])
    source, target, price = (np.concatenate([one[part] for one in made]) for part in range(3))
    order = np.lexsort((target, source, user, price))
    moves = Moves(user, source.astype(np.int32), target.astype(np.int32), price, price)
    return moves.take(order)


def whole_visits(mean: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole numbers near `mean` with the same sum, rounded down but for the largest remainders.

    >>> whole_visits(np.array([1.5, 0.75, 0.75])).tolist()
    [1, 1, 1]
    """
    whole = np.floor(mean).astype(np.int64)
    missing = round(float(mean.sum())) - int(whole.sum())
    whole[np.argsort(whole - mean, kind="stable")[:missing]] += 1
    return whole


def affordable(prices: NDArray[np.float64], budget: float) -> NDArray[np.int64]:
    """Positions of the moves to make: in order while they fit, the last ones to fill the budget.

    When a move no longer fits, the last few are taken back until the price of the dearest move
    is free, and the rest is filled with the two (or one) remaining moves that leave least, then
    with any that still fit. O(n log n).

    >>> affordable(np.array([0.5, 0.25, 0.75, 0.125, 0.5]), 1.0).tolist()
    [1, 2]
    """
    total = np.cumsum(prices)
    if not len(prices) or total[-1] <= budget + SLACK:
        return np.arange(len(prices))
    kept = int(np.searchsorted(total, budget - float(prices.max()), side="right"))
    rest = budget - float(prices[:kept].sum())
    filled = _fill(prices[kept:], rest)
    return np.concatenate([np.arange(kept), np.sort(filled) + kept])


def _fill(prices: NDArray[np.float64], rest: float) -> NDArray[np.int64]:
    """Positions of a best pair or single move within `rest`, and of the dearest that fit after."""
    by_price = np.argsort(prices, kind="stable")
    values, start, times = np.unique(prices[by_price], return_index=True, return_counts=True)
    partner = np.searchsorted(values, rest - values + SLACK, side="right") - 1
    own = (partner == np.arange(len(values))) & (times == 1)
    partner = np.where(own, partner - 1, partner)
    pair = np.where(partner >= 0, values + values[partner], np.where(values <= rest, values, 0.0))
    first = int(pair.argmax())
    chosen: list[int] = []
    if pair[first] > 0:
        chosen.append(int(by_price[start[first]]))
        second = int(partner[first])
        if second >= 0:
            chosen.append(int(by_price[start[second] + (second == first)]))
        rest -= float(pair[first])
    free = np.ones(len(prices), dtype=np.bool_)
    free[chosen] = False
    later = np.flatnonzero(free & (prices <= rest + SLACK))
    while len(later):
        best = int(later[prices[later].argmax()])
        chosen.append(best)
        rest -= float(prices[best])
        later = later[(prices[later] <= rest + SLACK) & (later != best)]
    return np.array(chosen, dtype=np.int64)


@kernel
def _greedy_moves(
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    excess: NDArray[np.float64],
    deficit: NDArray[np.float64],
    movable: NDArray[np.int64],
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    prices: NDArray[np.float64],
    out_source: NDArray[np.int32],
    out_target: NDArray[np.int32],
    out_price: NDArray[np.float64],
    out_ratio: NDArray[np.float64],
) -> int:
    """One user's moves; returns how many.

    Each source remembers its best target. Gains only fall, so what it remembers stays best until
    one of the two is used, and is then still a bound: a source is looked at again only when that
    bound is the best of all.
    """
    target_x, target_y = x[targets], y[targets]
    best = np.zeros(len(sources), dtype=np.int64)
    ratio = np.zeros(len(sources))
    stale = np.ones(len(sources), dtype=np.bool_)
    made = 0
    while made < len(out_source) and len(sources) > 0:
        first = 0
        for a in range(1, len(sources)):
            if ratio[a] < ratio[first]:
                first = a
        if ratio[first] == np.inf:
            break
        ax, ay = x[sources[first]], y[sources[first]]
        if stale[first]:
            stale[first] = False
            ratio[first] = np.inf
            if movable[first] > 0 and excess[first] > 0:
                for b in range(len(targets)):
                    gain = 2 * (excess[first] + deficit[b] - 1)
                    if deficit[b] > 0 and gain > MIN_GAIN:
                        each = prices[abs(target_y[b] - ay), abs(target_x[b] - ax)] / gain
                        if each < ratio[first]:
                            ratio[first], best[first] = each, b
            continue
        used = best[first]
        out_source[made], out_target[made] = sources[first], targets[used]
        out_price[made] = prices[abs(target_y[used] - ay), abs(target_x[used] - ax)]
        out_ratio[made] = ratio[first]
        made += 1
        excess[first] -= 1
        movable[first] -= 1
        deficit[used] -= 1
        for a in range(len(sources)):
            if a == first or best[a] == used:
                stale[a] = True
    return made
