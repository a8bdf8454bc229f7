"""A folder of files as the contest of 2019 left them: which file is what, and by which rules.

Nothing is read here but the city, the clock and the rules; `court` reads the rest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tracecup.city import ContestClock, read_clock
from tracecup.contest.archive.folder import CITY_FILE, CLOCK_FILE
from tracecup.contest.challenges import (
    ATTACK_KINDS,
    CHALLENGES,
    DATA_SETS,
    AttackKind,
    challenge_of_data_set,
    kind_of_answer,
)
from tracecup.contest.entries import BENCHMARK, BENCHMARK_TEAM, SAMPLE_TEAMS, Entry
from tracecup.contest.filenames import parse_file_name
from tracecup.contest.judging.judge import LIMITS
from tracecup.contest.rules import ChallengeRules, CityRules, ClockRules, RoundRules, Rules
from tracecup.contest.rules.file import RULES_FILE, read_rules
from tracecup.errors import BrokenFolder, InvalidFile, Problem, UnreadableFile
from tracecup.safeio import DATA_SUFFIXES, plain_name
from tracecup.traces.files import read_traces

MAX_TEAM = 899
TRUTH = ("reftraces", "orgtraces", "ptable")
PRESET = "organisers2019"
ROUND = "final"

_TRY = re.compile(r"_try([1-9]\d{0,3})(?=\.|$)")
_SAMPLE = re.compile(
    r"(etable|etraces)_([IT][1-9]\d?)-(\d{3})_(data01_IDP|data02_TRP)(?:\.[a-z0-9.]+)?"
)


@dataclass(frozen=True, order=True)
class AnswerFile:
    """Where an attacker's answer lies. `attacker` is a team (`003`) or a sample attack (`I2`)."""

    entry: Entry
    kind: AttackKind
    attacker: str
    attempt: int
    path: Path

    @property
    def by_team(self) -> bool:
        """Whether a team made it, and not the organisers."""
        return self.attacker.isdigit()


@dataclass
class Folder:
    """What lies in a folder: the files of each data set by kind, the answers, what is neither."""

    root: Path
    files: dict[Entry, dict[str, Path]] = field(default_factory=dict)
    answers: list[AnswerFile] = field(default_factory=list)
    shared: dict[str, Path] = field(default_factory=dict)
    ignored: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def teams(self) -> int:
        """The largest number of a team that defends or attacks."""
        attackers = [int(one.attacker) for one in self.answers if one.by_team]
        return max([entry.team for entry in self.files] + attackers, default=0)

    def of(self, entry: Entry) -> Mapping[str, Path]:
        """The files of a data set by kind."""
        return self.files.get(entry, {})

    def refuse(self) -> None:
        """Raise `BrokenFolder` if anything is wrong so far."""
        if self.problems:
            raise BrokenFolder(self.root, self.problems)


def scan(root: Path) -> Folder:
    """Look what is in a folder and the folders below; names say what each file is."""
    if not root.is_dir():
        raise UnreadableFile(root, "no such folder")
    found = Folder(root)
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            _place(found, path)
    for name in (CITY_FILE, CLOCK_FILE):
        if name not in found.shared:
            found.problems.append(f"{root / name}: not there; it is needed")
    if not any(entry.team for entry in found.files):
        found.problems.append(
            f"{root}: no file of a team, such as pubtraces_team001_{DATA_SETS['trace']}.csv"
        )
    return found


def take_samples(folder: Folder, said: tuple[int, ...] | None = None) -> list[Entry]:
    """The two public sample teams, taken out of the folder's data sets; [] if there are none.

    Unless they are `said`, they are the last two numbers, if these hold data set 02 with its
    truth, handed nothing in and attacked nobody while others did.
    """
    numbers = said if said is not None else _last_two(folder)
    entries = [Entry(number) for number in numbers]
    for entry in entries:
        missing = [kind for kind in (*TRUTH, "pubtraces") if kind not in folder.of(entry)]
        for kind in missing:
            name = entry.file(kind, ".csv")
            folder.problems.append(f"{folder.root / name}: not there; sample teams have it")
    if said is not None and len(set(said)) != SAMPLE_TEAMS:
        folder.problems.append(f"sample teams: found {len(set(said))}, expected {SAMPLE_TEAMS}")
    return entries


def rules_of(folder: Folder, samples: list[Entry]) -> Rules:
    """The rules: those of `contest.toml` if there is one, else those of 2019.

    Of several rounds in `contest.toml` the last one is meant, as in a simulated season.
    """
    clock = read_clock(folder.shared[CLOCK_FILE])
    own = folder.shared.get(RULES_FILE)
    rules = _own_rules(own) if own else _rules_2019(folder, clock, samples)
    rules = replace(rules, city=CityRules(builtin=None, file=CITY_FILE))
    wanted = rules.clock_of(rules.rounds[0].name)
    if wanted != clock:
        source = own.name if own else "slots of equal length on every day"
        raise InvalidFile(
            folder.shared[CLOCK_FILE],
            [Problem(0, "", _told(clock), f"{_told(wanted)}, as {source} says")],
        )
    return rules


def _place(found: Folder, path: Path) -> None:
    stem = plain_name(path.name)
    if stem in (CITY_FILE, CLOCK_FILE) or path.name == RULES_FILE:
        _keep(found, found.shared, stem, path)
        return
    sample, tries = _SAMPLE.fullmatch(path.name), _TRY.search(path.name)
    name = _TRY.sub("", path.name)
    said = parse_file_name(name)
    if sample is not None:
        kind, attacker, team, data = sample.groups()
        entry = Entry(int(team), challenge_of_data_set(data))
        _answer(found, AnswerFile(entry, kind_of_answer(kind), attacker, 1, path))
    elif said is None or not path.name.endswith(DATA_SUFFIXES):
        found.ignored.append(path)
    elif max(int(said.team), int(said.attacker or 0)) > MAX_TEAM:
        found.problems.append(f"{path}: the number of a team is at most {MAX_TEAM}")
    elif said.attacker is not None:
        entry, attempt = Entry(int(said.team), said.challenge), int(tries[1]) if tries else 1
        _answer(found, AnswerFile(entry, kind_of_answer(said.kind), said.attacker, attempt, path))
    elif tries is not None or (
        int(said.team) == BENCHMARK_TEAM and said.challenge != BENCHMARK.challenge
    ):
        found.ignored.append(path)
    else:
        files = found.files.setdefault(Entry(int(said.team), said.challenge), {})
        _keep(found, files, said.kind, path)


def _keep(found: Folder, held: dict[str, Path], key: str, path: Path) -> None:
    if key in held:
        found.problems.append(f"{path}: the same file as {held[key].name}; one of them is too much")
    held[key] = path


def _answer(found: Folder, one: AnswerFile) -> None:
    same = [o for o in found.answers if replace(o, path=one.path) == one]
    if same:
        found.problems.append(f"{one.path}: the same answer as {same[0].path.name}")
    elif one.attacker == one.entry.number:
        found.problems.append(f"{one.path}: a team does not attack its own release")
    elif one.by_team and int(one.attacker) == BENCHMARK_TEAM:
        found.problems.append(f"{one.path}: {one.attacker} is the benchmark, which attacks nobody")
    else:
        found.answers.append(one)


def _last_two(folder: Folder) -> tuple[int, ...]:
    attackers = {int(one.attacker) for one in folder.answers if one.by_team}
    busy = attackers | {e.team for e, files in folder.files.items() if "anotraces" in files}
    last = tuple(sorted({entry.team for entry in folder.files})[-SAMPLE_TEAMS:])
    complete = all(set(folder.of(Entry(n))) >= {*TRUTH, "pubtraces"} for n in last)
    enough = len(last) == SAMPLE_TEAMS and BENCHMARK_TEAM not in last
    return last if enough and complete and busy and not busy & set(last) else ()


def _own_rules(path: Path) -> Rules:
    rules = read_rules(path)
    return replace(rules, rounds=rules.rounds[-1:])


def _rules_2019(folder: Folder, clock: ContestClock, samples: list[Entry]) -> Rules:
    """The preset with the sizes of the files, and the challenges that have data sets."""
    minutes, entries = clock.original.minutes, folder.files.keys() - {BENCHMARK, *samples}
    played = {kind: any(entry.challenge == kind for entry in entries) for kind in ATTACK_KINDS}
    return replace(
        Rules.preset(PRESET),
        users=_users(folder),
        clock=ClockRules(
            days=clock.original.days,
            reference_days=clock.reference.days,
            slots=clock.original.slots,
            start=minutes[0],
            interval=minutes[1] - minutes[0] if len(minutes) > 1 else ClockRules.interval,
        ),
        challenges=ChallengeRules(
            **{CHALLENGES[kind].rules_key: is_it for kind, is_it in played.items()}
        ),
        rounds=(RoundRules(ROUND),),
    )


def _users(folder: Folder) -> int:
    """How many users the first file with users has; all others must agree."""
    found = [files for _, files in sorted(folder.files.items())]
    for files in found:
        if "orgtraces" in files:
            return read_traces(files["orgtraces"], limits=LIMITS).n_users
    for files in found:
        if "reftraces" in files:
            known = read_traces(files["reftraces"], "reference", gaps=True, limits=LIMITS)
            return known.n_users
    raise BrokenFolder(folder.root, ["no orgtraces and no reftraces: how many users are there?"])


def _told(clock: ContestClock) -> str:
    minutes = clock.original.minutes
    first = f"{minutes[0] // 60:02d}:{minutes[0] % 60:02d}"
    days = f"{clock.reference.days} + {clock.original.days} days"
    return f"{days} of {len(minutes)} slots from {first}"
