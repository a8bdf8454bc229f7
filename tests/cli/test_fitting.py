"""Tables in narrow terminals and pipes; wrong use and interruptions of the command line."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console
from rich.table import Table

from tracecup.cli import main
from tracecup.cli._fitting import fitted, print_tables
from tracecup.cli.common import table_of

NAMES = ["Fuzzy-T(0.33,1,0,match=assignment)", "0.123456789012", "a word or two of prose here"]


def wide_table() -> Table:
    table = Table(title="T", title_justify="left")
    for head in ("defence", "score", "a long header"):
        table.add_column(head)
    table.add_row("MRLH(0,0,0.2989..0.3008)", *NAMES[1:])
    table.add_row(NAMES[0], "1", "short")
    return table


def shown(width: int, table: Table) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(*fitted(console, table), sep="\n")
    return console.file.getvalue()


class TestFitted:
    @pytest.mark.parametrize("width", [60, 64, 70, 80, 120])
    def test_no_word_is_cut_and_no_line_too_long(self, width):
        said = shown(width, wide_table())
        for word in (NAMES[0], NAMES[1], "MRLH(0,0,0.2989..0.3008)", "prose"):
            assert word in said
        assert "…" not in said
        assert max(map(len, said.splitlines())) <= width

    def test_a_path_longer_than_the_line_is_folded_and_nothing_else(self):
        table = table_of("T", [("users named", "3 of 20"), ("written to", "/a" * 40)])
        text = shown(60, table)
        assert "users named" in text
        assert text.count("/") == 40
        assert max(map(len, text.splitlines())) == 60

    def test_one_part_where_there_is_room(self):
        assert len(fitted(Console(width=200), wide_table())) == 1
        assert shown(60, wide_table()).count("T") >= 1

    def test_a_pipe_gets_one_part(self, capsys, monkeypatch):
        monkeypatch.delenv("COLUMNS", raising=False)
        table = Table(*(f"column {k}" for k in range(12)))
        table.add_row(*(f"Fuzzy-R(0.33,{k},match=assignment)" for k in range(12)))
        print_tables([table])
        lines = capsys.readouterr().out.splitlines()
        assert any(all(f"Fuzzy-R(0.33,{k},match" in line for k in range(12)) for line in lines)


class TestWrongUse:
    def test_is_one_object_with_json(self, capsys):
        assert main.run(["methods", "--nonsense", "--json"]) == 2
        assert "nonsense" in json.loads(capsys.readouterr().out)["error"]

    def test_is_no_object_without(self, capsys):
        assert main.run(["methods", "--nonsense"]) == 2
        assert capsys.readouterr().out == ""


class TestInterrupted:
    @pytest.mark.parametrize(("verb", "goes_on"), [("benchmark", True), ("methods", False)])
    def test_says_how_to_go_on(self, capsys, monkeypatch, verb, goes_on):
        def stop(**_):
            raise KeyboardInterrupt

        monkeypatch.setattr(main, "app", stop)
        assert main.run([verb, "--json"]) == 130
        assert ("goes on from there" in capsys.readouterr().err) == goes_on


class TestShippedModel:
    def test_contest_data_by_one_command(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        words = ["synth", "contest", "--users", "4", "--days", "1", "--out", "data", "--seed", "1"]
        assert main.run([*words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["users"] == 4
        import tracecup as tc

        assert len(tc.load("data")) == 4
        assert main.run([*words, "--model", "x.npz"]) == 2
        assert "belong together" in capsys.readouterr().err
