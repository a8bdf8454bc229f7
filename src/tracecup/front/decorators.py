"""Methods from plain functions: `@tc.obfuscator` and `@tc.attack` make and register the class.

The function's arguments with defaults are its parameters; ranges make them knobs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import make_dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from tracecup.attack import Case, InferenceAttack, ReidAttack
from tracecup.city import City
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.obfuscate import Obfuscator
from tracecup.obfuscate.base import Knob
from tracecup.registry import Kind, parameter, register
from tracecup.rng import Rng, generator
from tracecup.traces import IdTable, SetTraces, Traces

Range = tuple[float, float]
Function = Callable[..., Any]
GIVEN_TO_DEFENCES = ("city", "original", "reference", "rng")
GIVEN_TO_ATTACKS = ("case", "rng")
ATTACKS: dict[str, Kind] = {"reid": "reid", "trace": "inference"}


@overload
def obfuscator(function: Function, /) -> type[Obfuscator]: ...
@overload
def obfuscator(
    *, name: str = ..., summary: str = ..., citation: str = ..., **knobs: Range
) -> Callable[[Function], type[Obfuscator]]: ...
def obfuscator(
    function: Function | None = None,
    /,
    *,
    name: str = "",
    summary: str = "",
    citation: str = "",
    **knobs: Range,
) -> Any:
    """Make an obfuscation of a function; above it as `@tc.obfuscator` or with ranges.

    The function takes `original` (the traces; `np.asarray` gives the regions) and, where it names
    them, `city`, `rng` (a NumPy generator) and `reference`. What else it takes needs a default and
    becomes a parameter; `steps=(0, 8)` in the decorator makes `steps` a knob from weak to strong,
    which is tuned to the utility floor. It returns regions of shape (users, times), -1 for a
    deleted cell, or a `SetTraces`.

    The result is a class that every verb takes, also by `name` (the function's by default), and
    `method(3)` is the one with that parameter.

    >>> @obfuscator(steps=(0, 8))
    ... def eastward(original, city, steps=1):
    ...     "Everybody is seen some regions further east."
    ...     return (np.asarray(original) + steps) % city.n_regions
    >>> str(eastward(3)), eastward.knobs
    ('eastward(3)', (Knob(parameter='steps', weak=0, strong=8),))
    """

    def made(plain: Function) -> Any:
        wanted = _wanted(plain, GIVEN_TO_DEFENCES)

        def _obfuscate(self: Any, city: City, original: Traces, rng: Rng) -> SetTraces:
            if "reference" in wanted:
                raise InvalidTraces(f"{self.name} needs reference traces as well")
            return _run_defence(self, plain, wanted, city, original, None, rng)

        def _obfuscate_knowing(
            self: Any, city: City, original: Traces, reference: Traces, rng: Rng
        ) -> SetTraces:
            return _run_defence(self, plain, wanted, city, original, reference, rng)

        return _method(
            plain, Obfuscator, "obfuscator", GIVEN_TO_DEFENCES, knobs, name, summary, citation,
            {"_obfuscate": _obfuscate}
            | ({"_obfuscate_knowing": _obfuscate_knowing} if "reference" in wanted else {})
            | {"needs_reference": "reference" in wanted},
        )  # fmt: skip

    return made if function is None else made(function)


def attack_method(
    function: Function | None = None,
    /,
    *,
    kind: str = "reid",
    name: str = "",
    summary: str = "",
    citation: str = "",
    **knobs: Range,
) -> Any:
    """Make an attack of a function; `tc.attack` is this where it is given a function.

    The function takes `case` (`case.city`, `case.reference`, `case.released`) and, where it names
    it, `rng`. `kind="reid"` returns scores of shape (pseudonyms, users), higher is likelier, or
    one user for every pseudonym; `kind="trace"` regions of shape (users, times).

    >>> @attack_method(kind="trace")
    ... def stays_at_home(case):
    ...     "Everybody is always where the reference begins."
    ...     return np.repeat(np.asarray(case.reference)[:, :1], case.released.times, axis=1)
    >>> stays_at_home.kind, str(stays_at_home())
    ('inference', 'stays_at_home')
    """
    if kind not in ATTACKS:
        raise InvalidParameter(f"an attack is kind='reid' or kind='trace', got {kind!r}")

    def made(plain: Function) -> Any:
        wanted = _wanted(plain, GIVEN_TO_ATTACKS)

        def answer(self: Any, case: Case, rng: Rng) -> Any:
            self.check()
            return _call(self, plain, wanted, {"case": case, "rng": rng})

        def score_matrix(self: Any, case: Case, rng: Rng = None) -> NDArray[np.float64]:
            return as_scores(answer(self, case, rng), case.n_users, self.name)

        def infer(self: Any, case: Case, rng: Rng = None) -> Traces:
            return as_inferred(answer(self, case, rng), case, self.name)

        base: Any = ReidAttack if kind == "reid" else InferenceAttack
        work = {"score_matrix": score_matrix} if kind == "reid" else {"infer": infer}
        return _method(
            plain, base, ATTACKS[kind], GIVEN_TO_ATTACKS, knobs, name, summary, citation, work
        )

    return made if function is None else made(function)


def as_cells(given: Any, original: Traces, owner: str = "the release") -> SetTraces:
    """What stands for obfuscated traces, as `SetTraces` of the users and clock of `original`."""
    if isinstance(given, SetTraces):
        cells = given
    elif isinstance(given, Traces):
        cells = SetTraces.of_traces(given)
    elif isinstance(given, list | tuple) and _has_sets(given):
        cells = SetTraces.of_cells(given, original.clock, original.users)
    else:
        regions = _whole(given, owner)
        if regions.shape != original.shape:
            raise InvalidTraces(
                f"{owner} has shape {regions.shape}, expected (users, times) = {original.shape}"
            )
        cells = SetTraces.of_traces(Traces(regions, original.users, original.clock))
    if cells.shape != original.shape:
        raise InvalidTraces(f"{owner} is {cells.shape}, original traces are {original.shape}")
    return cells


def as_scores(given: Any, users: int, owner: str) -> NDArray[np.float64]:
    """Scores (pseudonyms, users); a table of users is 1 where it points and 0 elsewhere."""
    if isinstance(given, IdTable) or np.ndim(given) == 1:
        table = given if isinstance(given, IdTable) else IdTable.of(_whole(given, owner))
        scores = np.zeros((len(table), users))
        scores[np.arange(len(table)), table.users] = 1.0
    else:
        scores = np.asarray(given, dtype=np.float64)
    if scores.shape != (users, users) or not np.isfinite(scores).all():
        raise InvalidTraces(
            f"{owner} gives scores of shape {scores.shape}, expected finite numbers of shape "
            f"(pseudonyms, users) = {(users, users)}, or a user for every pseudonym"
        )
    return scores


def as_inferred(given: Any, case: Case, owner: str) -> Traces:
    """Inferred traces in user order on the clock of the release."""
    regions = _whole(given.regions if isinstance(given, Traces) else given, owner)
    shape = (case.n_users, case.released.times)
    if regions.shape != shape:
        raise InvalidTraces(
            f"{owner} gives traces of shape {regions.shape}, expected (users, times) = {shape}"
        )
    return Traces(regions, case.reference.users, case.released.clock)


def _method(
    plain: Function,
    base: type,
    kind: Kind,
    given: tuple[str, ...],
    knobs: Mapping[str, Range],
    name: str,
    summary: str,
    citation: str,
    work: dict[str, Any],
) -> Any:
    """The frozen dataclass of a function, registered."""
    fields = _fields(plain, given, knobs)
    namespace = {
        **work,
        "__doc__": plain.__doc__,
        "function": staticmethod(plain),
        "knobs": tuple(Knob(knob, *ends) for knob, ends in knobs.items()),
    }
    title = plain.__name__
    cls: Any = make_dataclass(title, fields, bases=(base,), namespace=namespace, frozen=True)
    cls.__module__, cls.__qualname__ = plain.__module__, plain.__qualname__
    said = summary or next(iter((plain.__doc__ or "").strip().splitlines()), "") or title
    return register(kind, name or title, said, citation)(cls)


def _fields(
    plain: Function, given: tuple[str, ...], knobs: Mapping[str, Range]
) -> list[tuple[str, type, Any]]:
    own = [p for p in inspect.signature(plain).parameters.values() if p.name not in given]
    unknown = set(knobs) - {p.name.rstrip("_") for p in own}
    if unknown:
        raise InvalidParameter(
            f"{plain.__name__} has no parameter {', '.join(sorted(unknown))} to be a knob"
        )
    fields = []
    for one in own:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise InvalidParameter(f"{plain.__name__} may not take *{one.name}: name parameters")
        if one.default is one.empty:
            raise InvalidParameter(
                f"{plain.__name__}({one.name}) has no default; a method's function is given "
                f"{', '.join(given)}, every other argument needs a default"
            )
        ends = knobs.get(one.name.rstrip("_"), (-np.inf, np.inf))
        text = isinstance(one.default, str)
        rule = parameter(one.default, f"see {plain.__name__}", low=min(ends), high=max(ends),
                         text=text)  # fmt: skip
        fields.append((one.name, type(one.default), rule))
    return fields


def _wanted(plain: Function, given: tuple[str, ...]) -> tuple[str, ...]:
    if not callable(plain):
        raise InvalidParameter(f"the decorator stands above a function, got {plain!r}")
    return tuple(name for name in inspect.signature(plain).parameters if name in given)


def _run_defence(
    method: Obfuscator,
    plain: Function,
    wanted: tuple[str, ...],
    city: City,
    original: Traces,
    reference: Traces | None,
    rng: Rng,
) -> SetTraces:
    """What the function makes of the originals, as cells."""
    things = {"city": city, "original": original, "reference": reference, "rng": rng}
    return as_cells(_call(method, plain, wanted, things), original, method.name)


def _call(method: Any, plain: Function, wanted: tuple[str, ...], things: Mapping[str, Any]) -> Any:
    values = {rule.attribute: getattr(method, rule.attribute) for rule in method.parameters()}
    own = {name: values[name] for name in values if name in inspect.signature(plain).parameters}
    handed = {name: generator(things[name]) if name == "rng" else things[name] for name in wanted}
    return plain(**handed, **own)


def _has_sets(given: Any) -> bool:
    """Whether nested lists hold a cell that is a list itself."""
    rows = (row for row in given if np.iterable(row))
    return any(isinstance(cell, list | tuple | set) for row in rows for cell in row)


def _whole(given: Any, owner: str) -> NDArray[Any]:
    try:
        array = np.asarray(given)
    except ValueError as error:  # rows of different lengths
        raise InvalidTraces(f"{owner} is no array of regions or users: {error}") from error
    if array.dtype.kind not in "iu":
        raise InvalidTraces(
            f"{owner} gives {array.dtype} numbers; regions and users are whole numbers from 0"
        )
    return array
