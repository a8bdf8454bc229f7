"""The studies that train, run on a toy city: kills and engines change no byte. Needs JAX."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("jax", reason="JAX is not installed: pip install tracecup[learn]")


from tracecup.attack.learned import NetworkShape, modelfile
from tracecup.attack.learned.network import Network
from tracecup.city import City, Clock, Grid
from tracecup.contest.worlds import BuiltinWorld
from tracecup.study import knowledge, race
from tracecup.study.context import Context, Team
from tracecup.study.reproduce import studies
from tracecup.study.results import BUILT_IN
from tracecup.traces import Traces

CITY = City(Grid.from_metres(6, 6, width_m=541.25, height_m=546.875), hospitals=[3, 20])
TINY = race.Size(3, 2, 16, 2, 3, 4, 2, 4, 2, 4, 12, 6, 2)
SHAPE = NetworkShape(36, 3, 32, 192, 64)
TAUGHT = knowledge.KnowledgeSize(2, 2, 16, 4, 12, (), ())


def shipped(name: str) -> modelfile.DefenceModel:
    """A defence of the toy city, as one that a race left: two attackers, untrained."""
    random = np.random.default_rng(4)

    def net() -> Network:
        arrays = {
            part: random.normal(0, 0.1, sizes).astype(np.float32)
            for part, sizes in SHAPE.arrays.items()
        }
        return Network(SHAPE, arrays)

    said = modelfile.Training(("KMeans(3)", "Equalise, round 1"), 2, "toys", 3, 0, 0.0)
    ground = modelfile.Ground.of(CITY, SHAPE.slots)
    return modelfile.DefenceModel(ground, said, net(), (net(), net()), 6, 2.0, 0.01)


def toy(self: Context, number: int, users: int) -> Team:
    random = np.random.default_rng(number)
    habit = np.tile(random.integers(0, 36, (users, 3)), (1, 16))
    noise = random.integers(0, 36, habit.shape)
    regions = np.where(random.random(habit.shape) < 0.7, habit, noise).astype(np.int32)
    known = Traces.of(regions[:, :24], Clock.regular(8, 3))
    later = Traces.of(regions[:, 24:], Clock.regular(8, 3, first_time=24))
    return Team(f"toy {number}", CITY, known, later, BUILT_IN)


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
            assert again.tables[table].as_csv() == whole.tables[table].as_csv()
            assert handed.tables[table].as_csv() == whole.tables[table].as_csv()
