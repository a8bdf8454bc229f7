"""What every re-identification keeps: one finite score per pair, no favourite user, its seed.

Run on small cases: 5 x 7 regions, 3 slots a day, sets, deletions, unobserved events, one user.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.attack import Case, ReidAttack
from tracecup.checks.attacks import edge_cases, surroundings_of
from tracecup.checks.result import Check, demand
from tracecup.checks.samples import ordinary_case, tiny_case
from tracecup.checks.surroundings import SEED
from tracecup.traces import IdTable

TOLERANCE = 1e-9
RANDOM = "nothing to check: the scores depend on the seed"


def scores_every_pair(method: ReidAttack) -> None:
    """score_matrix gives an array of shape (m pseudonyms, m users)."""
    _scores(method, ordinary_case())


def scores_are_finite(method: ReidAttack) -> None:
    """No score is infinite or not a number, whatever is deleted or never visited."""
    _demand_finite(_scores(method, ordinary_case()))


def rows_agree_with_the_matrix(method: ReidAttack) -> None:
    """scores(case).rows(low, high) are the rows of score_matrix(case)."""
    case = ordinary_case()
    matrix, scores = _scores(method, case), method.scores(case, SEED)
    demand(
        scores.n_users == case.n_users, f"scores are for {scores.n_users} users of {len(matrix)}"
    )
    half = len(matrix) // 2
    rows = np.concatenate([scores.rows(0, half), scores.rows(half, len(matrix))])
    demand(
        rows.shape == matrix.shape and np.allclose(rows, matrix, TOLERANCE, TOLERANCE),
        "scores() and score_matrix() differ: define one of them and leave the other to ReidAttack",
    )


def identifies_every_pseudonym(method: ReidAttack) -> None:
    """identify gives an IdTable with one user for every pseudonym."""
    _demand_table(method, ordinary_case())


def permuting_users_permutes_columns(method: ReidAttack) -> str | None:
    """If the users stand in another order, so do the columns of deterministic scores."""
    case = ordinary_case()
    matrix, order = _scores(method, case), _order(case)
    if _is_random(method, case):
        return RANDOM
    moved = Case(case.city, case.reference.take_users(order), case.released)
    demand(
        _is_close(_scores(method, moved), matrix[:, order]),
        "a user's scores changed with her place in the file: a column may depend on that user's "
        "reference trace and on all of them together, not on her number",
    )
    return None


def permuting_pseudonyms_permutes_rows(method: ReidAttack) -> str | None:
    """If the pseudonyms stand in another order, so do the rows of deterministic scores."""
    case = ordinary_case()
    matrix, order = _scores(method, case), _order(case)
    if _is_random(method, case):
        return RANDOM
    released = case.released.take_users(order).renamed(case.released.users)
    demand(
        _is_close(_scores(method, Case(case.city, case.reference, released)), matrix[order]),
        "a pseudonym's scores changed with its place in the file: pseudonyms are shuffled, their "
        "order means nothing",
    )
    return None


def start_scoring(method: ReidAttack) -> object:
    """The work that has to refuse bad parameters."""
    return method.score_matrix(tiny_case(users=3), SEED)


def _answers(
    method: ReidAttack, case: Case, rng: int | np.random.Generator | None
) -> tuple[NDArray[np.float64], IdTable]:
    return method.score_matrix(case, rng), method.identify(case, rng)


def _scores(method: ReidAttack, case: Case, seed: int = SEED) -> NDArray[np.float64]:
    matrix: object = method.score_matrix(case, seed)
    m = case.n_users
    shape = matrix.shape if isinstance(matrix, np.ndarray) else type(matrix).__name__
    demand(shape == (m, m), f"score_matrix must give an array of shape {(m, m)}, got {shape}")
    return np.array(matrix, dtype=np.float64)


def _demand_finite(matrix: NDArray[np.float64]) -> None:
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        k, u = bad[0]
        demand(
            False,
            f"the score of pseudonym {k} and user {u} is {matrix[k, u]}: put a floor below "
            "probabilities before the logarithm, and guard divisions by zero",
        )


def _demand_table(method: ReidAttack, case: Case) -> None:
    table: object = method.identify(case, SEED)
    length = len(table) if isinstance(table, IdTable) else type(table).__name__
    demand(length == case.n_users, f"identify must give an IdTable of {case.n_users}, got {length}")


def _demand_answers(method: ReidAttack, case: Case) -> None:
    _demand_finite(_scores(method, case))
    _demand_table(method, case)


def _is_random(method: ReidAttack, case: Case) -> bool:
    return not np.array_equal(_scores(method, case), _scores(method, case, SEED + 1))


def _is_close(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    return bool(np.allclose(a, b, TOLERANCE, TOLERANCE, equal_nan=True))


def _order(case: Case) -> NDArray[np.int64]:
    return np.random.default_rng(SEED).permutation(case.n_users)


REID_CHECKS: tuple[Check, ...] = (
    scores_every_pair,
    scores_are_finite,
    rows_agree_with_the_matrix,
    identifies_every_pseudonym,
    *surroundings_of(_answers),
    permuting_users_permutes_columns,
    permuting_pseudonyms_permutes_rows,
    *edge_cases(_demand_answers),
)
