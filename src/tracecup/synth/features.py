"""Feature vectors of virtual users: what makes one differ from another.

PPMTF takes the training users' rows of A; PPMTF+ draws rows that nobody has.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import kernel
from tracecup.streams import child, fill_normals
from tracecup.synth.lanes import padded

Floats = NDArray[np.float64]
FEATURES, WALKS = np.uint64(0), np.uint64(1)  # purposes below the key of an order of traces


def widened(X: Floats) -> Floats:
    """Rows padded with zeros to the length the kernels want."""
    wide = np.zeros((len(X), padded(X.shape[1])))
    wide[:, : X.shape[1]] = X
    return wide


def fresh_features(
    mean: Floats, precision: Floats, first_user: int, n_users: int, key: tuple[np.uint64, np.uint64]
) -> Floats:
    """Feature vectors of virtual users first_user, ...: a ~ N(mean, precision^-1), padded rows.

    PPMTF+ (section 5): nobody's trained vector enters.
    """
    out = np.zeros((n_users, padded(len(mean))))
    key0, key1 = child(*key, FEATURES)
    # With precision = L L^T, the covariance of L^-T noise is precision^-1.
    root = np.ascontiguousarray(np.linalg.inv(np.linalg.cholesky(precision)).T)
    _draw_features(mean, root, first_user, np.uint64(key0), np.uint64(key1), out)
    return out


@kernel
def _draw_features(
    mean: Floats, root: Floats, first: int, key0: np.uint64, key1: np.uint64, out: Floats
) -> None:
    z = len(mean)
    noise = np.empty(z)
    for u in range(out.shape[0]):
        user0, user1 = child(key0, key1, np.uint64(first + u))
        fill_normals(user0, user1, noise)
        for f in range(z):
            value = mean[f]
            for g in range(f, z):
                value += root[f, g] * noise[g]
            out[u, f] = value
