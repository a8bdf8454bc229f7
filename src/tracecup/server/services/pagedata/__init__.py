"""What a page shows, as typed data: the page renders it, the API returns it.

One module per group of pages.
"""
