"""The WSGI application, for `tracecup serve` and for any other WSGI server.

Django is set up on import; TRACECUP_SERVER_DIR and DATABASE_URL say which server it is.
"""

from __future__ import annotations

import os

import django
from django.core.handlers.wsgi import WSGIHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tracecup.server.settings")
django.setup(set_prefix=False)

from tracecup.server.web.charsets import PlainRequest  # noqa: E402 - Django comes first


class Application(WSGIHandler):
    """The contest server."""

    request_class = PlainRequest


application = Application()
