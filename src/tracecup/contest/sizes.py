"""Parameters of defences by size, so that small data teach what full-size data do.

Most parameters are distances and probabilities and hold for any number of users; those that count
users do not: k-means wants clusters of as many users as at full size.
"""

from __future__ import annotations

from dataclasses import replace

from tracecup.errors import InvalidParameter
from tracecup.obfuscate import KMeans, parse_obfuscator

FULL_USERS, FULL_CLUSTERS = 2000, 100
"""The defence that won in 2019: 100 clusters of 2000 users, twenty in each."""
LEAST_CLUSTERS = 2


def clusters_for(users: int, full: int = FULL_CLUSTERS) -> int:
    """Clusters for k-means among so many users: as many users in each as at full size.

    `full` is their number among 2000 users. `KMeans(100)` on 200 users makes pairs alike and has
    nothing left to do before the floor is reached; `KMeans(10)` hides each among twenty.

    >>> clusters_for(2000), clusters_for(200), clusters_for(30), clusters_for(200, full=400)
    (100, 10, 2, 40)
    """
    if users < 1:
        raise InvalidParameter(f"users must be >= 1, got {users}")
    return max(LEAST_CLUSTERS, round(users * full / FULL_USERS))


def sized(defence: str, users: int) -> str:
    """The name of a defence of 2000 users for another number of them; most stay as they are.

    >>> sized("KMeans(100,hospital=false)", 200), sized("PL(4,1)", 200), sized("KMeans(100)", 2000)
    ('KMeans(10,hospital=false)', 'PL(4,1)', 'KMeans(100)')
    """
    method = parse_obfuscator(defence)
    if not isinstance(method, KMeans) or users == FULL_USERS:
        return defence
    return str(replace(method, k=clusters_for(users, method.k)))


def sample_defences(users: int) -> tuple[str, ...]:
    """The sample defences of a contest of so many users, for `to_utility` to tune to the floor.

    >>> sample_defences(200)[-1]
    'KMeans(10)'
    """
    full = ("None", "MRLH(1,1)", "RR", "PL", "Cheat", f"KMeans({FULL_CLUSTERS})")
    return tuple(sized(name, users) for name in full)
