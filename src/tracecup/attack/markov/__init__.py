"""Markov chains of users: how each user moves, and how likely a release is under her chain.

Shared by the attacks after De Mulder, Shokri and Murakami; the attacks themselves are in
`models` and `infer`.
"""

from tracecup.attack.markov.chains import ESTIMATORS, Chains, Starts, start_rows, user_chains
from tracecup.attack.markov.scoring import CellScores, ChainScores

__all__ = [
    "ESTIMATORS",
    "CellScores",
    "ChainScores",
    "Chains",
    "Starts",
    "start_rows",
    "user_chains",
]
