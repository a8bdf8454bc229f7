"""Chains of obfuscations, written `RR(8)+Cheat(0.3)`.

A later stage sees nothing but the cells that the earlier one made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from tracecup.city import City
from tracecup.errors import InvalidParameter
from tracecup.obfuscate.base import Obfuscator
from tracecup.registry import parse
from tracecup.rng import Rng, generator
from tracecup.traces import SetTraces, Traces


@dataclass(frozen=True)
class Compose(Obfuscator):
    """Stages one after the other, all drawing from the same generator.

    The first stage obfuscates the original traces. Each later one acts on what came out, through
    `Obfuscator.obfuscate_cells`: cells with one region are obfuscated as if it were the original
    one, deleted and generalised cells pass through (`Cheat` moves whole traces, these cells
    included). So the chain is post-processing of its first stage. A floor on utility inside a
    stage (`KMeans`) holds against that stage's input, not against the original traces, and
    stages that replay the organisers' programs cannot be chained.

    >>> str(Compose((parse_obfuscator("RR(8)"), parse_obfuscator("Cheat(0.3)"))))
    'RR(8)+Cheat(0.3)'
    """

    stages: tuple[Obfuscator, ...]

    name: ClassVar[str] = "Compose"

    def check(self) -> None:
        """Every stage checks its own parameters."""
        if not self.stages:
            raise InvalidParameter("Compose needs at least one obfuscation")
        for stage in self.stages:
            stage.check()
            if getattr(stage, "replay", False):
                raise InvalidParameter(f"{stage} cannot be chained: a replay has its own generator")

    def guarantee(self, events: int = 400) -> str:
        """What the first stage promises: the others only see its output."""
        return self.stages[0].guarantee(events) if self.stages else ""

    def obfuscate_cells(self, city: City, cells: SetTraces, rng: Rng = None) -> SetTraces:
        """All stages as later ones."""
        self.check()
        gen = generator(rng)
        for stage in self.stages:
            cells = stage.obfuscate_cells(city, cells, gen)
        return cells

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return self.obfuscate_cells(city, SetTraces.of_traces(original), rng)

    def __str__(self) -> str:
        return "+".join(str(stage) for stage in self.stages)


def parse_obfuscator(text: str) -> Obfuscator:
    """The obfuscation that `text` names: one, or a chain `A+B` (a plus before a letter).

    >>> parse_obfuscator("MRLH(1,1,lambda=0.2)")
    MRLH(mu_x=1, mu_y=1, lambda_=0.2, replay=False)
    """
    stages = tuple(_parse_one(part) for part in re.split(r"\s*\+\s*(?=[A-Za-z])", text))
    return stages[0] if len(stages) == 1 else Compose(stages)


def _parse_one(text: str) -> Obfuscator:
    method = parse("obfuscator", text)
    if not isinstance(method, Obfuscator):
        raise InvalidParameter(f"{method.name} is registered as an obfuscator but is none")
    return method
