"""Components of the site's templates.

Loaded with `{% load tracecup %}`.
"""
