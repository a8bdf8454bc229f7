"""What child processes compute: plain functions of files and JSON that know no database.

They run with limits on memory and time, here or on another machine.
"""
