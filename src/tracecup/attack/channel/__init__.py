"""What a defence does to a region: nothing, known from running it, or learnt from the release.

A channel is a table Q[x, y], the probability that region x is released as y.
"""

from tracecup.attack.channel.known import count_displacements, defence_named, run_defence
from tracecup.attack.channel.learned import Learned, learn_channel
from tracecup.attack.channel.table import (
    Displacements,
    ExpectedReleases,
    first_channel,
    honest_channel,
)

__all__ = [
    "Displacements",
    "ExpectedReleases",
    "Learned",
    "count_displacements",
    "defence_named",
    "first_channel",
    "honest_channel",
    "learn_channel",
    "run_defence",
]
