"""Mechanisms that are solutions of linear programmes: largest error under a bound on quality loss,
smallest quality loss under geo-indistinguishability.

Solved by HiGHS through SciPy; a closed form where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tracecup.errors import InvalidParameter

SMALL = 5000
"""Up to so many variables the dual simplex method is faster than interior points."""
MAX_ENTRIES = 4_000_000
"""Above so many non-zero coefficients a programme would run for hours."""
TOLERANCE = 1e-10
NEVER = 1e-12

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Mechanism:
    """f[x, z], the probability of reporting z at x (rows sum to 1), and what it reaches."""

    f: Floats
    value: float


def least_error(prior: Floats, distance: Floats) -> tuple[int, float]:
    """y0 = argmin_y sum_x pi(x) d(x, y), ties to the smallest, and the error E0 there."""
    expected = prior @ distance
    best = int(np.argmax(expected <= expected.min() + NEVER))
    return best, float(expected[best])


def most_private(
    prior: Floats,
    privacy: Floats,
    quality_distance: Floats,
    quality: float,
    allowed: Flags | None = None,
) -> Mechanism:
    """The mechanism against which the best guess errs most, with quality loss at most Q.

        maximise sum_z u_z  with  u_z <= sum_x pi(x) f(z|x) dp(g, x)  for all reports z, guesses g
        sum_x,z pi(x) f(z|x) dq(x, z) <= Q,  sum_z f(z|x) = 1,  f >= 0

    `privacy[g, x]` is dp, `quality_distance[x, z]` is dq. `allowed[x, z]` (symmetric) limits the
    reports at x and the guesses after z. Places without prior probability report the truth.
    Shokri et al., CCS 2012. Variables: allowed pairs plus places.
    """
    n = len(prior)
    met = np.flatnonzero(prior > 0)
    pairs = np.ones((n, n), dtype=np.bool_) if allowed is None else allowed | np.eye(n, dtype=bool)
    at, report = np.nonzero(pairs[met])
    variables = len(at)
    number = np.full((n, n), -1)
    number[met[at], report] = np.arange(variables)
    # One row for each report z and guess g: the sum over x that may report z, less u_z.
    z, g = np.nonzero(pairs)
    entries = int((pairs[met].sum(axis=0)[z]).sum())
    if entries > MAX_ENTRIES:
        raise InvalidParameter(
            f"the linear programme has {entries} coefficients, at most {MAX_ENTRIES} are tried: "
            "limit the reports to a smaller reach"
        )
    rows, columns, values = [], [], []
    for x in met:
        row = np.flatnonzero(number[x, z] >= 0)
        rows.append(row)
        columns.append(number[x, z[row]])
        values.append(-prior[x] * privacy[g[row], x])
    rows.append(np.arange(len(z)))
    columns.append(variables + z)
    values.append(np.ones(len(z)))
    errs = sparse.csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(len(z), variables + n),
    )
    loss = np.zeros((1, variables + n))
    loss[0, :variables] = prior[met[at]] * quality_distance[met[at], report]
    whole = sparse.csr_array(
        (np.ones(variables), (at, np.arange(variables))), shape=(len(met), variables + n)
    )
    aim = np.zeros(variables + n)
    aim[variables:] = -1.0
    solution = _solve(
        aim,
        sparse.vstack([errs, sparse.csr_array(loss)], format="csr"),
        np.append(np.zeros(len(z)), quality),
        whole,
        np.ones(len(met)),
    )
    f = np.eye(n)
    f[met] = 0.0
    f[met[at], report] = np.maximum(solution.x[:variables], 0.0)
    f /= f.sum(axis=1, keepdims=True)
    return Mechanism(f, -float(solution.fun))


def least_loss(
    prior: Floats, loss: Floats, distance: Floats, epsilon: float, edges: Flags
) -> Mechanism:
    """The geo-indistinguishable mechanism with the least expected loss sum pi(x) f(z|x) loss[x, z].

    f(z|x) <= exp(eps' d(x, x')) f(z|x') is demanded on the `edges` of a connected graph only,
    with eps' = eps / dilation, which implies it for all pairs with eps (Bordenabe et al., CCS
    2014). What the solver leaves of rounding is removed by a trace of the uniform mechanism, so
    the inequality holds exactly. n^2 variables, 2 n edges rows.
    """
    n = len(prior)
    if n == 1:
        return Mechanism(np.ones((1, 1)), float(loss[0, 0]))
    one, other = np.nonzero(edges)
    factor = np.exp(epsilon / dilation(distance, edges) * distance[one, other])
    report = np.tile(np.arange(n), len(one))
    row = np.arange(len(report))
    first, second = np.repeat(one, n) * n + report, np.repeat(other, n) * n + report
    limits = sparse.csr_array(
        (
            np.concatenate([np.ones(len(row)), -np.repeat(factor, n)]),
            (np.concatenate([row, row]), np.concatenate([first, second])),
        ),
        shape=(len(row), n * n),
    )
    whole = sparse.csr_array(
        (np.ones(n * n), (np.repeat(np.arange(n), n), np.arange(n * n))), shape=(n, n * n)
    )
    aim = (prior[:, None] * loss).ravel()
    solution = _solve(aim, limits, np.zeros(len(row)), whole, np.ones(n))
    f = np.maximum(solution.x.reshape(n, n), 0.0)
    f /= f.sum(axis=1, keepdims=True)
    f = _made_exact(f, one, other, factor)
    return Mechanism(f, float((prior[:, None] * f * loss).sum()))


def _made_exact(f: Floats, one: NDArray[Any], other: NDArray[Any], factor: Floats) -> Floats:
    """Mix in as much of the uniform mechanism as the largest violation asks for."""
    n = len(f)
    excess = float((f[one] - factor[:, None] * f[other]).max())
    if excess <= 0.0:
        return f
    slack = float((factor.min() - 1.0) / n)
    share = min(1.0, 2.0 * excess / (excess + slack))
    return (1 - share) * f + share / n


def dilation(distance: Floats, edges: Flags) -> float:
    """max over pairs of (distance along the edges) / (distance).

    >>> d = np.array([[0, 1.0, 1.5], [1.0, 0, 1.0], [1.5, 1.0, 0]])
    >>> round(dilation(d, d == 1.0), 6)
    1.333333
    """
    from scipy.sparse.csgraph import shortest_path

    walked = shortest_path(np.where(edges, distance, 0.0), directed=False)
    apart = distance > 0
    return float((walked[apart] / distance[apart]).max(initial=1.0))


def _solve(aim: Floats, limits: Any, bounds: Floats, equal: Any, totals: Floats) -> Any:
    from scipy.optimize import linprog

    method = "highs-ds" if len(aim) <= SMALL and limits.shape[0] <= SMALL else "highs-ipm"
    options = {
        "primal_feasibility_tolerance": TOLERANCE,
        "dual_feasibility_tolerance": TOLERANCE,
    }
    found = linprog(aim, limits, bounds, equal, totals, method=method, options=options)
    if found.status != 0:
        raise InvalidParameter(f"the linear programme was not solved: {found.message}")
    return found
