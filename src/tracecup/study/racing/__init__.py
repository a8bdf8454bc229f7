"""What the study `race` runs with JAX.

A folder of its own, so that listing the studies needs no JAX.
"""
