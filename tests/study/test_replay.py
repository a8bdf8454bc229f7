"""The race judged again on a toy city: kills and engines change no byte, scores are right."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from toyrace import CITY, shipped, toy

from tracecup.obfuscate import Equalise
from tracecup.plot import album
from tracecup.score import utility_score
from tracecup.study import replay
from tracecup.study.context import Context
from tracecup.study.reproduce import Record, studies
from tracecup.study.strength import FIRST_TEAM

TINY = replay.Course(3, 18, 6, 2)


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    monkeypatch.setattr(Context, "long_team", toy)
    monkeypatch.setattr(replay, "course_of", lambda context, defence: TINY)
    monkeypatch.setattr(replay, "defence_model", shipped)


def naive_share_unnamed(attacker, team, cells) -> float:
    """s_R of an attacker on a release whose rows are in the users' order: sums cell by cell."""
    expected = attacker.probabilities(CITY, team.reference)
    scores = np.zeros((team.original.n_users,) * 2)
    for p, row in enumerate(cells.as_traces().regions):
        for time, region in enumerate(row):
            scores[p] += np.log(expected[:, time % 3, region])
    _, named = linear_sum_assignment(-scores)
    return float(np.mean(named != np.arange(len(named))))


class TestReplay:
    def test_neither_a_kill_nor_an_engine_changes_a_byte(self, tmp_path):
        class Killed(Exception):
            pass

        def kill(done: float, total: float) -> None:
            if done == 1:
                raise Killed

        run = studies()["replay"].run
        whole = run(Context(cells=tmp_path / "whole"))
        with pytest.raises(Killed):
            run(Context(cells=tmp_path / "part", tell=kill))
        again = run(Context(cells=tmp_path / "part"))
        with ThreadPoolExecutor(2) as pool:
            handed = run(Context(cells=tmp_path / "handed", executor=pool))
        for table in ("rounds", "judged"):
            assert again.tables[table].as_csv() == whole.tables[table].as_csv()
            assert handed.tables[table].as_csv() == whole.tables[table].as_csv()

    def test_scores_are_those_of_sums_cell_by_cell(self, tmp_path):
        context = Context()
        judged = replay.run(context).tables["judged"].records()
        assert [row["attacker"] for row in judged] == [2, 2, 2, 1, 2, 1, 2, 1, 2]
        defence = shipped("")
        for row in judged:
            team = context.long_team(row["team"], TINY.users)
            seed = context.seed_of("race", "again", team.name, str(row["round"]))
            file = tmp_path / f"{row['round']}.npz"
            defence.first(row["round"]).save(file)
            method = Equalise(6, model=str(file), sweeps=2)
            cells = method.obfuscate(CITY, team.original, seed, reference=team.reference)
            assert row["s_U"] == utility_score(CITY, team.original, cells).value >= 0.7
            attacker = defence.models[row["attacker"] - 1]
            assert row["s_R"] == pytest.approx(naive_share_unnamed(attacker, team, cells))

    def test_rounds_by_hand(self):
        cell = {"number": 4, "utility": [0.7, 0.7002], "earlier": []}
        trained = {**cell, "verdicts": [{"reid": 0.8}, {"reid": 0.82}]}
        number, utility, reid, low, high, least = replay._round(trained)
        assert (number, utility, reid, least) == (4, pytest.approx(0.7001), 0.81, None)
        assert (low, high) == pytest.approx((0.81 - 12.706 * 0.01, 0.81 + 12.706 * 0.01), abs=1e-4)
        assert list(replay._judged(trained)) == [
            (4, FIRST_TEAM, 0.7, 5, 0.8), (4, FIRST_TEAM + 1, 0.7002, 5, 0.82)
        ]  # fmt: skip
        newest = {**cell, "verdicts": [], "earlier": [[0.99, 0.98], [0.97, 1.0]]}
        assert replay._round(newest)[2:] == (None, None, None, 0.97)
        rows = list(replay._judged(newest))
        assert [(row[1], row[3], row[4]) for row in rows] == list(
            zip(
                [FIRST_TEAM] * 2 + [FIRST_TEAM + 1] * 2, [1, 2, 1, 2], [0.99, 0.98, 0.97, 1.0],
                strict=True,
            )
        )  # fmt: skip

    def test_is_drawn_and_tells(self):
        told, clock = list[tuple[float, float]](), count()
        result = replay.run(Context(tell=lambda done, total: told.append((next(clock), total))))
        assert told == [(0, 2), (1, 2), (2, 2)]
        (picture,) = album.draw(Record("replay", result, 1, True, 0.0))
        assert picture.name == "replay"
        assert "no earlier attacker" in picture.alt


class TestSizes:
    def test_what_is_asked_for_replaces_its_own_numbers(self, monkeypatch):
        monkeypatch.undo()
        defence = shipped("")
        asked = Context(quick=True, asked_users=20, asked_teams=4)
        assert replay.course_of(asked, defence) == replay.Course(4, 20, 10, 3)
        assert replay.course_of(Context(), defence) == replay.Course(3, 2000, 6, 12)
