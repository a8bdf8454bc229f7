"""Lists of choices: the same HTML as Django's own."""

from __future__ import annotations

import pytest
from django import forms
from django.test.html import parse_html
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy

from tracecup.server.web.choosing import Choosing, zones

FLAT = [("", gettext_lazy("Language")), ("<a>", '"&'), (7, mark_safe("<b>seven</b>"))]


class TestChoosing:
    @pytest.mark.parametrize("value", [None, "", "<a>", 7, "7", "unknown"])
    def test_is_what_django_writes(self, value):
        given = {"id": "id_x", "required": True, "disabled": False, "aria-describedby": 'a "b'}
        django, ours = (
            parse_html(kind(choices=FLAT).render("x", value, given))
            for kind in (forms.Select, Choosing)
        )
        assert ours == django


class TestZones:
    def test_are_names_that_can_be_shown(self):
        assert ("Asia/Tokyo", "Asia/Tokyo") in zones()
        assert ("UTC", "UTC") in zones()
        assert list(zones()) == sorted(zones())
