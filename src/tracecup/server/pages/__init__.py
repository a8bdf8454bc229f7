"""Pages for people: visitors, teams, organisers.

A page renders the same data that its twin in the API returns.
"""
