from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tracecup.attack import (
    BayesR,
    Case,
    FuzzyR,
    HomeProbR,
    ReidAttack,
    VisitProbR,
    parse_inference,
    parse_reid,
)
from tracecup.attack.outofcore import count_scores, identify_files, read_case
from tracecup.city import Clock, ContestClock
from tracecup.errors import InvalidFile, MissingPackage
from tracecup.traces import SetTraces, Traces
from tracecup.traces.files import write_released, write_traces
from tracecup.traces.visitfiles import VisitCounts, read_visit_counts

Make = Callable[..., Case]


@pytest.fixture
def case(make_case: Make) -> Case:
    return make_case(3, users=40, days=2, sizes=(1, 1, 1, 0), gaps=0.2)


def written(case: Case, folder: Path) -> tuple[ContestClock, Path, Path]:
    slots = case.reference.clock.slots
    clock = ContestClock.regular(days=2, slots=slots)
    m = case.n_users
    reference = Traces.of(case.reference.regions, clock.reference)
    released = SetTraces(
        case.released.offsets, case.released.regions, np.arange(m + 1, 2 * m + 1), clock.original
    )
    write_traces(folder / "reftraces.parquet", reference)
    write_released(folder / "pubtraces.parquet", released)
    return clock, folder / "reftraces.parquet", folder / "pubtraces.parquet"


class TestIdentifyFiles:
    @pytest.mark.parametrize(
        "attack",
        [
            VisitProbR(),
            HomeProbR(),
            HomeProbR(slots=99),
            FuzzyR(),
            FuzzyR(tf="count", idf="log"),
            VisitProbR(match="greedy"),
        ],
    )
    @pytest.mark.parametrize("rows", [7, 65_536])
    def test_the_same_table_as_in_memory(
        self,
        attack: ReidAttack,
        rows: int,
        case: Case,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("tracecup.parquetfiles.BATCH_ROWS", rows)
        found = identify_files(attack, case.city, *written(case, tmp_path))
        assert found == attack.identify(case)

    def test_an_assignment_as_good_as_in_memory(self, case: Case, tmp_path: Path) -> None:
        attack = VisitProbR(match="assignment")
        scores = attack.score_matrix(case)
        tables = attack.identify(case), identify_files(attack, case.city, *written(case, tmp_path))
        here, there = (scores[range(40), table.users].sum() for table in tables)
        assert here == pytest.approx(there, abs=1e-9)

    def test_in_blocks_of_users(self, case: Case, tmp_path: Path) -> None:
        clock, known, release = written(case, tmp_path)
        theirs = read_visit_counts(release, "released", 35, clock.original)
        ours = read_visit_counts(known, "reference", 35, clock.reference, users=40)
        best = count_scores(ours, theirs, 35, max_table_entries=300).best()
        assert best.tolist() == VisitProbR().identify(case).users.tolist()

    @pytest.mark.parametrize(
        "attack", [BayesR(), BayesR(match="argmax"), VisitProbR(members=3), FuzzyR(match="soft")]
    )
    def test_whole_traces_in_files_give_the_same_table(
        self, attack: ReidAttack, case: Case, tmp_path: Path, in_small_parts: None
    ) -> None:
        found = identify_files(attack, case.city, *written(case, tmp_path), rng=1)
        assert found == attack.identify(case, 1)

    def test_generalised_cells(self, make_case: Make, tmp_path: Path) -> None:
        case = make_case(5, users=12, days=2, sizes=(1, 3, 0))
        files = written(case, tmp_path)
        assert identify_files(VisitProbR(), case.city, *files) == VisitProbR().identify(case)

    @pytest.mark.parametrize("attack", [VisitProbR(), BayesR(match="argmax"), FuzzyR()])
    def test_a_device_that_is_not_there_is_told_before_files_are_read(
        self, attack: ReidAttack, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tracecup.device.arrays.find_spec", lambda name: None)
        clock, nowhere = ContestClock.regular(days=2, slots=3), tmp_path / "missing.parquet"
        with pytest.raises(MissingPackage, match="install tracecup"):
            identify_files(attack, case.city, clock, nowhere, nowhere, "cuda")


class TestReadCase:
    @pytest.mark.parametrize("rows", [7, 65_536])
    def test_is_the_case_of_the_files(
        self, rows: int, make_case: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tracecup.parquetfiles.BATCH_ROWS", rows)
        case = make_case(6, users=12, days=2, sizes=(1, 3, 0), gaps=0.2)
        clock, *paths = written(case, tmp_path)
        found = read_case(case.city, clock, *paths)
        assert np.array_equal(found.reference.regions, case.reference.regions)
        assert np.array_equal(found.released.offsets, case.released.offsets)
        assert np.array_equal(found.released.regions, case.released.regions)


class TestBlocks:
    """Whatever the blocks, and wherever arrays lie: the same bytes."""

    @pytest.mark.parametrize(
        "attack",
        ["Bayes-T", "Bayes-T(channel=identity,match=assignment)", "Prior-T(habits=mixture)"],
    )
    def test_inferred_traces(
        self, attack: str, make_case: Make, request: pytest.FixtureRequest
    ) -> None:
        method = parse_inference(attack)
        whole = method.infer(make_case(7, users=140, days=3, sizes=(1, 1, 3, 0), gaps=0.2))
        request.getfixturevalue("in_small_parts")
        parts = method.infer(make_case(7, users=140, days=3, sizes=(1, 1, 3, 0), gaps=0.2))
        assert parts.regions.tobytes() == whole.regions.tobytes()

    @pytest.mark.parametrize(
        "attack",
        [
            "Bayes-R(channel=known(PL(4,1)))",
            "MMC-R",
            "MMC-R(statprox,weight=stationary)",
            "LPM-R",
            "LPM-R(periods=4)",
            "Markov-R",
            "TF-R(4,iterations=3,factors=ppmtf)",
        ],
    )
    def test_scores_and_best_users(
        self, attack: str, make_case: Make, request: pytest.FixtureRequest
    ) -> None:
        method, found = parse_reid(attack), []
        for parts in (False, True):
            if parts:
                request.getfixturevalue("in_small_parts")
            case = make_case(8, users=140, days=2, sizes=(1, 1, 3, 0))
            scores = method.scores(case, 1)
            found.append((scores.best().tolist(), scores.rows(0, 140).tobytes()))
        assert found[0] == found[1]


class TestReadVisitCounts:
    CLOCK = Clock.regular(1, slots=2)

    def read(self, path: Path, users: int = 2) -> VisitCounts:
        return read_visit_counts(path, "reference", 5, self.CLOCK, users=users)

    def test_by_hand(self, tmp_path: Path) -> None:
        path = tmp_path / "reftraces.parquet"
        write_traces(path, Traces.of([[4, 4], [0, 3]], self.CLOCK))
        found = self.read(path)
        assert found.offsets.tolist() == [0, 1, 3]
        assert (found.regions.tolist(), found.counts.tolist()) == ([4, 0, 3], [2, 1, 1])

    @pytest.mark.parametrize(
        ("columns", "told"),
        [
            (([1, 1, 3], [1, 2, 1], [1, 1, 1]), r"line 3|3.*1 to 2"),
            (([1, 1, 2], [1, 3, 1], [1, 1, 1]), "1 to 2"),
            (([1, 2, 1], [1, 1, 2], [1, 1, 1]), "sorted by user and time"),
            (([1, 1, 2], [1, 1, 1], [1, 1, 1]), "sorted by user and time"),
            (([1, 1, 2], [1, 2, 1], [1, 6, 1]), "1 to 5"),
        ],
    )
    def test_wrong_rows_are_named(
        self, columns: tuple[list[int], ...], told: str, tmp_path: Path
    ) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = tmp_path / "reftraces.parquet"
        pq.write_table(
            pa.table(dict(zip(("user_id", "time_id", "reg_id"), columns, strict=True))), path
        )
        with pytest.raises(InvalidFile, match=told):
            self.read(path)

    def test_a_release_must_be_whole_and_of_single_regions(self, tmp_path: Path) -> None:
        path = tmp_path / "pubtraces.parquet"
        cells = SetTraces.of_cells([[[0], [1, 2]]], self.CLOCK).renamed(np.array([2]))
        write_released(path, cells)
        with pytest.raises(InvalidFile, match="at most one region"):
            read_visit_counts(path, "released", 5, self.CLOCK)
        with pytest.raises(InvalidFile, match="3 times"):
            read_visit_counts(path, "released", 5, Clock.regular(1, slots=3))
