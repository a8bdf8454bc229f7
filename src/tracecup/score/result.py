"""What a score is: a value, what each user adds to it, and how sure it is.

Metrics say in which direction they are good, in which range and unit they lie.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.score.intervals import Interval


@dataclass(frozen=True, repr=False)
class Score:
    """A score with its per-user breakdown and its interval over users.

    `per_user` has shape (m,), in user order: each user's own value of the same score.
    """

    name: str
    value: float
    per_user: NDArray[np.float64]
    interval: Interval
    unit: str = ""

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"<{self}, {len(self.per_user)} users>"

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.name} = {self.value:.6f}{unit} {self.interval}"
