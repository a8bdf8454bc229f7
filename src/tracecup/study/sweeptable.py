"""The tables of a sweep: the tidy one as CSV and Parquet, and its summary over the seeds.

The strongest attack of each kind counts, as in a contest.
"""

from __future__ import annotations

import hashlib
import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from scipy import special

from tracecup.attack.naming import is_blind
from tracecup.methodnames import short_method
from tracecup.safeio import atomic_write
from tracecup.score import is_valid
from tracecup.study.results import Table

TEXT = ("data", "team", "defence", "tuned", "tuning", "kind", "attack", "knew", "tracecup")
KEY = ("data", "team", "defence", "seed", "floor", "kind", "attack")
SUMMARY = (
    "data",
    "team",
    "defence",
    "ran",
    "tuning",
    "seeds",
    "utility",
    "utility_sd",
    "valid",
    "s_r_min",
    "s_r_min_sd",
    "s_r_by",
    "s_t_min",
    "s_t_min_sd",
    "s_t_by",
    "s_t_linked",
    "s_t_linked_sd",
    "s_t_prior",
    "s_r_group",
    "s_t_true_link",
    "expected_error_km",
    "defence_seconds",
    "s_r_low",
    "s_r_high",
    "s_t_low",
    "s_t_high",
    "s_t_linked_low",
    "s_t_linked_high",
)

LIMITS = ("group", "true_link")
"""What bounds s_R and s_T whoever attacks, as the tidy table calls it."""


def write_tables(out: Path, table: Table) -> tuple[Path, Path, Path]:
    """Write table.csv, table.parquet and summary.csv into a folder; the three paths.

    Where a table.parquet is there already that holds rows which this grid does not have, it and
    its companions stay, and the names get the grid's own ending: table-1f3c9a20.csv.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    packed = out / "table.parquet"
    end = "" if _held(packed) <= _grid(table) else f"-{_digest(_grid(table))}"
    whole, packed, brief = (
        out / f"{name}{end}{ending}"
        for name, ending in (("table", ".csv"), ("table", ".parquet"), ("summary", ".csv"))
    )
    fields = [
        (name, pa.string() if name in TEXT else pa.int64() if name == "seed" else pa.float64())
        for name in table.columns
    ]
    columns = {name: table.column(name) for name in table.columns}
    with atomic_write(whole) as file:
        file.write(table.as_csv().encode())
    with atomic_write(packed) as file:
        pq.write_table(pa.table(columns, schema=pa.schema(fields)), file)
    with atomic_write(brief) as file:
        file.write(summarize(table).as_csv().encode())
    return whole, packed, brief


def _grid(table: Table) -> set[tuple[Any, ...]]:
    """What tells the rows of a table apart."""
    return set(zip(*(table.column(name) for name in KEY), strict=True))


def _held(path: Path) -> set[tuple[Any, ...]]:
    """The same of a written table; nothing where there is none that can be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = pq.read_table(path, columns=list(KEY)).to_pydict()
        return set(zip(*(found[name] for name in KEY), strict=True))
    except (OSError, pa.ArrowException, KeyError):
        return set()


def _digest(grid: set[tuple[Any, ...]]) -> str:
    return hashlib.sha256(repr(sorted(grid, key=repr)).encode()).hexdigest()[:8]


def summarize(table: Table) -> Table:
    """One row per data set and defence: means over the seeds and their standard deviations.

    `s_r_min` is the mean over seeds of the lowest s_R of any attack, `s_r_by` the attack that was
    lowest most often (ties: the one named first); likewise for s_T, with the expected error of
    the attack that was lowest. `s_r_group` is what s_R is at most where users are alike in
    groups, `s_t_true_link` what s_T is at most against who knows the link. `s_t_linked` is the
    same minimum over the attacks that use the release, `s_t_prior` over those that do not: the
    ceiling above which no defence earns credit.
    Deviations are those of a sample (n - 1); None for one seed. `low` and `high` are the ends of
    95 % intervals over users and seeds: half width^2 = mean over the seeds of that over users^2 +
    (t_{n-1} deviation / sqrt(n))^2, rather too wide than too narrow, as one seed's spread over
    users holds some of that over seeds; cut to 0..1.
    `valid`: every seed keeps the floor; None where there is none.
    """
    rows = []
    for names, seeds in _cells(table):
        first = [cell[0] for cell in seeds]
        utility = [row["utility"] for row in first]
        floor = first[0]["floor"]
        reid, trace = _lowest(seeds, "reid"), _lowest(seeds, "trace")
        linked, prior = _lowest(seeds, "trace", blind=False), _lowest(seeds, "trace", blind=True)
        rows.append(
            (
                *names,
                label_of([row["tuned"] for row in first]),
                worst_tuning([row["tuning"] for row in first]),
                len(seeds),
                *_spread(utility),
                None if floor is None else all(is_valid(value, floor) for value in utility),
                *_spread([row["score"] for row in reid]),
                usual([row["attack"] for row in reid]),
                *_spread([row["score"] for row in trace]),
                usual([row["attack"] for row in trace]),
                *_spread([row["score"] for row in linked]),
                _spread([row["score"] for row in prior])[0],
                *(
                    _spread([row[key] for row in first if row[key] is not None])[0]
                    for key in LIMITS
                ),
                _spread([row["expected_error_km"] for row in trace])[0],
                _spread([row["defence_seconds"] for row in first])[0],
                *_interval(reid),
                *_interval(trace),
                *_interval(linked),
            )
        )
    return Table.of(SUMMARY, rows)


def _cells(table: Table) -> Iterator[tuple[tuple[str, ...], list[list[dict[str, Any]]]]]:
    """Rows of every data set and defence, seed by seed; a sweep writes them in this order."""
    for names, rows in groupby(table.records(), lambda r: (r["data"], r["team"], r["defence"])):
        yield names, [list(cell) for _, cell in groupby(rows, lambda r: r["seed"])]


def _lowest(
    seeds: Sequence[Sequence[dict[str, Any]]], kind: str, blind: bool | None = None
) -> list[dict[str, Any]]:
    """The row of the strongest attack for every seed; none where no such attack was run."""
    chosen = [
        [
            row
            for row in cell
            if row["kind"] == kind and (blind is None or is_blind(row["attack"]) == blind)
        ]
        for cell in seeds
    ]
    return [min(rows, key=lambda row: float(row["score"])) for rows in chosen if rows]


def _spread(values: Sequence[float]) -> tuple[float | None, float | None]:
    if not values:
        return None, None
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return statistics.fmean(values), deviation


def _interval(rows: Sequence[dict[str, Any]]) -> tuple[float | None, float | None]:
    """Low and high over users and seeds; see `summarize`."""
    if not rows:
        return None, None
    scores = [row["score"] for row in rows]
    mean, deviation = statistics.fmean(scores), _spread(scores)[1] or 0.0
    quantile = float(special.stdtrit(len(rows) - 1, 0.975)) if len(rows) > 1 else 0.0
    by_seeds = quantile**2 * deviation**2 / len(rows)
    halves = [
        math.sqrt(statistics.fmean((row["score"] - row[end]) ** 2 for row in rows) + by_seeds)
        for end in ("low", "high")
    ]
    return max(0.0, mean - halves[0]), min(1.0, mean + halves[1])


def usual(names: Sequence[str]) -> str | None:
    """The name that stands most often, of equal ones the first; None for none."""
    return max(dict.fromkeys(names), key=names.count) if names else None


def worst_tuning(found: Sequence[str]) -> str:
    """`coarse` if it was so with any seed, else how the first seed's was."""
    return "coarse" if "coarse" in found else found[0]


def label_of(tuned: Sequence[str]) -> str:
    """What ran, over several seeds: parameters that differ as a range.

    >>> label_of(["PL(3.238123,1)", "PL(3.262,1)"]), label_of(["KMeans(100)"] * 3)
    ('PL(3.238..3.262,1)', 'KMeans(100)')
    """
    names = list(dict.fromkeys(short_method(name) for name in tuned))
    if len(names) == 1:
        return names[0]
    heads = {name.partition("(")[0] for name in names}
    parts = [name.partition("(")[2].removesuffix(")").split(",") for name in names]
    if len(heads) > 1 or len({len(part) for part in parts}) > 1:
        return " or ".join(names)
    said = [_range(list(dict.fromkeys(column))) for column in zip(*parts, strict=True)]
    return f"{heads.pop()}({','.join(said)})"


def _range(values: Sequence[str]) -> str:
    """One value as it is, several numbers from the lowest to the highest."""
    if len(values) == 1:
        return values[0]
    keys = {value.rpartition("=")[0] for value in values}
    try:
        numbers = sorted(float(value.rpartition("=")[2]) for value in values)
    except ValueError:
        return "|".join(values)
    key = f"{keys.pop()}=" if len(keys) == 1 and "" not in keys else ""
    return f"{key}{numbers[0]:.4g}..{numbers[-1]:.4g}"
