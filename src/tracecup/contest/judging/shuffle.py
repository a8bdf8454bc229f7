"""Pseudonymizing: the judge sorts every cell, shuffles whole traces and keeps the table.

In a real contest the shuffle comes from operating-system entropy and from no seed.
"""

from __future__ import annotations

import secrets

import numpy as np

from tracecup.rng import Rng, generator
from tracecup.traces import IdTable, SetTraces


def pseudonymize(obfuscated: SetTraces, rng: Rng = None) -> tuple[SetTraces, IdTable]:
    """Shuffle the traces uniformly and give them pseudonyms m+1..2m in their new order.

    The regions of a cell are sorted first: in which order a team wrote them is no part of a
    release, or the order alone could tell an accomplice who is who (a cell of s regions has s!
    of them), at no cost in utility. Repeated regions stay, since multiplicity counts.

    Without `rng` the permutation is drawn from the operating system's entropy, so that nobody
    can derive it; a seed is for simulations and tests. O(size of the traces).

    >>> released, table = pseudonymize(SetTraces.of_cells([[[0]], [[1]], [[2]]]), rng=1)
    >>> (
    ...     released.users.tolist(),
    ...     [int(released.cell(k, 0)[0]) for k in range(3)] == list(table.users),
    ... )
    ([4, 5, 6], True)
    """
    m = obfuscated.n_users
    order = list(range(m))
    if rng is None:
        secrets.SystemRandom().shuffle(order)
    else:
        order = generator(rng).permutation(m).tolist()
    table = IdTable(np.array(order, dtype=np.int32))
    return shuffled(obfuscated.with_sorted_cells(), table), table


def shuffled(obfuscated: SetTraces, table: IdTable) -> SetTraces:
    """The release by a known ID table: pseudonym m + 1 + k is the user table[k]."""
    m = len(table)
    return obfuscated.take_users(table.users).renamed(np.arange(m + 1, 2 * m + 1))
