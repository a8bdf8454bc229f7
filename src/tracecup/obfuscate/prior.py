"""What a mechanism takes for known beforehand: how often each region is visited.

Shared by the mechanisms that are built for a prior.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.registry import parameter
from tracecup.traces import Traces
from tracecup.traces.counts import slot_counts

PRIORS = "visit shares of all users together are taken as public"


def prior_parameter() -> Any:
    """The parameter `prior` of a method."""
    return parameter(
        "visits",
        "the prior: visit shares of the traces themselves, or none",
        words=("visits", "uniform"),
        positional=False,
    )


def region_shares(original: Traces, n_regions: int, prior: str) -> NDArray[np.float64]:
    """pi(x), shape (regions,): shares of all users' visits, or uniform.

    >>> region_shares(Traces.of([[0, 2, 2, 2]]), 4, "visits").tolist()
    [0.25, 0.0, 0.75, 0.0]
    """
    if prior == "uniform":
        return np.full(n_regions, 1.0 / n_regions)
    visits = slot_counts(original, n_regions).sum(axis=0)
    shares: NDArray[np.float64] = visits / visits.sum()
    return shares
