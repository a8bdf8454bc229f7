"""Structured logs: one JSON object a line, without secrets.

Only named fields are written; bodies, tokens, cookies and query strings never are.
"""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime

FIELDS = ("job", "kind", "contest", "round", "team", "submission", "state", "seconds", "status")

# Django names the path of a failed request; some paths are as good as a password.
_IN_PATHS = re.compile(r"(/(?:link|links|receipt|receipts|join)/)[^/\s?]+")
_TOKENS = re.compile(r"\b(tc[a-z]_)[\w-]+")


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, logger, message and the known extra fields."""
        said: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
        }
        said.update({name: getattr(record, name) for name in FIELDS if hasattr(record, name)})
        if record.exc_info and record.exc_info[0] is not None:
            said["error"] = record.exc_info[0].__name__
            trace = self.formatException(record.exc_info).splitlines()
            # The last line may quote data; places in our code never do.
            said["where"] = [line.strip() for line in trace if line.lstrip().startswith("File ")]
        return json.dumps(said, ensure_ascii=False)


def without_secrets(message: str) -> str:
    """A message without the secret parts of addresses and without tokens.

    >>> without_secrets("Internal Server Error: /receipt/s3cret/ (tct_abc)")
    'Internal Server Error: /receipt/.../ (tct_...)'
    """
    return _TOKENS.sub(r"\1...", _IN_PATHS.sub(r"\1...", message))
