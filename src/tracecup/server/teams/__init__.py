"""Teams: how they come into being, who is in them, and the pages of a team.

Services, the data of pages, pages, API and templates side by side.
"""
