"""Running studies into a folder: numbers as CSV and JSON, pictures, one page for all of them.

A study whose result is complete is not run again, so a run that was stopped goes on.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree

from tracecup import plot as room
from tracecup.plot.page import QUICK, Shown, page, summary
from tracecup.plot.style import Picture, drawings, styled
from tracecup.safeio import atomic_write, ensure_folder
from tracecup.study.away import Stay, job_of, unpack
from tracecup.study.context import Context
from tracecup.study.reproduce import Record, Study, asked, choose, run_study, studies, versions
from tracecup.study.results import WORKED, Source, StudyResult

RESULT = "result.json"
PAGE = "index.html"
SUMMARY = "summary.md"
CELLS = "cells"

Told = Callable[[str, float, int], None]
"""Called with (what is done now, studies done and the part of this one, studies in all)."""


@dataclass(frozen=True)
class Album:
    """What a run made: the records in order, which were there already, which were left out."""

    folder: Path
    records: tuple[Record, ...]
    kept: tuple[str, ...]
    left_out: tuple[str, ...]


def reproduce(
    ids: Sequence[str],
    out: Path,
    context: Context,
    *,
    force: bool = False,
    told: Told | None = None,
    executor: Executor | None = None,
    shared: bool = False,
) -> Album:
    """Run the studies `ids` names and put numbers, pictures and the page into `out`.

    Each study gets a folder of its own: `result.json` (written last, so it marks completeness),
    one CSV per table, every picture as PNG and SVG. A complete result with the same seed, size,
    data and versions is kept unless `force`. `index.html` shows these studies and all others
    that are complete in the folder.
    Long studies keep their parts in the folder `cells` and go on there when they were stopped.
    With an `executor` the studies that have to run are handed to it all at once; their data and
    cells travel with them and back (`study.away`), or are read at the same paths if `shared`.
    Those that hand out their own parts run here, after the others.
    """
    chosen, left_out = choose(ids, context)
    ensure_folder(out)
    if force:
        for one in chosen:
            rmtree(out / CELLS / one.id, ignore_errors=True)
    context = replace(context, cells=out / CELLS)
    held = {one.id: None if force else _complete(out / one.id, one, context) for one in chosen}
    lacking = [one for one in chosen if held[one.id] is None]
    for new in _run(lacking, context, told, executor, shared):
        _store(out / new.id, new, draw(new), context.there)
        held[new.id] = new
    records = [record for one in chosen if (record := held[one.id]) is not None]
    kept = [one.id for one in chosen if one not in lacking]
    shown = list(_all_shown(out, records, context))
    _write(out / PAGE, page(shown, left_out).encode())
    _write(out / SUMMARY, summary(shown, left_out).encode())
    return Album(out, tuple(records), tuple(kept), tuple(left_out))


def draw(record: Record) -> list[Picture]:
    """The pictures of a result; those of a quick run say so."""
    for module in pkgutil.iter_modules(room.__path__):
        importlib.import_module(f"{room.__name__}.{module.name}")
    with styled():
        return list(drawings()[record.id](_said(record)))


def _run(
    studies: Sequence[Study],
    context: Context,
    told: Told | None,
    executor: Executor | None,
    shared: bool,
) -> Iterator[Record]:
    """Run studies: whole ones elsewhere where there is an executor, all others here."""
    whole = [one for one in studies if executor is not None and not one.hands_out]
    if executor is not None:
        yield from _by(executor, whole, len(studies), context, shared, told)
    here = replace(context, executor=executor)
    for k, one in enumerate((one for one in studies if one not in whole), len(whole)):
        if told is None:
            yield run_study(one, here)
        else:
            told(one.id, k, len(studies))
            yield run_study(one, replace(here, tell=_part(told, one.id, k, len(studies))))


def _by(
    executor: Executor,
    studies: Sequence[Study],
    total: int,
    context: Context,
    shared: bool,
    told: Told | None,
) -> Iterator[Record]:
    """Have studies run elsewhere, all at once; those that come back undone are sent again."""

    def send(one: Study) -> Future[Stay]:
        if shared:
            return executor.submit(_whole, one, context)
        return executor.submit(job_of(one, context))

    waiting = {send(one): one for one in studies}
    parts = dict.fromkeys(waiting.values(), 0.0)
    while waiting:
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            one, back = waiting.pop(future), future.result()
            parts[one] = back.part
            if told:
                told(one.id, sum(parts.values()), total)
            if context.cells is not None:
                unpack(back, context.cells)
            if back.record is None:
                waiting[send(one)] = one
            else:
                yield back.record


def _whole(one: Study, context: Context) -> Stay:
    """A study where folders are shared."""
    return Stay(run_study(one, context), 1.0, {})


def _part(told: Told, name: str, k: int, total: int) -> Callable[[float, float], None]:
    """Steps of the k-th study as a part of all of them."""
    return lambda done, steps: told(name, k + done / max(steps, 1.0), total)


def _complete(folder: Path, one: Study, context: Context) -> Record | None:
    """The stored record, if it is whole and was made from the same things."""
    try:
        held = json.loads((folder / RESULT).read_text("utf-8"))
        record, data = Record.from_dict(held), held["data"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    same = (
        record.id, record.seed, record.quick, dict(record.versions), dict(record.asked), data
    ) == (
        one.id, context.seed, context.quick, versions(), asked(context), list(context.there)
    )  # fmt: skip
    return record if same else None


def _said(record: Record) -> StudyResult:
    """The result, with sources that also tell of a quick run; what needs no data is the same."""

    def told(source: Source) -> Source:
        plain = not record.quick or source == WORKED or not source.label
        return source if plain else replace(source, label=f"{source.label}. {QUICK}")

    result = record.result
    sources = {name: told(source) for name, source in result.sources.items()}
    return replace(result, source=told(result.source), sources=sources)


def _store(folder: Path, record: Record, pictures: Sequence[Picture], data: Sequence[str]) -> None:
    ensure_folder(folder)
    for name, table in record.result.tables.items():
        _write(folder / f"{name}.csv", table.as_csv().encode())
    for picture in pictures:
        _write(folder / f"{picture.name}.png", picture.png())
        _write(folder / f"{picture.name}.svg", picture.svg())
    names = {picture.name: picture.alt for picture in pictures}
    held = {**record.as_dict(), "data": list(data), "pictures": names}
    _write(folder / RESULT, json.dumps(held, indent=1, allow_nan=False).encode())


def _all_shown(out: Path, records: Sequence[Record], context: Context) -> Iterator[Shown]:
    """What this run has and what earlier ones left complete, in the order of the paper."""
    made = {record.id: record for record in records}
    for one in studies().values():
        record = made.get(one.id) or _complete(out / one.id, one, context)
        if record is not None:
            yield _shown(out / one.id, one, record)


def _shown(folder: Path, one: Study, record: Record) -> Shown:
    names = json.loads((folder / RESULT).read_text("utf-8"))["pictures"]
    drawn = {name: (folder / f"{name}.svg").read_bytes() for name in names}
    return Shown(one, record, names, drawn)


def _write(path: Path, content: bytes) -> None:
    with atomic_write(path) as file:
        file.write(content)
