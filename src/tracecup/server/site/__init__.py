"""The site itself: pages for everybody, backups, metrics, tidying.

Services, the data of pages, pages, API and templates side by side.
"""
