"""The judge: verdicts, shuffles, commitments, scores of answers.

Pure functions; where the files lie (a folder, a store of blobs) is the caller's business.
"""
