"""The judge: data, shuffle, scores; its jobs, what child processes compute, workers elsewhere.

No rule of the contest lives here; `tracecup.contest` has them.
"""
