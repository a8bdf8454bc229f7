"""What every trace inference keeps: a region of the city for every user and event, its seed.

Run on small cases: 5 x 7 regions, 3 slots a day, sets, deletions, unobserved events, one user.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress

import numpy as np

from tracecup.attack import Case, InferenceAttack
from tracecup.checks.result import Check, demand
from tracecup.checks.samples import blind_case, deleted_case, ordinary_case, tiny_case
from tracecup.checks.surroundings import (
    SEED,
    demand_any_rng,
    demand_same_bytes,
    demand_untouched,
    inputs_of,
)
from tracecup.errors import InvalidTraces
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


def leaves_its_input_alone(method: InferenceAttack) -> None:
    """City, reference traces and release are the same afterwards."""
    case = ordinary_case(gaps=0.2)
    demand_untouched(lambda: method.infer(case, SEED), *inputs_of(case))


def same_seed_gives_same_bytes(method: InferenceAttack) -> None:
    """The same seed gives the same traces, on one thread and on two."""
    demand_same_bytes(lambda seed: method.infer(ordinary_case(), seed))


def takes_any_rng(method: InferenceAttack) -> None:
    """rng may be a seed, a NumPy generator or None: use tracecup.rng.generator(rng)."""
    demand_any_rng(lambda rng: method.infer(ordinary_case(), rng))


def works_when_all_is_deleted(method: InferenceAttack) -> None:
    """A release of deleted cells still gets a region for every event."""
    _demand_sound(method, deleted_case())


def works_with_unobserved_reference(method: InferenceAttack) -> None:
    """Reference events of -1 are skipped; a user may have no other, and so may all users."""
    _demand_sound(method, ordinary_case(gaps=0.4))
    _demand_sound(method, blind_case())


def works_for_one_user(method: InferenceAttack) -> None:
    """One user and one pseudonym are enough."""
    _demand_sound(method, tiny_case())


def works_for_one_event(method: InferenceAttack) -> None:
    """A day of one slot is enough, unless a model was trained for another day."""
    with suppress(InvalidTraces) if method.needs_model else nullcontext():
        _demand_sound(method, tiny_case(users=3, slots=1))


def start_inference(method: InferenceAttack) -> object:
    """The work that has to refuse bad parameters."""
    return method.infer(tiny_case(users=3), SEED)


INFERENCE_CHECKS: tuple[Check, ...] = (
    infers_every_event,
    leaves_no_gaps,
    stays_in_the_city,
    leaves_its_input_alone,
    same_seed_gives_same_bytes,
    takes_any_rng,
    works_when_all_is_deleted,
    works_with_unobserved_reference,
    works_for_one_user,
    works_for_one_event,
)


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
