"""Attacks on one release in an order in which nothing is learnt of it twice.

Attacks keep what they learnt last of a case, so those that learn the same stand side by side.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tracecup.attack import InferenceAttack, ReidAttack


def together(attacks: Sequence[ReidAttack | InferenceAttack]) -> list[list[int]]:
    """Positions of the attacks, in groups that learn the same; groups and members in order.

    >>> from tracecup.study.sweep import attacks_called
    >>> names = ["Bayes-R", "Bayes-R(channel=identity)", "Fuzzy-T", "Bayes-T"]
    >>> together([attacks_called(name)[0] for name in names])
    [[0, 3], [1], [2]]
    """
    groups: dict[Hashable, list[int]] = {}
    for k, method in enumerate(attacks):
        groups.setdefault(_learnt(method) or k, []).append(k)
    return list(groups.values())


def in_turn(attacks: Sequence[ReidAttack | InferenceAttack]) -> list[int]:
    """The positions of `together`, one after the other."""
    return [k for group in together(attacks) for k in group]


def _learnt(method: ReidAttack | InferenceAttack) -> Hashable:
    """What two attacks share that learn the same of a release; None for who shares nothing."""
    stem = type(method).name.rpartition("-")[0]
    for taken_from in ("channel", "model"):
        if taken_from in {rule.name for rule in method.parameters()}:
            return stem, getattr(method, taken_from)
    return None
