"""Filters for texts that organisers write: Markdown as safe HTML.

Pages for everybody and for teams show them; see `web.markdown` for what is understood.
"""

from __future__ import annotations

from django import template

from tracecup.server.web.markdown import render

register = template.Library()
register.filter("markdown", render)
