"""The contest: its rules, its judge, standings, results, archive, seasons of bots.

No web in it; every rule of the contest lives here.
"""
