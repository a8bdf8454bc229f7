"""Studies: one module per figure or table of the paper, and what goes beyond.

Studies combine the rooms before them; they hold no method of their own.
"""
