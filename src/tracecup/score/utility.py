"""The utility score s_U: how near the obfuscated cells stay to the original regions.

Paper, Section 3.4; the organisers' program clips each member of a set before averaging.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.kernels import kernel
from tracecup.score.intervals import CONFIDENCE, mean_interval
from tracecup.score.result import Score
from tracecup.traces import SetTraces, Traces

FLOOR = 0.7
REACH_KM = 2.0
FLOOR_TOLERANCE = 1e-9

Rule = Literal["paper", "organisers"]


@dataclass(frozen=True, repr=False)
class UtilityScore(Score):
    """s_U, and whether it reaches the floor."""

    floor: float = FLOOR

    @property
    def valid(self) -> bool:
        """Whether a release with this utility is valid."""
        return is_valid(self.value, self.floor)


def is_valid(utility: float, floor: float = FLOOR) -> bool:
    """The one rule of validity: s_U >= floor - 1e-9 (files at exactly 0.7 exist).

    >>> is_valid(0.7), is_valid(0.6999)
    (True, False)
    """
    return utility >= floor - FLOOR_TOLERANCE


def check_floor(floor: float | None) -> None:
    """`InvalidParameter` for what no utility can be measured against; None asks for no floor."""
    if floor is not None and not 0 <= floor <= 1:
        raise InvalidParameter(f"floor must be a number >= 0 and <= 1, got {floor}")


def utility_score(
    city: City,
    original: Traces,
    obfuscated: SetTraces,
    *,
    rule: Rule = "paper",
    reach_km: float = REACH_KM,
    floor: float = FLOOR,
    confidence: float = CONFIDENCE,
) -> UtilityScore:
    """s_U = mean over all cells of g(alpha), g(alpha) = max(0, 1 - alpha / reach_km).

    alpha[i, j] is the mean distance (km) from the original region to the members of the cell,
    with multiplicity, and infinite for a deleted cell. `rule="organisers"` averages
    max(0, 1 - d / reach_km) over the members instead, as the published program does; both agree
    where all members are within reach. O(total number of regions in the cells).
    """
    check_originals(city, original)
    if original.shape != obfuscated.shape:
        raise InvalidTraces(
            f"original traces are {original.shape}, obfuscated ones {obfuscated.shape}"
        )
    if rule not in ("paper", "organisers"):
        raise InvalidParameter(f"rule must be 'paper' or 'organisers', got {rule!r}")
    if not 0 < reach_km < float("inf"):
        raise InvalidParameter(f"reach_km must be a finite number > 0, got {reach_km}")
    flat = obfuscated.regions
    if flat.size and int(flat.max()) >= city.n_regions:
        raise InvalidTraces(f"obfuscated region {int(flat.max())} is not in the city (0-based)")
    grid, offsets = city.grid, obfuscated.offsets
    per_user = np.empty(original.n_users)

    def work(low: int, high: int) -> None:
        _utility_per_user(
            original.regions[low:high],
            offsets[low * original.times :],
            flat,
            grid.x,
            grid.y,
            grid.offset_km / reach_km,
            rule == "paper",
            per_user[low:high],
        )

    map_blocks(work, original.n_users)
    return UtilityScore(
        "s_U", float(per_user.mean()), per_user, mean_interval(per_user, confidence), floor=floor
    )


def check_originals(city: City, original: Traces) -> None:
    """Originals of a contest are complete, not empty and inside the city."""
    regions = original.regions
    if regions.size == 0:
        raise InvalidTraces("original traces without any event have no score")
    if original.has_gaps:
        i, j = np.argwhere(regions < 0)[0]
        raise InvalidTraces(
            f"original traces have no gaps, but user {original.users[i]} has none at event {j + 1}"
        )
    if int(regions.max()) >= city.n_regions:
        raise InvalidTraces(
            f"original region {int(regions.max())} is not within 0..{city.n_regions - 1} (0-based)"
        )


@kernel
def _utility_per_user(
    original: NDArray[np.int32],
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    scaled: NDArray[np.float64],
    average_first: bool,
    per_user: NDArray[np.float64],
) -> None:
    """per_user[i] = mean of g over the cells of user i; `scaled` is offset_km / reach."""
    times = original.shape[1]
    for i in range(original.shape[0]):
        total = 0.0
        for j in range(times):
            low, high = offsets[i * times + j], offsets[i * times + j + 1]
            if high == low:
                continue
            home_x, home_y = x[original[i, j]], y[original[i, j]]
            cell = 0.0
            for k in range(low, high):
                d = scaled[abs(y[regions[k]] - home_y), abs(x[regions[k]] - home_x)]
                cell += d if average_first else max(0.0, 1.0 - d)
            cell /= high - low
            total += max(0.0, 1.0 - cell) if average_first else cell
        per_user[i] = total / times
