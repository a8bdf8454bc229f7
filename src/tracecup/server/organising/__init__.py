"""What organisers do: contests, clock, rules, messages, repairs, imports; and what they see.

Services, the data of pages, forms, acts, pages, API and templates side by side.
"""
