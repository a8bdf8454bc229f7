"""`tc.audit`: how risky a release is for the people in it, from Python.

The answer of `tracecup audit` for data and a release that are in memory.
"""

from __future__ import annotations

from collections.abc import Iterable

from tracecup.attack.learned import shipped_suits
from tracecup.errors import InvalidParameter
from tracecup.front.data import Data, PathName, as_data
from tracecup.front.naming import AttackLike, DefenceLike, attacks_of
from tracecup.front.progress import Progress, progress_bar
from tracecup.front.releases import CellsLike, Release, publish
from tracecup.score.intervals import CONFIDENCE
from tracecup.study import audit as auditing
from tracecup.study.audit import Audit, Subject
from tracecup.study.informed import knowing


def audit(
    subject: Release | Data | PathName | Subject,
    defence: DefenceLike | CellsLike = "None",
    *,
    attacks: AttackLike | Iterable[AttackLike] | None = None,
    strength: str = "quick",
    confidence: float = CONFIDENCE,
    seed: int = 1,
    progress: bool | Progress = True,
) -> Audit:
    """What known attacks find out about the users of a release, with intervals and baselines.

    `subject` is a release, or data that are published with `defence` first (pseudonyms alone by
    default). Attackers of strength `max` know what protected it, where that has a name.

    >>> from tracecup.front.data import load_demo
    >>> found = audit(load_demo(days=2, users=6), attacks=["VisitProb-R", "Prior-T"])
    >>> 0 <= found.identified <= 6
    True
    """
    protected_by = ""
    if isinstance(subject, Subject):
        given = subject
    else:
        release = subject if isinstance(subject, Release) else publish(as_data(subject), defence,
                                                                       seed=seed)  # fmt: skip
        if release.truth.table is None:
            raise InvalidParameter("a release without an ID table cannot be audited")
        original, protected_by = release.truth.original, release.defence
        given = Subject(
            release.case.city,
            release.case.reference,
            original,
            release.case.released,
            release.truth.table,
            tuple(str(user) for user in original.users),
        )
    if attacks is None:
        learned = shipped_suits(given.city, given.original.clock.slots)
        known = knowing(protected_by) if strength == "max" else []
        attacks = [*auditing.portfolio(strength, learned=learned), *known]
    methods = attacks_of(attacks)
    with progress_bar(progress, "auditing", len(methods)) as advance:
        last = 0.0

        def told(done: float, total: float) -> None:
            nonlocal last
            advance(done - last, "")
            last = done

        return auditing.audit(
            given,
            attacks=methods,
            confidence=confidence,
            seed=seed,
            progress=told,
        )
