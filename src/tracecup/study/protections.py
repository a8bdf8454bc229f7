"""What an owner can do: protections really run on her own traces, each attacked and measured.

Says for every one how many users are still named, and what it costs for which use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from tracecup.attack import ReidAttack
from tracecup.contest.judging.published import publish
from tracecup.errors import InvalidParameter
from tracecup.jobs import all_done
from tracecup.obfuscate import parse_obfuscator
from tracecup.obfuscate.base import stand_ins
from tracecup.risk import homes_found, unicity
from tracecup.rng import child_seed
from tracecup.score import Score, reid_score
from tracecup.score.observed import observed_utility
from tracecup.study.audit import Subject
from tracecup.study.informed import knowing
from tracecup.study.sweep import attacks_called
from tracecup.traces import SetTraces
from tracecup.usefulness import release_tm_emd, release_tp_tv_top50

PROTECTIONS = (
    "MRLH(1,1,0)",
    "MRLH(2,2,0)",
    "MRLH(0,0,0.9)",
    "PL(4,1)",
    "PL(1,1)",
    "PL(0.25,1)",
    "Swap(2)",
    "Swap(4)",
    "Cloak(10)",
    "MDAV(10)",
)
"""Coarser regions, deletion, noise, exchange, crowds of ten; weak and strong settings."""
CROWD = 10
KNOWN_VISITS = 4
USES = (
    ("points", "where each record was: s_U, 1 is unchanged"),
    ("crowds", "how many people are where by the time of day: total variation, 0 is unchanged"),
    ("flows", "who goes from where to where: earth mover's distance in regions, 0 is unchanged"),
)


def protections_for(limit: float, users: int) -> tuple[str, ...]:
    """Those to try by default, and crowds twice as large as the limit asks for.

    >>> protections_for(0.05, 300)[-1], protections_for(0.05, 12)[-1]
    ('MDAV(40)', 'MDAV(10)')
    """
    crowd = min(math.ceil(2 / limit), users // 2)
    return (*PROTECTIONS, f"MDAV({crowd})") if crowd > CROWD else PROTECTIONS


@dataclass(frozen=True, eq=False)
class Protected:
    """One protection on the owner's data: what is still found out, and what it costs.

    `named` is the strongest re-identification's score (1 - value is the share named); `alone` the
    unicity with four known visits; `homes` the share of homes found within the audit's distance
    (None: nobody was observed at night). `points`, `crowds` and `flows` are the losses of `USES`.
    """

    name: str
    attack: str
    named: Score
    alone: float
    homes: float | None
    points: float
    crowds: float
    flows: float
    guarantee: str | None

    @property
    def rate(self) -> float:
        """Share of the users who are still named."""
        return 1 - self.named.value


def protect(subject: Subject, name: str, seed: int | None = 1) -> SetTraces:
    """The owner's true traces under a protection, in user order.

    Gaps stay gaps, except under a protection that makes people alike: which events were recorded
    would still tell them apart, so it names a place for every event, as if people had stayed
    where they were last seen. A release needs `seed` None, the system's entropy: noise that others
    can draw again is none.
    """
    method, truth = parse_obfuscator(name), subject.original
    rng = None if seed is None else child_seed(seed, "protect", name)
    if method.crowd is not None:
        truth = stand_ins(SetTraces.of_traces(truth))
    return method.obfuscate(subject.city, truth, rng)


def try_protections(
    subject: Subject,
    attacks: Sequence[str],
    *,
    protections: Sequence[str] = PROTECTIONS,
    informed: bool = False,
    within_km: float = 0.5,
    confidence: float = 0.95,
    seed: int = 1,
    progress: Callable[[float, float], None] | None = None,
    executor: Executor | None = None,
) -> list[Protected]:
    """Run every protection on the true traces and attack what comes out, in the order given.

    `informed`: an attack that knows the protection joins each. With an `executor` every
    protection is a job of its own.
    """
    methods = [method for name in attacks for method in attacks_called(name)]
    reid = [method for method in methods if isinstance(method, ReidAttack)]
    if not reid:
        raise InvalidParameter("protections are compared by a re-identification at least")
    job = partial(_tried, subject, reid, informed, within_km, confidence, seed)
    return all_done(executor, [partial(job, name) for name in protections], progress)


def _tried(
    subject: Subject,
    reid: Sequence[ReidAttack],
    informed: bool,
    within_km: float,
    confidence: float,
    seed: int,
    name: str,
) -> Protected:
    """One protection, attacked and measured."""
    city, truth = subject.city, subject.original
    cells = protect(subject, name, seed)
    made = publish(city, subject.reference, truth, cells, child_seed(seed, "shuffle", name))
    scores = {}
    known = knowing(name) if informed else []
    for method in [*reid, *(one for one in known if isinstance(one, ReidAttack))]:
        guess = method.identify(made.case, child_seed(seed, "attack", str(method)))
        scores[str(method)] = reid_score(made.table, guess, confidence)
    best = min(scores, key=lambda attack: scores[attack].value)
    homes = homes_found(city, truth, cells)
    return Protected(
        str(parse_obfuscator(name)),
        best,
        scores[best],
        unicity(truth, cells, points=KNOWN_VISITS, rng=child_seed(seed, "unicity")).value,
        homes.within(within_km) if homes.measured else None,
        observed_utility(city, truth, cells).value,
        release_tp_tv_top50(city, truth, cells).value,
        release_tm_emd(city, truth, cells).value,
        parse_obfuscator(name).guarantee(truth.times),
    )
