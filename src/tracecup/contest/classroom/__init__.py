"""The classroom: practice data, a toy that answers at once, lessons with steps and checks.

Data come from the model that is shipped; every number is computed by the rooms below.
"""
