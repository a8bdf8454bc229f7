"""All addresses of the site: the pages of every feature, and the API under /api/v1.

Each part lists its own. A page that does not exist answers with our own "not found".
"""

from __future__ import annotations

from django.urls import path

from tracecup.server.api import api
from tracecup.server.lessons import pages as lessons
from tracecup.server.organising import pages as organising
from tracecup.server.organising import pages_new as organising_new
from tracecup.server.organising import pages_site as organising_site
from tracecup.server.people import pages as people
from tracecup.server.people import pages_entrance as entrance
from tracecup.server.results import pages as results
from tracecup.server.site import pages as site
from tracecup.server.submissions import pages as submissions
from tracecup.server.teams import pages as teams
from tracecup.server.teams import pages_join as joining
from tracecup.server.teams import pages_members as members
from tracecup.server.web import charts

PAGES = (
    people,
    charts,
    entrance,
    joining,
    submissions,
    members,
    organising,
    organising_new,
    organising_site,
    lessons,
    site,
    results,
    teams,
)

urlpatterns = [
    path("api/v1/", api.urls),
    *(pattern for module in PAGES for pattern in module.urlpatterns),
]
handler404 = "tracecup.server.web.middleware.no_address"
