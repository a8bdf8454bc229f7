"""Writing one-day traces in the columns of the published evaluation.

The twin of `files.read_day_traces`.
"""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidTraces
from tracecup.safeio import atomic_write

COLUMNS = ("user", "trace_no", "time_slot", "time_instant", "poi_index")
BLOCK_ROWS = 1 << 20


def write_day_traces(path: str | PathLike[str], days: NDArray[np.int32], slots: int) -> None:
    """Write traces of shape (users, days, instants) as
    `user,trace_no,time_slot,time_instant,poi_index`, all from 0; `slots` divide the instants.
    """
    import pyarrow as pa
    from pyarrow import csv

    if days.ndim != 3 or slots < 1 or days.shape[2] % slots:
        raise InvalidTraces(
            f"one-day traces need shape (users, days, instants) and slots that divide the "
            f"instants, got {days.shape} and {slots}"
        )
    _, n_days, instants = days.shape
    per_slot = instants // slots
    flat = days.reshape(-1)
    options = csv.WriteOptions(include_header=False)
    with atomic_write(path) as file:
        file.write((",".join(COLUMNS) + "\n").encode())
        for low in range(0, max(1, len(flat)), BLOCK_ROWS):
            row = np.arange(low, min(low + BLOCK_ROWS, len(flat)))
            instant = row % instants
            columns = (
                row // (n_days * instants),
                row // instants % n_days,
                instant // per_slot,
                instant % per_slot,
                flat[row],
            )
            csv.write_csv(pa.table(dict(zip(COLUMNS, columns, strict=True))), file, options)
