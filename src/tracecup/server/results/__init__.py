"""Results: sets of them, boards, archives, reports, certificates and downloads.

Services, the data of pages, pages, charts, API and templates side by side.
"""
