"""The contest server: accounts, clock, pages, API, jobs. No rule of the contest lives here.

Django over SQLite or PostgreSQL; `tracecup serve DIR` starts it.
"""
