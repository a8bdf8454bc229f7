"""How a table and its weights are rounded for an accelerator, and how far a product can be off.

Every bound has the form: the true sum lies within coarse sum x (1 - error) .. (1 + error).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.device.sparse import SparseRows

INT8_MOST = 127
HALF_UNIT = 2.0**-11
HALF_WHOLE = 2048
"""Whole numbers up to this are exact in float16."""
HALF_LEAST, HALF_MOST = 2.0**-14, 65504.0

ACCUMULATED = 2.0**-22
"""What an addition in float32 may lose of the running sum: tensor cores cut off, so twice 2^-23."""

COARSEST = 8
"""The smallest entry in int8 must be at least this, or the bound is too wide to be of use."""


@dataclass(frozen=True)
class Rounding:
    """Entries times `scale` in `dtype`; a coarse sum is right within +- `error` of itself."""

    dtype: str
    scale: float
    error: float


def int8_rounding(table: SparseRows) -> Rounding | None:
    """Entries t as T = round(127 t / max t), whole weights up to 127 as they are.

    |t s - T| <= 1/2 <= T / (2 min T), so a sum of w t s with w >= 0 is within sum w T (1 -+ r),
    r = 1 / (2 min T); whole numbers are summed without error. None where min T is below 8.

    >>> int8_rounding(SparseRows.of([[12.0, 18.0]])).error < 0.006
    True
    """
    if not table.values.size:
        return None
    scale = INT8_MOST / float(table.values.max())
    smallest = np.rint(float(table.values.min()) * scale)
    if smallest < COARSEST:
        return None
    return Rounding("int8", scale, float((0.5 + 1e-9) / smallest))


def half_rounding(table: SparseRows, weights: SparseRows) -> Rounding:
    """Entries in float16, products and sums in float32.

    An entry is off by at most u = 2^-11 of itself, a weight too unless it is a whole number up to
    2048, and each of the n additions by at most 2^-22 of the sum: together e, hence
    true = coarse (1 +- e / (1 - e)). `scale` is a power of two that puts the largest entry just
    below 2048; the error is infinite where entries or weights leave float16's normal numbers.
    """
    top, least = float(table.values.max(initial=1.0)), float(table.values.min(initial=1.0))
    scale = float(2.0 ** np.floor(np.log2(HALF_WHOLE / top)))
    heaviest, lightest = (
        float(weights.values.max(initial=1.0)),
        float(weights.values.min(initial=1.0)),
    )
    if min(least * scale, lightest) < HALF_LEAST or heaviest > HALF_MOST:
        return Rounding("float16", scale, np.inf)
    whole = bool((weights.values == np.rint(weights.values)).all()) and heaviest <= HALF_WHOLE
    relative = (1 + HALF_UNIT) * (1.0 if whole else 1 + HALF_UNIT)
    off = relative * (1 + ACCUMULATED) ** (table.width + 2) - 1
    return Rounding("float16", scale, off / (1 - off) if off < 0.5 else np.inf)


def fits_int8(weights: SparseRows) -> NDArray[np.bool_]:
    """Which rows have whole weights up to 127 only, shape (n,)."""
    bad = (weights.values > INT8_MOST) | (weights.values != np.rint(weights.values))
    running = np.concatenate([[0], np.cumsum(bad)])
    return np.asarray(running[weights.offsets[1:]] == running[weights.offsets[:-1]])
