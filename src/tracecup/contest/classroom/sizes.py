"""Parameters of the sample defences by size, so that small data teach what full-size data do.

Most parameters are distances and probabilities and hold for any number of users; those that count
users do not.
"""

from __future__ import annotations

from tracecup.errors import InvalidParameter

FULL_USERS, FULL_CLUSTERS = 2000, 100
CROWD = FULL_USERS // FULL_CLUSTERS
"""Users in a cluster of the defence that won in 2019: 100 clusters of 2000 users."""
LEAST_CLUSTERS = 2


def clusters_for(users: int) -> int:
    """Clusters for k-means among so many users: as many users in each as at full size.

    `KMeans(100)` on 200 users makes pairs alike and has nothing left to do before the floor is
    reached; `KMeans(10)` hides each among twenty.

    >>> clusters_for(2000), clusters_for(200), clusters_for(30)
    (100, 10, 2)
    """
    if users < 1:
        raise InvalidParameter(f"users must be >= 1, got {users}")
    return max(LEAST_CLUSTERS, round(users / CROWD))


def sample_defences(users: int) -> tuple[str, ...]:
    """The sample defences of a contest of so many users, for `to_utility` to tune to the floor.

    >>> sample_defences(200)[-1]
    'KMeans(10)'
    """
    return ("None", "MRLH(1,1)", "RR", "PL", "Cheat", f"KMeans({clusters_for(users)})")
