"""What every trace inference keeps: a region of the city for every user and event, its seed.

Run on small cases: 5 x 7 regions, 3 slots a day, sets, deletions, unobserved events, one user.
"""

from __future__ import annotations

import numpy as np

from tracecup.attack import Case, InferenceAttack
from tracecup.checks.attacks import edge_cases, surroundings_of
from tracecup.checks.result import Check, demand
from tracecup.checks.samples import ordinary_case, tiny_case
from tracecup.checks.surroundings import SEED
from tracecup.rng import Rng
from tracecup.traces import Traces


def infers_every_event(method: InferenceAttack) -> None:
    """infer gives Traces with the users of the reference and the clock of the release."""
    case = ordinary_case()
    inferred = _inferred(method, case)
    demand(
        np.array_equal(inferred.users, case.reference.users),
        "the rows must be users in the order of the reference: hand on case.reference.users",
    )
    demand(
        inferred.clock == case.released.clock,
        "the clock must be that of the release: hand on case.released.clock",
    )


def leaves_no_gaps(method: InferenceAttack) -> None:
    """Every event gets a region; -1 is no answer, not even for deleted cells."""
    _demand_no_gaps(_inferred(method, ordinary_case()))


def stays_in_the_city(method: InferenceAttack) -> None:
    """Inferred regions are regions of the city."""
    _demand_in_city(_inferred(method, ordinary_case()), ordinary_case())


def start_inference(method: InferenceAttack) -> object:
    """The work that has to refuse bad parameters."""
    return method.infer(tiny_case(users=3), SEED)


def _answer(method: InferenceAttack, case: Case, rng: Rng) -> Traces:
    return method.infer(case, rng)


def _inferred(method: InferenceAttack, case: Case) -> Traces:
    inferred: object = method.infer(case, SEED)
    shape = inferred.shape if isinstance(inferred, Traces) else type(inferred).__name__
    wanted = case.released.shape
    demand(shape == wanted, f"infer must give Traces of shape {wanted}, got {shape}")
    assert isinstance(inferred, Traces)
    return inferred


def _demand_no_gaps(inferred: Traces) -> None:
    demand(
        not inferred.has_gaps,
        "some events are -1: fill deleted cells, for example with the user's most frequent region",
    )


def _demand_in_city(inferred: Traces, case: Case) -> None:
    largest = int(inferred.regions.max())
    demand(
        largest < case.city.n_regions,
        f"region {largest} was inferred, the city has 0..{case.city.n_regions - 1} "
        "(case.city.n_regions; grids need not be square)",
    )


def _demand_sound(method: InferenceAttack, case: Case) -> None:
    inferred = _inferred(method, case)
    _demand_no_gaps(inferred)
    _demand_in_city(inferred, case)


INFERENCE_CHECKS: tuple[Check, ...] = (
    infers_every_event,
    leaves_no_gaps,
    stays_in_the_city,
    *surroundings_of(_answer),
    *edge_cases(_demand_sound),
)
