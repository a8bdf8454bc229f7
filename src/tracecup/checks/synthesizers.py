"""What every synthesizer keeps: full days of known places, its seed, virtual users by number.

Run on six training users with gaps, 35 places, three slots a day.
"""

from __future__ import annotations

import numpy as np

from tracecup.checks.result import Check, demand
from tracecup.checks.samples import SLOTS, training_records
from tracecup.checks.surroundings import (
    SEED,
    demand_any_rng,
    demand_same_bytes,
    demand_untouched,
)
from tracecup.synth import Model, Synthesizer, Training
from tracecup.traces import Traces

DAYS = 2
VIRTUAL = 4


def makes_whole_days(method: Synthesizer) -> None:
    """A fitted model gives Traces with a known place at every slot of every day."""
    _demand_sound(method, training_records())


def leaves_its_training_alone(method: Synthesizer) -> None:
    """The training records are the same after fitting and sampling."""
    training = training_records()
    demand_untouched(lambda: _sampled(_fitted(method, training), SEED), training)


def same_seed_gives_same_bytes(method: Synthesizer) -> None:
    """The same seeds give the same model and the same traces, on one thread and on two."""
    demand_same_bytes(lambda seed: _sampled(method.fit(training_records(), rng=seed), seed))


def takes_any_rng(method: Synthesizer) -> None:
    """rng may be a seed, a NumPy generator or None: use tracecup.rng.generator(rng)."""
    demand_any_rng(lambda rng: _sampled(method.fit(training_records(), rng=rng), rng))


def parts_equal_the_whole(method: Synthesizer) -> None:
    """A virtual user's trace depends on the seed and her number, not on who is made with her."""
    model = _fitted(method, training_records())
    whole = _sampled(model, SEED)
    half = whole.n_users // 2
    part = model.sample(whole.n_users - half, DAYS, SEED, first_user=half)
    demand(
        np.array_equal(part.regions, whole.regions[half:]),
        "virtual users made alone differ from the same ones made with others: draw from a stream "
        "of each user's own, as walk() is told by order.key",
    )


def works_for_one_user(method: Synthesizer) -> None:
    """One training user is enough."""
    _demand_sound(method, training_records(users=1))


def start_fitting(method: Synthesizer) -> object:
    """The work that has to refuse bad parameters."""
    return method.fit(training_records(users=2), rng=SEED)


SYNTHESIZER_CHECKS: tuple[Check, ...] = (
    makes_whole_days,
    leaves_its_training_alone,
    same_seed_gives_same_bytes,
    takes_any_rng,
    parts_equal_the_whole,
    works_for_one_user,
)


def _fitted(method: Synthesizer, training: Training) -> Model:
    model: object = method.fit(training, rng=SEED)
    demand(isinstance(model, Model), f"fit must give a Model, got {type(model).__name__}")
    assert isinstance(model, Model)
    return model


def _sampled(model: Model, rng: int | np.random.Generator | None) -> Traces:
    return model.sample(min(VIRTUAL, model.n_users or VIRTUAL), DAYS, rng)


def _demand_sound(method: Synthesizer, training: Training) -> None:
    model = _fitted(method, training)
    made: object = _sampled(model, SEED)
    wanted = (min(VIRTUAL, model.n_users or VIRTUAL), DAYS * SLOTS)
    shape = made.shape if isinstance(made, Traces) else type(made).__name__
    demand(shape == wanted, f"sample must give Traces of shape {wanted}, got {shape}")
    assert isinstance(made, Traces)
    low, high = int(made.regions.min()), int(made.regions.max())
    demand(
        low >= 0 and high < training.n_locations,
        f"places {low}..{high} were made, training knows 0..{training.n_locations - 1}",
    )
