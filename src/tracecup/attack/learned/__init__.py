"""Learned attacks: networks that were trained on public data, answering without JAX.

Importing this package makes Learned-R and Learned-T known by name.
"""

from tracecup.attack.learned.methods import LearnedR, LearnedT
from tracecup.attack.learned.modelfile import (
    DEFEND,
    SHIPPED,
    DefenceModel,
    Ground,
    LearnedModel,
    Training,
)
from tracecup.attack.learned.named import attack_model, defence_model, shipped_suits
from tracecup.attack.learned.network import Network
from tracecup.attack.learned.shape import NetworkShape

__all__ = [
    "DEFEND",
    "SHIPPED",
    "DefenceModel",
    "Ground",
    "LearnedModel",
    "LearnedR",
    "LearnedT",
    "Network",
    "NetworkShape",
    "Training",
    "attack_model",
    "defence_model",
    "shipped_suits",
]
