"""Exact search on an accelerator: low precision proposes, a proved bound says what stays open.

Needs numpy alone; a GPU is used through JAX (the extra `gpu`). Nothing here knows of traces.
"""

from tracecup.device.arrays import Arrays, JaxArrays, NumpyArrays, device_arrays, require_device
from tracecup.device.search import Found, best_matches
from tracecup.device.sparse import SparseRows

__all__ = [
    "Arrays",
    "Found",
    "JaxArrays",
    "NumpyArrays",
    "SparseRows",
    "best_matches",
    "device_arrays",
    "require_device",
]
