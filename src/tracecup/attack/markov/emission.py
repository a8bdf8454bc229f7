"""What a released cell says about the true region: the likelihood of a cell, region by region.

The attacker does not know the mechanism; she assumes that regions move a little, or not at all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.markov.chains import Starts
from tracecup.city import City
from tracecup.kernels import kernel

NOISE_KM = 2.0
"""How far a region is assumed to move at most."""

EMISSION = (
    "what a cell says: one of its members is the truth, or (robust) a region near one; fitted = "
    "robust with eta and spread learnt from the release"
)
ETA = "robust: share of regions that were moved; fitted: where the search begins"
SPREAD = "robust: scale of the distance of moved regions, km; fitted: where the search begins"


def emission_stencil(
    city: City, emission: str = "robust", eta: float = 0.2, spread: float = 0.35, reach: float = 2.0
) -> NDArray[np.float64]:
    """kappa by grid offset (|dy|, |dx|); a cell o has f(o | x) = mean over s in o of kappa(x, s).

    `member`: 1 for the region itself. `robust`: (1 - eta) [d = 0] + eta exp(-d / spread) / Z for
    d <= 2 km, where Z sums over all offsets of an unbounded grid. Offsets beyond `reach` km are
    cut off (not renormalised), which bounds the work of a chain.

    >>> from tracecup.city import Grid
    >>> city = City(Grid.from_metres(9, 9, width_m=1000, height_m=1000))
    >>> emission_stencil(city, "member").tolist()
    [[1.0]]
    >>> stencil = emission_stencil(city, eta=0.5, spread=1.0)
    >>> whole = stencil[0, 0] + 2 * (stencil[0, 1:].sum() + stencil[1:, 0].sum())
    >>> round(float(whole + 4 * stencil[1:, 1:].sum()), 9)
    1.0
    """
    if emission == "member":
        return np.ones((1, 1))
    apart = offsets_km(city)
    noise = np.where(apart <= NOISE_KM, np.exp(-apart / spread), 0.0)
    kappa = eta * noise / (noise * copies_of_offsets(city)).sum()
    kappa[0, 0] += 1.0 - eta
    kappa[apart > reach] = 0.0
    rows, columns = np.flatnonzero(kappa[:, 0])[-1] + 1, np.flatnonzero(kappa[0])[-1] + 1
    return np.ascontiguousarray(kappa[:rows, :columns])


def offsets_km(city: City) -> NDArray[np.float64]:
    """Distances by grid offset (|dy|, |dx|), as far as noise may go in a row or a column."""
    grid = city.grid
    dy, dx = (np.arange(int(NOISE_KM / km) + 1) * km for km in (grid.km_y, grid.km_x))
    return np.asarray(np.sqrt(dy[:, None] ** 2 + dx**2))


def copies_of_offsets(city: City) -> NDArray[np.float64]:
    """How many offsets of the plane have the same (|dy|, |dx|): 1, 2 or 4; 0 beyond 2 km."""
    km = offsets_km(city)
    rows, columns = np.arange(km.shape[0])[:, None], np.arange(km.shape[1])
    copies = np.where(rows > 0, 2.0, 1.0) * np.where(columns > 0, 2.0, 1.0)
    return np.where(km <= NOISE_KM, copies, 0.0)


def smeared(city: City, beliefs: Starts, stencil: NDArray[np.float64]) -> Starts:
    """Beliefs about released regions: g_u(s) = sum_x B_u(x) kappa(x, s), rows of users."""

    def rows(low: int, high: int) -> NDArray[np.float64]:
        known = beliefs(low, high)
        out = np.zeros_like(known)
        _smear(known, stencil, city.grid.nx, out)
        return out

    return rows if stencil.size > 1 else beliefs


@kernel
def _smear(
    known: NDArray[np.float64], stencil: NDArray[np.float64], nx: int, out: NDArray[np.float64]
) -> None:
    ny = known.shape[1] // nx
    for u in range(known.shape[0]):
        for r in range(known.shape[1]):
            x, y = r % nx, r // nx
            for qy in range(max(0, y - stencil.shape[0] + 1), min(ny, y + stencil.shape[0])):
                for qx in range(max(0, x - stencil.shape[1] + 1), min(nx, x + stencil.shape[1])):
                    out[u, qy * nx + qx] += known[u, r] * stencil[abs(qy - y), abs(qx - x)]


@kernel
def cell_support(
    members: NDArray[np.int32],
    stencil: NDArray[np.float64],
    nx: int,
    ny: int,
    likelihood: NDArray[np.float64],
    support: NDArray[np.int32],
) -> int:
    """Regions with f(o | x) > 0, ascending, and how many; `likelihood` must come in as zeros.

    A deleted cell allows every region with likelihood 1.
    """
    n = 0
    if len(members) == 0:
        for r in range(nx * ny):
            likelihood[r] = 1.0
            support[r] = r
        return nx * ny
    for s in members:
        x, y = s % nx, s // nx
        for qy in range(max(0, y - stencil.shape[0] + 1), min(ny, y + stencil.shape[0])):
            row = stencil[abs(qy - y)]
            for qx in range(max(0, x - stencil.shape[1] + 1), min(nx, x + stencil.shape[1])):
                kappa = row[abs(qx - x)]
                if kappa > 0.0:
                    r = qy * nx + qx
                    if likelihood[r] == 0.0:
                        support[n] = r
                        n += 1
                    likelihood[r] += kappa / len(members)
    if len(members) > 1:
        support[:n].sort()
    return n
