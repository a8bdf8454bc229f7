"""What a study may use: the user's copy of the public data, or the built-in city; seed; size.

A study asks for what it needs by name, and is left out where that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from tracecup.city import City, ContestClock, read_city, read_clock
from tracecup.contest.entries import Entry
from tracecup.contest.worlds import SHIPPED_MODEL, BuiltinWorld
from tracecup.errors import UnreadableFile
from tracecup.rng import child_seed
from tracecup.study.results import BUILT_IN, SAMPLE, Source
from tracecup.traces import Traces
from tracecup.traces.files import read_traces

Need = Literal["sample", "tokyo", "people-flow", "sheets", "final", "built-in", "learn"]

TOKYO_REFERENCES = (
    "team000_data01_IDP",
    "team003_data01_IDP",
    "team003_data02_TRP",
    "team010_data02_TRP",
    "team017_data02_TRP",
)
FILES: dict[Need, tuple[str, ...]] = {
    "sample": (
        "osaka/info_region.csv",
        "osaka/info_time.csv",
        "osaka/orgtraces_team001_data01_IDP.csv.gz",
        "osaka/reftraces_team001_data01_IDP.csv.gz",
    ),
    "tokyo": (
        "tokyo_preliminary/info_region.csv",
        "tokyo_preliminary/info_time.csv",
        "peopleflow/POI_TK.csv.gz",
        *(f"tokyo_preliminary/reftraces_{label}.csv.gz" for label in TOKYO_REFERENCES),
    ),
    "people-flow": ("ppmtfplus_pf/traintraces_TK.csv", "ppmtfplus_pf/testtraces_TK.csv"),
    "sheets": tuple(
        f"results/{name}.csv"
        for name in (
            "osaka_sample_utilities",
            "preliminary_reidentification",
            "preliminary_total",
            "preliminary_traceinference",
            "preliminary_utility",
        )
    ),
    "final": tuple(
        f"results/final_{name}.csv" for name in ("reidentification", "traceinference", "utility")
    ),
}
FOURSQUARE_FILES = (
    ("foursquare/raw_Checkins_anonymized.txt", "foursquare/raw_POIs.txt"),
    ("foursquare/dataset_TIST2015_Checkins.txt", "foursquare/dataset_TIST2015_POIs.txt"),
)
MEANING: dict[Need, str] = {
    "sample": "the contest's sample traces (folder osaka)",
    "tokyo": "the preliminary round's files (folders tokyo_preliminary, peopleflow)",
    "people-flow": "the people-flow traces (folder ppmtfplus_pf)",
    "sheets": "the published score sheets (folder results)",
    "final": "the final round's score sheets (folder results)",
    "built-in": "the built-in city",
    "learn": "JAX (the extra learn: install tracecup[learn])",
}
USERS, QUICK_USERS = 2000, 500
LONG_DAYS = 20


def shipped_model_file() -> Traversable:
    """The model of the built-in city in the package."""
    return resources.files("tracecup.contest") / SHIPPED_MODEL


@dataclass(frozen=True, eq=False)
class Team:
    """The data of one team: where it lives, what attackers know, what it has to protect."""

    name: str
    city: City
    reference: Traces
    original: Traces
    source: Source

    @property
    def sizes(self) -> dict[str, int]:
        """How much data this is."""
        return {
            "users": self.original.n_users,
            "events": self.original.times,
            "regions": self.city.n_regions,
        }

    def take_users(self, n: int) -> Team:
        """The first n users."""
        if n >= self.original.n_users:
            return self
        few = slice(0, n)
        return Team(
            self.name,
            self.city,
            self.reference.take_users(few),
            self.original.take_users(few),
            self.source,
        )


@dataclass(frozen=True)
class Context:
    """Data folder (or None for the built-in city), size and seed of a run.

    `quick` asks for fewer users and coarser sweeps: pictures keep their shape, numbers do not
    keep their digits. `asked_users` and `asked_teams` replace a study's own numbers. `cells` is a
    folder in which long studies keep what they know already, `tell` is called with the steps
    that they have done and all their steps. Studies that hand out their parts give them to the
    `executor`, where there is one.
    """

    data: Path | None = None
    quick: bool = False
    seed: int = 1
    cells: Path | None = field(default=None, compare=False)
    asked_users: int | None = None
    asked_teams: int | None = None
    tell: Callable[[float, float], None] | None = field(default=None, compare=False)
    executor: Executor | None = field(default=None, compare=False)

    @property
    def travelling(self) -> Context:
        """The same without what belongs to this process: what goes with a part to a worker."""
        return replace(self, cells=None, tell=None, executor=None)

    def has(self, need: Need) -> bool:
        """Whether the data that `need` names are there."""
        if need == "built-in":
            return shipped_model_file().is_file()
        if need == "learn":
            return find_spec("jax") is not None
        return self.data is not None and all((self.data / name).is_file() for name in FILES[need])

    @property
    def there(self) -> tuple[str, ...]:
        """What of the public data is in the folder, by name."""
        found: list[str] = [need for need in FILES if self.has(need)]
        return (*found, *(["Foursquare"] if self.foursquare else []))

    @property
    def foursquare(self) -> tuple[Path, Path] | None:
        """Check-ins and places in the folder `foursquare` of the data, where they are."""
        if self.data is not None:
            for checkins, places in FOURSQUARE_FILES:
                pair = self.data / checkins, self.data / places
                if all(path.is_file() for path in pair):
                    return pair
        return None

    def path(self, name: str) -> Path:
        """A file of the data folder."""
        if self.data is None:
            raise UnreadableFile(name, "no data folder: give --data or set TRACECUP_DATA")
        return self.data / name

    def seed_of(self, *names: str | int) -> int:
        """The seed of a named part of a study."""
        return child_seed(self.seed, *names)

    @property
    def users(self) -> int:
        """How many users a team has in this run."""
        return self.asked_users or (QUICK_USERS if self.quick else USERS)

    @cached_property
    def world(self) -> BuiltinWorld:
        """The built-in city and the model of its inhabitants."""
        return BuiltinWorld()

    def long_team(self, team: int = 1, users: int | None = None) -> Team:
        """A team of the built-in city: 20 + 20 days, 400 + 400 events."""
        seed, clock = self.seed_of("built-in"), ContestClock.regular(LONG_DAYS)
        reference, original = self.world.data(Entry(team), clock, users or self.users, seed)
        return Team(f"built-in team {team}", self.world.city, reference, original, BUILT_IN)

    @cached_property
    def sample_clock(self) -> ContestClock:
        """The clock of the Osaka sample, which is also that of the preliminary round."""
        return read_clock(self.path("osaka/info_time.csv"))

    @cached_property
    def sample_city(self) -> City:
        """Osaka as the contest cut it."""
        return read_city(self.path("osaka/info_region.csv"))

    @cached_property
    def tokyo(self) -> City:
        """Tokyo as the contest cut it, with all places."""
        return read_city(
            self.path("tokyo_preliminary/info_region.csv"), self.path("peopleflow/POI_TK.csv.gz")
        )

    def sample_team(self, data_set: str = "data01_IDP") -> Team:
        """Team 001 of the Osaka sample: 2000 users, 2 + 2 days."""
        city, clock = self.sample_city, self.sample_clock
        reference, original = (
            read_traces(
                self.path(f"osaka/{stem}_team001_{data_set}.csv.gz"),
                "reference" if stem == "reftraces" else "original",
                n_regions=city.n_regions,
                clock=part,
            )
            for stem, part in (("reftraces", clock.reference), ("orgtraces", clock.original))
        )
        return Team(f"Osaka team 001 {data_set}", city, reference, original, SAMPLE)

    def tokyo_reference(self, label: str) -> Traces:
        """Reference traces that the preliminary round published: 2000 users, 2 days."""
        clock = read_clock(self.path("tokyo_preliminary/info_time.csv")).reference
        return read_traces(
            self.path(f"tokyo_preliminary/reftraces_{label}.csv.gz"),
            "reference",
            n_regions=self.tokyo.n_regions,
            clock=clock,
        )

    @cached_property
    def stages(self) -> dict[str, Team]:
        """The data sets on which privacy is studied, by name, as many as there are.

        `sample`: the contest's 2-day traces of Osaka. `long`: 20 + 20 days of the built-in city,
        as long as those of the paper. A quick run takes fewer users.
        """
        found = {}
        if self.has("sample"):
            found["sample"] = self.sample_team("data01_IDP").take_users(self.users)
        if self.has("built-in"):
            found["long"] = self.long_team()
        return found

    def sources(self, *names: str) -> dict[str, Source]:
        """Where the tables `names` of every stage come from; `{}` stands for the stage."""
        return {
            name.format(stage): team.source for stage, team in self.stages.items() for name in names
        }

    @property
    def sizes(self) -> dict[str, int]:
        """How much data every stage has."""
        return {
            f"{what} ({stage})": size
            for stage, team in self.stages.items()
            for what, size in team.sizes.items()
        }
