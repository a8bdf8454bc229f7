"""Reference traces with gaps: what users did while nobody looked, by Gibbs sampling.

After the knowledge construction of Shokri et al., S&P 2011, with the matrix integrated out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tracecup.attack.case import Case
from tracecup.attack.markov.chains import PRIOR, Chains, Moves, estimate
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.rng import Rng, generator
from tracecup.traces import Traces, transition_counts

WARM_UP = 4
"""A fourth of the rounds is left out before moves are counted."""


ROUNDS = "rounds of Gibbs sampling if the reference has gaps; 0 = only moves that were seen"
KEEP = "share of the reference that is used, drawn at random; the rest becomes gaps"


def thinned(reference: Traces, keep: float, rng: Rng = None) -> Traces:
    """The reference with each event kept with probability `keep`, else unobserved.

    >>> thinned(Traces.of([[4, 2, 4, 2]]), 0.5, rng=1).regions.tolist()
    [[-1, -1, 4, -1]]
    """
    if keep >= 1.0:
        return reference
    kept = generator(rng).random(reference.shape) < keep
    return Traces(np.where(kept, reference.regions, -1), reference.users, reference.clock)


def thinned_case(case: Case, keep: float, rng: Rng = None) -> Case:
    """The case with the part `keep` of the reference."""
    return Case(case.city, thinned(case.reference, keep, rng), case.released)


def imputed_chains(
    reference: Traces,
    n_regions: int,
    estimator: str = "shrunk",
    b: float = 20.0,
    rounds: int = 16,
    rng: Rng = None,
) -> Chains:
    """`user_chains` from traces with gaps, filled by Gibbs sampling (`lpm` and `shrunk`).

    The unseen regions of a user are drawn again and again, one by one, given all the others: with
    her other moves c and the estimator's background Q of weight `mass` (b for `shrunk`, 0.01 for
    `lpm`), region x between a and b has probability

        ~ (c(a,x) + mass Q(a,x)) (c(x,b) + mass Q(x,b)) / (c(x) + mass),

    (the move a -> x counts in the second factor), which is Gibbs sampling of locations and a
    Dirichlet matrix with the matrix integrated out; at
    the ends of a day a factor is missing. Her moves are averaged over the rounds but the first
    fourth. Traces without gaps, no rounds, and `floor` (no prior) give `user_chains`. O(users x
    rounds x (gaps x X + X^2)) and two X x X tables of counts per thread.
    """
    pool = transition_counts(reference, n_regions)
    base = estimate(Moves.of_traces(reference, n_regions), pool, estimator, b)
    if not reference.has_gaps or rounds == 0 or estimator == "floor":
        return base
    mass = PRIOR if estimator == "lpm" else b
    crowd = mass * (base.left @ base.right.T + base.extra.toarray())
    seeds = generator(rng).integers(1 << 62, size=reference.n_users)
    first = [np.flatnonzero(row < 0) for row in reference.regions]

    def work(low: int, high: int) -> list[sparse.coo_array]:
        counts = np.zeros((n_regions, n_regions))
        total = np.zeros((n_regions, n_regions))
        found = []
        for u in range(low, high):
            row = reference.regions[u].copy()
            uniform = np.random.default_rng(seeds[u]).random((rounds + 1, len(first[u])))
            _impute(row, first[u], reference.clock.slots, crowd, mass, uniform, counts, total)
            found.append(sparse.coo_array(total))
            counts[:], total[:] = 0.0, 0.0
        return found

    parts = [part for block in map_blocks(work, reference.n_users) for part in block]
    user = np.repeat(np.arange(len(parts)), [part.nnz for part in parts])
    column = np.concatenate([part.row.astype(np.int64) * n_regions + part.col for part in parts])
    data = np.concatenate([part.data for part in parts])
    shape = (reference.n_users, n_regions**2)
    moves = Moves.of_counts(sparse.csr_array((data, (user, column)), shape=shape), n_regions)
    return estimate(moves, pool, estimator, b)


@kernel
def _impute(
    row: NDArray[np.int32],
    gaps: NDArray[np.int64],
    slots: int,
    crowd: NDArray[np.float64],
    mass: float,
    uniform: NDArray[np.float64],
    counts: NDArray[np.float64],
    total: NDArray[np.float64],
) -> None:
    """Fill the gaps of one trace `len(uniform)` times; `total` becomes the mean of its moves.

    The first round puts regions in where there were none; moves to or from a gap that is still
    open count for nothing.
    """
    n_regions = crowd.shape[0]
    leaves = np.zeros(n_regions)
    share = np.empty(n_regions)
    for t in range(len(row)):
        if (t + 1) % slots > 0 and row[t] >= 0 and row[t + 1] >= 0:
            counts[row[t], row[t + 1]] += 1.0
            leaves[row[t]] += 1.0
    rounds = len(uniform) - 1
    used = 0
    for step in range(len(uniform)):
        for g in range(len(gaps)):
            t = gaps[g]
            a = row[t - 1] if t % slots > 0 else -1
            b = row[t + 1] if (t + 1) % slots > 0 else -1
            _add_place(row[t], a, b, -1.0, counts, leaves)
            mass_so_far = 0.0
            for x in range(n_regions):
                weight = 1.0
                if a >= 0:
                    weight *= counts[a, x] + crowd[a, x]
                if b >= 0:
                    again = 1.0 if x == a else 0.0
                    there = counts[x, b] + crowd[x, b] + (again if x == b else 0.0)
                    weight *= there / (leaves[x] + again + mass)
                mass_so_far += weight
                share[x] = mass_so_far
            x = min(np.searchsorted(share, uniform[step, g] * mass_so_far), n_regions - 1)
            row[t] = x
            _add_place(row[t], a, b, 1.0, counts, leaves)
        if step > 0 and step > rounds // WARM_UP:
            used += 1
            total += counts
    if used > 0:
        total /= used
    else:
        total += counts


@kernel
def _add_place(
    x: int,
    a: int,
    b: int,
    amount: float,
    counts: NDArray[np.float64],
    leaves: NDArray[np.float64],
) -> None:
    """Count, or take back, the moves a -> x -> b of a region x that was put in."""
    if x < 0:
        return
    if a >= 0:
        counts[a, x] += amount
        leaves[a] += amount
    if b >= 0:
        counts[x, b] += amount
        leaves[x] += amount
