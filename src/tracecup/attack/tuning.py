"""Choose an attack's parameters on sample teams whose truth is known.

The winner of 2019 tuned like this; what is tuned is written down in `GRIDS`.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tracecup.attack.base import InferenceAttack, ReidAttack
from tracecup.attack.case import Case
from tracecup.city import read_city, read_clock
from tracecup.errors import InvalidParameter, UnknownMethod, UnreadableFile
from tracecup.registry import Kind, Method, Value, methods, parse, spell, split_name
from tracecup.rng import child_seed, generator
from tracecup.safeio import DATA_SUFFIXES
from tracecup.score import inference_score, reid_score
from tracecup.traces import IdTable, SetTraces, Traces
from tracecup.traces.files import read_id_table, read_obfuscated, read_released, read_traces

Grid = Mapping[str, Sequence[Value]]

_TABLE: Grid = {
    "eta0": (0.1, 0.2, 0.33, 0.5, 1.0),
    "lambda0": (0.25, 0.5, 1.0, 2.0),
    "tf": ("log", "count"),
    "idf": ("none", "log"),
    "order": ("log-first", "spread-first"),
}
GRIDS: dict[str, tuple[Grid, ...]] = {
    "HomeProb-R": ({"slots": (1, 2, 3, 4, 5)},),
    "Fuzzy-R": (_TABLE,),
    "VisitProb-T": ({"match": ("greedy", "assignment")},),
    "HomeProb-T": ({"slots": (1, 2, 3, 4, 5), "match": ("greedy", "assignment")},),
    "Fuzzy-T": (_TABLE, {"threshold": (1, 2, 3, 4, 5, 6, 8, 10)}),
    "Prior-T": ({"user": (0, 1, 2, 3, 4, 6), "population": (0, 0.5, 1, 2, 3, 4)},),
}
"""What is tried, by method: each grid is searched completely, one after the other."""


@dataclass(frozen=True, eq=False)
class Sample:
    """A case whose truth is known: the ID table and the original traces."""

    name: str
    case: Case
    table: IdTable
    original: Traces


@dataclass(frozen=True)
class Trial:
    """One setting and its privacy score on every sample; lower is the stronger attack."""

    attack: str
    per_sample: tuple[float, ...]

    @property
    def score(self) -> float:
        """Mean over the samples."""
        return float(np.mean(self.per_sample))


@dataclass(frozen=True)
class Tuning:
    """All trials in the order they were made; the first one has the method's own values."""

    metric: str
    trials: tuple[Trial, ...]

    @property
    def best(self) -> Trial:
        """The trial with the lowest mean score; the earliest among equals."""
        return min(self.trials, key=lambda trial: trial.score)


def tune(
    name: str,
    samples: Sequence[Sample],
    seed: int = 0,
    *,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> Tuning:
    """Try the grid of the method `name`, keeping fixed what the name gives explicitly.

    `Fuzzy-R(0.33,tf=log)` keeps eta0 and tf and tries the rest. Every setting meets the same
    random draws. The best mean score is an optimistic estimate of what the setting does on
    other teams: it was chosen for these. Cost: one attack per setting and sample.
    """
    if not samples:
        raise InvalidParameter("tuning needs at least one sample with known truth")
    start, fixed = _start_of(name)
    grids = [
        {key: values for key, values in grid.items() if key not in fixed}
        for grid in GRIDS.get(start.name, ())
    ]
    sizes = [int(np.prod([len(values) for values in grid.values()])) for grid in grids if grid]
    if not sizes:
        raise InvalidParameter(
            f"nothing to tune in {name!r}; methods with a grid: {', '.join(sorted(GRIDS))}"
        )
    metric = "s_R" if isinstance(start, ReidAttack) else "s_T"
    trials = {str(start): _trial(start, samples, seed)}
    done, total = 0, sum(sizes)
    for grid in filter(None, grids):
        centre = _parse_attack(Tuning(metric, tuple(trials.values())).best.attack)
        for values in itertools.product(*grid.values()):
            attack = _changed(centre, dict(zip(grid, values, strict=True)))
            if str(attack) not in trials:
                trials[str(attack)] = _trial(attack, samples, seed)
            done += 1
            advance(done, total)
    return Tuning(metric, tuple(trials.values()))


def read_samples(folder: Path, seed: int = 0) -> list[Sample]:
    """The samples of a folder with `info_region.csv`, `info_time.csv` and, for each of them,

    `reftraces_X`, `orgtraces_X` and either `pubtraces_X` with `ptable_X`, or `anotraces_X`,
    which is then shuffled with `seed`. X is anything; files may be compressed or Parquet.
    """
    city = read_city(_file(folder, "info_region"))
    clock = read_clock(_file(folder, "info_time"))
    names = sorted(
        path.name.removeprefix("orgtraces").removesuffix(end)
        for end in DATA_SUFFIXES
        for path in folder.glob(f"orgtraces*{end}")
    )
    if not names:
        raise UnreadableFile(folder, "no orgtraces file; a sample needs its original traces")
    samples = []
    for name in names:
        original = read_traces(
            _file(folder, f"orgtraces{name}"), n_regions=city.n_regions, clock=clock.original
        )
        reference = read_traces(
            _file(folder, f"reftraces{name}"),
            "reference",
            n_regions=city.n_regions,
            clock=clock.reference,
            users=original.n_users,
            gaps=True,
        )
        released, table = _release(folder, name, original, city.n_regions, seed)
        case = Case(city, reference, released)
        samples.append(Sample(name.lstrip("_") or folder.name, case, table, original))
    return samples


def _release(
    folder: Path, name: str, original: Traces, n_regions: int, seed: int
) -> tuple[SetTraces, IdTable]:
    """The release of a sample and its truth; obfuscated traces are shuffled here."""
    m, clock = original.n_users, original.clock
    if _find(folder, f"pubtraces{name}"):
        released = read_released(
            _file(folder, f"pubtraces{name}"), n_regions=n_regions, clock=clock, users=m
        )
        return released, read_id_table(_file(folder, f"ptable{name}"), users=m)
    obfuscated = read_obfuscated(
        _file(folder, f"anotraces{name}"), users=m, clock=clock, n_regions=n_regions
    )
    order = generator(child_seed(seed, "shuffle", name)).permutation(m)
    return obfuscated.take_users(order).renamed(np.arange(m + 1, 2 * m + 1)), IdTable.of(order)


def _find(folder: Path, stem: str) -> Path | None:
    """The file of that name with any of the known endings."""
    return next((path for end in DATA_SUFFIXES if (path := folder / (stem + end)).is_file()), None)


def _file(folder: Path, stem: str) -> Path:
    found = _find(folder, stem)
    if found is None:
        raise UnreadableFile(folder, f"no file {stem} ({', '.join(DATA_SUFFIXES)})")
    return found


def _parse_attack(name: str) -> ReidAttack | InferenceAttack:
    """The attack of a name, of either kind."""
    word = split_name(name)[0]
    kinds: dict[str, Kind] = {known.lower(): "inference" for known in methods("inference")}
    kinds |= {known.lower(): "reid" for known in methods("reid")}
    if word.lower() not in kinds:
        known = sorted([*methods("reid"), *methods("inference")])
        near = difflib.get_close_matches(word, known, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UnknownMethod(f"no attack is called {word!r}{hint} (known: {', '.join(known)})")
    attack = parse(kinds[word.lower()], name)
    if not isinstance(attack, (ReidAttack, InferenceAttack)):
        raise InvalidParameter(f"{attack.name} is registered as an attack but is none")
    return attack


def _changed(attack: Method, values: Mapping[str, Value]) -> ReidAttack | InferenceAttack:
    """The attack with some parameters replaced, by way of its name."""
    every = {rule.name: getattr(attack, rule.attribute) for rule in attack.parameters()}
    words = ",".join(f"{key}={spell(value)}" for key, value in (every | dict(values)).items())
    return _parse_attack(f"{attack.name}({words})")


def _start_of(name: str) -> tuple[ReidAttack | InferenceAttack, set[str]]:
    """The attack of a name, and which of its parameters the name gives."""
    start, (_, values, keywords) = _parse_attack(name), split_name(name)
    positional = [rule.name for rule in start.parameters() if rule.positional]
    lower = {rule.name.lower(): rule.name for rule in start.parameters()}
    given = {lower[key.lower()] for key, _ in keywords}
    return start, given | set(positional[: len(values)])


def _trial(attack: ReidAttack | InferenceAttack, samples: Sequence[Sample], seed: int) -> Trial:
    return Trial(str(attack), tuple(_privacy(attack, sample, seed) for sample in samples))


def _privacy(attack: ReidAttack | InferenceAttack, sample: Sample, seed: int) -> float:
    rng = child_seed(seed, "tune", sample.name)
    if isinstance(attack, ReidAttack):
        return reid_score(sample.table, attack.identify(sample.case, rng)).value
    inferred = attack.infer(sample.case, rng)
    return inference_score(sample.case.city, sample.original, inferred).value
