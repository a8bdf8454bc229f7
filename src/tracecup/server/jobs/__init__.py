"""Jobs as rows of the database: the queue, the worker, the schedule, the child processes.

A killed worker loses nothing: leases run out, fences keep late writers off.
"""
