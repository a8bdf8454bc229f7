"""The challenges of a contest, each declared once: what it is called in files, rules and results.

A challenge is named by the attack that it is about. How its answers are read, made and scored
stands in `judging.answers`; everything else asks here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

AttackKind = Literal["reid", "trace"]
MethodKind = Literal["reid", "inference"]
HandedKind = Literal["release", AttackKind]
"""What teams hand in: releases, and answers to each kind of attack."""


@dataclass(frozen=True)
class Challenge:
    """One challenge and the kind of attack that it is named after.

    `rules_key` switches it on in `[challenges]`; `data_set` stands in the names of its files;
    `answer` is how files with answers to the attack begin; `letter` begins the columns of the
    sample attacks, `sheet_minimum` heads the minimum in the score sheets of 2019; `score` is the
    paper's symbol, `minimum` and `strongest` its columns in the results; `method` is what the
    registry calls the attacks; `attack_award` is the key of the award for the best of them;
    `by_events`: in the score a user weighs as much as her events, else all users weigh the same.
    """

    key: AttackKind
    title: str
    rules_key: str
    data_set: str
    answer: str
    letter: str
    sheet_minimum: str
    score: str
    method: MethodKind
    attack_award: str
    by_events: bool

    @property
    def minimum(self) -> str:
        """The column of results with a release's lowest score.

        >>> CHALLENGES["reid"].minimum, CHALLENGES["trace"].strongest
        ('s_R_min', 's_T_by')
        """
        return f"{self.score}_min"

    @property
    def strongest(self) -> str:
        """The column of results that says who reached the lowest score."""
        return f"{self.score}_by"

    @property
    def defence_award(self) -> str:
        """The key of the award for the best defence against it."""
        return f"best_anonymization_{self.key}"


CHALLENGES: Mapping[AttackKind, Challenge] = {
    challenge.key: challenge
    for challenge in (
        Challenge(
            key="reid",
            title="re-identification",
            rules_key="reidentification",
            data_set="data01_IDP",
            answer="etable",
            letter="I",
            sheet_minimum="SecI",
            score="s_R",
            method="reid",
            attack_award="best_reidentification",
            by_events=False,
        ),
        Challenge(
            key="trace",
            title="trace inference",
            rules_key="trace_inference",
            data_set="data02_TRP",
            answer="etraces",
            letter="T",
            sheet_minimum="SecT",
            score="s_T",
            method="inference",
            attack_award="best_trace_inference",
            by_events=True,
        ),
    )
}

ATTACK_KINDS: tuple[AttackKind, ...] = tuple(CHALLENGES)
"""All kinds of attack, in the order of results and seeds."""
ANSWER_FILES: Mapping[AttackKind, str] = {kind: c.answer for kind, c in CHALLENGES.items()}
DATA_SETS: Mapping[AttackKind, str] = {kind: c.data_set for kind, c in CHALLENGES.items()}


def challenge_of_data_set(data_set: str) -> AttackKind:
    """The challenge that a data set belongs to.

    >>> challenge_of_data_set("data02_TRP")
    'trace'
    """
    return next(c.key for c in CHALLENGES.values() if c.data_set == data_set)


def kind_of_answer(file_kind: str) -> AttackKind:
    """The kind of attack that files of this kind answer to.

    >>> kind_of_answer("etable")
    'reid'
    """
    return next(c.key for c in CHALLENGES.values() if c.answer == file_kind)


HANDED_KINDS: tuple[HandedKind, ...] = ("release", *ATTACK_KINDS)
HANDED_FILES: Mapping[str, HandedKind] = {
    "anotraces": "release",
    **{challenge.answer: challenge.key for challenge in CHALLENGES.values()},
}
"""How the name of a file that is handed in begins -> what it is."""
