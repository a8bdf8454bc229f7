"""The attack phase from one's own machine: which answers the server still takes, and making them.

The releases are those that were downloaded; the server says what may be answered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from tracecup.attack.naming import kind_of
from tracecup.client.contest import Answer, ContestClient
from tracecup.client.downloads import Progress
from tracecup.contest.challenges import AttackKind
from tracecup.contest.targets import Answered, Attack, attack_all
from tracecup.errors import InvalidParameter


def open_answers(
    page: Answer,
    kinds: Collection[AttackKind],
    *,
    missing: bool = False,
    teams: Collection[int] | None = None,
) -> list[str]:
    """The names of the answers that a team may hand in now, in the order of its targets.

    `page` is what `ContestClient.targets` says. An answer needs a try; with `missing` it must not
    be there yet; `teams` chooses targets by number (0: the benchmark).

    >>> answer = {"kind": "reid", "file_name": "e.csv", "tries": {"left": 1}, "missing": False}
    >>> page = {"targets": [{"team": 2, "answers": [answer]}]}
    >>> open_answers(page, ["reid"]), open_answers(page, ["reid"], missing=True)
    (['e.csv'], [])
    """
    known = [target["team"] for target in page["targets"]]
    unknown = [str(team) for team in teams or () if team not in known]
    if unknown:
        listed = ", ".join(map(str, sorted(set(known)))) or "none yet"
        raise InvalidParameter(f"no target {', '.join(unknown)}; the targets are: {listed}")
    return [
        str(answer["file_name"])
        for target in page["targets"]
        if teams is None or target["team"] in teams
        for answer in target["answers"]
        if answer["kind"] in kinds
        and (answer["missing"] if missing else answer["tries"]["left"] > 0)
    ]


def attack_targets(
    client: ContestClient,
    folder: Path,
    attacks: Iterable[Attack],
    out: Path,
    *,
    seed: int = 1,
    missing: bool = False,
    teams: Collection[int] | None = None,
    progress: Progress | None = None,
) -> Answered:
    """Attack the downloaded releases that may be answered, and write the answers as one zip.

    Under the same seed the answers are the same bytes, so that a hand-in that broke off may be
    made again: what has arrived costs no second try.
    """
    chosen = list(attacks)
    kinds = [kind_of(attack) for attack in chosen]
    names = open_answers(client.targets(), kinds, missing=missing, teams=teams)
    if not names:
        raise InvalidParameter(
            "there is nothing to answer: no release is out, no try is left, or nothing is missing; "
            "tracecup client targets tells"
        )
    team = f"{client.team_number():03d}"
    return attack_all(folder, chosen, team, out, seed, progress, names)
