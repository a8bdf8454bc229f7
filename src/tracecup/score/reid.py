"""The re-identification privacy score s_R: one minus the share of pseudonyms guessed right.

Paper, Section 3.4.
"""

from __future__ import annotations

import numpy as np

from tracecup.errors import InvalidTraces
from tracecup.score.intervals import CONFIDENCE, wilson_interval
from tracecup.score.result import Score
from tracecup.traces import IdTable


def reid_score(truth: IdTable, guess: IdTable, confidence: float = CONFIDENCE) -> Score:
    """s_R = 1 - (number of pseudonyms k with guess[k] = truth[k]) / m, O(m).

    `per_user[i]` is 0 if the pseudonym of user i was given to i, else 1. A guess may name a user
    for several pseudonyms.

    >>> reid_score(IdTable.of([1, 2, 0]), IdTable.of([1, 1, 0])).value
    0.33333333333333337
    """
    if len(truth) != len(guess):
        raise InvalidTraces(
            f"the ID table has {len(truth)} pseudonyms, the inferred one {len(guess)}"
        )
    if len(truth) == 0:
        raise InvalidTraces("an empty ID table has no score")
    if not truth.is_permutation:
        raise InvalidTraces("the true ID table must give every user exactly one pseudonym")
    wrong = truth.users != guess.users
    per_user = np.empty(len(truth))
    per_user[truth.users] = wrong
    right = len(truth) - int(wrong.sum())
    value = 1 - right / len(truth)
    interval = wilson_interval(int(wrong.sum()), len(truth), confidence)
    return Score("s_R", value, per_user, interval)
