"""Population and transitions of releases: cells may be deleted or hold several regions.

The same TP-TV-Top50 and TM-EMD as for synthesizers, against the original traces.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from tracecup.city import City
from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel
from tracecup.traces import SetTraces, Traces, slot_counts, transition_counts
from tracecup.usefulness.cells import distinct_cells
from tracecup.usefulness.metric import Measurement
from tracecup.usefulness.timepopulation import TOP, normalised, tp_tv_top50
from tracecup.usefulness.transitions import stochastic, tm_emd


def release_tp_tv_top50(
    city: City, original: Traces, released: Traces | SetTraces, top: int = TOP
) -> Measurement:
    """TP-TV-Top50 between original and released traces, over the times of day.

    For each slot of the day the distribution over regions, all users and days together; the
    `top` regions most frequent in the original count (ties in expectation). Users may be
    shuffled. O(regions in the cells).
    """
    _check(city, original, released)
    truth = release_population(original, city.n_regions)
    return tp_tv_top50(truth, release_population(released, city.n_regions), top)


def release_tm_emd(
    city: City,
    original: Traces,
    released: Traces | SetTraces,
    directions: ArrayLike | None = None,
) -> Measurement:
    """TM-EMD between original and released traces, in grid cells (50 directions, all rows)."""
    _check(city, original, released)
    cells = np.column_stack([city.grid.x, city.grid.y])
    truth = release_transitions(original, city.n_regions)
    return tm_emd(truth, [release_transitions(released, city.n_regions)], cells, directions)


def release_population(traces: Traces | SetTraces, n_regions: int) -> NDArray[np.float64]:
    """Share of each region at each time of day, shape (1, slots, regions).

    A generalised cell spreads its unit mass evenly, a deleted one has none; a slot in which
    everything is deleted is uniform.
    """
    if isinstance(traces, Traces):
        return normalised(slot_counts(traces, n_regions))[None]
    mass = np.zeros((traces.clock.slots, n_regions))
    _add_cells(traces.offsets, traces.regions, mass)
    return normalised(mass)[None]


def release_transitions(traces: Traces | SetTraces, n_regions: int) -> sparse.csr_array:
    """Pooled transition matrix (regions, regions) of steps within a day; empty rows self-loop.

    A step from a cell of s regions to one of s' adds 1/(s s') to each pair; steps from or to a
    deleted cell add nothing. Equal cells are counted once: with S (distinct cells x regions)
    their even spreads and C the counts of steps between them, the sum is S^T C S.
    """
    if isinstance(traces, Traces):
        return stochastic(transition_counts(traces, n_regions))
    if not traces.regions.size:
        return stochastic(sparse.csr_array((n_regions, n_regions)))
    kind, first = distinct_cells(traces.offsets, traces.regions)
    kind = kind.reshape(traces.n_users, traces.clock.days, traces.clock.slots)
    before, after = kind[:, :, :-1].ravel(), kind[:, :, 1:].ravel()
    seen = (before >= 0) & (after >= 0)
    pairs = (np.ones(int(seen.sum())), (before[seen], after[seen]))
    steps = sparse.coo_array(pairs, shape=(len(first), len(first))).tocsr()
    sizes = traces.offsets[first + 1] - traces.offsets[first]
    members = np.concatenate([[0], np.cumsum(sizes)])
    at = np.arange(members[-1]) + np.repeat(traces.offsets[first] - members[:-1], sizes)
    shares = (np.repeat(1.0 / sizes, sizes), traces.regions[at], members)
    spread = sparse.csr_array(shares, shape=(len(first), n_regions))
    return stochastic(sparse.csr_array(spread.T @ (steps @ spread)))


def _check(city: City, original: Traces, released: Traces | SetTraces) -> None:
    if original.regions.size == 0:
        raise InvalidTraces("original traces without any event cannot be compared with")
    if original.clock.slots != released.clock.slots:
        raise InvalidTraces(
            f"original traces have {original.clock.slots} slots a day, "
            f"released ones {released.clock.slots}"
        )
    for regions in (original.regions, released.regions):
        if regions.size and int(regions.max()) >= city.n_regions:
            raise InvalidTraces(f"region {int(regions.max())} (0-based) is not in the city")


@kernel
def _add_cells(
    offsets: NDArray[np.int64], regions: NDArray[np.int32], mass: NDArray[np.float64]
) -> None:
    for k in range(len(offsets) - 1):
        low, high = offsets[k], offsets[k + 1]
        for e in range(low, high):
            mass[k % mass.shape[0], regions[e]] += 1.0 / (high - low)
