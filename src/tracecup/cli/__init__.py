"""The command line: one file per verb, files in, files and one table out.

No logic and no rule of the contest lives here.
"""
