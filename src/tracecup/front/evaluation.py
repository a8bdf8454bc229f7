"""Defences against attacks over data sets and seeds: rates, intervals, baselines, differences.

The strongest attack of each kind counts, as in a contest; everything stays in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tracecup import __version__
from tracecup.attack.learned import shipped_suits
from tracecup.attack.naming import is_blind
from tracecup.contest.judging.scorer import Scorer
from tracecup.errors import InvalidParameter, TraceCupError
from tracecup.front.data import Data, PathName, as_data
from tracecup.front.naming import (
    Attack,
    AttackLike,
    DefenceLike,
    attacks_of,
    defences_of,
    seeds_of,
    several,
)
from tracecup.front.progress import Progress, progress_bar
from tracecup.front.results import Result
from tracecup.obfuscate import Obfuscator
from tracecup.registry import nearest
from tracecup.score import (
    FLOOR,
    Interval,
    guessing_bound,
    is_valid,
)
from tracecup.score.utility import check_floor
from tracecup.study import comparison
from tracecup.study.comparison import Attacked, DefendedRelease
from tracecup.study.informed import knowing
from tracecup.study.pooled import Pooled
from tracecup.study.results import Table
from tracecup.study.sweep import COLUMNS
from tracecup.study.sweeptable import label_of, usual, worst_tuning

SUMMARY = (
    "data",
    "defence",
    "ran",
    "tuning",
    "seeds",
    "utility",
    "utility_low",
    "utility_high",
    "valid",
    "s_r",
    "s_r_low",
    "s_r_high",
    "s_r_by",
    "s_t",
    "s_t_low",
    "s_t_high",
    "s_t_by",
    "s_t_linked",
    "s_t_linked_low",
    "s_t_linked_high",
    "guessing",
    "group",
    "prior",
    "true_link",
)
DIFFERENCES = ("data", "defence", "minus", "score", "difference", "low", "high", "distinct")
KINDS: dict[str, tuple[str, bool | None]] = {
    "s_r": ("reid", None),
    "s_t": ("trace", None),
    "s_t_linked": ("trace", False),
}
"""Scores by column: the kind of attack, and whether it looks at the release (None: any)."""


@dataclass(frozen=True, eq=False)
class Run:
    """One defence on one data set with every seed: what it made and how it was attacked."""

    data: Data
    defence: str
    releases: tuple[DefendedRelease, ...]
    attacked: tuple[tuple[Attacked, ...], ...]

    def of(self, column: str) -> Pooled:
        """`utility`, or the score of a column of `KINDS` by the strongest attack of every seed."""
        if column == "utility":
            values = [made.utility.per_user for made in self.releases]
        else:
            values = [one.score.per_user for one in self.strongest(column)]
        users = len(self.data)
        weights = np.ones(users)
        if column.startswith("s_t"):
            weights = Scorer(self.data.city).user_weights(self.data.original)
        return Pooled(np.array(values).reshape(-1, users), weights)

    def strongest(self, column: str) -> list[Attacked]:
        """The attack with the lowest score for every seed; empty if none such was run."""
        kind, blind = KINDS[column]
        found = [_lowest(attacks, kind, blind) for attacks in self.attacked]
        return [one for one in found if one is not None]

    @property
    def group(self) -> float | None:
        """What s_R is at most where the defence makes groups of users alike; else None."""
        return _mean([made.bounds.group for made in self.releases])

    @property
    def true_link(self) -> float | None:
        """What s_T is at most against who knows the link."""
        return _mean([made.bounds.true_link for made in self.releases])

    @property
    def prior(self) -> float | None:
        """s_T of the strongest attacks that never look at the release; None if none was run."""
        found = [_lowest(attacks, "trace", True) for attacks in self.attacked]
        return _mean([None if one is None else one.score.value for one in found])


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Result):
    """What `evaluate` found: a row for every data set and defence.

    `summary`, `attacks` and `differences()` are tables. `failed` names the defences that could
    not be run, and why.
    """

    runs: tuple[Run, ...]
    seeds: tuple[int, ...]
    floor: float | None
    baseline: str
    failed: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def attacks(self) -> Table:
        """A row for every data set, defence, seed and attack, as `benchmark` writes it."""
        return Table.of(COLUMNS, [row for run in self.runs for row in self._rows(run)])

    @cached_property
    def summary(self) -> Table:
        """A row for every data set and defence: scores with intervals and what bounds them."""
        return Table.of(SUMMARY, [self._summed(run) for run in self.runs])

    def differences(self, to: DefenceLike | None = None) -> Table:
        """Every defence minus another one, paired by user and seed, with intervals.

        `to` is the baseline unless you name another defence of this evaluation. `distinct` says
        whether the interval keeps clear of 0.
        """
        wanted = self.baseline if to is None else str(defences_of(to)[0])
        names = [run.defence for run in self.runs]
        if wanted not in names:
            raise InvalidParameter(
                f"{wanted} was not evaluated{nearest(wanted, names)} (there are: "
                f"{', '.join(dict.fromkeys(names))})"
            )
        rows = []
        for run in self.runs:
            # A defence may have been run on some of the data only, if it depends on their size.
            other = next(
                (one for one in self.runs if one.data is run.data and one.defence == wanted), None
            )
            if other is None:
                continue
            for column in ("utility", *(name for name in KINDS if run.strongest(name))):
                gap = run.of(column).minus(other.of(column))
                found = gap.interval()
                apart = found.high is not None and (found.low > 0 or found.high < 0)
                ends = (gap.value, found.low, found.high, apart)
                rows.append((run.data.name, run.defence, wanted, column, *ends))
        return Table.of(DIFFERENCES, rows)

    def tables(self) -> Mapping[str, Table]:
        return {
            "summary": self.summary,
            "attacks": self.attacks,
            "differences": self.differences(),
        }

    def intervals(self) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        """Those of the summary, from every user with every seed."""
        names = [f"{score}_{end}" for score in ("s_r", "s_t_linked") for end in ("low", "high")]
        return {
            (row["data"], row["defence"]): {name: row[name] for name in names}
            for row in self.summary.records()
            if row["s_t_linked"] is not None
        }

    def said(self) -> str:
        """Sizes and the most private defence, in a line."""
        sets = len({run.data.name for run in self.runs})
        names = len(dict.fromkeys(run.defence for run in self.runs))
        lost = f", {len(self.failed)} failed" if self.failed else ""
        sizes = ((names, "defence"), (len(self.seeds), "seed"), (sets, "data set"))
        said = ", ".join(f"{n} {what}{'s' if n != 1 else ''}" for n, what in sizes)
        return f"<Evaluation: {said}{lost}; .to_frame(), .plot(), .to_latex(), .differences()>"

    def _rows(self, run: Run) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for seed, made, attacked in zip(self.seeds, run.releases, run.attacked, strict=True):
            for one in attacked:
                ends = (one.score.value, one.score.interval.low, one.score.interval.high)
                names = (run.data.name, "", run.defence, made.tuned, made.tuning, seed)
                rows.append((*names, self.floor, made.utility.value,
                             made.bounds.group, made.bounds.true_link, one.kind, one.attack,
                             one.remark, *ends, one.expected_error, one.seconds, made.seconds,
                             __version__))  # fmt: skip
        return rows

    def _summed(self, run: Run) -> tuple[Any, ...]:
        utility = run.of("utility")
        worth = utility.interval()
        kept = None
        if self.floor is not None:
            floor = self.floor
            kept = all(is_valid(value, floor) for value in utility.by_seed.tolist())
        scores: list[Any] = []
        for column in KINDS:
            met = run.strongest(column)
            if met:
                pooled = run.of(column)
                found = pooled.rate_interval() if column == "s_r" else _within(pooled.interval())
                scores += [pooled.value, *_ends(found)]
            else:
                scores += [None] * 3
            if column != "s_t_linked":
                scores.append(usual([one.attack for one in met]))
        return (
            run.data.name,
            run.defence,
            label_of([made.tuned for made in run.releases]),
            worst_tuning([made.tuning for made in run.releases]),
            len(self.seeds),
            utility.value,
            *_ends(_within(worth)),
            kept,
            *scores,
            guessing_bound(len(run.data)),
            run.group,
            run.prior,
            run.true_link,
        )


def evaluate(
    data: Data | PathName | Iterable[Data | PathName],
    defences: DefenceLike | Iterable[DefenceLike] = "usual",
    attacks: AttackLike | Iterable[AttackLike] | None = None,
    *,
    seeds: int | Iterable[int] = 3,
    floor: float | None = FLOOR,
    strength: str = "quick",
    baseline: DefenceLike = "None",
    progress: bool | Progress = True,
) -> Evaluation:
    """Run every defence against every attack on every data set with every seed.

    `defences` are names, objects or decorated functions; the word `usual` stands for the usual
    eight of `tracecup compare` (with fewer than 2000 users KMeans gets fewer clusters, twenty users
    in each as at full size), `all` for every one that is known (your own included). `attacks`
    are those of `strength` by default, at `max` also those that know each tuned defence. `seeds=3`
    means 1, 2, 3. With a `floor` defences are tuned to it by their first knob; `floor=None` takes
    them as written. `baseline` is what `differences` compares with; it is run even if not asked
    for.

    >>> from tracecup.front.data import load_demo
    >>> made = evaluate(load_demo(days=2, users=8), "RR(8)", ["VisitProb-R", "Prior-T"], seeds=2)
    >>> [(row["defence"], row["seeds"]) for row in made.summary.records()]
    [('None', 2), ('RR(8)', 2)]
    """
    sets = _data_sets(data)
    ground = defences_of(baseline)[0]
    named = several(defences)
    chosen = seeds_of(seeds)
    check_floor(floor)
    plans = [(one, _shields(one, named, ground), _swords(one, attacks, strength)) for one in sets]
    informed = attacks is None and strength == "max"
    each = [1 + len(swords) + 2 * informed for _, _, swords in plans]
    total = sum(
        len(shields) * len(chosen) * steps
        for (_, shields, _), steps in zip(plans, each, strict=True)
    )
    runs: list[Run] = []
    failed: dict[str, str] = {}
    with progress_bar(progress, "evaluating", total) as advance:
        for one, shields, swords in plans:
            for shield in shields:
                try:
                    runs.append(_run(one, shield, swords, informed, chosen, floor, advance))
                except TraceCupError as error:
                    failed[f"{one.name}: {shield}"] = str(error)
    if not any(run.defence == str(ground) for run in runs):
        raise InvalidParameter(
            f"the baseline {ground} cannot be run: {next(iter(failed.values()))}"
        )
    return Evaluation(tuple(runs), tuple(chosen), floor, str(ground), failed)


def compare(
    data: Data | PathName,
    defences: DefenceLike | Iterable[DefenceLike] = "usual",
    attacks: AttackLike | Iterable[AttackLike] | None = None,
    *,
    seed: int = 1,
    floor: float | None = FLOOR,
    strength: str = "quick",
    progress: bool | Progress = True,
) -> Evaluation:
    """`evaluate` with one seed, as `tracecup compare` does it: intervals are over users alone."""
    return evaluate(
        data, defences, attacks, seeds=[seed], floor=floor, strength=strength, progress=progress
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _lowest(attacks: Sequence[Attacked], kind: str, blind: bool | None) -> Attacked | None:
    found = [one for one in attacks if one.kind == kind and blind in (None, is_blind(one.attack))]
    return min(found, key=lambda one: one.score.value, default=None)


def _data_sets(data: Any) -> list[Data]:
    several = isinstance(data, Iterable) and not isinstance(data, str)
    found = [as_data(one) for one in (data if several else [data])]
    if not found or len({one.name for one in found}) < len(found):
        raise InvalidParameter(
            f"data sets need names of their own: {', '.join(one.name for one in found) or 'none'}"
        )
    return found


def _shields(data: Data, defences: Any, ground: Obfuscator) -> list[Obfuscator]:
    """The defences for data of that size, each once, with the baseline."""
    found = defences_of(defences, len(data))
    if str(ground) not in [str(one) for one in found]:
        found = [ground, *found]
    return list({str(one): one for one in found}.values())


def _swords(data: Data, attacks: Any, strength: str) -> list[Attack]:
    if attacks is None:
        learned = shipped_suits(data.city, data.original.clock.slots)
        attacks = comparison.portfolio(strength, learned=learned)
    found = {(type(one), str(one)): one for one in attacks_of(attacks)}
    return list(found.values())


def _run(
    data: Data,
    shield: Obfuscator,
    swords: Sequence[Attack],
    informed: bool,
    seeds: Sequence[int],
    floor: float | None,
    advance: Any,
) -> Run:
    releases, attacked = [], []
    for seed in seeds:
        made = comparison.release(
            data.city, data.reference, data.original, shield, floor=floor, seed=seed
        )
        advance(1, f"{shield}, seed {seed}")
        every = [*swords, *(knowing(made.method) if informed else ())]
        said = f"{shield}, seed {seed}"

        def told(sword: Attack, said: str = said) -> None:
            advance(1, f"{said}, {sword}")

        met = comparison.attack_all(made, every, seed, told)
        advance(2 * informed - (len(every) - len(swords)), said)
        releases.append(made)
        attacked.append(tuple(met))
    return Run(data, str(shield), tuple(releases), tuple(attacked))


def _within(found: Interval) -> Interval:
    """An interval of a score, cut to 0..1."""
    high = None if found.high is None else min(1.0, found.high)
    return Interval(max(0.0, found.low), high, found.confidence, found.method)


def _ends(found: Interval) -> tuple[float, float | None]:
    return found.low, found.high
