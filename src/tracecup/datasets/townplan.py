"""The plan of a generated city: water, districts, railway, density of homes and jobs, places.

Everything follows from a seed; no map, census or data set enters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City, Grid, Places
from tracecup.errors import InvalidParameter
from tracecup.rng import Rng, generator

# A point of the open Pacific at the latitude where 91 km per degree of longitude is right.
SOUTH, WEST = 35.0, -150.0
REGION_WIDTH_M, REGION_HEIGHT_M = 341.25, 346.875
HOSPITAL_SHARE = 37 / 1024
PLACES_PER_REGION = 8
# Share of the regions that each density fills: its effective number of regions, 1 / sum p^2,
# over the number of regions. Cities of different seeds are equally crowded in this way.
SPREAD = {
    "homes": 0.33,
    "jobs": 0.10,
    "schools": 0.10,
    "food": 0.15,
    "shops": 0.12,
    "nightlife": 0.06,
    "leisure": 0.10,
    "parks": 0.12,
}
MIN_REGIONS = 16

# What people go out for. The order is that of the rows of `Townplan.attraction`.
PURPOSES = ("meal", "shop", "evening", "leisure", "business", "care")
N_PURPOSES = len(PURPOSES)

# kind of district -> weight of (homes, jobs, schools, food, shops, nightlife, leisure, parks)
FIELDS = ("homes", "jobs", "schools", "food", "shops", "nightlife", "leisure", "parks")
DISTRICTS: dict[str, tuple[float, ...]] = {
    "business": (0.2, 6.0, 0.3, 2.5, 1.2, 1.2, 0.8, 0.2),
    "shopping": (0.6, 2.5, 0.3, 3.5, 5.0, 2.0, 2.5, 0.3),
    "nightlife": (0.6, 1.2, 0.2, 3.5, 1.8, 6.0, 2.5, 0.2),
    "campus": (0.8, 1.0, 8.0, 1.5, 0.8, 0.8, 1.0, 0.6),
    "industry": (0.2, 3.0, 0.1, 0.4, 0.3, 0.1, 0.1, 0.1),
    "old town": (1.2, 1.2, 0.6, 1.8, 1.5, 1.0, 3.0, 1.2),
    "residential": (3.0, 0.5, 1.0, 0.8, 1.0, 0.3, 0.3, 0.8),
    "park": (0.3, 0.1, 0.1, 0.3, 0.1, 0.1, 1.5, 5.0),
}
INNER = ("business", "shopping", "nightlife", "old town", "campus", "residential")
OUTER = ("residential", "residential", "industry", "shopping", "park", "campus", "old town")

# category of a place -> (field that says where it stands, share of all places)
CATEGORIES: dict[str, tuple[str, float]] = {
    "home/Residence": ("homes", 0.40),
    "food/Restaurant": ("food", 0.09),
    "food/Noodle House": ("food", 0.07),
    "food/Cafe": ("food", 0.06),
    "food/Bakery": ("food", 0.02),
    "shops/Convenience Store": ("shops", 0.04),
    "shops/Supermarket": ("shops", 0.02),
    "shops/Clothing Store": ("shops", 0.03),
    "shops/Bookstore": ("shops", 0.02),
    "nightlife/Bar": ("nightlife", 0.05),
    "nightlife/Pub": ("nightlife", 0.02),
    "arts_entertainment/Cinema": ("leisure", 0.01),
    "arts_entertainment/Museum": ("leisure", 0.02),
    "arts_entertainment/Arcade": ("leisure", 0.02),
    "parks_outdoors/Park": ("parks", 0.03),
    "education/School": ("schools", 0.02),
    "education/University": ("schools", 0.01),
    "building/Office": ("jobs", 0.06),
    "travel/Hotel": ("leisure", 0.01),
}
PURPOSE_OF = {
    "food": "meal",
    "shops": "shop",
    "nightlife": "evening",
    "arts_entertainment": "leisure",
    "parks_outdoors": "leisure",
}


@dataclass(frozen=True, eq=False)
class Townplan:
    """Where things are. Arrays over regions; densities sum to 1 and are 0 on water.

    `attraction[p, r]` is how strongly region r draws people for purpose p (`PURPOSES`): the
    sum of the popularity of its places, heavy-tailed because popularity is. `station_of[r]` is
    the station nearest to r. `district[r]` is the kind of the district that shapes r most.
    """

    city: City
    water: NDArray[np.bool_]
    district: tuple[str, ...]
    stations: NDArray[np.int32]
    station_of: NDArray[np.int32]
    homes: NDArray[np.float64]
    jobs: NDArray[np.float64]
    schools: NDArray[np.float64]
    lodging: NDArray[np.float64]
    attraction: NDArray[np.float64]


def make_townplan(
    nx: int = 32,
    ny: int = 32,
    *,
    region_width_m: float = REGION_WIDTH_M,
    region_height_m: float = REGION_HEIGHT_M,
    hospital_share: float = HOSPITAL_SHARE,
    rng: Rng = None,
) -> Townplan:
    """Draw a city of nx x ny regions; O(regions x districts).

    A bay cuts a corner. District centres keep apart from each other; those near the middle are
    business, shopping and nightlife, those further out mostly residential. Four railway lines
    cross and a ring line circles the centre; stations attract shops and homes. Places are drawn
    from the densities, their popularity from a Pareto law with exponent 1.3.

    >>> plan = make_townplan(8, 8, rng=1)
    >>> plan.city.n_regions, float(round(plan.homes.sum(), 9))
    (64, 1.0)
    """
    if nx * ny < MIN_REGIONS or min(nx, ny) < 2:
        raise InvalidParameter(
            f"a generated city needs nx, ny >= 2 and {MIN_REGIONS} regions, got {nx} x {ny}"
        )
    if not 0 <= hospital_share <= 0.5:
        raise InvalidParameter(f"hospital_share must be within 0..0.5, got {hospital_share}")
    random = generator(rng)
    grid = Grid.from_metres(
        nx, ny, width_m=region_width_m, height_m=region_height_m, south=SOUTH, west=WEST
    )
    x = np.asarray((grid.x + 0.5) * grid.km_x, dtype=np.float64)
    y = np.asarray((grid.y + 0.5) * grid.km_y, dtype=np.float64)
    size = float(np.sqrt(nx * grid.km_x * ny * grid.km_y))
    middle = np.array([nx * grid.km_x / 2, ny * grid.km_y / 2])
    middle = middle + random.uniform(-0.06, 0.06, 2) * size

    water = _bay(x, y, size, middle, random) if nx * ny >= 64 else np.zeros(nx * ny, np.bool_)
    stations = _railway(grid, water, size, middle, random)
    to_station = grid.distance(np.arange(nx * ny)[:, None], stations[None, :])
    fields, district = _densities(
        x, y, size, middle, water, to_station.min(axis=1), (ny, nx), random
    )
    hospitals = _hospitals(grid, fields["homes"], water, hospital_share, random)
    places, popularity = _places(grid, fields, stations, hospitals, random)
    attraction = _attraction(places, popularity, fields["jobs"], water)
    return Townplan(
        City(grid, hospitals.tolist(), places),
        water,
        district,
        stations,
        stations[to_station.argmin(axis=1)].astype(np.int32),
        fields["homes"],
        fields["jobs"],
        fields["schools"],
        _normal(attraction[3] + 0.5 * attraction[2]),
        attraction,
    )


def _bay(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    size: float,
    middle: NDArray[np.float64],
    random: np.random.Generator,
) -> NDArray[np.bool_]:
    """Water beyond a wavy coast in one corner, about a twelfth of the regions."""
    corner = random.choice([0.25, 0.75, 1.25, 1.75]) * np.pi + random.uniform(-0.25, 0.25)
    out = (x - middle[0]) * np.cos(corner) + (y - middle[1]) * np.sin(corner)
    along = (y - middle[1]) * np.cos(corner) - (x - middle[0]) * np.sin(corner)
    wave = 0.03 * size * np.sin(along / size * 2 * np.pi * 1.7 + random.uniform(0, 2 * np.pi))
    return np.asarray(out + wave > np.quantile(out + wave, 0.92))


def _railway(
    grid: Grid,
    water: NDArray[np.bool_],
    size: float,
    middle: NDArray[np.float64],
    random: np.random.Generator,
) -> NDArray[np.int32]:
    """Regions with a station: four lines through the centre and a ring, a stop about every km."""
    points = [middle[None, :]]
    turn = random.uniform(0, np.pi)
    for line in range(4):
        angle = turn + line * np.pi / 4 + random.uniform(-0.2, 0.2)
        steps = np.arange(-size, size, random.uniform(0.9, 1.3)) + random.uniform(0, 1)
        centre = middle + random.normal(0, 0.04 * size, 2)
        points.append(centre + steps[:, None] * [np.cos(angle), np.sin(angle)])
    radius = 0.28 * size
    stops = max(4, round(2 * np.pi * radius / 1.1))
    round_about = np.arange(stops) * 2 * np.pi / stops
    points.append(middle + radius * np.c_[np.cos(round_about), 0.8 * np.sin(round_about)])
    where = np.concatenate(points)
    column = np.floor(where[:, 0] / grid.km_x).astype(int)
    row = np.floor(where[:, 1] / grid.km_y).astype(int)
    inside = (column >= 0) & (column < grid.nx) & (row >= 0) & (row < grid.ny)
    found = np.unique(row[inside] * grid.nx + column[inside])
    return np.asarray(found[~water[found]], dtype=np.int32)


def _densities(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    size: float,
    middle: NDArray[np.float64],
    water: NDArray[np.bool_],
    to_station: NDArray[np.float64],
    shape: tuple[int, int],
    random: np.random.Generator,
) -> tuple[dict[str, NDArray[np.float64]], tuple[str, ...]]:
    """Density of every field over regions, and the kind of the dominant district of each."""
    land = np.flatnonzero(~water)
    count = int(np.clip(round(len(x) / 40), 4, 200))
    centres = [int(np.argmin((x - middle[0]) ** 2 + (y - middle[1]) ** 2 + 1e9 * water))]
    while len(centres) < count:  # best of twelve: centres keep apart
        candidates = random.choice(land, 12)
        dx, dy = x[candidates, None] - x[centres], y[candidates, None] - y[centres]
        apart = np.hypot(dx, dy).min(axis=1)
        centres.append(int(candidates[np.argmax(apart)]))
    from_middle = np.hypot(x[centres] - middle[0], y[centres] - middle[1])
    kinds = [""] * count
    for rank, k in enumerate(np.argsort(from_middle)):
        kinds[k] = INNER[rank % len(INNER)] if rank < count / 3 else str(random.choice(OUTER))
    strength = (1 + np.arange(count)) ** -0.7
    radius = np.clip(random.lognormal(np.log(0.055 * size), 0.35, count), 0.3, None)
    distance = np.hypot(x[:, None] - x[centres], y[:, None] - y[centres])
    reach = strength * np.exp(-0.5 * (distance / radius) ** 2)

    from scipy.ndimage import gaussian_filter

    broad = np.exp(-0.5 * (np.hypot(x - middle[0], y - middle[1]) / (0.42 * size)) ** 2)
    fields: dict[str, NDArray[np.float64]] = {}
    for column, name in enumerate(FIELDS):
        weight = np.array([DISTRICTS[kind][column] for kind in kinds])
        rough = gaussian_filter(random.normal(0, 1, shape), 1.2, mode="nearest").ravel()
        rough = rough / max(float(rough.std()), 1e-9)
        near = 1 + (1.0 if name == "homes" else 3.0) * np.exp(-to_station / 0.4)
        base = 0.35 * broad if name != "homes" else 0.8 * broad
        density = (base + reach @ weight) * near * np.exp(0.7 * rough)
        fields[name] = _spread(np.where(water, 0.0, density), SPREAD[name])
    dominant = reach.argmax(axis=1)
    return fields, tuple("water" if w else kinds[k] for k, w in zip(dominant, water, strict=True))


def _hospitals(
    grid: Grid,
    homes: NDArray[np.float64],
    water: NDArray[np.bool_],
    share: float,
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """Hospital regions: where people live, each at least two regions from the others if it fits."""
    wanted = min(round(share * grid.n_regions), int((~water).sum()))
    order = np.argsort(-np.sqrt(homes) * random.exponential(1, grid.n_regions), kind="stable")
    order = order[~water[order]]
    chosen: list[int] = []
    for apart in (2, 1):
        for r in order:
            if len(chosen) == wanted:
                break
            gap = np.maximum(abs(grid.x[chosen] - grid.x[r]), abs(grid.y[chosen] - grid.y[r]))
            if not chosen or int(gap.min()) >= apart:
                chosen.append(int(r))
    return np.sort(np.array(chosen, dtype=np.int64))


def _places(
    grid: Grid,
    fields: dict[str, NDArray[np.float64]],
    stations: NDArray[np.int32],
    hospitals: NDArray[np.int64],
    random: np.random.Generator,
) -> tuple[Places, NDArray[np.float64]]:
    """Places drawn from the densities; one of each station and hospital; their popularity."""
    total = PLACES_PER_REGION * grid.n_regions
    regions = [stations.astype(np.int64), hospitals]
    names = ["travel/Train Station"] * len(stations) + ["building/Hospital"] * len(hospitals)
    for category, (field, share) in CATEGORIES.items():
        count = max(1, round(share * total))
        regions.append(random.choice(grid.n_regions, count, p=fields[field]))
        names += [category] * count
    where = np.concatenate(regions).astype(np.int32)
    n = len(where)
    latitude = np.array(grid.latitudes)[grid.y[where]] + random.uniform(-0.5, 0.5, n) * grid.height
    longitude = np.array(grid.longitudes)[grid.x[where]] + random.uniform(-0.5, 0.5, n) * grid.width
    popularity = np.minimum(1 + random.pareto(1.3, n), 200.0)
    unknown = np.full(n, -1, dtype=np.int64)
    return Places(latitude, longitude, where, tuple(names), unknown), popularity


def _attraction(
    places: Places,
    popularity: NDArray[np.float64],
    jobs: NDArray[np.float64],
    water: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """attraction[purpose, region], each row summing to 1; every land region keeps a little."""
    n = len(water)
    general = np.array([name.split("/")[0] for name in places.categories])
    rows = np.zeros((N_PURPOSES, n))
    for p, purpose in enumerate(PURPOSES):
        kinds = [kind for kind, served in PURPOSE_OF.items() if served == purpose]
        chosen = np.isin(general, kinds)
        if purpose == "care":
            chosen = np.array([name == "building/Hospital" for name in places.categories])
        rows[p] = np.bincount(places.regions[chosen], popularity[chosen], n)
    rows[PURPOSES.index("business")] = jobs
    rows = np.stack([_normal(row) if row.sum() > 0 else row for row in rows])
    rows = rows + np.where(water, 0.0, 0.02 / n)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _spread(density: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """The power of a density whose effective number of regions is `share` of all, if any."""
    low, high = 0.1, 10.0
    density = _normal(density)
    for _ in range(40):
        power = 0.5 * (low + high)
        p = _normal(density**power)
        effective = 1.0 / float((p * p).sum())
        low, high = (power, high) if effective > share * len(density) else (low, power)
    return _normal(density**low)


def _normal(density: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(density / density.sum())
