from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tracecup import City, Clock, Grid, SetTraces, Traces
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.errors import InvalidParameter
from tracecup.records.zones import Zone
from tracecup.risk import KINDS, known_points_risk, unicity
from tracecup.study.audit import Subject
from tracecup.study.exposure import exposure_of
from tracecup.study.placed import day_of
from tracecup.study.protectedtable import quoted, write_table
from tracecup.study.protections import protect, try_protections
from tracecup.study.verdict import answer
from tracecup.study.verdictwords import answer_dict, exposed, known_rows, verdict, what_to_do

CITY = City(Grid.from_metres(4, 4, width_m=800, height_m=800))
# Two days: at three in the morning, at noon, at six in the evening, at eleven.
CLOCK = Clock(2, (180, 720, 1080, 1380))
ATTACKS = ("VisitProb-R", "VisitProb-T", "Prior-T")


def people(users: int = 8, seed: int = 1) -> Traces:
    """Nights in a region of one's own, noons all over the place, some gaps."""
    rng = np.random.default_rng(seed)
    regions = np.repeat(np.arange(users)[:, None] * 2 % 16, 8, axis=1)
    regions[:, [1, 5]] = rng.integers(0, 16, (users, 2))
    regions[:, 2] = -1
    return Traces.of(regions, CLOCK)


def subject(truth: Traces, cells: SetTraces | None = None, **other) -> Subject:
    cells = SetTraces.of_traces(truth) if cells is None else cells
    released, table = pseudonymize(cells, 3)
    labels = tuple(f"person {k}" for k in range(truth.n_users))
    given = {"table": table, "labels": labels} | other
    return Subject(CITY, truth, truth, released, **given)


def hidden(truth: Traces) -> SetTraces:
    """Everything deleted."""
    cells = SetTraces.of_cells([[[]] * truth.times] * truth.n_users)
    return SetTraces(cells.offsets, cells.regions, truth.users, truth.clock)


def untimed(told):
    """The same without how long anything took."""
    if isinstance(told, dict):
        return {key: untimed(held) for key, held in told.items() if "seconds" not in key}
    return [untimed(one) for one in told] if isinstance(told, list | tuple) else told


@pytest.fixture(scope="module")
def open_release():
    return answer([("all", subject(people()))], attacks=ATTACKS, limit=0.2)


class TestAnswer:
    def test_an_open_release_is_not_safe(self, open_release):
        assert open_release.safe is False
        first = verdict(open_release)[0]
        assert first.startswith("Not safe to release: the strongest attack, VisitProb-R, names")
        assert "your limit is 20%" in first
        assert "100% of the 56 known events, 8 users were audited" in first

    def test_jobs_of_an_executor_change_nothing(self, open_release):
        told = []
        with ThreadPoolExecutor(2) as pool:
            found = answer(
                [("all", subject(people()))], attacks=ATTACKS, limit=0.2, executor=pool,
                progress=lambda done, total: told.append(done / total),
            )  # fmt: skip
        here, there = (untimed(answer_dict(one, 8, True)) for one in (open_release, found))
        assert here == there
        assert max(told) == 1

    def test_the_worst_setting_is_in_front(self):
        truth = people()
        settings = [("blind", subject(truth, hidden(truth))), ("open", subject(truth))]
        found = answer(settings, attacks=ATTACKS, protections=())
        assert [one.words for one in found.settings] == ["open", "blind"]
        assert found.worst.identified == 8
        assert "open: 100%, blind:" in " ".join(verdict(found))

    def test_guessing_is_the_lowest_bar(self):
        truth = people()
        found = answer([("x", subject(truth, hidden(truth)))], attacks=ATTACKS, limit=0.01)
        assert found.bar == 1 / 8
        assert found.safe is True
        assert "guessing names 12.5%" in verdict(found)[0]

    def test_no_verdict_without_id_table_or_with_one_user(self):
        for given, why in (
            (subject(people(), table=None), "without the ID table"),
            (subject(people(1)), "nobody to be taken for"),
        ):
            found = answer([("x", given)], attacks=ATTACKS)
            assert found.safe is None
            assert verdict(found)[0].startswith("No verdict")
            assert why in verdict(found)[0]
            assert what_to_do(found) == []
            json.dumps(answer_dict(found, 3, per_user=True), allow_nan=False)

    @pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": 1.5}, {"within_km": -1}])
    def test_wrong_parameters(self, wrong):
        with pytest.raises(InvalidParameter):
            answer([("x", subject(people()))], attacks=ATTACKS, **wrong)
        with pytest.raises(InvalidParameter, match="one setting"):
            answer([])


class TestWhatToDo:
    def test_names_the_protection_that_keeps_most(self, open_release):
        helping = [one for one in open_release.protections if open_release.helps(one)]
        best = open_release.best_protection
        if best is not None:
            assert best.points == max(one.points for one in helping)
            assert best.name in what_to_do(open_release)[0]
        else:
            assert what_to_do(open_release)[0].startswith("None of the")

    def test_both_ends(self):
        given = [("x", subject(people()))]
        none = answer(given, attacks=ATTACKS, limit=0.2, protections=("None",))
        assert what_to_do(none)[0].startswith("None of the 1 protections")
        deleted = answer(given, attacks=ATTACKS, limit=0.2, protections=("MRLH(0,0,1)",))
        assert deleted.protections[0].points == 0
        assert what_to_do(deleted)[0].startswith("MRLH(0,0,1) brings")


class TestTryProtections:
    def test_is_what_happens_by_hand(self):
        given = subject(people())
        found = try_protections(given, ATTACKS, protections=("PL(1,1)",), seed=5)[0]
        cells = protect(given, "PL(1,1)", 5)
        alone = unicity(given.original, cells, points=4).value
        assert found.alone == alone
        assert found.named.value <= 1
        assert found.attack == "VisitProb-R"
        assert "geo-indistinguishable" in (found.guarantee or "")

    def test_informed_attackers_know_which_protection_ran(self):
        attacks = ["Random-R", "VisitProb-T"]
        given = subject(people(30))
        one, other = (
            try_protections(given, attacks, protections=["RR(8)"], informed=informed)[0]
            for informed in (True, False)
        )
        assert (one.attack, other.attack) == ("Bayes-R(channel=known(RR(8)))", "Random-R")

    def test_unchanged_traces_lose_nothing(self):
        found = try_protections(subject(people()), ATTACKS, protections=("None",))[0]
        assert (found.points, found.crowds, found.flows) == (1, 0, pytest.approx(0))
        assert found.homes == 1

    def test_gaps_stay_gaps_but_where_people_are_made_alike(self):
        truth = people()
        cells = protect(subject(truth), "MRLH(1,1,0)")
        assert ((cells.sizes == 0) == (truth.regions < 0).reshape(cells.sizes.shape)).all()
        alike = protect(subject(truth), "MDAV(8)")
        assert len(np.unique(alike.as_traces().regions, axis=0)) == 1

    def test_names_are_as_they_print(self):
        found = try_protections(subject(people()), ATTACKS, protections=("mdav(2)",))[0]
        assert found.name == "MDAV(2)"

    def test_needs_a_reidentification(self):
        with pytest.raises(InvalidParameter, match="re-identification"):
            try_protections(subject(people()), ("Prior-T",))


class TestExposure:
    def test_measures_are_those_of_the_room(self):
        given = subject(people())
        found = exposure_of(given)
        assert found is not None
        for kind, one in zip(KINDS, found.points, strict=True):
            assert one.low.tolist() == known_points_risk(kind, given.original).low.tolist()
        assert [one.points for one in found.unicity] == [1, 2, 3, 4]
        assert found.homes.within(0.0) == 1
        assert len(known_rows(found)) == 4 + len(KINDS) + 1

    def test_why(self, open_release):
        user, why = exposed(open_release, 1)[0]
        assert user.startswith("person ")
        assert why[0] == "named by 1 of 1 attacks"
        assert any("home found within 500 m" in reason for reason in why)

    def test_no_night_no_homes(self):
        truth = Traces.of(people().regions[:, :2], Clock(1, (600, 720)))
        found = answer([("x", subject(truth))], attacks=ATTACKS, protections=())
        assert "Homes were not looked for" in " ".join(verdict(found))


class TestAnswerDict:
    def test_is_plain_json_with_the_verdict_first(self, open_release):
        said = json.loads(json.dumps(answer_dict(open_release, 2, True), allow_nan=False))
        assert next(iter(said)) == "verdict"
        assert said["verdict"]["safe"] is False
        assert len(said["exposed_users"]) == 2
        assert len(said["known_points"]["risk"][0]["per_user"]) == 8
        assert said["what_to_do"]["protections"][0]["protection"] == "MRLH(1,1,0)"
        assert said["reidentification"]["identified"] == 8


class TestWriteTable:
    def test_comes_back_as_it_was(self, tmp_path):
        truth = people()
        dates = (day_of("2024-03-01"), day_of("2024-03-04"))
        names = ('a "b", c', *(f"p{k}" for k in range(7)))
        given = subject(truth, dates=dates, labels=names)
        out, ids = tmp_path / "safe.csv", tmp_path / "ids.csv"
        write_table(given, SetTraces.of_traces(truth), out, ids, Zone(60), rng=1)
        lines = out.read_text().splitlines()
        assert lines[0] == "user,time,lat,lon"
        assert len(lines) == 1 + int((truth.regions >= 0).sum())
        assert stat.S_IMODE(ids.stat().st_mode) == 0o600
        assert not any("p1" in line for line in lines)
        times = {line.split(",")[1] for line in lines[1:]}
        # Three in the morning by the local clock, an hour ahead of the table's times.
        assert "2024-03-01 02:00:00" in times
        assert "2024-03-04 22:00:00" in times

    def test_needs_dates(self, tmp_path):
        truth = people()
        with pytest.raises(InvalidParameter, match="no dates"):
            write_table(subject(truth), SetTraces.of_traces(truth), tmp_path / "a", tmp_path / "b")

    def test_quoted(self):
        assert quoted('x"y') == '"x""y"'
