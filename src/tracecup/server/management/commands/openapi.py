"""`python -m django openapi FILE`: write the OpenAPI document.

Checked in as docs/reference/openapi.json.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from tracecup.server.api import (
    document_text,
)


class Command(BaseCommand):
    """Writes the document of the API."""

    help = "Write the OpenAPI document of the API."

    def add_arguments(self, parser: CommandParser) -> None:
        """Where to."""
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        """Write it."""
        options["file"].write_text(document_text(), encoding="utf-8")
