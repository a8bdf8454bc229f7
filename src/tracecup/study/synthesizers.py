"""How good and how private a synthesizer's output is: all numbers of the published tables.

Usefulness against the training traces, re-identification and membership beside each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from tracecup.attack.membership import membership, reidentification, transition_profiles
from tracecup.records import Records
from tracecup.usefulness import DayTraces, evaluate_synthetic
from tracecup.usefulness.synthetic import Row

METRICS = ("TP-TV", "TP-TV-Top50", "TP-SWD", "TM-TV", "TM-EMD", "VF-TV")
PRIVACY = ("reid_rate", "membership_advantage")
ROWS = ("synthetic", "real", "uniform")

Numbers = dict[str, float | None]


@dataclass(frozen=True)
class SynthesizerReport:
    """Numbers by name for the synthetic traces and for two yardsticks.

    `real` treats the testing traces as if they were synthetic: fresh people who tell nothing
    about the training users. `uniform` is the uniform distribution; its privacy is that of a
    random guess. None where a metric is not defined (VF-TV without comparable locations).
    """

    synthetic: Numbers
    real: Numbers
    uniform: Numbers

    def as_dict(self) -> dict[str, Numbers]:
        """Row -> name -> value, in the order of the published tables."""
        return {row: dict(getattr(self, row)) for row in ROWS}


def evaluate_synthesizer(
    train: Records, test: Records, synthetic: DayTraces, coordinates: ArrayLike | None = None
) -> SynthesizerReport:
    """All metrics of one synthetic data set; `coordinates` as in `evaluate_synthetic`.

    A synthetic user is linked correctly when the guess is the training user of the same id. The
    k-th testing user plays the role of the k-th synthetic user in the row `real`.
    """
    useful = evaluate_synthetic(train, test, synthetic, coordinates)
    training, testing = _profiles(train), _profiles(test)
    fresh = _as_day(test)
    return SynthesizerReport(
        _numbers(
            useful.synthetic,
            *_privacy(synthetic.locations, training, testing, _truth(train, synthetic)),
        ),
        _numbers(useful.real, *_privacy(fresh, training, testing, _first_users(fresh, train))),
        _numbers(useful.uniform, 1 / train.n_users, 0.0),
    )


def _profiles(records: Records) -> sparse.csr_array:
    return transition_profiles(records.user, records.location, records.n_users, records.n_locations)


def _privacy(
    days: NDArray[np.int32],
    training: sparse.csr_array,
    testing: sparse.csr_array,
    truth: NDArray[np.int64],
) -> tuple[float, float]:
    rate = reidentification(days, training, truth).rate
    return rate, membership(days, training, testing).advantage


def _truth(train: Records, synthetic: DayTraces) -> NDArray[np.int64]:
    """Position of the training user with each synthetic user's id, -1 where there is none."""
    at = np.searchsorted(train.users, synthetic.user_ids)
    at = np.minimum(at, train.n_users - 1)
    return np.where(train.users[at] == synthetic.user_ids, at, -1)


def _first_users(days: NDArray[np.int32], train: Records) -> NDArray[np.int64]:
    every = np.arange(len(days))
    return np.where(every < train.n_users, every, -1)


def _as_day(records: Records) -> NDArray[np.int32]:
    """All records of each user one after another, shape (users, 1, most records), -1 behind."""
    offsets = records.offsets
    sizes = np.diff(offsets)
    days = np.full((len(sizes), 1, int(sizes.max())), -1, dtype=np.int32)
    place = np.arange(len(records)) - offsets[records.user]
    days[records.user, 0, place] = records.location
    return days


def _numbers(row: Row, rate: float, advantage: float) -> Numbers:
    found: Numbers = {name: row[name].value if name in row else None for name in METRICS}
    return {**found, "reid_rate": rate, "membership_advantage": advantage}
