"""Parquet files of strangers, decoded in a process of their own with a memory limit.

A file that aborts the decoder, or asks for all memory, is that file's fault and ends nobody else:
the child writes Arrow batches into a pipe, and whoever reads them here never touches the file.
Who reads many files forks for the first few; then a nursery does, which stays small.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from tracecup.childlimits import WAITS_ONLY, limit_process
from tracecup.errors import InvalidFile, Problem
from tracecup.nursery import Child, Nursery, forked, serve
from tracecup.safeio import MIB, Limits, open_regular, too_large

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

T = TypeVar("T")
BATCH_ROWS = 65_536
MOST_COLUMNS = 16
ATTEMPTS = 2
"""A decoder that dies is asked once more: the first time somebody else may have killed it."""
# Decoding holds a page and a batch beside what goes out; a footer can make it take no more.
LEAST_MEMORY, MEMORY_PER_BYTE = 512 * MIB, 4
LEAST_SECONDS, BYTES_PER_SECOND = 60, 4 * MIB
OWN_FORKS = 2
"""Files for which a process is copied itself, if it may be; then it starts a nursery for them."""
_ROWS = b"tracecup:rows"
_DONE, _REFUSED = 0, 1


@dataclass(frozen=True)
class _Asked:
    """What a child is to decode."""

    path: str
    limits: dict[str, int]
    columns: list[str] | None
    most_columns: int
    batch_rows: int

    @property
    def bounds(self) -> Limits:
        return Limits(**self.limits)


@dataclass(frozen=True)
class Batches:
    """A Parquet file on its way in: its schema, the rows that its footer claims, its batches."""

    schema: pa.Schema
    rows: int
    _reader: Any

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        while True:
            try:
                batch = self._reader.read_next_batch()
            except StopIteration:
                return
            except (pa.ArrowException, OSError) as error:
                raise _HalfAFile from error
            yield batch


class _HalfAFile(Exception):
    """The child stopped in the middle."""


def decoded(
    path: str | PathLike[str],
    limits: Limits,
    use: Callable[[Batches], T],
    *,
    columns: Sequence[str] | None = None,
    most_columns: int = MOST_COLUMNS,
    whole: bool = True,
) -> T:
    """What `use` makes of the batches of a Parquet file; it may be called twice.

    Every batch was validated where it was decoded. `columns` are those that are wanted (None:
    all), `most_columns` is how many a file may have. Without `whole` nobody asks for the end of the
    file once `use` has an answer. `InvalidFile` for a footer that promises more
    than the limits allow, for broken content, and for a file that ends the decoder twice.
    """
    with open_regular(path):
        pass  # a path that cannot be read is told here
    asked = _Asked(
        str(Path(path).absolute()),  # a nursery may stand in another folder
        asdict(limits),
        None if columns is None else list(columns),
        most_columns,
        BATCH_ROWS,
    )
    ended = ""
    for _ in range(ATTEMPTS):
        with _decoder(asked) as child:
            result, used = _used(child.data, use)
            ended = "" if used and not whole else _end(child)
        if ended == "" and used:
            return cast(T, result)
        if ended.startswith("{"):
            raise InvalidFile(path, [Problem(**json.loads(ended))])
    found = f"what ends the decoder ({ended or 'half a file'})"
    raise InvalidFile(path, [Problem(0, "", found, "a Parquet file")])


def _used(data: IO[bytes], use: Callable[[Batches], T]) -> tuple[T | None, bool]:
    """What comes of a child's batches, and whether they came to their end."""
    import pyarrow as pa

    try:
        reader = pa.ipc.open_stream(data)
    except (pa.ArrowException, OSError):
        return None, False
    with reader:
        rows = int(reader.schema.metadata[_ROWS])
        try:
            return use(Batches(reader.schema, rows, reader)), True
        except _HalfAFile:
            return None, False


def _end(child: Child) -> str:
    """How a child ended: "" well, a problem as JSON, or the signal that ended it."""
    with suppress(OSError):
        while child.data.read(MIB):
            pass  # nobody wants the rest, but it may be in its way
    said = child.words.read().decode("utf-8", "replace")
    code = child.wait()
    if code == _REFUSED and said.rpartition("\n")[2].startswith("{"):
        return said.rpartition("\n")[2]
    if code < 0:
        with suppress(ValueError):
            return signal.Signals(-code).name
    return "" if code == _DONE else f"code {code}"


_nursery = Nursery(__name__)
_own_forks = itertools.count()


@contextmanager
def _decoder(asked: _Asked) -> Iterator[Child]:
    """A child at work; it is gone afterwards."""
    if not hasattr(os, "fork"):
        started = _spawned(asked)
    elif _may_fork() and next(_own_forks) < OWN_FORKS:
        import pyarrow.parquet  # noqa: F401 - here, so that every copy has it

        started = forked(lambda: _decode(asked))
    else:
        started = _nursery.child(json.dumps(asdict(asked)))
    with started as child:
        yield child


def _may_fork() -> bool:
    """Whether a copy of this process would find all locks open."""
    others = (one for one in threading.enumerate() if one is not threading.current_thread())
    return all(one.name == WAITS_ONLY for one in others)


@contextmanager
def _spawned(asked: _Asked) -> Iterator[Child]:
    """A process of its own, where none can be copied."""
    given = json.dumps(asdict(asked))
    with subprocess.Popen(
        [sys.executable, "-m", __name__, given],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        try:
            yield Child(child.stdout, child.stderr, child.wait)
        finally:
            child.kill()


def _decode(asked: _Asked) -> int:
    """What the child does: batches to descriptor 1, a problem to 2; its exit code."""
    size = asked.bounds.max_bytes
    memory = LEAST_MEMORY + MEMORY_PER_BYTE * size
    try:
        limit_process(memory, LEAST_SECONDS + size // BYTES_PER_SECOND)
        _write_batches(asked)
    except InvalidFile as error:
        return _say(error.problems[0])
    except MemoryError:
        found = f"more than {memory // MIB} MiB of work"
        return _say(Problem(0, "", found, "a Parquet file of a contest's size"))
    except BrokenPipeError:
        return _DONE  # nobody wants more of it
    except BaseException as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        found = f"what Parquet calls: {first[:200]!r}"
        return _say(Problem(0, "", found, "a Parquet file"))
    return _DONE


def _say(problem: Problem) -> int:
    os.write(2, b"\n" + json.dumps(asdict(problem)).encode())
    return _REFUSED


def _write_batches(asked: _Asked) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with (
        open_regular(asked.path) as raw,
        pq.ParquetFile(raw, thrift_string_size_limit=MIB) as file,
        os.fdopen(os.dup(1), "wb") as out,
    ):
        _check_footer(asked, file)
        told = {**(file.schema_arrow.metadata or {}), _ROWS: str(file.metadata.num_rows).encode()}
        wanted = file.schema_arrow.names if asked.columns is None else asked.columns
        schema = pa.schema([file.schema_arrow.field(name) for name in wanted], told)
        with pa.ipc.new_stream(out, schema) as writer:
            for batch in file.iter_batches(
                asked.batch_rows, columns=asked.columns, use_threads=False
            ):
                batch.validate(full=True)
                held = batch.columns if asked.columns is None else batch.select(wanted).columns
                writer.write_batch(pa.RecordBatch.from_arrays(held, schema=schema))


def _check_footer(asked: _Asked, file: pq.ParquetFile) -> None:
    """A footer that promises nothing beyond the limits; it may lie, therefore the memory limit."""
    meta, path, limits = file.metadata, asked.path, asked.bounds
    if meta.num_columns > asked.most_columns:
        found = f"{meta.num_columns} columns"
        raise InvalidFile(path, [Problem(0, "", found, f"at most {asked.most_columns} columns")])
    groups = [meta.row_group(g) for g in range(meta.num_row_groups)]
    if sum(group.total_byte_size for group in groups) > limits.max_bytes:
        raise too_large(path, limits, f"more than {limits.max_bytes} bytes unpacked")
    values = max((g.column(c).num_values for g in groups for c in range(g.num_columns)), default=0)
    if meta.num_rows > limits.max_rows or values > limits.max_ids:
        found = f"{meta.num_rows} rows with up to {values} values"
        wanted = f"at most {limits.max_rows} rows and {limits.max_ids} values"
        raise InvalidFile(path, [Problem(0, "", found, wanted)])


def _decode_text(asked: str) -> int:
    return _decode(_Asked(**json.loads(asked)))


if __name__ == "__main__":
    if sys.argv[1] == "--nursery":
        import pyarrow.parquet  # here, so that every child has it

        serve(int(sys.argv[2]), _decode_text)
    else:
        os._exit(_decode_text(sys.argv[1]))
