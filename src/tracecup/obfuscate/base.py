"""What an obfuscation is: original traces in, cells of regions out, users and clock kept.

The check that every method needs is here, and how a method acts on traces with sets in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel
from tracecup.registry import Method
from tracecup.rng import Rng
from tracecup.score.utility import check_originals
from tracecup.traces import SetTraces, Traces

PAPER = "T. Murakami et al., Designing a Location Trace Anonymization Contest, PoPETs 2023"


@dataclass(frozen=True)
class Knob:
    """A parameter that trades utility for privacy: from `weak` (utility high) to `strong`.

    Whole numbers are searched as whole numbers. `tune.to_utility` turns it.
    """

    parameter: str
    weak: float | int
    strong: float | int


@dataclass(frozen=True)
class Obfuscator(Method):
    """Base of all obfuscations: frozen dataclasses registered under the paper's names.

    A subclass writes `_obfuscate`; `knobs` names what `to_utility` may tune, the first one by
    default.
    """

    knobs: ClassVar[tuple[Knob, ...]] = ()
    needs_reference: ClassVar[bool] = False
    """Whether it cannot work, and so not be tuned, without reference traces."""

    @property
    def prepares(self) -> bool:
        """Whether it looks at reference traces where it gets some."""
        return type(self)._obfuscate_knowing is not Obfuscator._obfuscate_knowing

    @property
    def crowd(self) -> int | None:
        """How many users it makes alike at best, so that naming one of them is a guess.

        None where it makes no such groups; see `score.group_bound`.
        """
        return None

    def crowds(self, users: int) -> tuple[int, ...] | None:
        """The sizes of the groups that it makes of so many users, for `score.group_bound`.

        None where it makes no groups. Unless a method says otherwise all have `crowd` users, the
        last one those who are left over as well.
        """
        if self.crowd is None:
            return None
        count = max(1, users // self.crowd)
        return (*[self.crowd] * (count - 1), users - self.crowd * (count - 1))

    def note(self, users: int) -> str:
        """What one should know before relying on it for so many users; "" for nothing."""
        return ""

    def obfuscate(
        self, city: City, original: Traces, rng: Rng = None, *, reference: Traces | None = None
    ) -> SetTraces:
        """The obfuscated traces of `original`, which stays as it is.

        `reference` are the public traces of the same users, for methods that prepare for what an
        attacker knows; the others do not look at them.
        Same users, same clock, one cell for each event. Raises `InvalidParameter` for a
        parameter outside its range and `InvalidTraces` for traces outside the city.

        An event that was not observed becomes a deleted cell; while the method runs, the user's
        latest earlier region stands for it (else the next later one, else region 0). A method
        that makes users alike (`crowd`) refuses gaps: which events were recorded would still
        tell its users apart.
        """
        self.check()
        if original.has_gaps:
            return self._obfuscate_gaps(city, original, rng, reference)
        check_originals(city, original)
        if reference is None:
            return self._obfuscate(city, original, rng)
        if reference.n_users != original.n_users or reference.clock.slots != original.clock.slots:
            raise InvalidTraces(
                f"reference traces of {reference.n_users} users and {reference.clock.slots} slots "
                f"do not belong to {original.n_users} originals of {original.clock.slots}"
            )
        return self._obfuscate_knowing(city, original, reference, rng)

    def obfuscate_cells(self, city: City, cells: SetTraces, rng: Rng = None) -> SetTraces:
        """The same on traces that are obfuscated already: a later stage of a chain.

        Cells with exactly one region are obfuscated as if that region were the original one;
        deleted and generalised cells pass through. While the method runs, a cell that will pass
        through is represented by its first member or, if deleted, by the user's latest earlier
        region (else the next later one, else region 0), so that the result depends on nothing
        but `cells`.
        """
        single = np.diff(cells.offsets) == 1
        if bool(single.all()):
            return self.obfuscate(city, cells.as_traces(), rng)
        return _with_single(cells, self.obfuscate(city, stand_ins(cells), rng))

    def _obfuscate_gaps(
        self, city: City, original: Traces, rng: Rng, reference: Traces | None
    ) -> SetTraces:
        if self.crowd is not None:
            raise InvalidTraces(
                f"{self} makes {self.crowd} users alike, but these traces have gaps, and which "
                "events were recorded would still tell the users apart: take complete traces, or "
                "a method without that promise"
            )
        cells = SetTraces.of_traces(original)
        if reference is None:
            return self.obfuscate_cells(city, cells, rng)
        return _with_single(cells, self.obfuscate(city, stand_ins(cells), rng, reference=reference))

    def _obfuscate_knowing(
        self, city: City, original: Traces, reference: Traces, rng: Rng
    ) -> SetTraces:
        """The work of a method that looks at reference traces; most do not."""
        return self._obfuscate(city, original, rng)

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        """The work itself; parameters and traces are checked."""
        raise NotImplementedError(f"{type(self).__name__} defines no _obfuscate")


def _with_single(cells: SetTraces, changed: SetTraces) -> SetTraces:
    """`changed` where a cell has exactly one region, else the cell as it is."""
    single = np.diff(cells.offsets) == 1
    sizes = np.where(single, np.diff(changed.offsets), np.diff(cells.offsets))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    regions = np.empty(int(offsets[-1]), dtype=np.int32)
    _merge(single, cells.offsets, cells.regions, changed.offsets, changed.regions, offsets, regions)
    return SetTraces(offsets, regions, cells.users, cells.clock)


def single_cells(regions: NDArray[np.int32], original: Traces) -> SetTraces:
    """Cells of one region each, shape (users, times), for the users and clock of `original`."""
    offsets = np.arange(regions.size + 1, dtype=np.int64)
    return SetTraces(offsets, regions.ravel(), original.users, original.clock)


def stand_ins(cells: SetTraces) -> Traces:
    """One region for every event: where a cell has not exactly one, the user's latest earlier one.

    Else the next later one, else region 0.

    >>> stand_ins(SetTraces.of_cells([[[], [2], []], [[], [0, 1], []]])).regions.tolist()
    [[2, 2, 2], [0, 0, 0]]
    """
    regions = np.empty(cells.shape, dtype=np.int32)
    _fill_stand_ins(cells.offsets, cells.regions, regions)
    return Traces(regions, cells.users, cells.clock)


@kernel
def _fill_stand_ins(
    offsets: NDArray[np.int64], flat: NDArray[np.int32], regions: NDArray[np.int32]
) -> None:
    users, times = regions.shape
    for i in range(users):
        latest = -1
        for j in range(times):
            low = offsets[i * times + j]
            if offsets[i * times + j + 1] > low:
                latest = flat[low]
            regions[i, j] = latest
        following = max(latest, 0)
        for j in range(times - 1, -1, -1):
            if regions[i, j] < 0:
                regions[i, j] = following
            following = regions[i, j]


@kernel
def _merge(
    single: NDArray[np.bool_],
    old_offsets: NDArray[np.int64],
    old: NDArray[np.int32],
    new_offsets: NDArray[np.int64],
    new: NDArray[np.int32],
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
) -> None:
    for k in range(len(single)):
        for n in range(offsets[k + 1] - offsets[k]):
            source = new[new_offsets[k] + n] if single[k] else old[old_offsets[k] + n]
            regions[offsets[k] + n] = source
