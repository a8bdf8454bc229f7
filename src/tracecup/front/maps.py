"""Maps of one's own traces: where people were, and what a defence made of it, as one HTML page.

Unlike the cards of notebooks these show originals, for their owner, where they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from os import fspath
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City, Clock
from tracecup.errors import InvalidParameter
from tracecup.front.data import Data, PathName
from tracecup.front.decorators import as_cells
from tracecup.front.html import centres, region_map, visits_map
from tracecup.front.releases import CellsLike, Release
from tracecup.safeio import atomic_write
from tracecup.score import utility_score
from tracecup.traces import SetTraces, Traces

FEWER = (154, 52, 18)
LINE = "#d97706"
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 62rem; padding: 0 1rem;
  color: #1f2328; background: #fff }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
figure { display: inline-block; margin: 0 1rem 1rem 0 }
figcaption { max-width: 14rem; color: #57606a }
.own { border-left: 4px solid #b42318; padding-left: .8rem }
"""


@dataclass(frozen=True, eq=False, repr=False)
class TraceMap:
    """Maps as HTML: shows itself in a notebook, `save` writes a page of its own."""

    title: str
    html: str

    def __repr__(self) -> str:
        return f"<TraceMap {self.title}: {len(self.html) // 1000} kB; save(path) writes it>"

    def _repr_html_(self) -> str:
        return self.html

    @property
    def page(self) -> str:
        """The whole page; it asks for nothing from anywhere."""
        policy = "default-src 'none'; style-src 'unsafe-inline'"
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{STYLE}</style></head>"
            f"<body><h1>{escape(self.title)}</h1>{self.html}</body></html>\n"
        )

    def save(self, path: PathName) -> Path:
        """Write the page; the path of it."""
        out = Path(path)
        with atomic_write(fspath(out)) as file:
            file.write(self.page.encode())
        return out


def draw_map(
    city: City | Data | Release,
    before: CellsLike | None = None,
    after: CellsLike | None = None,
    *,
    users: int | Iterable[int] = 6,
    title: str = "",
) -> TraceMap:
    """Where people were: all events of `before`, those of `after`, and what changed; some users.

    `draw_map(city, traces)` shows traces of any kind; `draw_map(city, original, obfuscated)`
    shows them before and after, row by row the same users; `draw_map(data, obfuscated)` takes the
    originals of `data`, and `draw_map(release)` those of a release of one's own. `users` are the
    first so many, or ids (from 1). Dark regions hold many events, hospitals have a red frame, a
    line joins what followed each other on a day. O(events).

    >>> from tracecup.front.data import load_demo
    >>> draw_map(load_demo(days=2, users=5), users=2)
    <TraceMap 5 users: 26 kB; save(path) writes it>
    """
    where, first, second = _sides(city, before, after)
    rows = _rows(first.n_users, users)
    said = f"{first.n_users} users" + (", before and after" if second is not None else "")
    everybody = [visits_map(where, first, "all events" if second is None else "before: all events")]
    if second is not None:
        everybody += [
            visits_map(where, second, "after: all released regions"),
            change_map(where, first, second),
        ]
    parts = [f'<p class="own">{_remark(where, first, second)}</p><h2>Everybody</h2>', *everybody]
    for row in rows:
        parts.append(f"<h2>User {int(first.users[row])}</h2>")
        parts.append(path_map(where, first, row, "" if second is None else "before: "))
        if second is not None:
            parts.append(path_map(where, second, row, "after: "))
    return TraceMap(title or said, "".join(parts))


def change_map(city: City, before: SetTraces, after: SetTraces) -> str:
    """Where there is more than before (blue) and where less (red), as SVG; O(events)."""
    change = _shares(city, after) - _shares(city, before)
    moved = 0.5 * float(np.abs(change).sum())
    caption = f"blue: more than before, red: less; {moved:.0%} of what is shown moved"
    return region_map(city, change, caption, fewer=FEWER)


def path_map(city: City, traces: SetTraces, row: int, caption: str) -> str:
    """One user's events, with a line through the single regions of each day, as SVG; O(events)."""
    times = traces.times
    offsets = traces.offsets[row * times : (row + 1) * times + 1]
    held, sizes = traces.regions[offsets[0] : offsets[-1]], np.diff(offsets)
    counts = np.bincount(held, minlength=city.n_regions).astype(np.float64)
    single = np.full(times, -1)
    single[sizes == 1] = traces.regions[offsets[:-1][sizes == 1]]
    said = [f"{caption}{np.count_nonzero(counts)} regions"]
    said += [f"{int((sizes == 0).sum())} of {times} events deleted"] if (sizes == 0).any() else []
    said += [f"{int((sizes > 1).sum())} generalised"] if (sizes > 1).any() else []
    return region_map(city, counts, ", ".join(said), over=_lines(city, single, traces.clock))


def _sides(
    given: City | Data | Release, before: CellsLike | None, after: CellsLike | None
) -> tuple[City, SetTraces, SetTraces | None]:
    """City, traces before, traces after: what was given, or what the data or release hold."""
    if isinstance(given, Release):
        if before is not None or after is not None:
            raise InvalidParameter("a release knows what it was made from: draw_map(release)")
        table = given.truth.table
        if table is None:
            raise InvalidParameter("nobody knows who is who in this release")
        order = table.inverse()
        return given.case.city, _cells(given.truth.original), given.released.take_users(order)
    if isinstance(given, Data):
        if after is not None:
            raise InvalidParameter("draw_map(data, obfuscated) takes one kind of traces")
        second = None if before is None else as_cells(before, given.original)
        return given.city, _cells(given.original), second
    if not isinstance(given, City) or before is None:
        raise InvalidParameter(
            "draw_map(city, traces), draw_map(city, original, obfuscated), draw_map(data) or "
            f"draw_map(release), got {type(given).__name__}"
        )
    first = _cells(before)
    if after is None:
        return given, first, None
    second = after if isinstance(after, SetTraces) else as_cells(after, first.as_traces())
    if second.shape != first.shape:
        raise InvalidParameter(
            f"before are {first.n_users} users and {first.times} events, after "
            f"{second.n_users} and {second.times}; both are of the same users"
        )
    return given, first, second


def _cells(traces: CellsLike) -> SetTraces:
    if isinstance(traces, SetTraces):
        return traces
    return SetTraces.of_traces(traces if isinstance(traces, Traces) else Traces.of(traces))


def _rows(n_users: int, users: int | Iterable[int]) -> list[int]:
    """The rows of the users that are asked for: the first so many, or by id."""
    if isinstance(users, int):
        return list(range(min(users, n_users)))
    ids = list(users)
    bad = [one for one in ids if not 1 <= one <= n_users]
    if bad:
        raise InvalidParameter(f"users are numbered 1 to {n_users}, got {bad[0]}")
    return [one - 1 for one in ids]


def _shares(city: City, traces: SetTraces) -> NDArray[np.float64]:
    """The share of all shown regions that lies in each region."""
    counts = np.bincount(traces.regions, minlength=city.n_regions)
    return np.asarray(counts / max(1, counts.sum()))


def _remark(city: City, before: SetTraces, after: SetTraces | None) -> str:
    said = "Original traces are secrets of the people in them: keep this page to yourself."
    if after is None or not before.is_single:
        return said
    score = utility_score(city, before.as_traces(), after)
    return f"{said} Utility s_U of what is shown after: {score.value:.4f}."


def _lines(city: City, regions: NDArray[np.integer], clock: Clock) -> str:
    """A line through the events of each day; it jumps over what is deleted or generalised."""
    drawn = []
    for day in range(clock.days):
        seen = regions[day * clock.slots : (day + 1) * clock.slots]
        seen = seen[seen >= 0]
        if len(seen) > 1 and (seen != seen[0]).any():
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in centres(city, seen))
            drawn.append(f'<polyline points="{points}"/>')
    style = f'fill="none" stroke="{LINE}" stroke-opacity="0.6" stroke-width="0.9"'
    return f"<g {style}>{''.join(drawn)}</g>"
