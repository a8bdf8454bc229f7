"""Which attack a sheet of scores belongs to, told by its values rather than by its headings.

Re-identification scores are shares of users, k / m; trace-inference scores are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from tracecup.contest.challenges import AttackKind

MAX_USERS = 1_000_000
NEEDED = 8
# Published scores carry 15 digits.
SAME = 1e-14


def kind_of_values(values: Iterable[float]) -> AttackKind | None:
    """`reid` if all scores are shares of one number of users, `trace` if not, None if open.

    s_R = 1 - (users named) / m, so m s_R is a whole number; s_T is a weighted mean of distances.
    It stays open with fewer than eight different values between 0 and 1, and where m would be a
    power of ten: then the scores may just have been rounded. O(values).

    >>> kind_of_values(k / 2000 for k in (3, 81, 345, 501, 777, 1001, 1203, 1999))
    'reid'
    >>> kind_of_values(k / math.pi for k in (0.1, 0.2, 0.3, 0.5, 0.7, 1.1, 1.3, 2.3))
    'trace'
    >>> kind_of_values([0.1, 0.25, 0.5]) is None
    True
    """
    inner = {value for value in values if 0 < value < 1}
    if len(inner) < NEEDED:
        return None
    users = 1
    for value in inner:
        share = Fraction(value).limit_denominator(MAX_USERS)
        users = math.lcm(users, share.denominator)
        if abs(float(share) - value) > SAME or users > MAX_USERS:
            return "trace"
    rounded = users == 10 ** round(math.log10(users))
    return None if rounded else "reid"
