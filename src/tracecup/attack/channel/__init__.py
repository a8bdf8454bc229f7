"""What a defence does to a region: given, known from running it, or learnt from the release.

Rooms for a table Q[x, y] of probabilities.
"""
