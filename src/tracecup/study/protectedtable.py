"""Protected traces back as a table of positions that can be published, and its ID table apart.

Pseudonyms are drawn from the system's entropy unless told otherwise.
"""

from __future__ import annotations

from os import PathLike

import numpy as np

from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.errors import InvalidParameter
from tracecup.records.zones import Zone
from tracecup.rng import Rng
from tracecup.safeio import atomic_write
from tracecup.study.audit import Subject
from tracecup.traces import SetTraces
from tracecup.traces.files import SECRET_MODE

UTC = Zone()


def write_table(
    subject: Subject,
    cells: SetTraces,
    out: str | PathLike[str],
    ids: str | PathLike[str],
    zone: Zone = UTC,
    rng: Rng = None,
) -> None:
    """Write protected cells (in user order) as a table to publish, and its ID table apart.

    `out` has the columns user (a pseudonym 1, 2, ..., drawn anew), time, lat and lon, a row for
    every cell that is not deleted: the begin of its event, and the middle of its regions. Times
    are UTC, as in the audited table, whose hours of the day are those of `zone`; an hour that the
    local clock shows twice is written as the first of the two. `ids` has pseudonym and user and
    can be read by its owner alone.
    """
    if len(subject.dates) != cells.clock.days:
        raise InvalidParameter("the days of these traces have no dates, so no table can be written")
    released, table = pseudonymize(cells, rng)
    grid = subject.city.grid
    sizes = np.diff(released.offsets)
    cell = np.repeat(np.arange(len(sizes)), sizes)
    y, x = (
        np.bincount(cell, weights=centre[released.regions], minlength=len(sizes))
        / np.maximum(sizes, 1)
        for centre in (np.array(grid.latitudes)[grid.y], np.array(grid.longitudes)[grid.x])
    )
    pseudonym, event = np.divmod(np.flatnonzero(sizes), released.times)
    minute = np.array(cells.clock.minutes)[event % cells.clock.slots]
    day = np.array(subject.dates)[event // cells.clock.slots]
    when = zone.utc(day * 86_400.0 + 60.0 * minute).astype("int64").astype("datetime64[s]")
    kept = np.flatnonzero(sizes)
    lines = ["user,time,lat,lon\n"]
    lines += [
        f"{who + 1},{str(at).replace('T', ' ')},{lat:.6f},{lon:.6f}\n"
        for who, at, lat, lon in zip(pseudonym, when, y[kept], x[kept], strict=True)
    ]
    behind = [f"{k + 1},{quoted(subject.labels[u])}\n" for k, u in enumerate(table.users)]
    with atomic_write(out) as file:
        file.write("".join(lines).encode())
    with atomic_write(ids, SECRET_MODE) as file:
        file.write("".join(["pseudonym,user\n", *behind]).encode())


def quoted(name: str) -> str:
    """A name as a field of a CSV file.

    >>> quoted("Ann, Bob")
    '"Ann, Bob"'
    """
    plain = not any(mark in name for mark in ',"\r\n')
    return name if plain else '"' + name.replace('"', '""') + '"'
