from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from simplejobs import Elsewhere
from tracecup.errors import InvalidParameter
from tracecup.plot.album import reproduce
from tracecup.study import away, towns
from tracecup.study.away import CHECK_INS, job_of, stay, unpack
from tracecup.study.context import Context
from tracecup.study.reproduce import Study, studies
from tracecup.study.results import WORKED, StudyResult, Table

STEPS = 4


def counting(context: Context) -> StudyResult:
    """Four steps, each a cell that is read where it is there."""
    assert context.cells is not None
    made = []
    for k in range(STEPS):
        path = context.cells / "slow" / f"{k}.json"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(k * k))
            made.append(k)
        if context.tell:
            context.tell(k + 1, STEPS)
    table = Table.of(("made", "data"), [(k, str(context.there)) for k in made])
    return StudyResult(WORKED, {"made": table}, {}, (), {}, ())


SLOW = Study("slow", "", "", "", counting)


class TestStay:
    def test_it_comes_back_with_its_cells_and_goes_on(self, tmp_path: Path) -> None:
        context = Context(cells=tmp_path)
        parts, last = [], None
        while last is None:
            back = job_of(SLOW, context, seconds=0.0)()
            unpack(back, tmp_path)
            parts.append((back.part, sorted(back.cells)))
            last = back.record
        told = [(k / STEPS, [f"slow/{k - 1}.json"]) for k in range(1, STEPS + 1)]
        assert parts == [*told, (1.0, [])]
        assert json.loads((tmp_path / "slow/3.json").read_text()) == 9

    def test_with_time_enough_it_is_one_stay(self, tmp_path: Path) -> None:
        back = stay(SLOW, Context(), None, {})
        assert back.record is not None
        assert len(back.record.result.tables["made"].rows) == len(back.cells) == STEPS

    def test_an_error_is_an_error(self, tmp_path: Path) -> None:
        def broken(context: Context) -> StudyResult:
            raise InvalidParameter("no")

        with pytest.raises(InvalidParameter, match="no"):
            stay(replace(SLOW, run=broken), Context(), None, {})


class TestJobOf:
    def test_data_travel(self, tmp_path: Path) -> None:
        data = tmp_path / "data"
        (data / "results").mkdir(parents=True)
        for name in ("reidentification", "traceinference", "utility"):
            (data / f"results/final_{name}.csv").write_text("")
        job = job_of(SLOW, Context(data))
        data.rename(tmp_path / "gone")
        record = job().record
        assert record is not None
        assert {row[1] for row in record.result.tables["made"].rows} == {"('final',)"}

    def test_too_much_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "slow").mkdir()
        (tmp_path / "slow/x.json").write_text("much")
        monkeypatch.setattr(away, "MOST_BYTES", 3)
        with pytest.raises(InvalidParameter, match="give --shared"):
            job_of(SLOW, Context(cells=tmp_path))

    def test_who_reads_check_ins(self) -> None:
        readers = {
            name
            for name, one in studies().items()
            if one.run.__globals__.get("measured") is towns.measured
        }
        assert readers == set(CHECK_INS)


class TestReproduce:
    def test_a_worker_without_our_folders_makes_the_same(self, tmp_path: Path) -> None:
        out, there = tmp_path / "out", Elsewhere(tmp_path / "out")
        found = reproduce(["fig6"], out, Context(), executor=there)
        assert [record.id for record in found.records] == ["fig6"]
        assert there.calls == 1
        here = reproduce(["fig6"], tmp_path / "here", Context())
        for one, other in zip(found.records, here.records, strict=True):
            assert one.result.as_dict() == other.result.as_dict()
