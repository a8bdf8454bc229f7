"""What every method keeps, whatever its kind: its name, its words, its declared ranges.

The checks of a kind come on top.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, cast

from tracecup.checks.result import Broken, Check, demand
from tracecup.errors import InvalidParameter
from tracecup.registry import Kind, Method, Parameter, Value, methods, parse, spell


def name_parses_back(kind: Kind) -> Check:
    """The check that a method of `kind` is found by what it prints as."""

    def name_parses_back(method: Method) -> None:
        """The name that a method prints as gives the same method."""
        cls = type(method)
        if methods(kind).get(cls.name) is not cls:
            registered = f"as {cls.kind} {cls.name!r}" if cls.name else "under no name"
            raise Broken(
                f"{cls.__name__} is registered {registered}: put "
                f"@register({kind!r}, 'Its-Name', 'what it does') above its @dataclass"
            )
        again = parse(kind, str(method))
        for rule in cls.parameters():
            then, now = getattr(method, rule.attribute), getattr(again, rule.attribute)
            demand(
                then == now,
                f"{method} gives {rule.name}={now!r} when it is parsed, not {then!r}: words must "
                "have no comma, '=' or bracket, and __str__ must stay as it is",
            )

    return name_parses_back


def explains_itself(method: Method) -> None:
    """A method has a summary of one line, says what each parameter means and what it promises."""
    summary, promise = type(method).summary, method.guarantee(400)
    demand(
        bool(summary.strip()) and len(summary.splitlines()) == 1,
        "the summary given to @register must be one line, not empty",
    )
    for rule in method.parameters():
        demand(bool(rule.meaning.strip()), f"parameter {rule.name} needs a meaning in words")
    demand(
        isinstance(promise, str),
        f"guarantee(events) must give text, '' for nothing, got {type(promise).__name__}",
    )


def refuses_bad_parameters(
    work: Callable[[Any], object], where: str, inherited: Collection[str] = ()
) -> Check:
    """The check that `work(method)` refuses parameters outside their declared range.

    Those that a method has from the base class of its kind are `inherited`, and checked there.
    """

    def refuses_bad_parameters(method: Method) -> str | None:
        """Parameters outside their declared range raise InvalidParameter when work starts."""
        rules = [rule for rule in method.parameters() if rule.attribute not in inherited]
        for rule in rules:
            for bad in bad_values(rule):
                try:
                    work(replace(cast(Any, method), **{rule.attribute: bad}))
                except InvalidParameter:
                    continue
                except Exception as error:
                    outcome = f"raised {type(error).__name__} instead of InvalidParameter"
                else:
                    outcome = "was accepted"
                raise Broken(
                    f"{rule.name} = {spell(bad)} {outcome}, but it is declared as {rule.allowed}: "
                    f"call self.check() first in {where}"
                )
        return None if rules else "it has no parameters"

    return refuses_bad_parameters


def bad_values(rule: Parameter) -> list[Value]:
    """A few values that a rule forbids.

    >>> bad_values(Parameter("k", 5, "clusters", low=1))
    [0, 5.5]
    """
    if isinstance(rule.default, bool):
        return ["maybe"]
    if rule.text:
        return ["a (text) in parentheses"]
    if isinstance(rule.default, str):
        return ["no such word"]
    below: list[Value] = [] if rule.low == -math.inf else [type(rule.default)(rule.low) - 1]
    above: list[Value] = [] if rule.high == math.inf else [type(rule.default)(rule.high) + 1]
    if rule.low_open:
        below.append(rule.low)
    fancy = [rule.default + 0.5] if isinstance(rule.default, int) else [math.nan, math.inf]
    return [*below, *above, *fancy]
