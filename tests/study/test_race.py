"""The studies that train: tables and pictures, and what is kept; training only with JAX."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest

from tracecup.attack.learned import NetworkShape, modelfile
from tracecup.attack.learned.network import Network
from tracecup.city import City, Clock, Grid
from tracecup.contest.worlds import BuiltinWorld
from tracecup.errors import InvalidParameter
from tracecup.plot import album
from tracecup.study import knowledge, race
from tracecup.study.context import Context, Team
from tracecup.study.knowledge import KNOWS, NEVER, OTHERS
from tracecup.study.race import MOVES, RETRAINED, RICHER, SCRATCH
from tracecup.study.reproduce import Record, choose, studies
from tracecup.study.results import BUILT_IN, StudyResult, Table
from tracecup.traces import Traces

CITY = City(Grid.from_metres(6, 6, width_m=541.25, height_m=546.875), hospitals=[3, 20])
TINY = race.Size(3, 2, 16, 2, 3, 4, 2, 4, 2, 4, 12, 6, 2)
SHAPE = NetworkShape(36, 3, 32, 192, 64)
TAUGHT = knowledge.KnowledgeSize(2, 2, 16, 4, 12, (), ())


def attacker(said: str, teams: int, days: int, reid: float, trace: float) -> dict[str, object]:
    return {
        "what": said, "attacker": said, "whole": (teams, days) == (3, 8), "teams": teams,
        "days": days, "s_R": [reid, reid], "s_T": [trace, trace + 0.02], "seconds": 1.0,
    }  # fmt: skip


def played(number: int, who: str, reid: float, trace: float) -> dict[str, object]:
    verdict = {"reid": reid, "argmax": 1.0, "trace": trace, "prior": 0.7, "true_link": 0.4}
    if number == 1:
        verdict = {"reid": reid}
    return {
        "number": number, "attacker": who, "utility": [0.7, 0.71], "earlier": [0.99, 0.97],
        "verdicts": [verdict, verdict], "what": f"round {number}", "seconds": 2.0,
    }  # fmt: skip


LEARNED = [
    attacker(NEVER, 3, 8, 0.5, 0.55),
    attacker(OTHERS, 3, 8, 0.2, 0.3),
    attacker(KNOWS, 3, 8, 0.1, 0.3),
    attacker(KNOWS, 1, 8, 0.4, 0.5),
    attacker(KNOWS, 3, 4, 0.3, 0.4),
]
PLAYED = [
    played(1, RETRAINED, 0.02, 0.45),
    played(2, RETRAINED, 0.85, 0.69),
    played(2, SCRATCH, 0.8, 0.7),
    played(2, MOVES, 0.74, 0.64),
    played(2, RICHER, 0.7, 0.66),
]


def learned() -> StudyResult:
    return StudyResult(
        BUILT_IN,
        {
            "attackers": Table.of(knowledge.ATTACKERS, map(knowledge._attacker, LEARNED)),
            "goals": Table.of(knowledge.GOALS, knowledge._goals(LEARNED)),
        },
    )


def raced() -> StudyResult:
    return StudyResult(
        BUILT_IN,
        {
            "rounds": Table.of(race.ROUNDS, map(race._round, PLAYED)),
            "goals": Table.of(race.GOALS, race._goals(PLAYED)),
        },
    )


class TestTables:
    def test_rounds_by_hand(self):
        row = raced().tables["rounds"].row(round=2, attacker=RETRAINED)
        assert (row["s_R"], row["low"], row["high"]) == (0.85, 0.85, 0.85)
        assert (row["s_U"], row["prior only"], row["true link"]) == pytest.approx((0.705, 0.7, 0.4))
        assert row["earlier attackers, least s_R"] == 0.97

    def test_of_attackers_from_the_file_only_links_are_known(self):
        row = raced().tables["rounds"].row(round=1)
        assert (row["s_U"], row["s_R"]) == pytest.approx((0.705, 0.02))
        assert (row["s_T"], row["prior only"], row["earlier attackers, least s_R"]) == (None,) * 3

    def test_goals_say_what_was_met(self):
        met = {
            (row["item"], row["score"]): row["met"]
            for result in (learned(), raced())
            for row in result.tables["goals"].records()
        }
        assert met[f"KMeans(100), learned, {KNOWS}", "s_R"] is True
        assert met[f"KMeans(100), learned, {KNOWS}", "s_T"] is False  # 0.31
        assert met[f"KMeans(100), learned, {NEVER}", "s_T"] is True
        assert met[f"last defence, attacker {RETRAINED}", "s_R"] is True
        assert met[f"last defence, attacker {SCRATCH}", "prior only - s_T"] is True
        assert met[f"last defence, attacker {MOVES}", "s_R"] is False
        assert met[f"last defence, attacker {MOVES}", "prior only - s_T"] is False
        assert met[f"last defence, attacker {RICHER}", "prior only - s_T"] is True

    def test_pictures_are_drawn(self):
        (rounds,) = album.draw(Record("race", raced(), 1, True, 0.0))
        assert (rounds.name, "0.85 and 0.69" in rounds.alt) == ("rounds", True)
        (attackers,) = album.draw(Record("knowledge", learned(), 1, True, 0.0))
        assert (attackers.name, "0.10 and 0.31" in attackers.alt) == ("attackers", True)

    @pytest.mark.parametrize("study", [race, knowledge])
    def test_what_is_asked_for_replaces_its_own_numbers(self, study):
        size = study.size_of(Context(quick=True, asked_users=20, asked_teams=4))
        assert (size.users, size.batch, size.tests) == (20, 20, 4)
        assert study.size_of(Context()) == study.FULL


class TestWithoutJax:
    def test_says_what_to_install(self, monkeypatch):
        monkeypatch.setattr(Context, "has", lambda self, need: need != "learn")
        with pytest.raises(InvalidParameter, match=r"race needs JAX .*tracecup\[learn\]\)$"):
            choose(["race"], Context())
        chosen, left_out = choose(["all"], Context())
        assert "race" not in {one.id for one in chosen}
        assert any("race needs JAX" in text for text in left_out)


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


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed: tracecup[learn]")
class TestTraining:
    @pytest.mark.parametrize(
        ("name", "tables", "rows"), [("knowledge", ["attackers"], 3), ("race", ["rounds"], 6)]
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
