"""Structured logs: one JSON object a line, without secrets.

Only named fields are written; bodies, tokens, cookies and query strings never are.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

FIELDS = ("job", "kind", "contest", "round", "team", "submission", "state", "seconds", "status")


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, logger, message and the known extra fields."""
        said: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        said.update({name: getattr(record, name) for name in FIELDS if hasattr(record, name)})
        if record.exc_info and record.exc_info[0] is not None:
            said["error"] = record.exc_info[0].__name__
            trace = self.formatException(record.exc_info).splitlines()
            # The last line may quote data; places in our code never do.
            said["where"] = [line.strip() for line in trace if line.lstrip().startswith("File ")]
        return json.dumps(said, ensure_ascii=False)
