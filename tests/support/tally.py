"""What a run of the tests has done, counted: requests, kills, secrets; for `make trust`.

Each count is a line of the file that TRACECUP_TALLY names, from whichever process it comes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path


def tally(what: str, count: int = 1, database: str | None = None) -> None:
    """Note that something was done `count` times; nothing where nobody counts."""
    where = os.environ.get("TRACECUP_TALLY")
    if not where:
        return
    url = os.environ.get("DATABASE_URL", "") if database is None else database
    line = {"what": what, "count": count, "on": "PostgreSQL" if url else "SQLite"}
    with Path(where).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
