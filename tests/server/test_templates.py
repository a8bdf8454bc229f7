"""How templates are written: one element a line where it can be, no line too long to read, and
tags closed in order in every branch."""

from __future__ import annotations

from pathlib import Path

import pytest
from branches import faults
from django.template import Template, engines
from django.template.loader import get_template

from tracecup import server

HERE = Path(server.__file__).parent
TEMPLATES = sorted(HERE.glob("*/templates/**/*.html"))
LONGEST = 140


def name_of(path: Path) -> str:
    return str(path.relative_to(HERE))


def template_of(path: Path) -> Template:
    folder = next(one for one in path.parents if one.name == "templates")
    return get_template(str(path.relative_to(folder))).template


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
class TestWritten:
    def test_lines_can_be_read(self, path):
        lines = path.read_text("utf-8").splitlines()
        assert [line for line in lines if len(line) > LONGEST] == []
        assert [line for line in lines if line != line.rstrip() or "\t" in line] == []

    def test_it_can_be_compiled(self, path):
        template_of(path)

    def test_tags_are_closed_in_order_in_every_branch(self, path):
        assert faults(template_of(path)) == []


def test_there_are_some():
    assert len(TEMPLATES) > 50


class TestStructure:
    """What the walk over branches sees."""

    @pytest.mark.parametrize(
        "text",
        [
            "<math><mspace width='1em'/></math>",
            "<ul>{% for one in all %}<li>{{ one }}</li>{% empty %}<li>-</li>{% endfor %}</ul>",
            "<p{% if a %} class='b'{% elif c %} hidden{% endif %} title='{{ e }}'>f</p>",
            "{% if a %}<p>b</p>{% else %}<br>{% endif %}",
            "{% load i18n %}{% blocktranslate count n=a %}<b>b</b>{% plural %}c"
            "{% endblocktranslate %}",
            "{% with a=b %}<i>{{ a|safe }}</i>{% endwith %}{% comment %}<p>{% endcomment %}",
        ],
    )
    def test_fine(self, text):
        assert faults(made(text)) == []

    @pytest.mark.parametrize(
        "text",
        [
            "<p>",
            "</p>",
            "<b><i></b></i>",
            "<p><ul></ul></p>",
            "<span/>",
            "{% if a %}<div>{% endif %}</div>",
            "{% if a %}<div>{% endif %}b{% if a %}</div>{% endif %}",
            "<div>{% if a %}</div>{% else %}b{% endif %}",
            "{% for one in all %}<li>{{ one }}{% endfor %}",
            "<p{% if a %} title='b{% endif %}>c</p>",
            "<p{% if a %}>{% endif %}b</p>",
            "{% load i18n %}{% blocktranslate %}<b>a{% endblocktranslate %}</b>",
            "{% with a=b %}<i>{% endwith %}</i>",
            "{% block a %}<p>{% endblock %}</p>",
            "{% extends 'web/base.html' %}{% block content %}<p>{% endblock %}",
        ],
    )
    def test_broken(self, text):
        assert faults(made(text)) != []


def made(text: str) -> Template:
    return engines["django"].from_string(text).template
