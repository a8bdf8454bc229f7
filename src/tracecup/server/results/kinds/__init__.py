"""The kinds of jobs that make results: each prepares a task, and writes what came of it.

`prepare` reads rows, `apply` writes rows inside the queue's transaction, `died` tells the loss.
"""
