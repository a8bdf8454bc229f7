"""The WSGI application, for `tracecup serve` and for any other WSGI server.

Django is set up on import; TRACECUP_SERVER_DIR and DATABASE_URL say which server it is.
"""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tracecup.server.settings")
application = get_wsgi_application()
