"""One module for each command.

Django finds them by their names.
"""
