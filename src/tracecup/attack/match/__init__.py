"""Matchers: from a score matrix to an ID table.

With repetitions, or one to one: greedily or optimally.
"""

from tracecup.attack.match.argmax import argmax_table
from tracecup.attack.match.assignment import assignment_table
from tracecup.attack.match.greedy import greedy_table

__all__ = ["argmax_table", "assignment_table", "greedy_table"]
