"""Addresses of the pages: every module of this room that lists `urlpatterns` is in.

A page that does not exist answers with our own "not found".
"""

from __future__ import annotations

import importlib
import pkgutil

from django.urls import URLPattern, URLResolver

from tracecup.server import pages

urlpatterns: list[URLPattern | URLResolver] = []
for _found in pkgutil.iter_modules(pages.__path__):
    if _found.name != "urls":
        _module = importlib.import_module(f"{pages.__name__}.{_found.name}")
        urlpatterns += getattr(_module, "urlpatterns", [])
