from __future__ import annotations

import functools
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser

import pytest

from tracecup.cli.main import run
from tracecup.errors import UnreadableFile
from tracecup.plot import album
from tracecup.plot.album import PAGE, RESULT, SUMMARY, reproduce
from tracecup.plot.page import Shown, page, summary
from tracecup.plot.style import Picture
from tracecup.study.context import FILES, Context
from tracecup.study.reproduce import Record, run_study, studies
from tracecup.study.results import BUILT_IN, WORKED, StudyResult


def made(tmp_path, *ids, **options):
    return reproduce(ids or ("fig6", "fig11"), tmp_path / "out", Context(), **options)


@pytest.fixture(scope="module")
def kept_drawings():
    """`draw`, `png` and `svg` that do the same work once."""
    made: dict[tuple[str, int, bool], list[Picture]] = {}

    def draw(record: Record, really=album.draw) -> list[Picture]:
        key = (record.id, record.seed, record.quick)
        if key not in made:
            made[key] = really(record)
        return made[key]

    return draw, functools.cache(Picture.png), functools.cache(Picture.svg)


@pytest.fixture
def drawn_once(kept_drawings, monkeypatch):
    """Which files are written and when is tested here, not how the same pictures are drawn."""
    draw, png, svg = kept_drawings
    monkeypatch.setattr(album, "draw", draw)
    monkeypatch.setattr(Picture, "png", png)
    monkeypatch.setattr(Picture, "svg", svg)


@pytest.mark.usefixtures("drawn_once")
class TestReproduce:
    def test_writes_numbers_pictures_page_and_summary(self, tmp_path):
        found = made(tmp_path)
        folder = tmp_path / "out" / "fig6"
        assert {path.name for path in folder.iterdir()} == {
            "example.csv",
            "fig6.png",
            "fig6.svg",
            RESULT,
        }
        assert [record.id for record in found.records] == ["fig6", "fig11"]
        held = json.loads((folder / RESULT).read_text())
        assert held["made"]["seed"] == 1
        assert held["made"]["versions"]["tracecup"]
        assert held["comparisons"][0]["inside"] is True
        assert "| s_R | 0.3333333333 |" in (tmp_path / "out" / SUMMARY).read_text()

    def test_what_is_complete_is_kept(self, tmp_path):
        made(tmp_path)
        before = (tmp_path / "out/fig6" / RESULT).stat().st_mtime_ns
        assert made(tmp_path).kept == ("fig6", "fig11")
        assert (tmp_path / "out/fig6" / RESULT).stat().st_mtime_ns == before
        assert made(tmp_path, force=True).kept == ()

    def test_the_page_keeps_what_earlier_runs_left(self, tmp_path):
        made(tmp_path, "fig11")
        made(tmp_path, "fig6")
        made(tmp_path, "fig7")
        shown = (tmp_path / "out" / PAGE).read_text()
        places = [shown.index(f'id="{name}"') for name in ("fig6", "fig7", "fig11")]
        assert places == sorted(places)

    def test_an_executor_gets_what_has_to_run(self, tmp_path):
        made(tmp_path, "fig6")
        with ThreadPoolExecutor(2) as pool:
            found = made(tmp_path, executor=pool)
        assert found.kept == ("fig6",)
        assert [record.id for record in found.records] == ["fig6", "fig11"]
        assert (tmp_path / "out/fig11" / RESULT).is_file()

    def test_a_study_can_travel_to_another_machine(self):
        job = pickle.loads(pickle.dumps((run_study, studies()["fig6"], Context(seed=4))))
        assert job[0](*job[1:]).seed == 4

    def test_the_command_takes_an_engine(self, tmp_path, capsys):
        out = str(tmp_path / "out")
        assert run(["reproduce", "fig7", "--engine", "local", "--out", out]) == 0
        assert run(["reproduce", "fig7", "--engine", "cloud", "--out", out]) == 2
        assert "local, processes or dask://HOST:PORT" in capsys.readouterr().err

    @pytest.mark.parametrize("rest", ["", '{"made": {}}', "[1, 2]", "{"])
    def test_a_broken_result_is_made_again(self, tmp_path, rest):
        made(tmp_path, "fig11")
        (tmp_path / "out/fig11" / RESULT).write_text(rest)
        assert made(tmp_path, "fig11").kept == ()

    def test_another_seed_or_size_is_made_again(self, tmp_path):
        made(tmp_path, "fig11")
        other = reproduce(["fig11"], tmp_path / "out", Context(seed=2))
        quick = reproduce(["fig11"], tmp_path / "out", Context(seed=2, quick=True))
        assert (other.kept, quick.kept) == ((), ())

    def test_more_data_is_made_again(self, tmp_path):
        sheets = tmp_path / "data"
        reproduce(["fig11"], tmp_path / "out", Context(sheets))
        for name in FILES["sheets"]:
            (sheets / name).parent.mkdir(parents=True, exist_ok=True)
            (sheets / name).touch()
        assert reproduce(["fig11"], tmp_path / "out", Context(sheets)).kept == ()
        assert reproduce(["fig11"], tmp_path / "out", Context(sheets)).kept == ("fig11",)

    def test_a_stopped_run_goes_on(self, tmp_path, monkeypatch):
        def stop(record):
            if record.id == "fig11":
                raise KeyboardInterrupt
            return draw(record)

        draw = album.draw
        monkeypatch.setattr(album, "draw", stop)
        with pytest.raises(KeyboardInterrupt):
            made(tmp_path)
        monkeypatch.setattr(album, "draw", draw)
        assert made(tmp_path).kept == ("fig6",)

    def test_a_folder_that_cannot_be_made_is_said(self, tmp_path):
        (tmp_path / "out").write_text("a file")
        with pytest.raises(UnreadableFile, match="cannot be made"):
            made(tmp_path)

    def test_progress_is_told_before_each_study(self, tmp_path):
        said = []
        made(tmp_path, told=lambda *words: said.append(words))
        assert said == [("fig6", 0, 2), ("fig11", 1, 2)]


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.alts, self.open = [], [], []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.links += [found[k] for k in ("src", "href") if k in found]
        if tag == "img":
            self.alts.append(found["alt"])


@pytest.mark.usefixtures("drawn_once")
class TestPage:
    def test_is_self_contained_with_words_for_every_picture(self, tmp_path):
        made(tmp_path)
        reader = Reader()
        reader.feed((tmp_path / "out" / PAGE).read_text())
        assert all(link.startswith(("data:image/svg+xml;base64,", "#")) for link in reader.links)
        assert len(reader.alts) == 2
        assert all(reader.alts)

    def test_says_what_is_left_out(self):
        assert "<li>fig9 needs &lt;data&gt;</li>" in page([], ["fig9 needs <data>"])
        assert "Left out here" not in page([])
        assert "- fig9 needs" in summary([], ["fig9 needs"])


class TestDraw:
    def test_pictures_of_a_quick_run_say_so(self, monkeypatch):
        seen = []
        monkeypatch.setitem(album.drawings(), "fig15", lambda result: seen.append(result) or [])
        result = StudyResult(BUILT_IN, sources={"example": WORKED, "city": BUILT_IN})
        for quick in (False, True):
            album.draw(Record("fig15", result, 1, quick, 0.0))
        assert seen[0] == result
        assert seen[1].source_of("city").label.endswith("Quick run: fewer users and steps")
        assert seen[1].source.label.startswith(BUILT_IN.label)
        assert seen[1].source_of("example") == WORKED


class TestSummary:
    def test_names_every_source(self):
        result = StudyResult(BUILT_IN, sources={"a": WORKED, "b": BUILT_IN})
        record = Record("fig15", result, 1, True, 0.0)
        said = summary([Shown(studies()["fig15"], record, {}, {})])
        assert f"{BUILT_IN.label}. {WORKED.label}. Quick run" in said


class TestCommand:
    def test_lists_studies_without_ids(self, capsys, monkeypatch):
        monkeypatch.delenv("TRACECUP_DATA", raising=False)
        assert run(["reproduce", "--json"]) == 0
        said = json.loads(capsys.readouterr().out)["studies"]
        assert {one["id"]: one["missing"] for one in said}["fig6"] is None

    def test_runs_and_prints_one_object(self, tmp_path, capsys, monkeypatch):
        monkeypatch.delenv("TRACECUP_DATA", raising=False)
        assert run(["reproduce", "fig6", "--out", str(tmp_path / "p"), "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert said["studies"]["fig6"]["comparisons"][0]["inside"] is True
        assert "tables" not in said["studies"]["fig6"]

    def test_wrong_use_and_missing_data(self, tmp_path, capsys, monkeypatch):
        monkeypatch.delenv("TRACECUP_DATA", raising=False)
        monkeypatch.setattr(Context, "has", lambda self, need: False)
        assert run(["reproduce", "fig99", "--out", str(tmp_path)]) == 2
        assert run(["reproduce", "fig9", "--out", str(tmp_path)]) == 2
        assert run(["reproduce", "fig6", "--data", str(tmp_path / "none")]) == 3
        assert "no such folder" in capsys.readouterr().err
        assert run(["reproduce", "fig6", "--data", str(tmp_path)]) == 3
        assert "nothing of the public contest data" in capsys.readouterr().err
