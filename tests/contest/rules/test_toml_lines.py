"""Lines of TOML keys: against hand-counted texts and texts built with known lines."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.contest.rules.toml_lines import key_lines, line_of

TEXT = '''# comment = 1
name = "a = 1 # no comment"

[scores]
"quoted key" = 'its'
long = """
floor = 3
[not.a.table]
"""""
after = 1979-05-27 07:32:00 # a date with a space
list = [
  "x", # first
  [1, 2],
  { inner = "]", other = [
    3,
  ] },
]

[[rounds]]
phases.attack = 1
[rounds.more]
a . "b.c" = 2
[[rounds]]
literal = \'\'\'
k = 1\'\'\'
z = true
'''

KNOWN = {
    ("name",): 2,
    ("scores",): 4,
    ("scores", "quoted key"): 5,
    ("scores", "long"): 6,
    ("scores", "after"): 10,
    ("scores", "list"): 11,
    ("scores", "list", 0): 12,
    ("scores", "list", 1): 13,
    ("scores", "list", 1, 1): 13,
    ("scores", "list", 2, "inner"): 14,
    ("scores", "list", 2, "other", 0): 15,
    ("rounds",): 19,
    ("rounds", 0): 19,
    ("rounds", 0, "phases"): 20,
    ("rounds", 0, "phases", "attack"): 20,
    ("rounds", 0, "more", "a", "b.c"): 22,
    ("rounds", 1): 23,
    ("rounds", 1, "literal"): 24,
    ("rounds", 1, "z"): 26,
}


def paths(value, path=()):
    """Every path of a parsed document, by an obvious walk."""
    if path:
        yield path
    if isinstance(value, dict):
        for name, below in value.items():
            yield from paths(below, (*path, name))
    if isinstance(value, list):
        for k, below in enumerate(value):
            yield from paths(below, (*path, k))


class TestKeyLines:
    @pytest.mark.parametrize(("path", "line"), KNOWN.items())
    def test_hand_counted(self, path, line):
        assert key_lines(TEXT)[path] == line

    def test_names_exactly_what_the_document_holds(self):
        assert set(key_lines(TEXT)) == set(paths(tomllib.loads(TEXT)))

    @pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", "a=1"])
    def test_small_documents(self, text):
        assert set(key_lines(text)) == set(paths(tomllib.loads(text)))

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["k{}", '"k {}"', "'k.{}'", "a{}.b", 'x{} . "y z"']),
                st.sampled_from(
                    ["1", '"""\n[x]\n"""', "[1,\n 2]", "{ u = 1, v = [] }", "'''q\n\n'''", "-inf"]
                ),
                st.integers(0, 3),
            ),
            max_size=8,
        )
    )
    def test_built_with_known_lines(self, pairs):
        text, lines = "", []
        for number, (key, value, blank) in enumerate(pairs):
            text += "\n" * blank
            lines.append(text.count("\n") + 1)
            text += f"{key.format(number)} = {value}  # [c]\n"
        found = key_lines(text)
        assert set(found) == set(paths(tomllib.loads(text)))
        assert [line for path, line in found.items() if len(path) == 1] == lines


class TestLineOf:
    def test_nearest_around(self):
        lines = key_lines("[a]\nb = 1\n")
        assert line_of(lines, ("a", "b")) == 2
        assert line_of(lines, ("a", "missing", 3)) == 1
        assert line_of(lines, ("nowhere",)) == 0
