"""The data that flows: traces, released cells, ID tables, counts and the contest's files.

Inside everything is 0-based; files are 1-based, and the border is `traces.files`.
"""

from tracecup.traces.counts import (
    slot_counts,
    sparse_visit_counts,
    transition_counts,
    user_slot_counts,
    user_transition_counts,
    visit_counts,
)
from tracecup.traces.idtable import IdTable
from tracecup.traces.settraces import SetTraces
from tracecup.traces.traces import Traces

__all__ = [
    "IdTable",
    "SetTraces",
    "Traces",
    "slot_counts",
    "sparse_visit_counts",
    "transition_counts",
    "user_slot_counts",
    "user_transition_counts",
    "visit_counts",
]
