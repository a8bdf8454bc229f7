"""A folder of files as the contest of 2019 left them: which file is what, judged and scored.

The server imports what comes out of it; nothing here knows a database.
"""
