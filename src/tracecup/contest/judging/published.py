"""A release that is in memory and lies in no archive: what studies, lessons and `tc.publish` judge.

The shuffle is the judge's, and so are case and truth; whoever has files takes `flow`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracecup.attack import Case
from tracecup.city import City
from tracecup.contest.judging.answers import Truth
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.rng import Rng
from tracecup.traces import IdTable, SetTraces, Traces


@dataclass(frozen=True, eq=False)
class Published:
    """A release: `case` is what attackers get, `original` and `table` what they are after."""

    case: Case
    original: Traces
    table: IdTable

    def __repr__(self) -> str:
        """Never shows who is who."""
        return f"Published(<{self.case.n_users} pseudonyms>)"

    @property
    def truth(self) -> Truth:
        """What answers are scored against (`Scorer`)."""
        return Truth(self.original, self.table)


def publish(
    city: City, reference: Traces, original: Traces, obfuscated: SetTraces, rng: Rng = None
) -> Published:
    """Shuffle obfuscated traces (in user order) and put them before attackers, as the judge does.

    Without `rng` the permutation comes from the operating system's entropy. Whether the release
    is valid is not asked here.

    >>> from tracecup.city import Grid
    >>> city = City(Grid.from_metres(2, 1, width_m=300, height_m=300))
    >>> homes = Traces.of([[0], [1], [1]])
    >>> publish(city, homes, homes, SetTraces.of_traces(homes)).case.released.users.tolist()
    [4, 5, 6]
    """
    released, table = pseudonymize(obfuscated, rng)
    return Published(Case(city, reference, released), original, table)
