"""Finding the data sets of a sweep: teams in folders with the contest's file names.

A data set is known by its content, so that a folder may be moved or renamed.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from tracecup.attack.learned import shipped_suits
from tracecup.city import City, read_city, read_clock
from tracecup.contest.archive.folder import ABOUT_FILE, CITY_FILE, CLOCK_FILE, Archive
from tracecup.errors import InvalidParameter, UnreadableFile
from tracecup.safeio import DATA_SUFFIXES, MIB, TEXT_SUFFIXES, open_regular
from tracecup.traces import Traces
from tracecup.traces.files import read_traces

_FILE = re.compile(rf"(reftraces|orgtraces)(?:_(.+?))?({'|'.join(map(re.escape, DATA_SUFFIXES))})")


@dataclass(frozen=True)
class DataSet:
    """One team's data: `data` names the folder, `team` what stands behind `reftraces_`."""

    data: str
    team: str
    city: Path
    clock: Path
    reference: Path
    original: Path

    def digest(self) -> str:
        """SHA-256 over the content of its four files."""
        whole = hashlib.sha256()
        for path in (self.city, self.clock, self.reference, self.original):
            with open_regular(path) as file:
                part = hashlib.sha256()
                while block := file.read(MIB):
                    part.update(block)
            whole.update(part.digest())
        return whole.hexdigest()

    def absolute(self) -> DataSet:
        """The same files, for a process with another working directory."""
        paths = (self.city, self.clock, self.reference, self.original)
        return DataSet(self.data, self.team, *(path.absolute() for path in paths))

    def suits_shipped_model(self) -> bool:
        """Whether the learned attack that comes with the package was trained for such data."""
        return shipped_suits(read_city(self.city), read_clock(self.clock).original.slots)

    def users(self) -> int:
        """How many users it has, by its original traces."""
        return read_traces(self.original).n_users

    def load(self) -> tuple[City, Traces, Traces]:
        """City, reference traces (which may have gaps) and original traces."""
        city, clock = read_city(self.city), read_clock(self.clock)
        original = read_traces(self.original, n_regions=city.n_regions, clock=clock.original)
        reference = read_traces(
            self.reference,
            "reference",
            n_regions=city.n_regions,
            clock=clock.reference,
            users=original.n_users,
            gaps=True,
        )
        return city, reference, original


def find_data(folders: Sequence[str | PathLike[str]]) -> list[DataSet]:
    """The data sets in `folders`, by folder and then by team.

    A folder holds info_region.csv, info_time.csv and for each team reftraces_TEAM and
    orgtraces_TEAM (.csv, .csv.gz, .csv.zst or .parquet), or for one that has no name reftraces
    and orgtraces. The archive of a contest is a folder of its teams. Files without their partner
    are left alone; a folder without any pair is an error. Folders of the same name are told apart
    by the whole path.
    """
    paths = list(dict.fromkeys(Path(folder) for folder in folders))
    names = Counter(folder.resolve().name for folder in paths)
    found = []
    for folder in paths:
        name = folder.resolve().name
        found += _teams(folder, name if names[name] == 1 else str(folder))
    return found


def _archived(folder: Path, name: str) -> list[DataSet]:
    """The teams of a contest's archive: references lie among the public files, originals not."""
    archive = Archive(folder)
    found = [
        DataSet(
            name,
            entry.label,
            archive.public / CITY_FILE,
            archive.public / CLOCK_FILE,
            archive.locate(entry, "reftraces"),
            archive.locate(entry, "orgtraces"),
        )
        for entry in archive.entries
    ]
    there = [one for one in found if one.reference.is_file() and one.original.is_file()]
    if not there:
        raise InvalidParameter(
            f"{folder} is an archive without original traces: its secret part is not there"
        )
    return there


def _teams(folder: Path, name: str) -> list[DataSet]:
    if (folder / ABOUT_FILE).is_file():
        return _archived(folder, name)
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        problem = "no such folder" if isinstance(error, FileNotFoundError) else error.strerror
        raise UnreadableFile(folder, str(problem)) from error
    parts: dict[str, dict[str, Path]] = {"reftraces": {}, "orgtraces": {}}
    for path in files:
        if fits := _FILE.fullmatch(path.name):
            kind, team = fits[1], fits[2] or ""
            if team in parts[kind]:
                raise InvalidParameter(
                    f"{folder} holds {parts[kind][team].name} and {path.name}; one of them must go"
                )
            parts[kind][team] = path
    teams = sorted(parts["reftraces"].keys() & parts["orgtraces"].keys())
    if not teams:
        raise InvalidParameter(
            f"{folder} holds no team with both reftraces_TEAM and orgtraces_TEAM "
            f"({', '.join(DATA_SUFFIXES)})"
        )
    city, clock = _table(folder, "info_region"), _table(folder, "info_time")
    return [
        DataSet(name, team, city, clock, parts["reftraces"][team], parts["orgtraces"][team])
        for team in teams
    ]


def _table(folder: Path, stem: str) -> Path:
    for ending in TEXT_SUFFIXES:
        if (folder / f"{stem}{ending}").is_file():
            return folder / f"{stem}{ending}"
    raise UnreadableFile(folder / f"{stem}.csv", "no such file or folder")
