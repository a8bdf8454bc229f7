"""Publish, attack, score: the three steps of a contest as verbs on one release.

What only the judge knows stays inside a release and is never printed.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from inspect import isfunction
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from tracecup.attack import Case
from tracecup.attack.naming import answer_of
from tracecup.contest.judging.answers import Truth
from tracecup.contest.judging.published import publish as shuffled
from tracecup.contest.judging.scorer import Scorer
from tracecup.errors import InvalidParameter
from tracecup.front.data import Data, PathName, as_data
from tracecup.front.decorators import Function, Range, as_cells, as_inferred, attack_method
from tracecup.front.html import release_card
from tracecup.front.naming import AttackLike, DefenceLike, as_attacks, as_defence, is_method
from tracecup.rng import child_seed
from tracecup.score import Score, UtilityScore
from tracecup.study.comparison import release as defended
from tracecup.traces import IdTable, SetTraces, Traces

CellsLike = SetTraces | Traces | ArrayLike


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """Obfuscated traces under pseudonyms, as attackers get them, and the truth for scoring.

    `case` is what an attacker sees: city, reference traces, released traces. `defence` names what
    ran, with the parameters it was tuned to.
    """

    defence: str
    case: Case
    utility: UtilityScore
    truth: Truth

    @property
    def released(self) -> SetTraces:
        """The released traces, in the order of their pseudonyms."""
        return self.case.released

    def __len__(self) -> int:
        return self.case.n_users

    def __repr__(self) -> str:
        """What everybody may know of it."""
        return (
            f"<Release by {self.defence}: {len(self)} pseudonyms, "
            f"{self.case.released.times} events, utility {self.utility.value:.4f}>"
        )

    def _repr_html_(self) -> str:
        return release_card(self)


def publish(
    data: Data | PathName,
    defence: DefenceLike | CellsLike = "None",
    *,
    floor: float | None = None,
    seed: int | None = 1,
) -> Release:
    """Obfuscate the original traces and give them pseudonyms, as the judge does.

    `defence` is a method (name, object, decorated function) or traces that are obfuscated
    already: `SetTraces`, `Traces`, or regions of shape (users, times) with -1 for deleted. With a
    `floor` a defence with a knob is tuned to it. `seed=None` draws from the operating system.

    >>> from tracecup.front.data import load_demo
    >>> publish(load_demo(days=2, users=6), "PL(4,1)").released.shape
    (6, 40)
    """
    given = as_data(data)
    root = secrets.randbits(128) if seed is None else seed
    if is_method(defence):
        method = as_defence(defence)
        made = defended(given.city, given.reference, given.original, method, floor=floor, seed=root)
        return Release(made.tuned, made.case, made.utility, made.truth)
    if floor is not None:
        raise InvalidParameter("traces that are obfuscated already cannot be tuned to a floor")
    cells = as_cells(defence, given.original)
    utility = Scorer(given.city).utility(given.original, cells)
    shuffle = child_seed(root, "shuffle", "given")
    shown = shuffled(given.city, given.reference, given.original, cells, shuffle)
    return Release("traces as given", shown.case, utility, shown.truth)


@overload
def attack(target: Release | Case, method: AttackLike, *, seed: int = ...) -> IdTable | Traces: ...
@overload
def attack(target: Function, /) -> Any: ...
@overload
def attack(
    *, kind: str = ..., name: str = ..., summary: str = ..., citation: str = ..., **knobs: Range
) -> Callable[[Function], Any]: ...
def attack(target: Any = None, method: Any = None, **options: Any) -> Any:
    """Attack a release; or, above a function, make an attack of it (`attack_method`).

    `tc.attack(release, "Fuzzy-R")` gives an ID table, `tc.attack(release, "Fuzzy-T")` inferred
    traces. `@tc.attack` and `@tc.attack(kind="trace", power=(0.1, 2))` stand above functions of
    a `case`.

    >>> from tracecup.front.data import load_demo
    >>> attack(publish(load_demo(days=2, users=6)), "VisitProb-R")
    IdTable(<6 pairs>)
    """
    if target is None or isfunction(target):
        if method is not None:
            raise InvalidParameter("@tc.attack stands above a function and takes no method")
        return attack_method(target, **options)
    seed = options.pop("seed", 1)
    if options:
        raise InvalidParameter(f"tc.attack takes a target, a method and a seed, got {options}")
    case = target.case if isinstance(target, Release) else target
    if not isinstance(case, Case):
        raise InvalidParameter(
            f"a target is a release (tc.publish) or a Case, got {type(target).__name__}"
        )
    if method is None:
        raise InvalidParameter("which attack? tc.attack(release, 'VisitProb-R') for instance")
    found = as_attacks(method)
    if len(found) != 1:
        raise InvalidParameter(f"{method} names {len(found)} attacks; choose one")
    one = found[0]
    draw = child_seed(seed, "attack", str(one))
    return answer_of(one, case, draw)


def score(target: Release | Data | PathName, answer: Any = None) -> Score:
    """Score a release, or an answer to it, as the judge does.

    - `score(release)`: its utility s_U.
    - `score(data, cells)`: the utility of obfuscated traces, before any shuffle.
    - `score(release, table)`: s_R of an ID table, or of one user per pseudonym.
    - `score(release, traces)`: s_T of inferred traces, or of regions of shape (users, times).

    >>> from tracecup.front.data import load_demo
    >>> made = publish(load_demo(days=2, users=6))
    >>> score(made).value, 0 <= score(made, attack(made, "Prior-T")).value <= 1
    (1.0, True)
    """
    if not isinstance(target, Release):
        given = as_data(target)
        if answer is None:
            raise InvalidParameter("score(data, cells) needs obfuscated traces as second argument")
        return Scorer(given.city).utility(given.original, as_cells(answer, given.original))
    if answer is None:
        return target.utility
    return _answer_score(target, answer)


def _answer_score(target: Release, answer: Any) -> Score:
    if isinstance(answer, SetTraces):
        raise InvalidParameter(
            "an answer is an ID table or inferred traces with one region for every event, got "
            "SetTraces; score(data, cells) scores the utility of obfuscated traces"
        )
    scorer = Scorer(target.case.city)
    if isinstance(answer, IdTable) or (not isinstance(answer, Traces) and np.ndim(answer) == 1):
        if len(answer) != len(target):
            raise InvalidParameter(
                f"an ID table names a user for each of {len(target)} pseudonyms, got {len(answer)}"
            )
        table = answer if isinstance(answer, IdTable) else IdTable.of(answer)
        return scorer.score_answer(target.truth, "reid", table)["reid"]
    traces = as_inferred(answer, target.case, "the answer")
    return scorer.score_answer(target.truth, "trace", traces)["trace"]
