"""An odd little city with traces in it, and the public Osaka sample set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tracecup.city import City, Clock, Grid, read_city, read_clock
from tracecup.traces import Traces
from tracecup.traces.files import read_traces


@pytest.fixture(scope="session")
def odd_city() -> City:
    """5 x 7 regions: no power of two, wider than 2 km from corner to corner, four hospitals."""
    grid = Grid.from_metres(5, 7, width_m=341.25, height_m=346.875)
    return City(grid, hospitals=[0, 1, 17, 34])


@pytest.fixture(scope="session")
def crowd(odd_city: City) -> Traces:
    """60 users with favourite regions, two days of three slots."""
    gen = np.random.default_rng(2019)
    homes = gen.integers(odd_city.n_regions, size=(60, 3))
    favourite = homes[np.arange(60)[:, None], gen.integers(3, size=(60, 6))]
    anywhere = gen.integers(odd_city.n_regions, size=(60, 6))
    regions = np.where(gen.random((60, 6)) < 0.7, favourite, anywhere)
    return Traces.of(regions, Clock.regular(2, 3, first_time=6), users=np.arange(101, 161))


@pytest.fixture(scope="session")
def contest_city() -> City:
    """The contest's 32 x 32 regions, without its map."""
    grid = Grid.from_metres(32, 32, width_m=341.25, height_m=346.875)
    return City(grid, hospitals=list(range(5, 1024, 30)))


@pytest.fixture(scope="session")
def commuters(contest_city: City) -> Traces:
    """300 users on the contest's grid, two days of twenty slots around a home and a work place."""
    gen = np.random.default_rng(7)
    anchors = gen.integers(2, 30, size=(300, 2, 2))
    which = (np.arange(40) % 20 > 3).astype(int)
    centre = anchors[:, which]
    place = np.clip(np.rint(centre + gen.normal(0, 1.5, size=centre.shape)), 0, 31).astype(int)
    return Traces.of(place[..., 1] * 32 + place[..., 0], Clock.regular(2, 20))


@pytest.fixture(scope="session")
def osaka(data_dir: Path) -> tuple[City, Traces]:
    """City and original traces of the public sample set (team 001, data01)."""
    folder = data_dir / "osaka"
    city = read_city(folder / "info_region.csv")
    clock = read_clock(folder / "info_time.csv").original
    path = folder / "orgtraces_team001_data01_IDP.csv.gz"
    return city, read_traces(path, n_regions=city.n_regions, clock=clock)


@pytest.fixture(scope="session")
def osaka_second(data_dir: Path) -> tuple[City, Traces]:
    """City and original traces of the second public sample set (team 001, data02)."""
    folder = data_dir / "osaka"
    city = read_city(folder / "info_region.csv")
    clock = read_clock(folder / "info_time.csv").original
    path = folder / "orgtraces_team001_data02_TRP.csv.gz"
    return city, read_traces(path, n_regions=city.n_regions, clock=clock)
