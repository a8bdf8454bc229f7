"""Attacks by name: `Fuzzy-R(0.33,1)` as a re-identification, `Prior-T` as a trace inference.

The registry knows the names; here what it finds is also of the right kind.
"""

from __future__ import annotations

from tracecup.attack.base import InferenceAttack, ReidAttack
from tracecup.errors import InvalidParameter
from tracecup.registry import parse


def parse_reid(name: str) -> ReidAttack:
    """The re-identification of that name, or `UnknownMethod` with the nearest one.

    >>> str(parse_reid("visitprob-r"))
    'VisitProb-R'
    """
    attack = parse("reid", name)
    if not isinstance(attack, ReidAttack):
        raise InvalidParameter(f"{name} is registered as re-identification but is none")
    return attack


def parse_inference(name: str) -> InferenceAttack:
    """The trace inference of that name, or `UnknownMethod` with the nearest one.

    >>> str(parse_inference("prior-t"))
    'Prior-T'
    """
    attack = parse("inference", name)
    if not isinstance(attack, InferenceAttack):
        raise InvalidParameter(f"{name} is registered as trace inference but is none")
    return attack
