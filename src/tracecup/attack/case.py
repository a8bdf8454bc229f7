"""What an attacker is given: the city, everybody's reference traces and one release.

No ID table and no original trace: those stay with the judge.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracecup.city import City
from tracecup.errors import InvalidTraces
from tracecup.traces import SetTraces, Traces


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """One target: `reference` traces of m known users, `released` traces of m pseudonyms.

    Row i of `reference` is user i; row k of `released` is pseudonym k, and who is behind it is
    the question. Both parts have the same slots a day, the number of days may differ. Reference
    events may be unobserved (-1); they are skipped.

    >>> from tracecup.city import Grid
    >>> city = City(Grid.from_metres(5, 1, width_m=341.25, height_m=346.875))
    >>> case = Case(city, Traces.of([[0, 1], [3, 4]]), SetTraces.of_cells([[[4], [3]], [[], [0]]]))
    >>> case.n_users
    2
    """

    city: City
    reference: Traces
    released: SetTraces

    def __post_init__(self) -> None:
        reference, released, n_regions = self.reference, self.released, self.city.n_regions
        self._check_types()
        if reference.n_users != released.n_users:
            raise InvalidTraces(
                f"{reference.n_users} users have reference traces, but {released.n_users} "
                "pseudonyms are released; a case needs as many of both"
            )
        if reference.n_users == 0:
            raise InvalidTraces("a case needs at least one user")
        if reference.clock.slots != released.clock.slots:
            raise InvalidTraces(
                f"reference traces have {reference.clock.slots} slots a day, released ones "
                f"{released.clock.slots}; a case needs the same clock for both"
            )
        for name, regions in (("reference", reference.regions), ("released", released.regions)):
            if regions.size and int(regions.max()) >= n_regions:
                raise InvalidTraces(
                    f"{name} region {int(regions.max())} (0-based) is not within 0..{n_regions - 1}"
                )

    def _check_types(self) -> None:
        reference: object = self.reference
        released: object = self.released
        if isinstance(reference, SetTraces) and isinstance(released, Traces):
            raise InvalidTraces(
                "reference and release are swapped: a case is Case(city, reference, released)"
            )
        if not isinstance(reference, Traces):
            raise InvalidTraces(f"reference traces are Traces, got {type(reference).__name__}")
        if not isinstance(released, SetTraces):
            hint = "; SetTraces.of_traces makes one" if isinstance(released, Traces) else ""
            raise InvalidTraces(f"a release is SetTraces, got {type(released).__name__}{hint}")

    def __repr__(self) -> str:
        return f"<Case: {self.city!r}, reference {self.reference!r}, released {self.released!r}>"

    @property
    def n_users(self) -> int:
        """Number of users and of pseudonyms, m."""
        return self.reference.n_users
