"""What the studies `knowledge` and `race` run with JAX.

A folder of its own, so that listing the studies needs no JAX.
"""
