"""The API under /api/v1: every page's data and action as JSON.

Errors have one format; see `tracecup.server.errors`.
"""

from ninja import NinjaAPI

api = NinjaAPI(title="tracecup", version="1", urls_namespace="api")
