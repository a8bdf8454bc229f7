"""SGLT: days of training users in which every place is exchanged for one that plays the same role.

Classes of places, sets of allowed places, and a shaken most likely walk through the sets.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from tracecup.arrayfiles import ArchiveFormat, Arrays, day_of_header, header_of_day
from tracecup.errors import InvalidParameter, InvalidTraces, TraceCupError
from tracecup.records import Timetable
from tracecup.registry import Method, parameter, parse, register
from tracecup.rng import Rng, generator
from tracecup.synth.allowed import Classes
from tracecup.synth.base import Model, Progress, Synthesizer, Walk
from tracecup.synth.decoding import mobility
from tracecup.synth.likeness import Visits
from tracecup.synth.seeds import Seeds, retell
from tracecup.synth.semantics import location_graph, place_classes
from tracecup.synth.training import Training

MAX_PLACES = 5000
"""Above, matrices of all pairs of places would take gigabytes."""
STEPS = 3
# N places, n users, D days, E records
FILE = ArchiveFormat(
    "tracecup-sglt",
    1,
    {
        "label": ("N",),
        "M": ("N", "N"),
        "pi": ("N",),
        "users": ("n+1",),
        "days": ("D+1",),
        "instant": ("E",),
        "place": ("E",),
    },
)

Floats = NDArray[np.float64]


@register(
    "synthesizer",
    "SGLT",
    "days of training users, every place exchanged for one of the same class",
    "after Bindschaedler, Shokri, S&P 2016, as run in the evaluation of PPMTF",
)
@dataclass(frozen=True)
class SGLT(Synthesizer):
    """Virtual user k tells days of training user k, the seed, anew.

    Places that stand at the same rank of different users' visits are linked, and the graph is
    cut into `c` classes. A seed becomes a set of places for every instant: its place's class
    (less a share `par_c`), around a change of place part of both classes (`par_m`), and with
    probability `par_l` not its own place. The most likely walk through the sets, under one chain
    for everybody shaken by factors of up to `par_v`, is the trace. Traces can be rejected: see
    `k`, `delta`, `maxgeo` and `maxinter`.

    >>> str(SGLT(100, 0.1)), str(SGLT(50, par_v=1))
    ('SGLT(100,0.1)', 'SGLT(50,1,par_v=1)')
    """

    c: int = parameter(100, "classes of places (no more than places)", low=1, high=MAX_PLACES)
    par_l: float = parameter(
        1.0, "probability that the seed's own place is forbidden, per instant", low=0, high=1
    )
    par_c: float = parameter(
        0.25, "share of each class left out of a trace", low=0, high=1, positional=False
    )
    par_m: float = parameter(
        0.75, "how far the classes around a change of place mix", low=0, high=1, positional=False
    )
    par_v: float = parameter(
        4.0, "largest random factor on a probability", low=1, high=1e6, positional=False
    )
    merge: str = parameter(
        "lowest",
        "which places are mixed: those with the lowest ids, as the program did, or random ones",
        words=("lowest", "random"),
        positional=False,
    )
    compat: bool = parameter(
        False,
        "fall through to the first place after an empty set, as the program",
        positional=False,
    )
    graph_users: int = parameter(
        2000, "most users from whom classes are learned", low=1, high=10**6, positional=False
    )
    k: int = parameter(
        0, "other users who must be as plausible as seeds; 0: no test", low=0, positional=False
    )
    delta: float = parameter(
        0.1, "largest difference of such a user's semantic likeness", low=0, positional=False
    )
    maxgeo: float = parameter(
        1.0, "largest geographic likeness to the seed; 1: no test", low=0, high=1, positional=False
    )
    maxinter: float = parameter(
        1.0,
        "largest share of instants at the seed's place; 1: no test",
        low=0,
        high=1,
        positional=False,
    )
    tries: int = parameter(
        100, "tries for each day until one passes the tests", low=1, high=10**6, positional=False
    )

    @property
    def tested(self) -> bool:
        """Whether traces can be rejected."""
        return self.k > 0 or self.maxgeo < 1 or self.maxinter < 1

    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> SgltModel:
        """Learn classes and chain; the same seed gives the same model.

        Above `graph_users` users a random subset of them makes the classes. Training data without
        positions of the places (`Training.placed`) leave distances out of the chain.
        O(graph_users^2 places per user + N^3).
        """
        self.check()
        if training.n_locations > MAX_PLACES:
            raise InvalidTraces(
                f"SGLT compares all pairs of places: at most {MAX_PLACES}, "
                f"got {training.n_locations}"
            )
        tell = progress or (lambda done, total, left: None)
        random = generator(rng)
        seeds = Seeds.of_training(training)
        profiles = seeds.profiles(training.n_locations)
        users = np.flatnonzero(np.diff(profiles.starts))
        if len(users) > self.graph_users:
            users = np.sort(random.choice(users, self.graph_users, replace=False))
        graph = location_graph(profiles, users)
        tell(1, STEPS, 0.0)
        label = place_classes(graph, profiles.visits, self.c, random)
        tell(2, STEPS, 0.0)
        M, pi = mobility(training)
        tell(3, STEPS, 0.0)
        per_slot = training.instants_per_slot
        return SgltModel(self, training.day, per_slot, Classes.of(label), M, pi, seeds)


@dataclass(frozen=True, eq=False)
class SgltModel(Model):
    """Classes of places, the chain M (N, N) with its stationary law, and the seeds."""

    method: SGLT
    trained_day: Timetable
    instants_per_slot: int
    classes: Classes
    M: Floats
    pi: Floats
    seeds: Seeds

    @property
    def day(self) -> Timetable:
        return self.trained_day

    @property
    def n_locations(self) -> int:
        return len(self.pi)

    @property
    def n_users(self) -> int | None:
        """The training users: virtual user k tells days of training user k."""
        return len(self.seeds.users) - 1

    @cached_property
    def _visits(self) -> Visits:
        profiles = self.seeds.profiles(self.n_locations)
        return profiles.starts, profiles.place, profiles.count, profiles.records

    def walk(self, order: Walk, low: int, high: int, out: NDArray[np.int32]) -> None:
        """Traces of a block of virtual users; `InvalidParameter` if none passes the tests."""
        method = self.method
        if order.instants != self.instants_per_slot:
            raise InvalidParameter(
                f"days are told anew with the training data's {self.instants_per_slot} instants "
                f"per slot, got {order.instants}"
            )
        failed = retell(
            order.first_user + low,
            self.seeds.arrays,
            self.classes.arrays,
            (
                float(method.par_c),
                float(method.par_m),
                float(method.par_l),
                method.merge == "random",
                method.compat,
            ),
            self.pi,
            self.M,
            float(method.par_v),
            self._visits,
            (method.k, float(method.delta), float(method.maxgeo), float(method.maxinter)),
            method.tries,
            method.tested,
            order.kept,
            *order.key,
            out[low:high],
        )
        if failed >= 0:
            raise InvalidParameter(
                f"none of {method.tries} traces of virtual user {failed + 1} passed the tests of "
                f"{method}: allow a smaller k, a larger delta, maxgeo or maxinter, or more tries"
            )

    def using(self, method: Method) -> SgltModel:
        """The same classes and seeds under other settings of blurring, decoding and tests."""
        method.check()
        if not isinstance(method, SGLT):
            raise InvalidParameter(f"a model of {self.method} can be used as SGLT, not as {method}")
        for name in ("c", "graph_users"):
            if getattr(method, name) != getattr(self.method, name):
                raise InvalidParameter(
                    f"{name} cannot be changed after training: the model is of {self.method}, "
                    f"asked for {method}"
                )
        return replace(self, method=method)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model file; it holds the training traces themselves."""
        seeds = self.seeds
        header = {
            "method": str(self.method),
            "sizes": {
                "N": self.n_locations,
                "n": len(seeds.users) - 1,
                "D": len(seeds.days) - 1,
                "E": len(seeds.place),
            },
            "day": header_of_day(self.day),
            "instants_per_slot": self.instants_per_slot,
        }
        arrays: Arrays = {"label": self.classes.label, "M": self.M, "pi": self.pi}
        FILE.write(path, header, arrays | asdict(seeds))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SgltModel:
        """Read a file written by `save`; anything else is an `InvalidFile`."""
        header, arrays = FILE.read(path)
        try:
            method = parse("synthesizer", str(header["method"]))
            day = day_of_header(header["day"])
            per_slot = int(header["instants_per_slot"])
        except (KeyError, TypeError, ValueError, AttributeError, TraceCupError) as error:
            raise FILE.invalid(path, f"a damaged header ({error})") from error
        wrong = _misfit(arrays, day.slots * per_slot)
        if wrong or not isinstance(method, SGLT):
            raise FILE.invalid(path, wrong or f"a model of {method}")
        return cls(
            method,
            day,
            per_slot,
            Classes.of(arrays["label"].astype(np.int32)),
            arrays["M"].astype(np.float64),
            arrays["pi"].astype(np.float64),
            Seeds(
                arrays["users"].astype(np.int64),
                arrays["days"].astype(np.int64),
                arrays["instant"].astype(np.int32),
                arrays["place"].astype(np.int32),
            ),
        )


def _misfit(arrays: Arrays, instants: int) -> str:
    """What does not fit together in the arrays of a file; "" if all does.

    Kernels read by these numbers without looking back.
    """
    n, label = len(arrays["pi"]), arrays["label"]
    days, records = len(arrays["days"]) - 1, len(arrays["place"])
    if min(n, days, records, instants) < 1:
        return "a model of nothing"
    for name, high in (("label", n), ("place", n), ("instant", instants)):
        if (
            arrays[name].dtype.kind != "i"
            or not 0 <= arrays[name].min() <= arrays[name].max() < high
        ):
            return f"{name} outside 0..{high - 1}"
    if len(np.unique(label)) != label.max() + 1:
        return "a class without places"
    for name, end, least in (("users", days, 0), ("days", records, 1)):
        starts = arrays[name]
        rising = starts[0] == 0 and starts[-1] == end and bool((np.diff(starts) >= least).all())
        if starts.dtype.kind != "i" or not rising:
            return f"{name} that do not rise from 0 to {end}"
    if arrays["M"].min() <= 0 or arrays["pi"].min() < 0:
        return "probabilities of 0 and less"
    return ""
