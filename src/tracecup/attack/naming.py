"""Attacks by name and by kind: `Fuzzy-R(0.33,1)` is a re-identification, `Prior-T` an inference.

The registry knows the names; here what it finds is also of the right kind.
"""

from __future__ import annotations

from typing import Literal

from tracecup.attack.base import InferenceAttack, ReidAttack
from tracecup.attack.case import Case
from tracecup.errors import InvalidParameter
from tracecup.registry import parse
from tracecup.rng import Rng
from tracecup.traces import IdTable, Traces

BLIND = frozenset({"Random-T", "Replay-T", "Prior-T"})
"""Trace inferences that never look at the release: what they reach is no defence's fault."""


def is_blind(attack_name: str) -> bool:
    """Whether a trace inference never looks at the release.

    >>> is_blind("Prior-T(user=1)"), is_blind("Fuzzy-T(0.33,1,0)")
    (True, False)
    """
    return attack_name.partition("(")[0] in BLIND


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


def kind_of(attack: ReidAttack | InferenceAttack) -> Literal["reid", "trace"]:
    """Which question an attack answers.

    >>> kind_of(parse_reid("VisitProb-R")), kind_of(parse_inference("Prior-T"))
    ('reid', 'trace')
    """
    return "reid" if isinstance(attack, ReidAttack) else "trace"


def answer_of(
    attack: ReidAttack | InferenceAttack, case: Case, rng: Rng = None
) -> IdTable | Traces:
    """What an attack says of a case: an ID table or inferred traces, as its kind is.

    >>> from tracecup.city import City, Grid
    >>> from tracecup.traces import SetTraces
    >>> city = City(Grid.from_metres(5, 1, width_m=341.25, height_m=346.875))
    >>> case = Case(city, Traces.of([[0, 1], [3, 4]]), SetTraces.of_cells([[[4], [3]], [[], [0]]]))
    >>> answer_of(parse_reid("VisitProb-R"), case)
    IdTable(<2 pairs>)
    """
    if isinstance(attack, ReidAttack):
        return attack.identify(case, rng)
    return attack.infer(case, rng)
