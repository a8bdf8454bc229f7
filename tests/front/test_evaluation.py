"""Evaluations: the same numbers as `compare`, intervals, paired differences, ways out."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import tracecup as tc
from tracecup.errors import InvalidParameter, MissingPackage
from tracecup.front import tables
from tracecup.front.progress import in_notebook, progress_bar
from tracecup.study import comparison

ATTACKS = ["VisitProb-R", "Random-R", "VisitProb-T", "Prior-T"]


def _sideways(original, city, steps=1):
    """Everybody some regions further east."""
    return (np.asarray(original) + steps) % city.n_regions


@pytest.fixture(scope="module")
def sideways():
    return tc.obfuscator(steps=(0, 3), name="sideways")(_sideways)


@pytest.fixture(scope="module")
def found(demo, sideways) -> tc.Evaluation:
    return tc.evaluate(demo, ["RR(8)", sideways], ATTACKS, seeds=[1, 2], floor=0.7)


class TestEvaluate:
    def test_numbers_are_those_of_compare(self, demo, found):
        expected = comparison.compare(
            demo.city,
            demo.reference,
            demo.original,
            defences=["None", "RR(8)"],
            reid_attacks=ATTACKS[:2],
            trace_attacks=ATTACKS[2:],
            seed=2,
        )
        for defended, asked in zip(expected, ("None", "RR(8)"), strict=True):
            rows = found.attacks.where(defence=asked, seed=2).records()
            known = [one.score.value for one in (*defended.reid, *defended.trace)]
            assert [row["score"] for row in rows] == known
            assert {row["tuned"] for row in rows} == {defended.defence}

    def test_summary_is_the_mean_of_the_minima(self, found):
        for row in found.summary.records():
            of = [found.attacks.where(defence=row["defence"], seed=seed) for seed in (1, 2)]
            for kind, column in (("reid", "s_r"), ("trace", "s_t")):
                lowest = [min(one.where(kind=kind).column("score")) for one in of]
                assert row[column] == pytest.approx(np.mean(lowest))
            assert row["s_r_low"] <= row["s_r"] <= row["s_r_high"]
            assert row["s_t_low"] <= row["s_t"] <= row["s_t_high"]
            assert row["guessing"] == 1 - 1 / 12
            assert row["prior"] >= row["s_t"]
            assert row["true_link"] >= 1 - row["utility"]
            bounds = [run.true_link for run in found.runs if run.defence == row["defence"]]
            assert [row["true_link"]] == bounds
            assert set(found.attacks.where(defence=row["defence"]).column("group")) == {None}

    def test_labels_name_what_ran(self, found):
        row = found.summary.row(defence="sideways(1)")
        assert row["ran"] == found.attacks.where(defence="sideways(1)").column("tuned")[0]
        assert row["tuning"] == "coarse"

    def test_the_baseline_is_run_unasked(self, found):
        assert found.baseline == "None"
        assert found.summary.column("defence") == ["None", "RR(8)", "sideways(1)"]

    def test_differences_are_paired(self, found):
        rows = found.differences("RR(8)").where(defence="sideways(1)", score="s_t").records()
        mine, other = (found.summary.row(defence=d)["s_t"] for d in ("sideways(1)", "RR(8)"))
        assert rows[0]["difference"] == pytest.approx(mine - other)
        assert rows[0]["low"] <= rows[0]["difference"] <= rows[0]["high"]
        with pytest.raises(InvalidParameter, match="was not evaluated"):
            found.differences("PL(4,1)")

    def test_a_defence_that_fails_does_not_stop_the_others(self, demo):
        made = tc.evaluate(demo, ["MRLH(5,5,0)"], ATTACKS[:1], seeds=1)
        assert "out of reach" in made.failed["demo: MRLH(5,5,0)"]
        assert "1 failed" in repr(made)

    def test_one_kind_alone(self, demo):
        made = tc.compare(demo, "None", "VisitProb-R")
        assert made.summary.row(defence="None")["s_t"] is None
        with pytest.raises(InvalidParameter, match="a trace inference"):
            made.plot()

    def test_usual_defences_suit_the_size(self, demo):
        made = tc.compare(demo, ["usual", "KMeans(5)"], ["VisitProb-R"], floor=None)
        assert made.summary.column("defence")[-2:] == ["KMeans(2)", "KMeans(5)"]
        assert made.summary.column("ran")[-2:] == ["KMeans(2)", "KMeans(5)"]
        with pytest.raises(InvalidParameter, match=r"KMeans\(100\) was not evaluated"):
            made.differences("KMeans(100)")

    def test_sizes_that_differ_have_defences_of_their_own(self, demo):
        more = replace(tc.load_demo(days=1, users=60), name="more")
        made = tc.evaluate([demo, more], attacks="VisitProb-R", seeds=1, floor=None)
        named = [(run.data.name, run.defence) for run in made.runs if "KMeans" in run.defence]
        assert named == [("demo", "KMeans(2)"), ("more", "KMeans(3)")]
        assert set(made.differences("KMeans(3)").column("data")) == {"more"}
        assert set(made.differences().column("data")) == {"demo", "more"}

    def test_several_data_sets(self, demo):
        other = tc.load_demo(days=2, users=6, seed=2)
        with pytest.raises(InvalidParameter, match="names of their own"):
            tc.evaluate([demo, other], "None", ATTACKS[:1], seeds=1)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"defences": []}, "empty list"),
            ({"seeds": 0}, "seeds are"),
            ({"seeds": 1.5}, "seeds are"),
            ({"seeds": "x"}, "seeds are"),
            ({"defences": 3}, "methods are a name"),
            ({"floor": 2}, "floor must be"),
            ({"attacks": [3]}, "an attack is a name"),
        ],
    )
    def test_nonsense(self, demo, options, message):
        with pytest.raises(InvalidParameter, match=message):
            tc.evaluate(demo, **{"defences": "None", "attacks": ATTACKS[:1], **options})


class TestWaysOut:
    def test_arrow_and_frame(self, found):
        assert found.to_arrow("attacks").num_rows == 3 * 2 * 4
        frame = found.to_frame(library="polars")
        assert isinstance(frame, pl.DataFrame)
        assert frame.shape == found.to_arrow().shape
        with pytest.raises(InvalidParameter, match="summary, attacks, differences"):
            found.to_frame("nothing")

    def test_without_a_library_of_frames(self, found, monkeypatch):
        monkeypatch.setattr(tables, "find_spec", lambda name: None)
        with pytest.raises(MissingPackage, match="to_arrow"):
            found.to_frame()

        def missing(name):
            raise ImportError(name)

        monkeypatch.setattr(importlib, "import_module", missing)
        with pytest.raises(MissingPackage, match="pandas"):
            found.to_frame(library="pandas")

    def test_latex(self, found):
        text = found.to_latex("Ours & theirs")
        assert r"Ours \& theirs" in text
        assert r"s\_R,min" in text
        assert text.count(r"\\") == 4

    @pytest.mark.parametrize(("ending", "head"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
    def test_picture(self, found, tmp_path, ending, head):
        path = tmp_path / f"picture.{ending}"
        picture = found.plot(str(path))
        assert path.read_bytes().startswith(head)
        assert "s_{T,linked}" in picture.figure.axes[0].get_ylabel()

    def test_axis_and_table_agree(self, found):
        axes = found.plot().figure.axes[0]
        heights = [float(c.lines[0].get_ydata()[0]) for c in axes.containers]
        assert heights == pytest.approx(found.summary.column("s_t_linked"))
        header, rows = found._for_reading()
        at = header.index("s_T,linked")
        assert [row[at].split()[0] for row in rows] == [f"{h:.3f}" for h in heights]
        with pytest.raises(InvalidParameter, match=r"\.png"):
            found.plot("picture.gif")

    def test_reprs_are_short_and_html_is_a_table(self, found):
        assert len(repr(found).splitlines()) == 1
        assert "<table" in found._repr_html_()
        assert "sideways" in found.to_markdown()


class TestBenchmark:
    def test_keeps_its_cells_and_tells_the_same(self, tmp_path, sideways):
        from tracecup.city import write_city, write_clock
        from tracecup.traces.files import write_traces

        data = tc.load_demo(days=1, users=5)
        folder = tmp_path / "data"
        folder.mkdir()
        write_city(folder / "info_region.csv", data.city)
        write_clock(folder / "info_time.csv", data.clock)
        write_traces(folder / "reftraces.csv", data.reference)
        write_traces(folder / "orgtraces.csv", data.original)
        options = {"defences": ["None", sideways], "attacks": ATTACKS, "seeds": 2}
        first = tc.benchmark(str(folder), tmp_path / "out", **options)
        again = tc.benchmark([folder], str(tmp_path / "out"), **options)
        assert (first.sweep.computed, again.sweep.kept) == (4, 4)
        assert all(path.is_file() for path in first.files)
        loaded = tc.evaluate(folder, **options)
        mine, theirs = loaded.summary.column("s_r"), first.summary.column("s_r_min")
        assert mine == pytest.approx(theirs)
        assert first.to_markdown().count("\n") == 3
        assert len(tc.load(folder)) == 5

    def test_reads_folders(self, demo, tmp_path):
        for given in (demo, [demo]):
            with pytest.raises(InvalidParameter, match=r"data\.save\(folder\)"):
                tc.benchmark(given, tmp_path)


class TestAudit:
    def test_of_data_and_of_a_release(self, demo):
        one = tc.audit(demo, "RR(8)", attacks=ATTACKS)
        other = tc.audit(tc.publish(demo, "RR(8)"), attacks=ATTACKS)
        assert one.identified == other.identified
        assert one.users == 12
        assert repr(one).startswith("<Audit: 12 users, ")
        assert len(repr(one)) < 200
        assert "<table" in one._repr_html_()


class TestShown:
    def test_tables_are_a_line_and_rows(self, found):
        for table in (found.summary, found.attacks, found.differences()):
            assert repr(table).startswith(f"<Table: {len(table)} rows of data, ")
            assert "<table" in table._repr_html_()
        assert tc.methods()[:2] == [tc.methods()[0], tc.methods()[1]]

    def test_nothing_prints_traces(self, demo):
        things = (demo, demo.original, demo.city, tc.publish(demo), tc.publish(demo).case)
        for thing in (*things, tc.publish(demo).released, tc.score(tc.publish(demo))):
            assert len(repr(thing).splitlines()) == 1
            assert "array" not in repr(thing)

    def test_maps_come_from_what_attackers_know(self, demo):
        other = tc.Data(demo.name, demo.city, demo.reference, demo.reference)
        assert demo._repr_html_() == other._repr_html_()
        assert "<svg" in demo._repr_html_()
        assert tc.publish(demo)._repr_html_().count("<svg") == 2
        assert "<svg" in demo.city._repr_html_()

    def test_traces_behave_like_arrays(self, demo):
        traces = demo.original
        assert np.asarray(traces).shape == traces.shape == (len(traces), traces.times)
        assert traces[3].tolist() == traces.regions[3].tolist()
        assert traces[3, 1] == traces.regions[3, 1]
        assert traces[2:4].users.tolist() == traces[[2, 3]].users.tolist() == [3, 4]
        assert len(demo[:5]) == 5

    def test_cells_behave_like_arrays(self, demo):
        cells = tc.publish(demo).released
        assert np.asarray(cells).shape == cells.shape
        assert cells[1, 2].tolist() == cells.cell(1, 2).tolist()
        assert [cell.tolist() for cell in cells[-1]] == [[r] for r in np.asarray(cells)[-1]]
        assert len(cells[:3]) == 3
        with pytest.raises(IndexError):
            cells[99]


class TestKnowing:
    def test_at_full_strength_attackers_know_the_defence(self):
        small = tc.load_demo(days=2, users=8)
        steps: list[tuple[float, float]] = []
        made = tc.compare(
            small, ["RR(8)"], strength="max", floor=None,
            progress=lambda done, total: steps.append((done, total)),
        )  # fmt: skip
        met = {row["attack"] for row in made.attacks.records() if row["defence"] == "RR(8)"}
        assert {f"Bayes-{kind}(channel=known(RR(8)))" for kind in "RT"} <= met
        assert steps[-1][0] == steps[-1][1]
        found = tc.audit(small, "RR(8)", strength="max")
        assert found.reid[-1].attack == "Bayes-R(channel=known(RR(8)))"


class TestProgress:
    def test_a_function_is_told(self):
        told = []
        with progress_bar(lambda done, total: told.append((done, total)), "x", 4) as advance:
            for _ in range(4):
                advance(1, "step")
        assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]

    def test_a_notebook_gets_one_bar(self, monkeypatch):
        shown = []

        class Handle:
            def update(self, html):
                shown.append(html)

        class Display:
            HTML = staticmethod(lambda text: text)

            @staticmethod
            def display(html, display_id):
                shown.append(html)
                return Handle()

        class Shell:
            kernel = object()

        class Notebook:
            get_ipython = staticmethod(Shell)

        import sys

        monkeypatch.setitem(sys.modules, "IPython", Notebook)
        monkeypatch.setitem(sys.modules, "IPython.display", Display)
        monkeypatch.setattr("tracecup.front.progress.AFTER_SECONDS", -1.0)
        assert in_notebook()
        with progress_bar(True, "work", 2) as advance:
            advance(1, "<half>")
        assert "50%" in shown[0]
        assert "&lt;half&gt;" in shown[0]
        assert shown[-1] == ""
