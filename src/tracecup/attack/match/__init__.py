"""Matchers: from a score matrix to an ID table.

With repetitions, or one to one: greedily, optimally or by soft links.
"""

from tracecup.attack.match.argmax import argmax_table
from tracecup.attack.match.assignment import assignment_table, proofs
from tracecup.attack.match.greedy import greedy_table
from tracecup.attack.match.link import (
    LINKS,
    MATCH,
    MATCHES,
    ONE_TO_ONE,
    TAU,
    link_one_to_one,
    match_table,
)
from tracecup.attack.match.shortlists import Assigned, assign_on_shortlists
from tracecup.attack.match.soft import log_sinkhorn, soft_links

__all__ = [
    "LINKS",
    "MATCH",
    "MATCHES",
    "ONE_TO_ONE",
    "TAU",
    "Assigned",
    "argmax_table",
    "assign_on_shortlists",
    "assignment_table",
    "greedy_table",
    "link_one_to_one",
    "log_sinkhorn",
    "match_table",
    "proofs",
    "soft_links",
]
