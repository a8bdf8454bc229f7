"""All addresses of the site: pages, and the API under /api/v1.

Each part lists its own.
"""

from __future__ import annotations

from django.urls import include, path

from tracecup.server.api import api

urlpatterns = [
    path("api/v1/", api.urls),
    path("", include("tracecup.server.pages.urls")),
]
handler404 = "tracecup.server.middleware.no_address"
