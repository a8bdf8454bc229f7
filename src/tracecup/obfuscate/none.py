"""No obfuscation: the release is the original, protected by the shuffle of pseudonyms alone.

The contest's benchmark.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracecup.city import City
from tracecup.obfuscate.base import PAPER, Obfuscator
from tracecup.obfuscate.replay import replay_parameter
from tracecup.registry import register
from tracecup.rng import Rng
from tracecup.traces import SetTraces, Traces


@register("obfuscator", "None", "every region as it is; only pseudonyms protect", PAPER)
@dataclass(frozen=True)
class NoObfuscation(Obfuscator):
    """a[i, j] = {o[i, j]}, O(1): the cells share the memory of the original.

    >>> from tracecup.city import City, Grid
    >>> city = City(Grid.from_metres(5, 1, width_m=350, height_m=350))
    >>> NoObfuscation().obfuscate(city, Traces.of([[0, 4]])).cell(0, 1).tolist()
    [4]
    """

    replay: bool = replay_parameter()

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return SetTraces.of_traces(original)
