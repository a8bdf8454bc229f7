"""The differentially private synthesizer at several budgets beside PPMTF+ and the yardsticks.

A part of the study `existing`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from tracecup.study.context import Context
from tracecup.study.results import Source
from tracecup.study.synthesizers import METRICS, PRIVACY, Numbers, evaluate_synthesizer
from tracecup.study.towns import Town, built_in_flow, people_flow
from tracecup.synth import SGD, Model, PPMTFPlus, Private, Uniform

BUDGETS = (0.5, 1.0, 4.0, 10.0)
PEOPLE, QUICK_PEOPLE = 2000, 200
ITERATIONS, QUICK_ITERATIONS = 100, 5
COLUMNS = ("town", "synthesizer", *METRICS, *PRIVACY, "largest advantage by proof")


@dataclass(frozen=True)
class Synthesized:
    """Rows of the table, how much data there was, what has to be said."""

    rows: list[tuple[object, ...]]
    sizes: dict[str, int]
    source: Source
    notes: tuple[str, ...]


def synthesizers(context: Context) -> Synthesized:
    """Every town and every synthesizer."""
    towns = [people_flow(context)] if context.has("people-flow") else []
    towns.append(built_in_flow(QUICK_PEOPLE if context.quick else PEOPLE))
    rows: list[tuple[object, ...]] = []
    for town in towns:
        found: Numbers = {}
        for name, bound, model in _models(town, context):
            made = town.made(model, context.seed_of("traces", town.name, name))
            report = evaluate_synthesizer(town.train, town.test, made, town.coordinates)
            found = report.real
            rows.append(_row(town.name, name, report.synthetic, bound))
        rows.append(_row(town.name, "real", found, None))
    labels = list(dict.fromkeys(town.source.label for town in towns))
    credit = "; ".join(town.source.attribution for town in towns if town.source.attribution)
    return Synthesized(
        rows,
        {f"{what} ({town.name})": n for town in towns for what, n in town.sizes.items()},
        Source("; ".join(labels), credit),
        (
            "Synthesizers: metrics are distances to the training people, smaller is better; 'real' "
            "are testing people. No test for membership of a training user has a larger advantage "
            "than tanh(eps/2) against Private(eps), whatever it knows; the attack's threshold is "
            "chosen on the evaluated data.",
        ),
    )


def _models(town: Town, context: Context) -> Iterator[tuple[str, float | None, Model]]:
    iterations = QUICK_ITERATIONS if context.quick else ITERATIONS
    seed = context.seed_of("fit", town.name)
    for eps in BUDGETS:
        method = Private(eps)
        yield str(method), math.tanh(eps / 2), method.fit(town.training, rng=seed)
    plus = PPMTFPlus(iterations=iterations)
    yield "PPMTF+", None, plus.fit(town.training, rng=seed)
    yield "SGD(0)", None, SGD().fit(town.training)
    yield "Uniform", 0.0, Uniform().fit(town.training)


def _row(town: str, name: str, numbers: Numbers, bound: float | None) -> tuple[object, ...]:
    return (town, name, *(numbers[metric] for metric in (*METRICS, *PRIVACY)), bound)
