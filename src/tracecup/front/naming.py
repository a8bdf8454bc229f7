"""Methods by name or as objects: whatever a verb is given becomes the method itself.

And the list of all that are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import isclass, isfunction
from numbers import Integral
from typing import TYPE_CHECKING, Any

from tracecup.attack import InferenceAttack, ReidAttack
from tracecup.contest.sizes import FULL_USERS
from tracecup.errors import InvalidParameter
from tracecup.front.tables import Listing
from tracecup.obfuscate import Obfuscator, parse_obfuscator
from tracecup.registry import KINDS, Method
from tracecup.registry import methods as known_methods
from tracecup.study.comparison import usual_defences
from tracecup.study.results import Table
from tracecup.study.sweep import attacks_called

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Attack = ReidAttack | InferenceAttack
DefenceLike = str | Obfuscator | type[Obfuscator]
AttackLike = str | Attack | type[Attack]
COLUMNS = ("name", "kind", "written", "summary", "guarantee", "module")


def methods(kind: str | None = None) -> Listing:
    """All known methods, built in, installed or your own, as a small table.

    `kind` is `obfuscator`, `reid`, `inference` or `synthesizer`; all by default.

    >>> "PL" in methods("obfuscator").column("name")
    True
    """
    if kind is not None and kind not in KINDS:
        raise InvalidParameter(f"a kind is one of {', '.join(KINDS)}, got {kind!r}")
    rows = []
    for one in KINDS:
        if kind in (None, one):
            for name, cls in sorted(known_methods(one).items()):
                method = cls()
                row = (name, one, str(method), cls.summary, method.guarantee(), cls.__module__)
                rows.append(row)
    return Listing("methods", Table.of(COLUMNS, rows))


def as_defence(given: DefenceLike) -> Obfuscator:
    """The obfuscation that was meant: a name, a chain `A+B`, an object, or a class as it is."""
    found = _instance(given)
    if isinstance(found, str):
        return parse_obfuscator(found)
    if isinstance(found, Obfuscator):
        return found
    raise _refusal(found, "a defence", "@tc.obfuscator")


def as_attacks(given: AttackLike) -> list[Attack]:
    """The attacks that were meant; a name may stand for one of each kind."""
    found = _instance(given)
    if isinstance(found, str):
        return attacks_called(found)
    if isinstance(found, ReidAttack | InferenceAttack):
        return [found]
    raise _refusal(found, "an attack", "@tc.attack")


def defences_of(
    given: DefenceLike | Iterable[DefenceLike], users: int = FULL_USERS
) -> list[Obfuscator]:
    """Several defences, or one; the word `usual` stands for eight, `all` for all that are known.

    What the word `usual` stands for has parameters that suit the number of `users`; what is
    named is taken as it is.

    >>> [str(one) for one in defences_of(["usual", "KMeans(50)"], users=200)][-2:]
    ['KMeans(10)', 'KMeans(50)']
    """
    words = {"usual": usual_defences(users), "all": sorted(known_methods("obfuscator"))}
    found: list[Obfuscator] = []
    for one in several(given):
        names = words.get(one.strip().lower()) if isinstance(one, str) else None
        found += [as_defence(name) for name in ([one] if names is None else names)]
    return found


def attacks_of(given: AttackLike | Iterable[AttackLike]) -> list[Attack]:
    """Several attacks, or one."""
    return [method for one in several(given) for method in as_attacks(one)]


def seeds_of(given: int | Iterable[int]) -> list[int]:
    """Seeds as they are listed; a number n means the seeds 1..n.

    >>> seeds_of(3), seeds_of([7])
    ([1, 2, 3], [7])
    """
    found: list[Any] = []
    if isinstance(given, int):
        found = list(range(1, given + 1))
    elif isinstance(given, Iterable):
        found = list(dict.fromkeys(given))
    if not found or not all(isinstance(one, Integral) and int(one) >= 0 for one in found):
        raise InvalidParameter(f"seeds are a number >= 1 or whole numbers >= 0, got {given!r}")
    return [int(one) for one in found]


def is_method(given: object) -> TypeIs[DefenceLike]:
    """Whether something is meant as a method: a name, an object, a class, a function."""
    return isinstance(given, str | Method) or isclass(given) or isfunction(given)


def several(given: Any) -> Sequence[Any]:
    """Methods as a list, whatever they are given as."""
    if is_method(given):
        return [given]
    if not isinstance(given, Iterable):
        raise InvalidParameter(
            f"methods are a name, an object or a list of them, got {type(given).__name__}"
        )
    found = list(given)
    if not found:
        raise InvalidParameter("an empty list of methods; leave it out for the usual ones")
    return found


def _instance(given: object) -> object:
    return given() if isclass(given) and issubclass(given, Method) else given


def _refusal(given: object, what: str, decorator: str) -> InvalidParameter:
    hint = f"; put {decorator} above the function" if isfunction(given) else ""
    named = getattr(given, "__name__", None) or type(given).__name__
    return InvalidParameter(f"{what} is a name or a method, got {named}{hint}")
