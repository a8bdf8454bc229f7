"""POI accuracy: would a service that sees the obfuscated location still tell the nearby places?

Paper, Section 5; sets of places are bit masks, so a cell costs a few words per member.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City, Grid, Places
from tracecup.engine import map_blocks
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.kernels import kernel
from tracecup.traces import SetTraces, Traces
from tracecup.usefulness.cells import distinct_cells
from tracecup.usefulness.metric import Measurement, Metric

NEAR_KM = 1.0
RECEIVED_KM = 2.0
CATEGORY = "food"
# Distances are compared at 1e-9 km everywhere, since centres in degrees carry rounding.
TOLERANCE_KM = 1e-9
MAX_WORDS = 1 << 26

POI_ACCURACY = Metric(
    "POI accuracy", "maximise", 0.0, 1.0, "", "share of the nearby places that are received"
)
POI_COST = Metric("POI cost", "minimise", 0.0, math.inf, "places", "places received for a location")

Position = Literal["coordinates", "region"]
Words = NDArray[np.uint64]
Ints = NDArray[np.int64]


def poi_accuracy(
    city: City,
    original: Traces,
    obfuscated: SetTraces,
    places: Places | None = None,
    *,
    near_km: float = NEAR_KM,
    received_km: float = RECEIVED_KM,
    position: Position = "coordinates",
) -> Measurement:
    """Mean over original locations of |nearby and received| / |nearby|.

    Nearby are the places within `near_km` of the centre of the original region, received those
    within `received_km` of the centre of an obfuscated region: the union over a generalised
    cell, nothing for a deleted one. Locations without any nearby place are left out. `places`
    are the city's `food` places by default; they stand at their own coordinates, or with
    `position="region"` at the centre of their region. `parts` has one value per user who has a
    location with nearby places. O(regions x places within reach + cells x places / 64).

    >>> city = City(Grid.from_metres(9, 1, width_m=1000, height_m=1000))
    >>> shop = Places.of([("food", city.grid.latitudes[0], city.grid.longitudes[0], 0)])
    >>> released = SetTraces.of_cells([[[2], [3]]])
    >>> poi_accuracy(city, Traces.of([[0, 0]]), released, shop).value
    0.5
    """
    shares, counted = _per_event(
        city, original, obfuscated, places, near_km, received_km, position, share=True
    )
    return _over_users(POI_ACCURACY, shares, counted)


def poi_cost(
    city: City,
    original: Traces,
    obfuscated: SetTraces,
    places: Places | None = None,
    *,
    near_km: float = NEAR_KM,
    received_km: float = RECEIVED_KM,
    position: Position = "coordinates",
) -> Measurement:
    """Mean over the same locations of |received|: what `poi_accuracy` costs in messages.

    A larger `received_km` never lowers either of the two.

    >>> city = City(Grid.from_metres(9, 1, width_m=1000, height_m=1000))
    >>> shop = Places.of([("food", city.grid.latitudes[0], city.grid.longitudes[0], 0)])
    >>> poi_cost(city, Traces.of([[0, 0]]), SetTraces.of_cells([[[0, 1], []]]), shop).value
    0.5
    """
    sent, counted = _per_event(
        city, original, obfuscated, places, near_km, received_km, position, share=False
    )
    return _over_users(POI_COST, sent, counted)


def _per_event(
    city: City,
    original: Traces,
    obfuscated: SetTraces,
    places: Places | None,
    near_km: float,
    received_km: float,
    position: Position,
    *,
    share: bool,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Share of the nearby places received (or places received), and which events have any."""
    chosen = city.places.in_category(CATEGORY) if places is None else places
    _check(city, original, obfuscated, chosen, near_km, received_km, position)
    homes, home = _used(original.regions, city.n_regions)
    shown, member = _used(obfuscated.regions, city.n_regions)
    near, received = _masks(city.grid, chosen, (homes, near_km), (shown, received_km), position)
    nearby = np.bitwise_count(near).sum(axis=1, dtype=np.int64)
    # An unobserved event (-1) takes the appended zero.
    counted = np.append(nearby, 0)[home] > 0
    if not counted.any():
        raise InvalidTraces(f"no original location has a place within {near_km:g} km")
    values = np.zeros(original.shape)
    if share:
        found = _received_nearby(home, counted, obfuscated.offsets, member, near, received)
        values[counted] = found / nearby[home[counted]]
    else:
        # One "original" region near which every place is.
        every = np.full((1, near.shape[1]), ~np.uint64(0))
        nowhere = np.zeros_like(home)
        values[counted] = _received_nearby(
            nowhere, counted, obfuscated.offsets, member, every, received
        )
    return values, counted


def _over_users(
    metric: Metric, values: NDArray[np.float64], counted: NDArray[np.bool_]
) -> Measurement:
    counts = counted.sum(axis=1)
    users = counts > 0
    return metric.measured(values.sum(axis=1)[users] / counts[users], counts[users])


def _used(regions: NDArray[np.int32], n_regions: int) -> tuple[Ints, Ints]:
    """The regions that occur, in ascending order, and the position of each one (-1 stays)."""
    present = np.zeros(n_regions + 1, dtype=np.bool_)
    present[regions] = True
    present[-1] = False
    position = np.cumsum(present) - 1
    position[-1] = -1
    return np.flatnonzero(present), position[regions]


def _received_nearby(
    home: Ints,
    counted: NDArray[np.bool_],
    offsets: Ints,
    member: Ints,
    near: Words,
    received: Words,
) -> Ints:
    """Number of places both nearby and received for every counted event.

    Equal pairs of original region and released cell are worked out once.
    """
    kind, first = distinct_cells(offsets, member)
    kind = kind.reshape(home.shape)[counted]
    pairs, which = np.unique(home[counted] * (len(first) + 1) + kind + 1, return_inverse=True)
    at, cell = pairs // (len(first) + 1), pairs % (len(first) + 1) - 1
    found = np.zeros(len(pairs), dtype=np.int64)
    # A deleted cell (-1) takes the appended empty range.
    low_of, high_of = np.append(offsets[first], 0)[cell], np.append(offsets[first + 1], 0)[cell]

    def work(low: int, high: int) -> None:
        _count_received(
            at[low:high],
            low_of[low:high],
            high_of[low:high],
            member,
            near,
            received,
            found[low:high],
        )

    map_blocks(work, len(pairs))
    return found[which]


def _check(
    city: City,
    original: Traces,
    obfuscated: SetTraces,
    places: Places,
    near_km: float,
    received_km: float,
    position: Position,
) -> None:
    for name, value in (("near_km", near_km), ("received_km", received_km)):
        if not 0 <= value < math.inf:
            raise InvalidParameter(f"{name} must be a finite number >= 0, got {value}")
    if position not in ("coordinates", "region"):
        raise InvalidParameter(f"position must be 'coordinates' or 'region', got {position!r}")
    if not len(places):
        raise InvalidTraces(f"POI accuracy needs places; the city has none of {CATEGORY!r}")
    if original.shape != obfuscated.shape:
        raise InvalidTraces(
            f"original traces are {original.shape}, obfuscated ones {obfuscated.shape}"
        )
    for regions in (original.regions, obfuscated.regions, places.regions):
        if regions.size and int(regions.max()) >= city.n_regions:
            raise InvalidTraces(f"region {int(regions.max())} (0-based) is not in the city")
    if original.regions.size == 0:
        raise InvalidTraces("original traces without any event have no POI accuracy")


def _masks(
    grid: Grid,
    places: Places,
    near: tuple[Ints, float],
    received: tuple[Ints, float],
    position: Position,
) -> tuple[Words, Words]:
    """Bit masks over places for the two lists of regions, each with its radius."""
    if (len(near[0]) + len(received[0])) * (len(places) + 63) // 64 > MAX_WORDS:
        used = len(near[0]) + len(received[0])
        raise InvalidTraces(f"{len(places)} places are too many for traces in {used} regions")
    row_lat, column_lon = np.array(grid.latitudes), np.array(grid.longitudes)
    if position == "region":
        lat, lon = row_lat[grid.y[places.regions]], column_lon[grid.x[places.regions]]
    else:
        lat, lon = places.latitudes, places.longitudes
    order = np.lexsort((lon, lat))
    north, east = lat[order] * grid.km_per_latitude, lon[order] * grid.km_per_longitude
    masks = []
    for regions, radius in (near, received):
        mask = np.zeros((len(regions), (len(places) + 63) // 64), dtype=np.uint64)
        at_north = row_lat[grid.y[regions]] * grid.km_per_latitude
        at_east = column_lon[grid.x[regions]] * grid.km_per_longitude
        _mark_within(north, east, at_north, at_east, radius + TOLERANCE_KM, mask)
        masks.append(mask)
    return masks[0], masks[1]


@kernel
def _mark_within(
    north: NDArray[np.float64],
    east: NDArray[np.float64],
    at_north: NDArray[np.float64],
    at_east: NDArray[np.float64],
    radius: float,
    mask: Words,
) -> None:
    """Set bit k of row r where place k (sorted by `north`) is within `radius` of point r."""
    for r in range(len(at_north)):
        first = np.searchsorted(north, at_north[r] - radius)
        last = np.searchsorted(north, at_north[r] + radius, side="right")
        for k in range(first, last):
            dx, dy = east[k] - at_east[r], north[k] - at_north[r]
            if dx * dx + dy * dy <= radius * radius:
                mask[r, k >> 6] |= np.uint64(1) << np.uint64(k & 63)


@kernel
def _bits(word: np.uint64) -> int:
    """Number of set bits, by adding neighbours."""
    one, two, four = np.uint64(1), np.uint64(2), np.uint64(4)
    word -= (word >> one) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> two) & pairs)
    word = (word + (word >> four)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def _count_received(
    home: Ints,
    low_of: Ints,
    high_of: Ints,
    member: Ints,
    near: Words,
    received: Words,
    found: Ints,
) -> None:
    """found[p] = places near home[p] that the members low_of[p]..high_of[p] - 1 receive."""
    words = near.shape[1]
    union = np.empty(words, dtype=np.uint64)
    for p in range(len(home)):
        nearby = near[home[p]]
        first, last = 0, words
        while first < last and nearby[first] == 0:
            first += 1
        while last > first and nearby[last - 1] == 0:
            last -= 1
        union[first:last] = 0
        for k in range(low_of[p], high_of[p]):
            for w in range(first, last):
                union[w] |= received[member[k], w]
        for w in range(first, last):
            found[p] += _bits(union[w] & nearby[w])
