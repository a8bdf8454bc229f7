"""What `tracecup audit` reads: files of a contest, or raw tables cut by grids and intervals.

Both become subjects of an audit.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from tracecup.cli.common import box_of, grid_size, minute_of, table_columns

if TYPE_CHECKING:
    from tracecup.city import City
    from tracecup.study.audit import Subject
    from tracecup.study.rawtables import Cutting
    from tracecup.traces import Traces


class RawTables(NamedTuple):
    """The raw tables of the command line."""

    both: Path | None
    split: str | None
    reference: Path | None
    released: Path | None
    original: Path | None
    ids: Path | None

    @property
    def given(self) -> bool:
        """Whether there are any."""
        return any(part is not None for part in self)

    def sides(self) -> tuple[Path, Path, Path | None]:
        """(reference, released, original), of which one table may be all."""
        from tracecup.errors import InvalidParameter

        if self.both is not None:
            if self.split is None:
                raise InvalidParameter("--raw needs --split DATE: one table holds both sides")
            if self.reference is not None or self.original is not None:
                raise InvalidParameter("--raw is reference and original: give it or those")
            truth = None if self.released is None else self.both
            return self.both, self.released or self.both, truth
        if self.reference is None or self.released is None:
            raise InvalidParameter(
                "raw tables need --raw and --split, or --raw-reference and --raw-released"
            )
        same = self.reference.exists() and self.released.exists()
        if self.split is None and same and self.reference.samefile(self.released):
            raise InvalidParameter(
                f"{self.reference} is reference and release at once: an attacker who has the "
                "release needs no attack; give --raw FILE --split DATE"
            )
        return self.reference, self.released, self.original


def from_files(
    where: City,
    clock: Path,
    reference: Path,
    original: Path,
    released: Path | None,
    id_table: Path | None,
    obfuscated: Path | None,
    seed: int,
) -> Subject:
    """The release to audit, from files of a contest; an obfuscated one is shuffled here."""
    from tracecup.city import read_clock
    from tracecup.contest.judging.shuffle import pseudonymize
    from tracecup.errors import InvalidParameter
    from tracecup.rng import child_seed
    from tracecup.study.audit import Subject
    from tracecup.traces.files import read_id_table, read_obfuscated, read_released, read_traces
    from tracecup.traces.largefiles import are_large, read_large_cells, read_large_traces, users_of

    if (released is None) == (obfuscated is None):
        raise InvalidParameter("give one of --released and --obfuscated")
    if obfuscated is not None and id_table is not None:
        raise InvalidParameter("--obfuscated is shuffled here and takes no --id-table")
    times, regions = read_clock(clock), where.n_regions
    cells_file = obfuscated or released
    assert cells_file is not None  # one of both is given
    large = are_large(cells_file, original, reference)
    users = users_of(cells_file, times.original) if large else 0

    def traces(path: Path, kind: Literal["original", "reference"]) -> Traces:
        clock = getattr(times, kind)
        if large:
            return read_large_traces(path, kind, n_regions=regions, clock=clock, users=users)
        m = users or None
        return read_traces(path, kind, n_regions=regions, clock=clock, users=m, gaps=True)

    truth = traces(original, "original")
    users = truth.n_users
    known = traces(reference, "reference")
    table = read_id_table(id_table, users=users) if id_table else None
    kind: Literal["obfuscated", "released"] = "obfuscated" if obfuscated else "released"
    if large:
        public = read_large_cells(cells_file, kind, n_regions=regions, clock=times.original)
    else:
        read = read_obfuscated if obfuscated else read_released
        public = read(cells_file, users=users, clock=times.original, n_regions=regions)
    if obfuscated is not None:
        public, table = pseudonymize(public, child_seed(seed, "shuffle"))
    return Subject(where, known, truth, public, table, tuple(str(user) for user in truth.users))


def cuts_of(
    intervals: list[int],
    start: str,
    end: str,
    columns: str | None,
    time: str | None,
    utc_offset: float,
    zone: str | None,
) -> list[Cutting]:
    """How raw tables are cut into events, once for each interval."""
    from tracecup.datasets import Timetable
    from tracecup.study.rawtables import Cutting

    names = table_columns(columns)
    return [
        Cutting(
            Timetable.of_hours(minute_of(start), minute_of(end), step, step),
            names,
            time,
            utc_offset,
            zone,
        )
        for step in dict.fromkeys(intervals)
    ]


def from_tables(
    tables: RawTables,
    city: City | None,
    grids: list[str] | None,
    box: str | None,
    cuts: list[Cutting],
    seed: int,
) -> list[tuple[str, Subject]]:
    """The release to audit, from raw tables, once for each grid and interval."""
    from tracecup.rng import child_seed
    from tracecup.study.placed import day_of, read_names
    from tracecup.study.rawtables import read_settings

    reference, released, original = tables.sides()
    return read_settings(
        reference,
        released,
        original,
        cuts=cuts,
        city=city,
        grids=None if grids is None else [grid_size(one) for one in dict.fromkeys(grids)],
        box=box_of(box) if box else None,
        split=None if tables.split is None else day_of(tables.split),
        names=None if tables.ids is None else read_names(tables.ids),
        rng=child_seed(seed, "shuffle"),
    )
