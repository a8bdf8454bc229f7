"""The studies that train, run on a toy city: kills and engines change no byte. Needs JAX."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("jax", reason="JAX is not installed: pip install tracecup[learn]")


from toyrace import CITY, shipped, toy

from tracecup.contest.worlds import BuiltinWorld
from tracecup.study import knowledge, race
from tracecup.study.context import Context
from tracecup.study.reproduce import studies
from tracecup.study.results import Table

TINY = race.Size(3, 2, 16, 2, 3, 4, 2, 4, 2, 4, 12, 6, 2)
TAUGHT = knowledge.KnowledgeSize(2, 2, 16, 4, 12, (), ())


def untimed(table: Table) -> str:
    """A table as it is written, without goals of time: no run takes as long as another."""
    if "score" not in table.columns:
        return table.as_csv()
    at = table.columns.index("score")
    return Table.of(table.columns, [row for row in table.rows if row[at] != "seconds"]).as_csv()


class TestTraining:
    @pytest.mark.parametrize(
        ("name", "tables", "rows"), [("knowledge", ["attackers"], 3), ("race", ["rounds"], 8)]
    )
    def test_neither_a_kill_nor_an_engine_changes_a_byte(
        self, name, tables, rows, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(Context, "long_team", toy)
        monkeypatch.setattr(BuiltinWorld, "city", CITY)
        monkeypatch.setattr(race, "size_of", lambda context: TINY)
        monkeypatch.setattr(knowledge, "size_of", lambda context: TAUGHT)
        monkeypatch.setattr(knowledge, "OTHER_SIZES", ("KMeans(3)",))
        monkeypatch.setattr("tracecup.study.racing.rounds.defence_model", shipped)

        class Killed(Exception):
            pass

        def kill_at(last: float):
            def kill(done: float, total: float) -> None:
                if done / total >= last:
                    raise Killed

            return kill

        run = studies()[name].run
        whole = run(Context(cells=tmp_path / "whole"))
        assert len(whole.tables[tables[0]]) == rows
        for last in (0.3, 0.6):
            with pytest.raises(Killed):
                run(Context(cells=tmp_path / "part", tell=kill_at(last)))
        again = run(Context(cells=tmp_path / "part"))
        with ThreadPoolExecutor(2) as pool:
            handed = run(Context(cells=tmp_path / "handed", executor=pool))
        for table in (*tables, "goals"):
            assert untimed(again.tables[table]) == untimed(whole.tables[table])
            assert untimed(handed.tables[table]) == untimed(whole.tables[table])
