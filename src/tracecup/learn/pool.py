"""What a learned attack is trained on: teams whose references, originals and releases are known.

From public data alone: the later days of a reference are the original, a defence makes the
release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidTraces
from tracecup.rng import Rng, generator
from tracecup.traces import SetTraces, Traces

Regions = NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class Pool:
    """References and originals of teams, (teams, U, events), and releases, (releases, U, events).

    Release k belongs to team `team[k]` and stands in the order of its users; -1 is an unobserved
    or deleted event. `slots` is the number of events a day.
    """

    reference: Regions
    original: Regions
    released: Regions
    team: NDArray[np.int32]
    slots: int

    def __post_init__(self) -> None:
        teams, users = self.reference.shape[:2]
        if self.original.shape[:2] != (teams, users) or self.released.shape[1] != users:
            raise InvalidTraces(
                f"references are {self.reference.shape}, originals {self.original.shape}, releases "
                f"{self.released.shape}: teams and users must agree"
            )
        if self.released.shape[2] != self.original.shape[2] or len(self.team) != len(self.released):
            raise InvalidTraces("every release needs a team and the events of its original")

    @property
    def n_users(self) -> int:
        """Users of a team."""
        return self.reference.shape[1]

    def with_copies(self, copies: Sequence[Regions]) -> Pool:
        """The same teams with several releases each: every copy has one of every team."""
        team = np.tile(np.arange(len(self.reference), dtype=np.int32), len(copies))
        return Pool(self.reference, self.original, np.concatenate(copies), team, self.slots)

    def take_teams(self, teams: Sequence[int]) -> Pool:
        """Only these teams, in this order, and their releases."""
        kept = [np.flatnonzero(self.team == team) for team in teams]
        place = np.concatenate([np.full(len(rows), k) for k, rows in enumerate(kept)])
        rows = np.concatenate(kept)
        return Pool(
            self.reference[list(teams)],
            self.original[list(teams)],
            self.released[rows],
            place.astype(np.int32),
            self.slots,
        )


def drawn_members(released: SetTraces, rng: Rng = None) -> Regions:
    """One uniform member of every cell, -1 for a deleted one, (U, events).

    A network that is trained on members learns the likelihood of a member; the likelihood of a
    set is the mean over its members when it answers.
    """
    sizes = np.diff(released.offsets)
    draw = (generator(rng).random(len(sizes)) * sizes).astype(np.int64)
    at = np.minimum(released.offsets[:-1] + draw, max(0, len(released.regions) - 1))
    member = released.regions[at] if len(released.regions) else np.zeros(len(sizes), np.int32)
    return np.where(sizes > 0, member, -1).reshape(released.shape).astype(np.int16)


def public_halves(reference: Traces) -> tuple[Traces, Traces]:
    """The earlier and the later days of a reference: what is known, and what gets defended."""
    days = reference.clock.days
    if days < 2:
        raise InvalidTraces(
            f"a reference of {days} day cannot be cut into known and defended days; 2 are needed"
        )
    return reference.take_days(0, days // 2), reference.take_days(days // 2, days)
