"""One team's data in Python: the city, what attackers know of its users, and the originals.

Made from the shipped model, or read from a folder of contest files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from tracecup.city import City, ContestClock, write_city, write_clock
from tracecup.contest.entries import Entry
from tracecup.contest.worlds import BuiltinWorld
from tracecup.errors import InvalidParameter
from tracecup.front.html import data_card
from tracecup.registry import nearest
from tracecup.study.sweepdata import DataSet, find_data
from tracecup.traces import Traces
from tracecup.traces.files import write_traces

PathName = str | PathLike[str]
DEMO_USERS = 300


@dataclass(frozen=True, eq=False, repr=False)
class Data:
    """City, reference traces (known to attackers) and original traces (secret) of one team.

    `len(data)` counts its users, `data[:50]` is the data of the first fifty.
    """

    name: str
    city: City
    reference: Traces
    original: Traces

    def __post_init__(self) -> None:
        if self.reference.n_users != self.original.n_users:
            raise InvalidParameter(
                f"{self.reference.n_users} users have reference traces, {self.original.n_users} "
                "original ones; both are of the same users"
            )
        if self.original.clock.first_time < self.reference.clock.first_time:
            raise InvalidParameter(
                f"original traces begin at time {self.original.clock.first_time + 1}, before the "
                f"reference traces (time {self.reference.clock.first_time + 1}): are they swapped?"
            )

    @property
    def clock(self) -> ContestClock:
        """The days and slots of both parts."""
        return ContestClock(self.reference.clock, self.original.clock)

    def __len__(self) -> int:
        return self.original.n_users

    def __getitem__(self, users: slice | ArrayLike) -> Data:
        return replace(
            self,
            reference=self.reference.take_users(users),
            original=self.original.take_users(users),
        )

    def __repr__(self) -> str:
        """Sizes only: originals are secret."""
        known, hidden = self.reference.clock, self.original.clock
        return (
            f"<Data {self.name}: {len(self)} users, {known.days} reference and {hidden.days} "
            f"original days of {hidden.slots} slots, {self.city.n_regions} regions>"
        )

    def save(self, folder: PathName) -> Path:
        """Write the files of a contest, originals included, for `load` and every command."""
        out = Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        write_city(out / "info_region.csv", self.city)
        write_clock(out / "info_time.csv", self.clock)
        write_traces(out / "reftraces.csv.zst", self.reference)
        write_traces(out / "orgtraces.csv.zst", self.original)
        return out

    def _repr_html_(self) -> str:
        return data_card(self)


def load_demo(days: int = 20, seed: int = 1, *, users: int = DEMO_USERS) -> Data:
    """Contest-like data of virtual users in the built-in city, from the model that is shipped.

    Nothing is trained and nothing is fetched. `days` reference and `days` original days of 20
    slots, as in the contest; the contest's 2000 `users` take seconds. The same seed gives the
    same people.

    >>> load_demo(days=2, users=5)
    <Data demo: 5 users, 2 reference and 2 original days of 20 slots, 1024 regions>
    """
    asked: dict[str, Any] = {"days": days, "users": users}
    for name, value in asked.items():
        if not isinstance(value, Integral) or value < 1:
            raise InvalidParameter(f"load_demo needs {name} >= 1, a whole number, got {value!r}")
    world, clock = _world(), ContestClock.regular(days)
    reference, original = world.data(Entry(1), clock, users, seed)
    return Data("demo", world.city, reference, original)


def load(folder: PathName, team: str | None = None) -> Data:
    """The data in a folder of contest files: info_region, info_time, reftraces and orgtraces.

    Where the folder holds several teams (`reftraces_TEAM`, `orgtraces_TEAM`), `team` names one of
    them; its beginning is enough if no other team begins so.
    """
    if not isinstance(folder, str | PathLike):
        raise InvalidParameter(f"load takes a folder, as str or Path, got {type(folder).__name__}")
    found = find_data([Path(folder)])
    chosen = [one for one in found if team is None or one.team == team]
    chosen = chosen or [one for one in found if team is not None and one.team.startswith(team)]
    if len(chosen) != 1:
        teams = [one.team for one in found]
        near = nearest(team, teams) if team else ""
        wanted = "team= one of" if team is None else f"no single team is called {team!r}{near}:"
        raise InvalidParameter(f"{folder} holds {len(found)} teams; {wanted} {', '.join(teams)}")
    return of_set(chosen[0])


def of_set(found: DataSet) -> Data:
    """The data of one data set of a benchmark."""
    city, reference, original = found.load()
    name = f"{found.data} {found.team}".strip()
    return Data(name, city, reference, original)


def as_data(given: Data | PathName) -> Data:
    """Data as they are, or those of a folder."""
    if isinstance(given, Data):
        return given
    if isinstance(given, str | PathLike):
        return load(given)
    raise InvalidParameter(
        f"data are tc.load(folder), tc.load_demo() or a folder, got {type(given).__name__}"
    )


@lru_cache(maxsize=1)
def _world() -> BuiltinWorld:
    return BuiltinWorld()
