"""Commands of `python -m django` for those who develop the server.

Organisers never need them: what they do is on the pages and in `tracecup`.
"""
