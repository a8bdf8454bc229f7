"""Room 6, the judge: what happens to a submission between the team and its attackers.

No web in it; every rule of the contest lives here.
"""

from tracecup.contest.pseudonymize import pseudonymize

__all__ = ["pseudonymize"]
