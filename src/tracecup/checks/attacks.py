"""What attacks of both kinds keep: their input, their seed, an answer to cases at the edge.

Each kind says how it answers and what is a sound answer.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

from tracecup.attack import Case
from tracecup.checks.result import Check
from tracecup.checks.samples import blind_case, deleted_case, ordinary_case, tiny_case
from tracecup.checks.surroundings import (
    SEED,
    demand_any_rng,
    demand_same_bytes,
    demand_untouched,
    inputs_of,
)
from tracecup.errors import InvalidTraces


def surroundings_of(answer: Callable[[Any, Case, Any], object]) -> tuple[Check, ...]:
    """Checks of what is around an attack; `answer(method, case, rng)` is all that it gives."""

    def leaves_its_input_alone(method: Any) -> None:
        """City, reference traces and release are the same afterwards."""
        case = ordinary_case(gaps=0.2)
        demand_untouched(lambda: answer(method, case, SEED), *inputs_of(case))

    def same_seed_gives_same_bytes(method: Any) -> None:
        """The same seed gives the same answer, on one thread and on two."""
        demand_same_bytes(lambda seed: answer(method, ordinary_case(), seed))

    def takes_any_rng(method: Any) -> None:
        """rng may be a seed, a NumPy generator or None: use tracecup.rng.generator(rng)."""
        demand_any_rng(lambda rng: answer(method, ordinary_case(), rng))

    return leaves_its_input_alone, same_seed_gives_same_bytes, takes_any_rng


def edge_cases(demand_sound: Callable[[Any, Case], None]) -> tuple[Check, ...]:
    """Checks of cases that are hard to answer; `demand_sound` asks an attack and looks at all."""

    def works_when_all_is_deleted(method: Any) -> None:
        """A release of deleted cells still gets a whole answer."""
        demand_sound(method, deleted_case())

    def works_with_unobserved_reference(method: Any) -> None:
        """Reference events of -1 are skipped; a user may have no other, and so may all users."""
        demand_sound(method, ordinary_case(gaps=0.4))
        demand_sound(method, blind_case())

    def works_for_one_user(method: Any) -> None:
        """One user and one pseudonym are enough."""
        demand_sound(method, tiny_case())

    def works_for_one_event(method: Any) -> None:
        """A day of one slot is enough, unless a model was trained for another day."""
        with suppress(InvalidTraces) if method.needs_model else nullcontext():
            demand_sound(method, tiny_case(users=3, slots=1))

    return (
        works_when_all_is_deleted,
        works_with_unobserved_reference,
        works_for_one_user,
        works_for_one_event,
    )
