"""An archive scored: every answer in it, and the results that follow.

The server computes results with these, and the verification compares with them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracecup.contest.archive.folder import Archive
from tracecup.contest.entries import Entry
from tracecup.contest.judging.flow import score_release
from tracecup.contest.judging.release_scores import ReleaseScores
from tracecup.contest.results.compute import Results, compute_results
from tracecup.engine import threads


def score_all(archive: Archive) -> list[ReleaseScores]:
    """Score all answers to all releases, several releases at a time."""
    attackers = archive.all_attackers

    def one(entry: Entry) -> ReleaseScores:
        return score_release(archive, entry, attackers)

    _ = archive.judge  # read once, before threads ask for it
    with threads() as pool:
        return list(pool.map(one, archive.published()))


def results_of(archive: Archive, targets: Sequence[ReleaseScores]) -> Results:
    """The results of an archive whose cells are scored."""
    judged = {entry: archive.judged(entry) for entry in archive.defenders}
    return compute_results(
        archive.rules,
        judged,
        targets,
        archive.attackers,
        archive.attack_names,
        archive.withdrawn,
        archive.knew,
    )
