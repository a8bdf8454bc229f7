"""The front door: what `import tracecup as tc` offers, as verbs on objects, names, paths, arrays.

A thin layer; every number comes from the rooms below.
"""
