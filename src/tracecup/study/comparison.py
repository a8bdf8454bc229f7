"""Every defence against every attack on one team's traces: what each costs and what it buys.

The bench for a new defence or attack; the strongest attack of each kind counts, as in a contest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

from tracecup.attack import (
    Case,
    InferenceAttack,
    ReidAttack,
    parse_inference,
    parse_reid,
    strong_attacks,
)
from tracecup.attack.learned import shipped_suits
from tracecup.attack.naming import answer_of, is_blind, kind_of
from tracecup.city import City
from tracecup.contest.challenges import ATTACK_KINDS, CHALLENGES, AttackKind
from tracecup.contest.judging.answers import Truth
from tracecup.contest.judging.published import publish
from tracecup.contest.judging.scorer import Scorer
from tracecup.contest.rules import ScoreRules
from tracecup.contest.sizes import FULL_USERS, sized
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.jobs import done_as_they_come
from tracecup.methodnames import short_method
from tracecup.obfuscate import Obfuscator, parse_obfuscator, to_utility
from tracecup.rng import child_seed
from tracecup.score import (
    FLOOR,
    Bounds,
    Score,
    UtilityScore,
    group_bound,
    guessing_bound,
    hospital_share,
    true_link_bound,
)
from tracecup.study.informed import drawn_as, knowing
from tracecup.study.together import in_turn
from tracecup.traces import Traces

DEFENCES = (
    "None",
    "MRLH(0,0,0)",
    "MRLH(1,1,0)",
    "RR(8)",
    "PL(4,1)",
    "Cheat(0.3)",
    "RareShift(3)",
    "KMeans(100)",
)
"""The usual defences of a contest of 2000 users; `usual_defences` has those of fewer."""
PAPERS_ATTACKS = (
    "Random-R",
    "VisitProb-R",
    "HomeProb-R",
    "Fuzzy-R(0.33,1)",
    "Random-T",
    "VisitProb-T",
    "HomeProb-T",
    "Fuzzy-T(0.33,1,0)",
    "Replay-T",
    "Prior-T",
)
Defence = str | Obfuscator
"""A defence by its name, or itself: one of your own needs no name that a registry knows."""
COARSE = 0.005
"""A tuned defence this far above the floor was stopped by its knob, not by the floor."""


@dataclass(frozen=True)
class Attacked:
    """One attack on one release; `expected_error` (km) for trace inference only.

    `remark` says what the attack knew, such as the held-out log-likelihood of its prior.
    """

    attack: str
    score: Score
    expected_error: float | None
    seconds: float
    remark: str = ""

    @property
    def kind(self) -> AttackKind:
        """`reid` or `trace`, by the score it was given."""
        return "reid" if self.score.name == "s_R" else "trace"


@dataclass(frozen=True)
class Defended:
    """One defence: its utility, and every attack on its release.

    `release` is what bounds the scores of its release whoever attacks, `tuning` how it came to
    the floor (`DefendedRelease`).
    """

    defence: str
    utility: UtilityScore
    seconds: float
    reid: tuple[Attacked, ...]
    trace: tuple[Attacked, ...]
    release: Bounds
    tuning: str = "as written"

    @property
    def weakest_reid(self) -> Attacked:
        """The strongest re-identification attack, whose score counts."""
        return min(self.reid, key=lambda attacked: attacked.score.value)

    @property
    def weakest_trace(self) -> Attacked:
        """The strongest trace-inference attack, whose score counts."""
        return min(self.trace, key=lambda attacked: attacked.score.value)

    @property
    def bounds(self) -> Bounds:
        """What bounds the scores; of s_T by the strongest attack that never saw the release."""
        blind = [one.score.value for one in self.trace if is_blind(one.attack)]
        return replace(self.release, prior=min(blind, default=None))


@dataclass(frozen=True, eq=False)
class DefendedRelease:
    """A defence's release as attackers get it, and what only the judge knows of it.

    `defence` is the name that was asked for, `tuned` what it was tuned to, `method` that itself.
    `tuning` tells how: `as written`, `tuned`, `strongest` (the floor is kept even by the knob's
    strong end) or `coarse` (the next step of the knob would miss the floor by far).
    """

    defence: str
    tuned: str
    utility: UtilityScore
    seconds: float
    case: Case
    truth: Truth
    method: Obfuscator
    tuning: str = "as written"

    @property
    def bounds(self) -> Bounds:
        """What bounds its scores whoever attacks; the true link with hospitals in their share."""
        users = len(self.utility.per_user)
        crowds = self.method.crowds(users)
        share = hospital_share(self.case.city, self.truth.original)
        return Bounds(
            guessing=guessing_bound(users),
            group=None if crowds is None else group_bound(crowds),
            true_link=true_link_bound(self.utility.value, hospital_share=share),
        )


def compare(
    city: City,
    reference: Traces,
    original: Traces,
    *,
    defences: Sequence[Defence] | None = None,
    reid_attacks: Sequence[str | ReidAttack] | None = None,
    trace_attacks: Sequence[str | InferenceAttack] | None = None,
    strength: str = "quick",
    informed: Collection[AttackKind] | None = None,
    floor: float | None = FLOOR,
    seed: int = 1,
    progress: Callable[[float, float], None] | None = None,
    executor: Executor | None = None,
) -> list[Defended]:
    """Run each defence, tuned to the utility `floor`, against each attack.

    A defence with a knob (`Obfuscator.knobs`) is tuned by its first one to the strongest setting
    that keeps `floor`; with `floor=None` all are taken as written. Without `defences` those of
    `usual_defences` are run. Where no attacks of a kind are given, all of `portfolio` at the
    `strength` are run, at `max` also those that know the tuned defence (`knowing`); `informed`
    says of which kinds these are run whatever else is. All draws derive from `seed`. With an
    `executor` every defence is a job of its own.
    """
    if informed is None:
        given = {"reid": reid_attacks, "trace": trace_attacks}
        informed = [kind for kind in ATTACK_KINDS if strength == "max" and given[kind] is None]
    every = portfolio(strength, learned=shipped_suits(city, original.clock.slots))
    if defences is None:
        defences = usual_defences(original.n_users)
    if reid_attacks is None:
        reid_attacks = [name for name in every if _names(name)]
    if trace_attacks is None:
        trace_attacks = [name for name in every if not _names(name)]
    if not defences or not reid_attacks or not trace_attacks:
        raise InvalidParameter("compare needs a defence and an attack of each kind")
    for defence in defences:
        _method(defence)
    reid = [parse_reid(one) if isinstance(one, str) else one for one in reid_attacks]
    trace = [parse_inference(one) if isinstance(one, str) else one for one in trace_attacks]
    attacks: list[ReidAttack | InferenceAttack] = [*reid, *trace]
    each = 1 + len(attacks) + len(informed)
    total, done = len(defences) * each, 0

    def advance(steps: int = 1) -> None:
        nonlocal done
        done += steps
        if progress:
            progress(done, total)

    job = partial(_defended, city, reference, original, attacks, tuple(informed), floor, seed)
    if executor is None:
        return [job(defence, advance) for defence in defences]
    results: dict[int, Defended] = {}
    calls = ((k, partial(job, defence)) for k, defence in enumerate(defences))
    for k, future in done_as_they_come(executor, calls):
        results[k] = future.result()
        advance(each)
    return [results[k] for k in range(len(defences))]


def _defended(
    city: City,
    reference: Traces,
    original: Traces,
    attacks: Sequence[ReidAttack | InferenceAttack],
    informed: Collection[AttackKind],
    floor: float | None,
    seed: int,
    defence: Defence,
    advance: Callable[[int], None] = lambda steps: None,
) -> Defended:
    """One defence against all attacks, and those `informed` of it."""
    made = release(city, reference, original, defence, floor=floor, seed=seed)
    advance(1)
    known = [method for method in knowing(made.method) if kind_of(method) in informed]
    advance(len(informed) - len(known))
    met = attack_all(made, [*attacks, *known], seed, lambda method: advance(1))
    by_kind = {kind: tuple(one for one in met if one.kind == kind) for kind in ATTACK_KINDS}
    measured = (made.tuned, made.utility, made.seconds, by_kind["reid"], by_kind["trace"])
    return Defended(*measured, made.bounds, made.tuning)


def usual_defences(users: int) -> tuple[str, ...]:
    """The usual defences for so many users, with parameters by size (`contest.sizes`).

    `KMeans(100)` hides nobody among 100 users. From 2000 users on all are as written.

    >>> usual_defences(300)[-1], usual_defences(2000) == usual_defences(9000) == DEFENCES
    ('KMeans(15)', True)
    """
    return tuple(sized(name, min(users, FULL_USERS)) for name in DEFENCES)


def portfolio(strength: str = "quick", *, learned: bool = False) -> tuple[str, ...]:
    """The attacks that judge a defence: the paper's, then the strong ones up to a strength.

    >>> portfolio()[-2:]
    ('Fuzzy-T(0.33,1,0,match=assignment)', 'Prior-T(habits=mixture)')
    """
    return (*PAPERS_ATTACKS, *strong_attacks(strength, learned=learned))


def _names(attack_name: str) -> bool:
    """Whether an attack of the portfolio names users; the others infer traces."""
    return attack_name.partition("(")[0].endswith("-R")


def release(
    city: City,
    reference: Traces,
    original: Traces,
    defence: Defence,
    *,
    floor: float | None = FLOOR,
    seed: int = 1,
    tuned: Defence | None = None,
) -> DefendedRelease:
    """Obfuscate `original` with `defence` and pseudonymize it.

    With `tuned` (what an earlier call tuned it to) nothing is tuned again; the draws are the
    same.
    """
    if reference.n_users != original.n_users:
        raise InvalidTraces(
            f"{reference.n_users} users have reference traces, {original.n_users} original ones"
        )
    asked = str(defence)
    draw = defence_draw(seed, asked)
    if tuned is None:
        method = _tuned(_method(defence), city, reference, original, floor, draw)
    else:
        method = _method(tuned)
    started = time.perf_counter()
    cells = method.obfuscate(city, original, draw, reference=reference)
    seconds = time.perf_counter() - started
    rules = ScoreRules(utility_floor=FLOOR if floor is None else floor)
    utility = Scorer(city, rules).utility(original, cells)
    shown = publish(city, reference, original, cells, child_seed(seed, "shuffle", asked))
    tuning = tuning_of(method, utility.value, floor)
    return DefendedRelease(
        asked, str(method), utility, seconds, shown.case, shown.truth, method, tuning
    )


def tuning_of(method: Obfuscator, utility: float, floor: float | None) -> str:
    """How near its first knob brought a tuned defence to the floor; see `DefendedRelease`.

    >>> tuning_of(parse_obfuscator("RareShift(3)"), 0.74, 0.7)
    'coarse'
    """
    if floor is None or not method.knobs:
        return "as written"
    knob = method.knobs[0]
    rule = next(rule for rule in method.parameters() if rule.name == knob.parameter)
    if utility - floor <= COARSE:
        return "tuned"
    at_end = knob.parameter == "floor" or getattr(method, rule.attribute) == knob.strong
    return "strongest" if at_end else "coarse"


def defence_draw(seed: int, defence: str) -> int:
    """The seed with which `release` runs a defence."""
    return child_seed(seed, "defence", defence)


def attack(
    target: DefendedRelease, method: ReidAttack | InferenceAttack, seed: int = 1
) -> Attacked:
    """Attack a release and score the answer."""
    kind = kind_of(method)
    draw = child_seed(seed, "attack", target.defence, drawn_as(method))
    started = time.perf_counter()
    answer = answer_of(method, target.case, draw)
    took = time.perf_counter() - started
    scores = Scorer(target.case.city).score_answer(target.truth, kind, answer)
    error = scores.get("error")
    remark = method.remark(target.case)
    return Attacked(str(method), scores[kind], error.value if error else None, took, remark)


def attack_all(
    target: DefendedRelease,
    methods: Sequence[ReidAttack | InferenceAttack],
    seed: int = 1,
    told: Callable[[ReidAttack | InferenceAttack], object] = lambda method: None,
) -> list[Attacked]:
    """All attacks on a release, in the order given; `told` is called after each.

    They are run so that what several of them learn of the release is learnt once.
    """
    met: dict[int, Attacked] = {}
    for k in in_turn(methods):
        met[k] = attack(target, methods[k], seed)
        told(methods[k])
    return [met[k] for k in range(len(methods))]


def as_markdown(results: Sequence[Defended]) -> str:
    """Two tables for people, s_R and s_T; the attack that counts is bold, bounds come last.

    Attacks that know each defence stand in one column.
    """
    lines: list[str] = []
    for kind, challenge in CHALLENGES.items():
        title = challenge.score
        rows: list[tuple[Defended, tuple[Attacked, ...]]] = [(d, getattr(d, kind)) for d in results]
        names = list(dict.fromkeys(_column(d, one) for d, attacks in rows for one in attacks))
        lines += [
            f"| defence | s_U | {' | '.join(names)} | at most |",
            "| --- " * (len(names) + 3) + "|",
        ]
        for defended, attacks in rows:
            lowest = min(attacked.score.value for attacked in attacks)
            met = {_column(defended, one): one.score.value for one in attacks}
            cells = [
                "–" if name not in met
                else f"**{met[name]:.3f}**" if met[name] == lowest
                else f"{met[name]:.3f}"
                for name in names
            ]  # fmt: skip
            utility = f"{defended.utility.value:.3f}"
            bound = defended.bounds.reid if kind == "reid" else defended.bounds.prior
            cells.append("–" if bound is None else f"{bound:.3f}")
            lines.append(
                f"| `{short_method(defended.defence)}` | {utility} | {' | '.join(cells)} |"
            )
        seconds: dict[str, list[float]] = {name: [] for name in names}
        for defended, attacks in rows:
            for one in attacks:
                seconds[_column(defended, one)].append(one.seconds)
        times = " | ".join(f"{fmean(took):.2f} s" for took in seconds.values())
        lines += [f"| *mean time ({title})* | | {times} | |", ""]
    return "\n".join(lines)


def _column(defended: Defended, one: Attacked) -> str:
    """What the column of an attack is called: the same for whichever defence it knows."""
    return one.attack.replace(f"known({defended.defence})", "known")


def _method(defence: Defence) -> Obfuscator:
    return parse_obfuscator(defence) if isinstance(defence, str) else defence


def _tuned(
    method: Obfuscator,
    city: City,
    reference: Traces,
    original: Traces,
    floor: float | None,
    seed: int,
) -> Obfuscator:
    if floor is None or not method.knobs:
        return method
    if method.knobs[0].parameter == "floor" and not original.has_gaps:
        return replace(method, **{"floor": floor})  # it ends there by itself, without a trial
    known = reference if method.prepares else None
    return to_utility(method, city, original, floor, seed, reference=known)[0]
