"""What a contest ends with: all tables of it, as CSV and Parquet.

Computed from verdicts and scored cells, so that a verification can do it again.
"""
