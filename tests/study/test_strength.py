"""Every defence against every attack over teams: a small grid, stopped and resumed; its tables."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from tracecup.attack import parse_inference, parse_reid
from tracecup.city import City, Clock, Grid
from tracecup.obfuscate import parse_obfuscator
from tracecup.plot import album
from tracecup.study import bounds, strength
from tracecup.study.comparison import attack, release
from tracecup.study.context import Context, Team
from tracecup.study.existingcells import Tuning
from tracecup.study.reproduce import Record, studies
from tracecup.study.results import BUILT_IN
from tracecup.study.strength import BLIND, FIRST_TEAM, SHIELDS, SWORDS, cells_of
from tracecup.study.strengthcells import Cells, Shield, Sword
from tracecup.study.strengthgoals import GOALS, goals
from tracecup.study.strengthtables import (
    STRONG,
    Found,
    best,
    cell_table,
    score_table,
    seconds,
    strongest,
    team_mean,
)
from tracecup.traces import Traces

CITY = City(Grid.from_metres(5, 7, width_m=341.25, height_m=346.875), hospitals=[0, 17])
FEW_SHIELDS = (
    Shield("None", Tuning("None", "")),
    Shield("RR", Tuning("RR(8)", "eps"), 4),
    Shield("Cheat(1)", Tuning("Cheat(1)", "")),
)
FEW_SWORDS = tuple(
    sword for sword in SWORDS if sword.side != "learned" and "HomeProb" not in sword.written
)


def toy(number: int) -> Team:
    gen = np.random.default_rng(number)
    homes = gen.integers(35, size=(16, 1))
    regions = np.where(gen.random((16, 24)) < 0.6, homes, gen.integers(35, size=(16, 24)))
    reference = Traces.of(regions[:, :12], Clock.regular(4, 3))
    original = Traces.of(regions[:, 12:], Clock.regular(4, 3, first_time=12))
    return Team(f"toy {number}", CITY, reference, original, BUILT_IN)


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    monkeypatch.setattr(Context, "long_team", lambda self, number, users: toy(number))


def grid(context: Context) -> list[Found]:
    return cells_of(context, FEW_SHIELDS, FEW_SWORDS, BLIND)


@pytest.fixture(scope="module")
def whole():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Context, "long_team", lambda self, number, users: toy(number))
        return grid(Context(asked_teams=3))


class TestLists:
    def test_every_name_is_known(self):
        for shield in SHIELDS:
            parse_obfuscator(shield.tuning.written)
        for sword in (*SWORDS, *BLIND):
            if sword.side != "told":
                parse = parse_reid if sword.kind == "reid" else parse_inference
                parse(sword.written.format("PL(1,1)"))

    def test_names_in_tables_are_used_once(self):
        assert len({sword.label for sword in (*SWORDS, *BLIND)}) == len(SWORDS) + len(BLIND)
        assert len({shield.label for shield in SHIELDS}) == len(SHIELDS)

    def test_goals_are_about_what_is_run(self):
        assert {goal.defence for goal in GOALS} <= {shield.label for shield in SHIELDS}
        labels = [sword.label for sword in SWORDS]
        for goal in GOALS:
            assert all(any(word in label for label in labels) for word in goal.attacks)


class TestCells:
    def test_scores_are_those_of_the_attacks_themselves(self):
        """Attacks share their scores here; each alone, from the same draws, gets the same."""
        team = toy(5)
        cells = Cells(Context(), team, FEW_SHIELDS[1])
        for sword in FEW_SWORDS:
            met = cells.met(sword)
            made = release(
                team.city, team.reference, team.original, "RR(8)",
                floor=None, seed=cells.seed, tuned=cells.held["tuned"],
            )  # fmt: skip
            if sword.kind == "reid":
                written = sword.written.format(cells.held["tuned"])
                answer = parse_reid(written).identify(made.case, cells._draw(sword))
                wrong = (answer.users != made.truth.table.users).mean()
                assert met["score"] == pytest.approx(wrong)

    def test_trace_scores_are_those_of_a_comparison(self):
        team, sword = toy(5), Sword("Bayes-T", "Bayes-T", "bayes")
        cells = Cells(Context(), team, FEW_SHIELDS[0])
        made = release(
            team.city, team.reference, team.original, "None", floor=None, seed=cells.seed
        )
        alone = attack(made, parse_inference("Bayes-T")).score.value
        assert cells.met(sword)["score"] == pytest.approx(alone)

    def test_who_is_told_the_link_of_an_honest_release_knows_everything(self, whole):
        told = [one for one in whole if one.sword.label == "told who is who, copies"]
        assert [one.score for one in told if one.shield.label == "None"] == [0.0, 0.0, 0.0]

    def test_a_kill_changes_no_byte(self, whole, tmp_path):
        class Killed(Exception):
            pass

        def kill_at(last: int):
            def kill(done: float, total: float) -> None:
                if done == last:
                    raise Killed

            return kill

        context = Context(asked_teams=3, cells=tmp_path)
        for last in (5, 30):
            with pytest.raises(Killed):
                grid(replace(context, tell=kill_at(last)))
        told = []
        again = grid(replace(context, tell=lambda done, total: told.append((done, total))))
        assert told[-1] == (len(again), len(again))
        for table in (cell_table, score_table, strongest, goals):
            assert table(again).as_csv() == table(whole).as_csv()

    def test_handed_out_and_stopped_it_tells_of_each_cell_once(self, whole, tmp_path):
        """What it tells goes up from what was kept to all, and is not told again while reading."""
        context = Context(asked_teams=3, cells=tmp_path)
        Cells(context, toy(FIRST_TEAM), FEW_SHIELDS[1]).met(FEW_SWORDS[0])
        told = list[tuple[float, float]]()
        with ThreadPoolExecutor(2) as pool:
            handed = grid(
                replace(
                    context, executor=pool, tell=lambda done, all_of: told.append((done, all_of))
                )
            )
        assert cell_table(handed).as_csv() == cell_table(whole).as_csv()
        done = [part for part, _ in told]
        assert done == sorted(set(done))
        assert done[-1] == len(whole)
        assert {all_of for _, all_of in told} == {len(whole)}
        assert len(done) == 1 + 3 * len(FEW_SHIELDS)

    def test_what_is_kept_is_not_run_again(self, tmp_path, monkeypatch):
        context = Context(asked_teams=1, cells=tmp_path)
        first = grid(context)
        monkeypatch.setattr(Cells, "_met", None)
        assert grid(context) == first

    def test_a_damaged_file_is_made_again(self, tmp_path):
        context = Context(cells=tmp_path)
        wanted = Cells(context, toy(1), FEW_SHIELDS[1]).met(SWORDS[0])["score"]
        path = next((tmp_path / "strength").iterdir())
        path.write_text(json.dumps({"met": 3}))
        assert Cells(context, toy(1), FEW_SHIELDS[1]).met(SWORDS[0])["score"] == wanted

    def test_nats_are_the_true_pairs_log_likelihood(self):
        team = toy(2)
        cells = Cells(Context(), team, FEW_SHIELDS[0])
        met = cells.met(Sword("Bayes-R", "Bayes-R(channel=identity)", "bayes"))
        made = cells._release
        matrix = parse_reid("Bayes-R(channel=identity)").score_matrix(made.case)
        slow = np.mean([matrix[k, user] for k, user in enumerate(made.truth.table.users)])
        assert met["nats"] == pytest.approx(slow / team.original.times)


class TestTables:
    def test_mean_of_three_teams_by_hand(self):
        # sd = 0.1, t(2; 0.975) = 4.302653
        mean = team_mean([0.4, 0.5, 0.6])
        assert mean.value == pytest.approx(0.5)
        assert mean.high - mean.value == pytest.approx(4.302653 * 0.1 / 3**0.5, rel=1e-6)
        assert team_mean([0.0, 0.0, 0.9]).low == 0.0

    def test_strongest_is_the_smallest_mean(self, whole):
        scores = score_table(whole)
        for row in strongest(whole).records():
            able = [
                one["mean"]
                for one in scores.where(defence=row["defence"], kind="reid").records()
                if one["side"] in STRONG
            ]
            assert row["s_R"] == min(able)
            assert row["s_R"] <= row["s_R, paper"]
            assert row["s_T"] <= row["s_T, paper"]

    def test_bounds_stand_beside(self, whole):
        rows = {row["defence"]: row for row in strongest(whole).records()}
        assert rows["None"]["true link"] == 0
        assert rows["None"]["guessing"] == 1 - 1 / 16
        assert (rows["None"]["group"], rows["RR"]["group"]) == (None, 0.75)
        assert rows["RR"]["true link"] == pytest.approx(1 - rows["RR"]["s_U"])
        assert rows["RR"]["told, copies"] <= rows["RR"]["true link, hospitals"] + 1e-9
        assert len({row["prior only"] for row in rows.values()}) == 1

    def test_goals_say_what_was_met(self, whole):
        rows = goals(whole).records()
        prior = next(row for row in rows if row["item"] == "prior only")
        assert prior["mean"] == best(whole, "None", "trace", ("blind",)).mean.value
        assert prior["met"] == (prior["mean"] <= 0.73)

    def test_every_defence_and_attack_has_its_seconds(self, whole):
        assert len(seconds(whole)) == len(FEW_SHIELDS) + len(FEW_SWORDS) + len(BLIND)


@pytest.fixture
def records(whole, monkeypatch):
    monkeypatch.setattr(strength, "cells_of", lambda context: whole)
    monkeypatch.setattr(bounds, "cells_of", lambda context: whole)
    known = studies()
    return {
        name: Record(name, known[name].run(Context()), 1, True, 0.0)
        for name in ("strength", "bounds")
    }


class TestStudies:
    def test_the_correlations_are_those_of_the_minima(self, records):
        table = records["bounds"].result.tables["correlations"]
        rows = strongest_without_cheat(records["bounds"])
        found = table.row(attacks="all attacks", defences="without Cheat")
        assert found["pairs"] == len(rows) == 2
        assert abs(found["r"]) == pytest.approx(1.0)

    def test_pictures_are_drawn(self, records):
        names = {p.name for record in records.values() for p in album.draw(record)}
        assert names == {"strength", "then_and_now", "bounds", "questions"}

    def test_a_record_remembers_what_was_asked(self, records):
        record = replace(records["bounds"], asked={"users": 60})
        assert Record.from_dict(record.as_dict()).asked == {"users": 60}


def strongest_without_cheat(record: Record) -> list[dict[str, object]]:
    rows = record.result.tables["bounds"].records()
    return [row for row in rows if row["defence"] != "Cheat(1)"]
