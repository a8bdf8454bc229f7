"""What teams hand in: taken in, checked, counted, chosen, and what they are told about it.

Services, the data of pages, pages, API, words and templates side by side.
"""
