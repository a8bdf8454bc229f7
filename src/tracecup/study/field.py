"""A field of defences that stands in for the teams of a contest, and what attacks make of it.

The obfuscations of the bots, each tuned to its utility; the final round's are not in our hands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tracecup.attack.infer.linked import copy_linked
from tracecup.contest.bots import BOTS
from tracecup.contest.judging.published import publish
from tracecup.contest.judging.scorer import Scorer
from tracecup.methodnames import short_method
from tracecup.obfuscate import Obfuscator, RareShift, parse_obfuscator
from tracecup.score import FLOOR, utility_score
from tracecup.study.attacked import LINKING, Outcome, attack
from tracecup.study.context import Context, Team
from tracecup.traces import SetTraces

FIELD = tuple(bot for bot in BOTS if not bot.fixed and not bot.obfuscation.startswith("Cheat"))
"""Seventeen valid defences, as many as there were valid teams; nobody in the final cheated."""
QUICK_STEP = 3
WEIGHTS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
# The strong end of RareShift's knob: every region is rare.
EVERY = int(RareShift.knobs[0].strong)
BENCHMARK, CHEAT = "None", "Cheat(1)"


@dataclass(frozen=True, eq=False)
class TunedDefence:
    """A tuned defence: its name, its cells in user order, their utility."""

    name: str
    cells: SetTraces
    utility: float


@dataclass(frozen=True)
class Defence:
    """What the attacks make of a defence.

    `told` is s_T of an attacker who is given the true ID table and copies the cells: the noise
    of the obfuscation alone, without the protection of the crowd.
    """

    name: str
    utility: float
    outcome: Outcome
    told: float


def field(context: Context, team: Team, first: int = 0, step: int = 1) -> Iterator[TunedDefence]:
    """Each defence of the field on `team`, tuned to the floor (or to its bot's own).

    With `first` and `step` only every step-th one, so that several teams can share the field.
    """
    for k in range(0, len(FIELD), QUICK_STEP if context.quick else 1)[first::step]:
        seed = context.seed_of("field", team.name, k)
        method = FIELD[k].obfuscator(team.city, team.original, FLOOR, seed)
        yield _applied(method, team, seed)


@cache
def attacked_field(context: Context, stage: str) -> tuple[Defence, ...]:
    """The benchmark, the field and Cheat(1) under the linking attacks; made once for a run."""
    team = context.stages[stage]
    return tuple(_attacked(context, team, one) for one in _entrants(context, team))


def _entrants(context: Context, team: Team) -> Iterator[TunedDefence]:
    yield TunedDefence(BENCHMARK, SetTraces.of_traces(team.original), 1.0)
    yield from field(context, team)
    yield _applied(parse_obfuscator(CHEAT), team, context.seed_of("field", team.name, CHEAT))


def _applied(method: Obfuscator, team: Team, seed: int) -> TunedDefence:
    cells = method.obfuscate(team.city, team.original, seed)
    utility = utility_score(team.city, team.original, cells).value
    return TunedDefence(tidy(str(method)), cells, utility)


def tidy(name: str) -> str:
    """A tuned name for pictures: four digits, and RareShift of every region as such.

    >>> tidy("PL(3.238123456,1)"), tidy("RareShift(1,rare=2147483648)")
    ('PL(3.238,1)', 'RareShift(1,all)')
    """
    return short_method(name.replace(f"rare={EVERY}", "all"))


def _attacked(context: Context, team: Team, one: TunedDefence) -> Defence:
    seed = context.seed_of("field", team.name, one.name)
    made = publish(team.city, team.reference, team.original, one.cells, seed)
    told = copy_linked(made.case, made.table, seed)
    return Defence(
        one.name,
        one.utility,
        attack(team, one.cells, LINKING, seed, shuffle=seed, weights=WEIGHTS),
        Scorer(team.city).score_answer(made.truth, "trace", told)["trace"].value,
    )
