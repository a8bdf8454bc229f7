from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tracecup.attack import Case, FuzzyR
from tracecup.attack.tuning import GRIDS, Sample, read_samples, tune
from tracecup.city import City, ContestClock, Grid, write_city, write_clock
from tracecup.errors import InvalidParameter, TraceCupError, UnknownMethod, UnreadableFile
from tracecup.registry import methods
from tracecup.score import reid_score
from tracecup.traces import IdTable, SetTraces, Traces
from tracecup.traces.files import (
    write_id_table,
    write_obfuscated,
    write_released,
    write_traces,
)

CLOCK = ContestClock.regular(days=2, slots=3)
CITY = City(Grid.from_metres(5, 7, width_m=341.25, height_m=346.875), hospitals=[3])


@pytest.fixture
def samples(make_case: Callable[..., Case]) -> list[Sample]:
    """Two random cases in which pseudonym k is user k."""
    found = []
    for seed in (1, 2):
        case = make_case(seed, users=15, gaps=0.0)
        original = Traces.of(case.reference.regions, case.released.clock)
        found.append(Sample(f"s{seed}", case, IdTable.of(np.arange(15)), original))
    return found


class TestTune:
    def test_best_is_the_lowest_mean(self, samples: list[Sample]) -> None:
        found = tune("Fuzzy-R(tf=log,idf=none,order=log-first)", samples)
        assert found.metric == "s_R"
        assert len(found.trials) == 20
        assert found.best.score == min(np.mean(trial.per_sample) for trial in found.trials)

    def test_scores_are_those_of_the_attack(self, samples: list[Sample]) -> None:
        found = tune("Fuzzy-R(0.5,tf=log,idf=none,order=log-first)", samples)
        trial = next(t for t in found.trials if t.attack == "Fuzzy-R(0.5,2)")
        wanted = [reid_score(s.table, FuzzyR(0.5, 2.0).identify(s.case)).value for s in samples]
        assert trial.per_sample == tuple(wanted)

    def test_given_parameters_stay(self, samples: list[Sample]) -> None:
        found = tune("fuzzy-r(0.4,TF=count,idf=log)", samples)
        assert len(found.trials) == 8
        assert all(t.attack.startswith("Fuzzy-R(0.4,") for t in found.trials)
        assert all("tf=count,idf=log" in t.attack for t in found.trials)

    def test_the_first_trial_has_the_methods_own_values(self, samples: list[Sample]) -> None:
        assert tune("HomeProb-R", samples).trials[0].attack == "HomeProb-R"
        assert tune("Prior-T(user=1)", samples).trials[0].attack == "Prior-T(user=1)"

    def test_later_grids_start_from_the_best_so_far(self, samples: list[Sample]) -> None:
        found = tune("Fuzzy-T(0.33,tf=log,idf=none,order=log-first)", samples)
        first = min(found.trials[:4], key=lambda trial: trial.score)
        later = {trial.attack for trial in found.trials[4:]}
        start = first.attack.rsplit(",", 1)[0]
        assert found.metric == "s_T"
        assert later == {f"{start},{n})" for n in (1, 2, 3, 4, 5, 6, 8, 10)}

    def test_same_seed_same_result(self, samples: list[Sample]) -> None:
        assert tune("VisitProb-T", samples, 3) == tune("VisitProb-T", samples, 3)

    def test_tells_how_far_it_is(self, samples: list[Sample]) -> None:
        steps: list[tuple[int, int]] = []
        tune("HomeProb-R", samples, advance=lambda done, total: steps.append((done, total)))
        assert steps == [(k, 5) for k in range(1, 6)]

    @pytest.mark.parametrize("name", ["VisitProb-R", "HomeProb-R(slots=2)"])
    def test_nothing_to_tune(self, samples: list[Sample], name: str) -> None:
        with pytest.raises(InvalidParameter, match="nothing to tune"):
            tune(name, samples)

    def test_unknown_attack(self, samples: list[Sample]) -> None:
        with pytest.raises(UnknownMethod, match=r"'Fuzy-R'; did you mean Fuzzy-R\?"):
            tune("Fuzy-R", samples)

    def test_without_samples(self) -> None:
        with pytest.raises(InvalidParameter, match="at least one sample"):
            tune("Fuzzy-R", [])


class TestGrids:
    @pytest.mark.parametrize("name", sorted(GRIDS))
    def test_name_parameters_of_their_method(self, name: str) -> None:
        cls = {**methods("reid"), **methods("inference")}[name]
        rules = {rule.name: rule for rule in cls.parameters()}
        for grid in GRIDS[name]:
            for key, values in grid.items():
                assert [rules[key].convert(value, name) for value in values] == list(values)


class TestReadSamples:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        random = np.random.default_rng(1)
        write_city(tmp_path / "info_region.csv", CITY)
        write_clock(tmp_path / "info_time.csv", CLOCK)
        for name in ("_a", "_b"):
            reference = random.integers(35, size=(4, 6))
            reference[0, 1] = -1
            write_traces(tmp_path / f"reftraces{name}.csv", Traces.of(reference, CLOCK.reference))
            original = Traces.of(random.integers(35, size=(4, 6)), CLOCK.original)
            write_traces(tmp_path / f"orgtraces{name}.csv.gz", original)
        released = SetTraces.of_traces(original).renamed([5, 6, 7, 8])
        write_released(tmp_path / "pubtraces_a.csv", released)
        write_id_table(tmp_path / "ptable_a.csv", IdTable.of([2, 3, 0, 1]))
        write_obfuscated(tmp_path / "anotraces_b.csv", SetTraces.of_traces(original))
        return tmp_path

    def test_reads_releases_with_their_table(self, folder: Path) -> None:
        first = read_samples(folder)[0]
        assert first.name == "a"
        assert first.table == IdTable.of([2, 3, 0, 1])
        assert first.case.city == CITY
        assert first.case.reference.regions[0, 1] == -1
        assert first.case.released.users.tolist() == [5, 6, 7, 8]

    def test_shuffles_obfuscated_traces(self, folder: Path) -> None:
        second = read_samples(folder, seed=3)[1]
        released = second.case.released.as_traces().regions
        assert np.array_equal(released, second.original.regions[second.table.users])
        assert read_samples(folder, seed=3)[1].table == second.table
        tables = {tuple(read_samples(folder, seed=k)[1].table.users.tolist()) for k in range(9)}
        # all nine equal with probability 24^-8
        assert len(tables) > 1

    def test_a_missing_file_is_named(self, folder: Path) -> None:
        (folder / "ptable_a.csv").unlink()
        with pytest.raises(UnreadableFile, match="no file ptable_a"):
            read_samples(folder)

    def test_no_sample_at_all(self, folder: Path) -> None:
        for path in folder.glob("orgtraces*"):
            path.unlink()
        with pytest.raises(TraceCupError, match="no orgtraces file"):
            read_samples(folder)
