"""The Japanese catalogue: complete, compiled, with the same placeholders as the English texts."""

from __future__ import annotations

import gettext
import re
from importlib import resources

import pytest

PLACEHOLDER = re.compile(r"%\(\w+\)[.0-9]*[sdf]|\{[\w:.%]*\}|%[sd]")
FOLDER = resources.files("tracecup.server").joinpath("locale/ja/LC_MESSAGES")


@pytest.fixture(scope="module")
def catalogue():
    """Message -> translation, as the server reads them."""
    with FOLDER.joinpath("django.mo").open("rb") as file:
        held = gettext.GNUTranslations(file)._catalog
    return {key[0] if isinstance(key, tuple) else key: said for key, said in held.items() if key}


@pytest.fixture(scope="module")
def source():
    return FOLDER.joinpath("django.po").read_text("utf-8")


class TestCatalogue:
    def test_is_compiled_from_its_source(self, catalogue, source):
        assert len(catalogue) == len(re.findall(r"^msgid ", source, re.M)) - 1

    def test_nothing_is_left_in_doubt(self, source):
        assert "fuzzy" not in source
        assert not re.search(r'^msgstr(\[0\])? ""\n(?!")', source, re.M)

    def test_placeholders_are_the_same(self, catalogue):
        wrong = [
            message
            for message, said in catalogue.items()
            if set(PLACEHOLDER.findall(message)) != set(PLACEHOLDER.findall(said))
        ]
        assert wrong == []

    def test_markup_is_the_same(self, catalogue):
        tags = re.compile(r"</?[a-z]+>")
        wrong = [m for m, said in catalogue.items() if tags.findall(m) != tags.findall(said)]
        assert wrong == []


class TestJapanese:
    """The house style: natural words, wide brackets, no stray spaces."""

    WIDE = "ぁ-んァ-ヶー一-龠々、。「」"

    def found(self, catalogue, pattern):
        return [said for said in catalogue.values() if re.search(pattern, said)]

    @pytest.mark.parametrize(
        "phrase",
        [
            "無料",
            "お使いの機械",
            "おもちゃ",
            "(?<!再)試行",
            "リリース",
            "ボード",
            "締め切り[がをはの]",
        ],
    )
    def test_no_literal_phrase(self, catalogue, phrase):
        assert self.found(catalogue, phrase) == []

    def test_no_space_inside_a_sentence(self, catalogue):
        assert self.found(catalogue, rf"(?<=[{self.WIDE}]) (?=[{self.WIDE}])") == []

    def test_wide_brackets_colons_and_question_marks(self, catalogue):
        assert self.found(catalogue, rf"[{self.WIDE}][?:]|\([{self.WIDE}]") == []
