from __future__ import annotations

import math

import pytest

from tracecup.errors import InvalidParameter, UnknownMethod
from tracecup.study import reproduce
from tracecup.study.context import Context
from tracecup.study.reproduce import Record, choose, run_study, studies, study, versions
from tracecup.study.results import WORKED, StudyResult

NO_DATA = ("fig1", "fig6", "fig7", "fig11", "fig20", "table1", "diagrams")


class TestStudies:
    def test_figures_come_by_number_then_tables_then_the_rest(self):
        names = list(studies())
        assert names.index("fig4") < names.index("fig10") < names.index("table1")
        assert names.index("table2") < names.index("beyond1") < names.index("diagrams")

    def test_every_study_says_what_the_paper_says(self):
        assert all(one.title and one.paper and one.says for one in studies().values())

    def test_an_id_is_taken_once(self):
        with pytest.raises(InvalidParameter, match="already taken"):
            study("fig6", "t", "p", "s")(lambda context: StudyResult(WORKED))


@pytest.fixture
def bare(monkeypatch):
    """Neither data nor the built-in city."""
    monkeypatch.setattr(Context, "has", lambda self, need: False)


class TestChoose:
    @pytest.mark.usefixtures("bare")
    def test_all_leaves_out_what_cannot_run_and_says_why(self):
        chosen, left_out = choose(["all"], Context())
        assert {*NO_DATA} <= {one.id for one in chosen}
        assert any("fig9 needs the published score sheets" in text for text in left_out)
        assert len(chosen) + len(left_out) == len(studies())

    def test_names_in_any_case_each_once(self):
        chosen, left_out = choose(["FIG6", "fig6", "fig1"], Context())
        assert [one.id for one in chosen] == ["fig6", "fig1"]
        assert left_out == []

    def test_all_beside_other_names_is_all(self):
        every = [one.id for one in choose(["all"], Context())[0]]
        assert [one.id for one in choose(["fig6", "ALL"], Context())[0]] == every
        with pytest.raises(UnknownMethod, match="'figg6'"):
            choose(["all", "figg6"], Context())

    def test_an_unknown_name_gets_the_nearest(self):
        with pytest.raises(UnknownMethod, match="did you mean fig6"):
            choose(["figg6"], Context())

    @pytest.mark.usefixtures("bare")
    def test_what_cannot_run_is_refused_when_named(self):
        with pytest.raises(InvalidParameter, match="fig9 needs .* give --data"):
            choose(["fig9"], Context())

    def test_nothing_named_lists_the_names(self):
        with pytest.raises(InvalidParameter, match="all, fig1"):
            choose([], Context())


class TestBuiltIn:
    @pytest.mark.parametrize(
        "name", ["fig4", "fig8", "fig9", "fig12", "fig13", "table2", "beyond2"]
    )
    def test_stands_in_where_there_is_no_data(self, name):
        assert studies()[name].missing(Context()) == ""


class TestRunStudy:
    @pytest.mark.parametrize("name", NO_DATA)
    def test_worked_examples_need_no_data_and_agree_with_the_paper(self, name):
        record = run_study(studies()[name], Context())
        assert all(one.inside for one in record.result.comparisons)

    def test_the_record_survives_json(self):
        record = run_study(studies()["fig6"], Context(seed=3))
        again = Record.from_dict(record.as_dict())
        assert (again.id, again.seed, again.quick) == ("fig6", 3, False)
        assert again.versions == versions()
        assert again.result == record.result

    def test_the_same_seed_gives_the_same_result(self):
        first, second = (run_study(studies()["fig20"], Context(seed=5)).result for _ in range(2))
        assert first == second


class TestWorkedNumbers:
    def test_figure_6(self):
        numbers = run_study(studies()["fig6"], Context()).result.numbers
        assert numbers["s_U"] == pytest.approx(6.9478125 / 12, abs=1e-12)
        assert numbers["s_R"] == pytest.approx(1 / 3, abs=1e-12)
        assert numbers["s_T"] == pytest.approx(0.853125 / 13, abs=1e-12)

    def test_figure_11(self):
        counts = run_study(studies()["fig11"], Context()).result.tables["counts"]
        spread = [round(counts.row(region=r)["fuzzy"], 3) for r in (13, 8, 7, 1)]
        assert spread == [0.2, 0.121, 0.099, 0.0]

    def test_figure_20_by_hand(self):
        result = run_study(studies()["fig20"], Context()).result
        last = result.tables["steps"].rows[-1]
        # User 3: x3 8 of 12, {x2, x4} mean of 2 and 2 of 12, x3 8 of 12 again.
        assert last[-1] == pytest.approx((8 / 12) * (2 / 12) * (8 / 12))
        # User 2 was once of 12 in x3 and never in x2.
        assert last[-2] == pytest.approx((1 / 12) ** 2 * (8 / 12 + 1e-8) / 2)
        assert result.numbers["identified user"] == 3
        assert all(math.isnan(one.published) for one in result.comparisons[1:])

    def test_figure_1_fails_in_one_attack_only(self):
        numbers = run_study(studies()["fig1"], Context()).result.numbers
        assert (numbers["s_R, cheating"], numbers["s_T, cheating"]) == (1.0, 0.0)
        assert (numbers["s_R, pseudonyms only"], numbers["s_T, pseudonyms only"]) == (0.0, 0.0)


class TestOrder:
    def test_names_without_a_known_beginning_come_last(self):
        assert reproduce._place("zzz1") > reproduce._place("diagrams")
