"""JSON that comes back as it went in: the order of keys and the digits of numbers included.

PostgreSQL's own JSON sorts keys; the columns of a result table have an order that counts.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import models


class JsonText(models.TextField):
    """A JSON value kept as text; cannot be asked about inside a query."""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        """What the database holds."""
        return None if value is None else json.loads(value)

    def to_python(self, value: Any) -> Any:
        """What a backup holds."""
        return json.loads(value) if isinstance(value, str) else value

    def get_prep_value(self, value: Any) -> str | None:
        """The text that is stored."""
        return None if value is None else json.dumps(value, allow_nan=False)

    def value_to_string(self, obj: Any) -> Any:
        """For a backup: the same text."""
        return self.get_prep_value(self.value_from_object(obj))
