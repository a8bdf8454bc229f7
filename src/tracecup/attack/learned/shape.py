"""The shape of a learned attack: which features of habits it sees, and which arrays it consists of.

Training (`tracecup.learn`, JAX) and answering (this package, numba) both read it from here.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracecup.errors import InvalidParameter

BLURS_KM = (0.35, 0.8, 2.0)
"""Ranges of the three spatial blurs exp(-d / range)."""

FEATURES = (
    ("same slot", 1e-2),
    ("near slots", 3e-3),
    ("near slots, 0.35 km", 1e-3),
    ("near slots, 0.8 km", 1e-3),
    ("whole day", 1e-3),
    ("whole day, 0.35 km", 1e-3),
    ("whole day, 0.8 km", 5e-4),
    ("whole day, 2 km", 5e-4),
    ("everybody, near slots", 1e-5),
)
"""What each cell (user, slot, region) is described by: log(eps + visits a day), and the eps."""

COUNT_SCALE = 20.0
"""Visits a day are multiplied by this before log1p, so that counts of 20 days keep their size."""


@dataclass(frozen=True)
class NetworkShape:
    """Sizes of one network: regions N, slots T, hidden cells h, embedding E, rank r.

    `arrays` names every array with its shape; `tracecup.attack.learned.network` says what they
    compute.
    """

    regions: int
    slots: int
    hidden: int = 32
    embedding: int = 384
    rank: int = 128

    def __post_init__(self) -> None:
        if min(self.regions, self.slots, self.embedding, self.rank) < 1:
            raise InvalidParameter(f"all sizes of a network must be >= 1, got {self}")
        if self.hidden < 4 or self.hidden % 4:
            raise InvalidParameter(f"hidden must be a multiple of 4, got {self.hidden}")

    @property
    def arrays(self) -> dict[str, tuple[int, ...]]:
        """Name -> shape of every array of the network."""
        n, t, h, e, r = self.regions, self.slots, self.hidden, self.embedding, self.rank
        f = len(FEATURES)
        return {
            "first": (f, h),
            "slot": (t, h),
            "second": (h, h),
            "second_bias": (h,),
            "out": (h,),
            "skip": (f,),
            "day_embedding": (n, e),
            "slot_embedding": (n, e),
            "slot_shift": (t, e),
            "mix": (e, r),
            "regions": (n, r),
            "bias": (t, n),
        }
