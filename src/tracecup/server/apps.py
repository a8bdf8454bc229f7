"""The Django app: its label is `server`, its tables are in `models`.

Signals are connected here and nowhere else.
"""

from __future__ import annotations

from django.apps import AppConfig


class ServerApp(AppConfig):
    """tracecup's contest server."""

    name = "tracecup.server"
    label = "server"
    default_auto_field = "django.db.models.BigAutoField"
