"""The four ways to link, by the word that names them: argmax, greedy, assignment, soft.

Every re-identification and every trace inference that links takes its `match=` from here.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from tracecup.attack.match.argmax import argmax_table
from tracecup.attack.match.assignment import assignment_table
from tracecup.attack.match.greedy import greedy_table
from tracecup.attack.match.soft import soft_links
from tracecup.attack.scores import Scores
from tracecup.errors import InvalidParameter
from tracecup.traces import IdTable

MATCHES = ("argmax", "greedy", "assignment", "soft")
LINKS = ("greedy", "assignment", "soft")
MATCH = (
    "how scores become a table: the best user of each pseudonym (users may repeat), one to one "
    "greedily or with the largest sum, or the likeliest user under soft one-to-one links"
)
ONE_TO_ONE = (
    "how users are given out: greedy by ascending pseudonym, optimal assignment, or by soft links"
)
TAU = "for match=soft: scores this far apart count as e times as likely"


def match_table(scores: Scores | ArrayLike, match: str = "argmax", tau: float = 1.0) -> IdTable:
    """The ID table of a way to link; users may repeat with `argmax` and `soft`.

    `soft` names, for each pseudonym, the user of the largest share in `soft_links(scores, tau)`:
    if the shares were the posterior of a one-to-one link, no table would have more expected hits.

    >>> scores = [[5.0, 4.0], [5.0, 0.0]]
    >>> [match_table(scores, match).users.tolist() for match in MATCHES]
    [[0, 0], [0, 1], [1, 0], [1, 0]]
    """
    if match == "argmax":
        return argmax_table(scores)
    if match == "soft":
        return argmax_table(soft_links(scores, tau))
    return link_one_to_one(scores, match, tau)


def link_one_to_one(
    scores: Scores | ArrayLike, match: str = "assignment", tau: float = 1.0
) -> IdTable:
    """A one-to-one ID table; `soft` is the permutation with the largest sum of soft links.

    >>> link_one_to_one([[5.0, 4.0], [5.0, 0.0]], "soft").users.tolist()
    [1, 0]
    """
    if match == "greedy":
        return greedy_table(scores)
    if match == "assignment":
        return assignment_table(scores)
    if match == "soft":
        return assignment_table(soft_links(scores, tau))
    raise InvalidParameter(f"match must be one of {', '.join(MATCHES)}, got {match!r}")
