"""The bots of a simulated season: 21 teams, each with another obfuscation and another attack.

One is invalid on purpose, one plays hors concours, one hands in two tries. Parameters are those of
2000 users; for fewer or more `bots_for` chooses them by `sizes`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tracecup.attack import Case
from tracecup.attack.portfolio import fitting
from tracecup.city import City
from tracecup.contest.challenges import AttackKind
from tracecup.contest.judging.answers import Answer, run_attack
from tracecup.contest.sizes import FULL_USERS, sized
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import (
    Equalise,
    KMeans,
    NoObfuscation,
    Obfuscator,
    parse_obfuscator,
    to_utility,
)
from tracecup.traces import Traces

# Bots stop turning their knob when they are this near to the floor.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Bot:
    """How one bot plays.

    `obfuscation` is tuned to `floor` (the contest's where None) unless `fixed`. `reid` and
    `trace` are its attacks, one for each try.
    """

    obfuscation: str
    reid: tuple[str, ...]
    trace: tuple[str, ...]
    floor: float | None = None
    fixed: bool = False
    hors_concours: bool = False

    def obfuscator(self, city: City, original: Traces, floor: float, seed: int) -> Obfuscator:
        """The obfuscation with its knob turned as far as the floor allows for this seed.

        A method that cannot keep the floor in this city at all is given up: nothing is changed.
        """
        if self.fixed:
            return parse_obfuscator(self.obfuscation)
        wanted = max(floor, self.floor or floor)
        method = parse_obfuscator(self.obfuscation)
        if isinstance(method, KMeans | Equalise):
            return replace(method, floor=wanted)  # they end at the floor by themselves
        try:
            method, _ = to_utility(
                self.obfuscation, city, original, wanted, seed, tolerance=TOLERANCE
            )
        except InvalidParameter:
            return NoObfuscation()
        return method

    def tries(self, kind: AttackKind) -> tuple[str, ...]:
        """The names of its attacks of a kind, one for each try."""
        found: tuple[str, ...] = getattr(self, kind, ())
        return found

    def answer(self, kind: AttackKind, attempt: int, case: Case, seed: int) -> Answer:
        """What it hands in at a try (from 0).

        A learned attack whose model was trained for another city is given up for the Bayes attack.
        """
        return run_attack(kind, fitting(self.tries(kind)[attempt], case), case, seed)

    def attack_name(self, kind: AttackKind) -> str:
        """How results call its attack."""
        return " | ".join(self.tries(kind))


BOTS: tuple[Bot, ...] = (
    Bot("KMeans(100)", ("HomeProb-R(slots=4)",), ("HomeProb-T(slots=4)",)),
    Bot("MRLH(1,1)", ("Fuzzy-R(0.33,1)",), ("Fuzzy-T(0.33,1,0)",)),
    Bot(
        "Cheat(1)", ("VisitProb-R(cells=0.5)",), ("VisitProb-T(cells=0.5)",),
        fixed=True, hors_concours=True,
    ),
    Bot("MRLH(2,2,0.5)", ("HomeProb-R(slots=6)",), ("HomeProb-T(slots=6)",), fixed=True),
    Bot("PL", ("Fuzzy-R(0.33,0.5)",), ("Prior-T",)),
    Bot("RareShift(3)", ("Fuzzy-R(0.5,1)",), ("Fuzzy-T(0.5,1,3)",)),
    Bot("MRLH(0,0)", ("VisitProb-R(match=greedy)",), ("VisitProb-T(match=assignment)",)),
    Bot("RR", ("Learned-R",), ("Learned-T",)),
    Bot("Equalise", ("HomeProb-R(slots=1)",), ("Replay-T",)),
    Bot("KMeans(400)", ("Fuzzy-R(0.33,1)", "VisitProb-R"), ("Fuzzy-T(0.33,1,8)", "VisitProb-T")),
    Bot("Cheat", ("Fuzzy-R(0.33,1,tf=count)",), ("Fuzzy-T(0.33,1,0,tf=count)",)),
    Bot("RareShift(1)", ("HomeProb-R(slots=10)",), ("HomeProb-T(slots=10)",)),
    Bot("KMeans(20)", ("VisitProb-R(match=assignment)",), ("VisitProb-T",)),
    Bot("MRLH(0,2)", ("Fuzzy-R(0.2,0.5)",), ("Fuzzy-T(0.2,0.5,5)",)),
    Bot("PL(4,1)", ("HomeProb-R(slots=3)",), ("HomeProb-T(slots=3)",), floor=0.8),
    Bot("RareShift(5)", ("Bayes-R",), ("Bayes-T",)),
    Bot("MRLH(2,1)", ("VisitProb-R(cells=0.25)",), ("Prior-T(user=1,population=1)",)),
    Bot("KMeans(100,hospital=false)", ("Fuzzy-R(0.33,2)",), ("Fuzzy-T(0.33,2,6)",)),
    Bot("RR", ("HomeProb-R(slots=8)",), ("HomeProb-T(slots=8)",), floor=0.85),
    Bot("MRLH(0,1)", ("Fuzzy-R(0.33,1,order=spread-first)",), ("Fuzzy-T(0.33,1,10)",)),
    Bot("None", ("Random-R",), ("Random-T",), fixed=True),
)  # fmt: skip


def bots_for(teams: int, users: int = FULL_USERS) -> list[Bot]:
    """The bots of teams 1..teams; beyond 21 the ordinary ones come again, with other seeds.

    Each has `users` users, whose number decides the parameters that count users.

    >>> [bot.obfuscation for bot in bots_for(3)]
    ['KMeans(100)', 'MRLH(1,1)', 'Cheat(1)']
    >>> bots_for(1, users=200)[0].obfuscation
    'KMeans(10)'
    """
    ordinary = [bot for bot in BOTS if not bot.fixed]
    full = [BOTS[k] if k < len(BOTS) else ordinary[k % len(ordinary)] for k in range(teams)]
    return [replace(bot, obfuscation=sized(bot.obfuscation, users)) for bot in full]
