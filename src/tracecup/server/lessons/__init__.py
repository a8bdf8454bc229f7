"""Lessons of a class: practice data, checks at once, progress for the team and its teacher.

What is taught and how it is checked lives in `tracecup.contest.classroom`.
"""
