"""What an audit finds without linking anybody: known points, homes, membership, user by user.

Also says of every user why she is exposed, in words.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracecup.attack.presence import FEWEST, Presence, presence
from tracecup.risk import (
    KINDS,
    HomesFound,
    HomeWork,
    PointsRisk,
    Unicity,
    home_work_risk,
    homes_found,
    known_points_risk,
    unicity,
)
from tracecup.rng import child_seed
from tracecup.study.audit import Audit, Subject

POINTS = (1, 2, 3, 4)
"""Known visits of the unicity."""
KNOWN = 2
"""Known points of the other measures."""
WITHIN_KM = 0.5
MOST_EVENTS = 40_000_000
"""Events of the reference up to which membership is looked at: it holds some 100 bytes of each."""


@dataclass(frozen=True, eq=False)
class Exposure:
    """Known-points risk of every kind, unicity for 1 to 4 points, homes and membership.

    `presence` is None for too few users, and for too many events, which `too_large` says.
    """

    unicity: tuple[Unicity, ...]
    points: tuple[PointsRisk, ...]
    home_work: HomeWork
    homes: HomesFound
    within_km: float
    presence: Presence | None
    too_large: bool = False

    def why(self, audit: Audit, user: int) -> tuple[str, ...]:
        """What exposes a user (by position), the strongest reasons first."""
        said = []
        names = audit.risk(user).identified_by
        if names:
            said.append(f"named by {len(names)} of {len(audit.reid)} attacks")
        alone = [one.kind for one in self.points if one.low[user] == 1]
        if alone:
            kinds = "of any kind" if len(alone) == len(self.points) else f"({', '.join(alone)})"
            said.append(f"alone with {KNOWN} known points {kinds}")
        if self.home_work.risk[user] == 1:
            said.append("nobody else has this home and work")
        if self.homes.distance_km[user] <= self.within_km:
            said.append(f"home found within {metres(self.within_km)}")
        last = self.unicity[-1]
        if last.per_user[user] > 0:
            share = f"{100 * last.per_user[user]:.3g}%"
            said.append(f"alone in {share} of the choices of {last.points} known visits")
        return tuple(said)


def exposure_of(
    subject: Subject, *, within_km: float = WITHIN_KM, confidence: float = 0.95, seed: int = 1
) -> Exposure | None:
    """Measure what the release shows of each user; None without the ID table."""
    if subject.table is None:
        return None
    cells = subject.released.take_users(subject.table.inverse())
    truth = subject.original
    rng = child_seed(seed, "unicity")
    too_large = subject.reference.regions.size > MOST_EVENTS
    return Exposure(
        tuple(unicity(truth, cells, points=k, rng=rng, confidence=confidence) for k in POINTS),
        tuple(known_points_risk(kind, truth, cells, points=KNOWN) for kind in KINDS),
        home_work_risk(truth, cells),
        homes_found(subject.city, truth, cells),
        within_km,
        presence(
            subject.city,
            subject.reference,
            cells,
            child_seed(seed, "presence"),
            confidence=confidence,
        )
        if truth.n_users >= FEWEST and not too_large and subject.reference.regions.max() >= 0
        else None,
        too_large,
    )


def metres(km: float) -> str:
    """A distance for people.

    >>> metres(0.25), metres(2.0)
    ('250 m', '2000 m')
    """
    return f"{1000 * km:.0f} m"
