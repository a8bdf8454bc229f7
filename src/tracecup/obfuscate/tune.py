"""Find the strongest setting of a method whose release still keeps a utility.

Bisection over one parameter with the same random draws at every probe.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace

from tracecup.city import City
from tracecup.errors import InvalidParameter
from tracecup.obfuscate.base import Knob, Obfuscator
from tracecup.obfuscate.compose import Compose, parse_obfuscator
from tracecup.registry import Parameter, Value
from tracecup.rng import Rng
from tracecup.score import FLOOR, UtilityScore, utility_score
from tracecup.score.observed import observed_utility
from tracecup.score.utility import Rule, check_floor
from tracecup.traces import Traces

TOLERANCE = 1e-6
MAX_PROBES = 64

Probe = Callable[[float], tuple[Obfuscator, UtilityScore]]


def to_utility(
    method: str | Obfuscator | type[Obfuscator],
    city: City,
    original: Traces,
    floor: float = FLOOR,
    rng: Rng = 0,
    parameter: str | None = None,
    fixed: Mapping[str, Value] | None = None,
    *,
    rule: Rule = "paper",
    tolerance: float = TOLERANCE,
    reference: Traces | None = None,
) -> tuple[Obfuscator, UtilityScore]:
    """The strongest `method` whose utility is valid for `floor`, and that utility.

    `method` is a name (`"MRLH(1,1)"`: values given in it stay, the tuned one is replaced), such a
    method itself, or a class with its `fixed` parameters by name. `parameter` is one of its
    knobs, the first by default: MRLH lambda, RR eps, PL l or r, Cheat p, RareShift rare or
    cells, KMeans and Equalise floor.

    Every probe draws with the same `rng` (a seed, or a generator, which is copied and not
    advanced), and the returned method gives exactly the returned utility with it. With the same
    draws utility is monotone in lambda, eps and rare, and very nearly in l, r, p and cells; the
    search ends at a crossing: the result keeps the floor and a hair more does not, or its
    utility is within `tolerance` of the floor. A floor that no setting keeps is an
    `InvalidParameter`. Of traces with gaps the observed events count (`observed_utility`); a
    `floor` of the method's own is then tuned like any other parameter. At most 64 obfuscations.
    `reference` traces are handed on to the method.

    >>> from tracecup.city import City, Grid
    >>> city = City(Grid.from_metres(5, 1, width_m=341.25, height_m=346.875))
    >>> method, score = to_utility("MRLH(0,0)", city, Traces.of([[0, 1, 2, 3]] * 5), floor=0.7)
    >>> score.value
    0.7
    """
    check_floor(floor)
    if rng is None:
        raise InvalidParameter("tuning repeats its draws and needs a seed or a generator")
    if original.has_gaps and rule != "paper":
        raise InvalidParameter("traces with gaps are scored by the paper's rule only")
    start = _start(method, fixed or {})
    knob, field = _knob(start, parameter)

    def probe(value: float) -> tuple[Obfuscator, UtilityScore]:
        candidate = replace(start, **{field.attribute: value})
        released = candidate.obfuscate(city, original, copy.deepcopy(rng), reference=reference)
        if original.has_gaps:
            return candidate, observed_utility(city, original, released, floor=floor)
        return candidate, utility_score(city, original, released, rule=rule, floor=floor)

    if field.name == "floor" and not original.has_gaps:
        return probe(floor)
    if isinstance(knob.weak, int):
        return _search_whole(knob, probe, floor)
    return _bisect(knob, probe, floor, tolerance)


def _start(method: str | Obfuscator | type[Obfuscator], fixed: Mapping[str, Value]) -> Obfuscator:
    if isinstance(method, str):
        start = parse_obfuscator(method)
    else:
        start = method if isinstance(method, Obfuscator) else method()
    if isinstance(start, Compose):
        raise InvalidParameter(f"{start} is a chain; only single methods are tuned")
    rules = {rule.name: rule for rule in start.parameters()}
    for name in fixed:
        if name not in rules:
            raise InvalidParameter(f"{start.name} has no parameter {name!r}: {', '.join(rules)}")
    given = {rules[name].attribute: value for name, value in fixed.items()}
    return replace(start, **given)


def _knob(method: Obfuscator, parameter: str | None) -> tuple[Knob, Parameter]:
    names = [knob.parameter for knob in method.knobs]
    if not names or (parameter or names[0]) not in names:
        raise InvalidParameter(
            f"{method.name} can be tuned by {', '.join(names) or 'nothing'}, got {parameter}"
        )
    knob = method.knobs[names.index(parameter or names[0])]
    return knob, next(rule for rule in method.parameters() if rule.name == knob.parameter)


def _bisect(
    knob: Knob, probe: Probe, floor: float, tolerance: float
) -> tuple[Obfuscator, UtilityScore]:
    strongest = probe(knob.strong)
    if strongest[1].valid:
        return strongest
    good, bad = knob.weak, knob.strong
    best = _weakest(knob, probe, floor)
    for _ in range(MAX_PROBES - 2):
        middle = (good + bad) / 2
        if best[1].value - floor <= tolerance or middle in (good, bad):
            break
        found = probe(middle)
        if found[1].valid:
            good, best = middle, found
        else:
            bad = middle
    return best


def _search_whole(knob: Knob, probe: Probe, floor: float) -> tuple[Obfuscator, UtilityScore]:
    """Doubling steps from the weak end, then bisection: strong ends may be far out."""
    toward = 1 if knob.strong > knob.weak else -1
    span = abs(int(knob.strong) - int(knob.weak))
    good, best = 0, _weakest(knob, probe, floor)
    step, bad = 1, span + 1
    while good < bad - 1:
        at = min(good + step, span) if bad > span else (good + bad) // 2
        found = probe(int(knob.weak) + toward * at)
        if found[1].valid:
            good, best, step = at, found, step * 2
        else:
            bad = at
    return best


def _weakest(knob: Knob, probe: Probe, floor: float) -> tuple[Obfuscator, UtilityScore]:
    method, score = probe(knob.weak)
    if not score.valid:
        raise InvalidParameter(
            f"utility {floor} is out of reach: {method} has {score.value:.6f} at its weakest"
        )
    return method, score
