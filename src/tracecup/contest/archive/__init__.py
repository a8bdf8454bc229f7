"""The archive of a contest: one folder with everything in it, its manifest, export, verification.

A season writes one, the server packs one, `tracecup contest verify` computes one again.
"""
