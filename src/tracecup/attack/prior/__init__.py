"""Beliefs about users before anything is released.

A slot-aware mixture of habits, and the topics of places inside it.
"""

from tracecup.attack.prior.mixture import COMPONENTS, SlotPrior, slot_prior
from tracecup.attack.prior.topics import Topics, fit_topics

__all__ = ["COMPONENTS", "SlotPrior", "Topics", "fit_topics", "slot_prior"]
