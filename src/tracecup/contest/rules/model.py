"""The rules of a contest as data: what `contest.toml` says, with the paper's values as defaults.

No rule lives anywhere else; the judge, the server and the simulated season read them from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from itertools import pairwise
from typing import Literal

from tracecup.city import ContestClock
from tracecup.contest.challenges import ATTACK_KINDS, CHALLENGES, AttackKind
from tracecup.contest.rules.rounds import (
    ROUND_WEIGHTS,
    Conflict,
    RoundRules,
    shown_instant,
)
from tracecup.contest.rules.values import (
    AttackList,
    Flag,
    Number,
    Rising,
    Text,
    TimeOfDay,
    Whole,
    Word,
    Zone,
    about,
    key,
    zone_of,
)
from tracecup.errors import InvalidFile, InvalidParameter
from tracecup.safeio import MIB, Limits
from tracecup.score import FLOOR, HOSPITAL_WEIGHT, REACH_KM

PRESETS = ("strong", "paper", "organisers2019", "class")
BUILTIN_CITIES = ("metropolis",)
MINUTES_A_DAY = 24 * 60


@dataclass(frozen=True)
class CityRules:
    """Where the contest takes place: a built-in city, or a file."""

    builtin: str | None = key("metropolis", "A city that tracecup generates.", Word(BUILTIN_CITIES))
    file: str | None = key(
        None,
        "Instead: a table of regions (info_region.csv), as a path from this file's folder.",
        Text("a path"),
        '"info_region.csv"',
    )

    def conflicts(self) -> Iterator[Conflict]:
        """A city has one source."""
        if (self.builtin is None) == (self.file is None):
            yield Conflict(("file",), "builtin and file", "one of the two", "city-sources")


@dataclass(frozen=True)
class ClockRules:
    """The times of a trace; the same slots on every day."""

    days: int = key(20, "Days of the original traces.", Whole(1, 3660))
    reference_days: int | None = key(
        None, "Days of the reference traces; without it as many as days.", Whole(1, 3660), "20"
    )
    slots: int = key(20, "Slots (events) a day.", Whole(1, 1440))
    start: int = key(8 * 60, "When the first slot begins.", TimeOfDay())
    interval: int = key(30, "Minutes from one slot to the next.", Whole(1, 1440))

    def conflicts(self) -> Iterator[Conflict]:
        """All slots lie on one day."""
        last = self.start + (self.slots - 1) * self.interval
        if last >= MINUTES_A_DAY:
            start = f"{self.start // 60:02d}:{self.start % 60:02d}"
            found = f"{self.slots} slots of {self.interval} minutes from {start}"
            yield Conflict(("slots",), found, "a last slot before midnight", "past-midnight")


@dataclass(frozen=True)
class ScoreRules:
    """How utility and privacy are scored."""

    utility_floor: float = key(
        FLOOR, "A release whose utility is below is invalid; its privacy is 0.", Number(0, 1)
    )
    utility_rule: Literal["paper", "organisers"] = key(
        "paper",
        "Utility of a set of regions: paper averages distances, then clips; organisers (the "
        "program of 2019) clips each distance, then averages.",
        Word(("paper", "organisers")),
    )
    lambda_u: float = key(
        REACH_KM, "Distance (km) from which a cell has no utility.", Number(0, 1000, above=True)
    )
    lambda_t: float = key(
        REACH_KM, "Distance (km) from which a guess is a full miss.", Number(0, 1000, above=True)
    )
    hospital_weight: float = key(
        HOSPITAL_WEIGHT,
        "Weight of events in hospital regions in the trace-inference score.",
        Number(0, 1e6, above=True),
    )


@dataclass(frozen=True)
class ChallengeRules:
    """What teams compete in; every challenge has a data set of its own for each team."""

    trace_inference: bool = key(
        True, "Data set 02 (TRP): stay safe against trace inference.", Flag()
    )
    reidentification: bool = key(
        False,
        "Data set 01 (IDP): stay safe against re-identification, the footnote's challenge.",
        Flag(),
    )

    def conflicts(self) -> Iterator[Conflict]:
        """Something has to be played."""
        if not self.played:
            expected = "at least one challenge that is true"
            yield Conflict(("trace_inference",), "no challenge", expected, "no-challenge")

    @property
    def played(self) -> tuple[AttackKind, ...]:
        """The challenges that are on, named by the attack that they are about."""
        return tuple(kind for kind in ATTACK_KINDS if getattr(self, CHALLENGES[kind].rules_key))


@dataclass(frozen=True)
class SampleRules:
    """Attacks that the judge runs on every release; all count in the minimum."""

    reid: tuple[str, ...] = field(
        default_factory=lambda: _samples("reid"),
        metadata=about("Re-identification, columns I1, I2, ... of the sheet.", AttackList("reid")),
    )
    trace: tuple[str, ...] = field(
        default_factory=lambda: _samples("trace"),
        metadata=about("Trace inference, columns T1, T2, ...", AttackList("trace")),
    )

    def columns(self, kind: AttackKind) -> dict[str, str]:
        """Column of the score sheet -> attack.

        >>> SampleRules().columns("reid")
        {'I1': 'Random-R', 'I2': 'VisitProb-R', 'I3': 'HomeProb-R'}
        """
        letter, names = CHALLENGES[kind].letter, getattr(self, kind)
        return {f"{letter}{k}": name for k, name in enumerate(names, start=1)}


@dataclass(frozen=True)
class LimitRules:
    """How much a team may hand in."""

    attack_tries: int = key(
        2, "Answers per target and kind of attack; the stronger one counts.", Whole(1, 1000)
    )
    release_tries: int = key(
        10,
        "Releases per data set; the last one counts, refused files cost nothing.",
        Whole(1, 1000),
    )
    file_mib: int = key(256, "Largest file in MiB, counted after decompression.", Whole(1, 1 << 20))
    grace_seconds: int = key(
        0, "A file counts if it has fully arrived this long after the deadline.", Whole(0, 86400)
    )
    late_minutes: int = key(
        0,
        "How many minutes after that a team's first release is still accepted, out of competition; "
        "0: late ones are refused.",
        Whole(0, 10080),
    )

    @property
    def reading(self) -> Limits:
        """What a reader of a submission may cost."""
        return Limits(max_bytes=self.file_mib * MIB)


@dataclass(frozen=True)
class FeedbackRules:
    """What is told while the contest runs: to attackers about answers, to all about releases."""

    policy: Literal["none", "bands", "exact"] = key(
        "none",
        "none: nothing. bands: in which of four bands the score lies. exact: the score.",
        Word(("none", "bands", "exact")),
    )
    bands: tuple[float, ...] = key((0.25, 0.5, 0.75), "Where the four bands meet.", Rising(3))
    board: Literal["none", "valid", "utility"] = key(
        "none",
        "What everybody sees of releases until the results. none: nothing. valid: which teams "
        "have a valid one. utility: its utility, too.",
        Word(("none", "valid", "utility")),
    )


@dataclass(frozen=True)
class AwardRules:
    """Who wins the attack awards."""

    attack_targets: Literal["trace-inference", "all"] = key(
        "trace-inference",
        "Releases in an attacker's sum. trace-inference: those of that challenge and the "
        "pseudonymized benchmark (the paper). all: every release (the rules of 2019).",
        Word(("trace-inference", "all")),
    )
    winner_excluded: bool = key(
        False,
        "Whether the winner of best anonymization may not win an attack award (2019: true).",
        Flag(),
    )


@dataclass(frozen=True)
class LessonRules:
    """What a class does besides the contest."""

    open: bool = key(
        False,
        "Whether teams see the lessons: steps with practice data, checked at once by the server.",
        Flag(),
    )


@dataclass(frozen=True)
class Rules:
    """All rules of a contest.

    >>> rules = Rules()
    >>> rules.scores.utility_floor, rules.challenges_played, rules.clock_of("final").original.times
    (0.7, ('trace',), 400)
    """

    name: str = key("A location-trace anonymization contest", "Name of the contest.", Text())
    users: int = key(2000, "Users of each data set.", Whole(2, 1_000_000))
    zone: str = key("UTC", "Time zone of the phases.", Zone())
    city: CityRules = field(
        default_factory=CityRules, metadata=about("Where it takes place: builtin or file.")
    )
    clock: ClockRules = field(default_factory=ClockRules, metadata=about("The times of a trace."))
    scores: ScoreRules = field(
        default_factory=ScoreRules,
        metadata=about("How utility and privacy are scored, from 0 to 1."),
    )
    challenges: ChallengeRules = field(
        default_factory=ChallengeRules,
        metadata=about("What teams compete in; each challenge has its own data set."),
    )
    samples: SampleRules = field(
        default_factory=SampleRules,
        metadata=about("Attacks that the judge runs on every release; all count in the minimum."),
    )
    limits: LimitRules = field(
        default_factory=LimitRules, metadata=about("How much a team may hand in.")
    )
    feedback: FeedbackRules = field(
        default_factory=FeedbackRules,
        metadata=about("What attackers are told about an answer, and everybody about releases."),
    )
    awards: AwardRules = field(
        default_factory=AwardRules, metadata=about("How the attack awards are decided.")
    )
    lessons: LessonRules = field(
        default_factory=LessonRules, metadata=about("What a class does besides the contest.")
    )
    rounds: tuple[RoundRules, ...] = field(
        default_factory=lambda: (RoundRules(),),
        metadata=about("A round; write one [[rounds]] for each.", many=True),
    )

    @classmethod
    def preset(cls, name: str = "paper") -> Rules:
        """`paper` (the defaults), `organisers2019` (as the contest of 2019 was played), ...

        `strong` is the paper's contest with sample attacks that tell how private a release is,
        `class` the same in minutes: small data on which defences do what they do at full size
        (see the docs' Classroom), scores told at once, many tries, and the lessons.

        >>> Rules.preset("organisers2019").awards.attack_targets
        'all'
        >>> Rules.preset("class").users
        200
        """
        if name == "paper":
            return cls()
        if name not in PRESETS:
            raise InvalidParameter(f"a preset is one of {', '.join(PRESETS)}, got {name!r}")
        portfolio = "strong" if name == "class" else name
        samples = SampleRules(*(_samples(kind, portfolio) for kind in ATTACK_KINDS))
        if name == "strong":
            return cls(samples=samples)
        if name == "class":
            return cls(
                name="A class on location privacy",
                users=200,
                clock=ClockRules(days=10),
                samples=samples,
                limits=LimitRules(attack_tries=5, release_tries=30, file_mib=16),
                feedback=FeedbackRules("exact"),
                lessons=LessonRules(open=True),
            )
        return cls(
            scores=ScoreRules(utility_rule="organisers"),
            challenges=ChallengeRules(reidentification=True),
            samples=samples,
            awards=AwardRules("all", winner_excluded=True),
            rounds=(RoundRules("preliminary", ROUND_WEIGHTS["preliminary"], 2), RoundRules()),
        )

    @property
    def challenges_played(self) -> tuple[AttackKind, ...]:
        """The challenges, named by the attack that they are about."""
        return self.challenges.played

    @property
    def tzinfo(self) -> tzinfo:
        """The contest's time zone."""
        return zone_of(self.zone)

    def round(self, name: str) -> RoundRules:
        """The round of that name."""
        for one in self.rounds:
            if one.name == name:
                return one
        known = ", ".join(one.name for one in self.rounds)
        raise InvalidParameter(f"no round is called {name!r} (known: {known})")

    def clock_of(self, name: str) -> ContestClock:
        """Reference and original part of a round's traces."""
        one, clock = self.round(name), self.clock
        days = one.days or clock.days
        reference = one.reference_days or (one.days or clock.reference_days or clock.days)
        return ContestClock.regular(days, clock.slots, clock.start, clock.interval, reference)

    def check(self) -> None:
        """Raise `InvalidParameter` unless these rules could stand in a file as they are."""
        from tracecup.contest.rules.file import parse_rules, rules_text

        try:
            read = parse_rules(rules_text(self), "rules")
        except InvalidFile as error:
            raise InvalidParameter(str(error)) from error
        except (TypeError, ValueError, AttributeError) as error:
            raise InvalidParameter(f"rules hold a value of a wrong type: {error}") from error
        if read != self:
            raise InvalidParameter(
                "a file with these rules would say something else: a city needs builtin or file, "
                "phases need instants in UTC"
            )

    def renamed(self, name: str) -> Rules:
        """The same rules for a contest of another name."""
        return replace(self, name=name)

    def conflicts(self) -> Iterator[Conflict]:
        """Rounds have different names and follow one another; attack awards have targets."""
        targets = self.challenges.trace_inference or self.awards.attack_targets == "all"
        if self.challenges_played and not targets:
            here, found = ("challenges", "trace_inference"), "trace_inference = false"
            expected = 'trace_inference = true, or attack_targets = "all" in [awards]'
            yield Conflict(here, found, expected, "no-targets")
        names = [one.name for one in self.rounds]
        if len(set(names)) < len(names):
            found, expected = f"rounds called {', '.join(names)}", "a different name for each round"
            yield Conflict(("rounds",), found, expected, "round-names")
        if self.rounds and not any(one.weight > 0 for one in self.rounds):
            found, expected = "no round with a weight", "at least one weight above 0"
            yield Conflict(("rounds",), found, expected, "round-weights")
        for k, (before, after) in enumerate(pairwise(self.rounds), start=1):
            end, start = before.phases.results, after.phases.anonymize
            if end and start and start < end:
                found = f"{after.name} begins {shown_instant(start)}"
                expected = f"after the results of {before.name} ({shown_instant(end)})"
                place = ("rounds", k, "phases", "anonymize")
                yield Conflict(place, found, expected, "round-order")

    def all_conflicts(self) -> Iterator[Conflict]:
        """Those of the tables, each with its path in its own table, then those between them."""
        yield from self.city.conflicts()
        yield from self.clock.conflicts()
        yield from self.challenges.conflicts()
        for one in self.rounds:
            yield from one.phases.conflicts()
        yield from self.conflicts()


def _samples(kind: AttackKind, preset: str = "paper") -> tuple[str, ...]:
    """The sample attacks of a kind: those of the columns I1.. or T1.."""
    from tracecup.attack.portfolio import sample_attacks

    letter = CHALLENGES[kind].letter
    return tuple(name for column, name in sample_attacks(preset).items() if column[0] == letter)
