"""People: accounts, log-in, sessions, one-time links, API tokens, erasure.

Services, the data of pages, pages, API and templates side by side.
"""
