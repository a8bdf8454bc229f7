"""Who stands where: the matrices of attacks, minima, sums, awards, how sure ranks are.

Computed from scored cells and nothing else.
"""
