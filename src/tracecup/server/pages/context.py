"""What every template may use.

Little: a page says itself what it shows.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    """Facts of the site for every page."""
    return {}
