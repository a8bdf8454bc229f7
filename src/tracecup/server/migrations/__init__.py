"""Changes of the tables, one after another.

Written by Django; a released one is never edited.
"""
