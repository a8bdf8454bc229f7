"""The judge's steps over files of a folder and over traces in memory: both say the same."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from heldfiles import FilesInMemory
from tracecup import City, ContestClock, Grid, IdTable, SetTraces, Traces
from tracecup.contest.challenges import CHALLENGES
from tracecup.contest.entries import BENCHMARK, Entry
from tracecup.contest.judging import flow
from tracecup.contest.judging.answers import ANSWERS, run_attack, same_answer
from tracecup.contest.judging.files import StoredFiles
from tracecup.contest.judging.judge import Judge
from tracecup.contest.judging.judged import JudgedRelease
from tracecup.contest.judging.scorer import NOTHING
from tracecup.contest.rules import Rules, SampleRules
from tracecup.errors import InvalidFile, InvalidParameter, UnreadableFile
from tracecup.traces.files import write_id_table, write_obfuscated, write_released, write_traces

ENTRY = Entry(1)
HANDED_IN = ENTRY.file("anotraces", ".csv")


class Files(StoredFiles):
    """All files side by side in one folder."""

    def __init__(self, judge, folder):
        self.judge, self.folder = judge, Path(folder)

    def locate(self, entry, kind):
        return self.folder / entry.file(kind, ".csv")

    def locate_answers(self, entry, kind, attacker):
        return sorted(self.folder.glob(f"{CHALLENGES[kind].answer}_{attacker}_*.csv"))


@pytest.fixture
def judge(toy_city):
    return Judge(Rules(users=3), toy_city, ContestClock.regular(days=1, slots=4))


@pytest.fixture
def original(judge, toy_original):
    return Traces.of(toy_original.regions, judge.clock.original)


@pytest.fixture
def reference(judge, toy_original):
    return Traces.of(toy_original.regions[::-1], judge.clock.reference)


@pytest.fixture
def folder(original, tmp_path):
    write_traces(tmp_path / ENTRY.file("orgtraces", ".csv"), original)
    return tmp_path


class TestJudgeRelease:
    def test_a_valid_file(self, judge, original, folder):
        write_obfuscated(folder / HANDED_IN, SetTraces.of_traces(original))
        given = flow.judge_release(Files(judge, folder), ENTRY, "PL")
        assert (given.method, given.valid, given.utility, given.published) == ("PL", True, 1, True)
        assert given.reason == "utility 1.000000 reaches the floor 0.7"

    def test_a_file_below_the_floor_is_invalid_with_its_utility(
        self, judge, folder, toy_obfuscated
    ):
        write_obfuscated(folder / HANDED_IN, toy_obfuscated)
        given = flow.judge_release(Files(judge, folder), ENTRY)
        assert not given.valid
        assert given.utility == pytest.approx(6.9478125 / 12)
        assert given.reason == "utility 0.578984 is below the floor 0.7"

    @pytest.mark.parametrize("text", ["", "reg_id\n1\n", "reg_id\n" + "6\n" * 12, "x\n", "\0"])
    def test_other_files_are_invalid_with_a_reason(self, judge, folder, text):
        (folder / HANDED_IN).write_text(text)
        given = flow.judge_release(Files(judge, folder), ENTRY)
        assert (given.valid, given.utility) == (False, None)
        assert given.reason.startswith("not in the format of obfuscated traces: ")

    def test_a_file_over_the_size_limit(self, judge, folder):
        (folder / HANDED_IN).write_text("reg_id\n" + "1 " * 40_000)
        assert flow.judge_release(Files(judge, folder), ENTRY).utility is None

    def test_a_file_that_was_checked_before_must_be_readable(self, judge, folder):
        (folder / HANDED_IN).write_text("x\n")
        with pytest.raises(InvalidFile):
            flow.judge_release(Files(judge, folder), ENTRY, checked=True)

    def test_nothing_handed_in_is_never_published(self, judge, folder):
        given = flow.judge_release(Files(judge, folder), ENTRY, "", hors_concours=True)
        assert (given.reason, given.published) == (NOTHING.reason, False)

    def test_memory_and_files_agree(self, judge, reference, original, folder, toy_obfuscated):
        cells = toy_obfuscated.take_users(np.arange(3))
        write_obfuscated(folder / HANDED_IN, cells)
        held = FilesInMemory(judge, reference, original, Files(judge, folder).obfuscated(ENTRY))
        assert flow.judge_release(held, ENTRY) == flow.judge_release(Files(judge, folder), ENTRY)


class TestShuffleRelease:
    def test_an_invalid_release_is_not_published(self, judge, reference, original, toy_obfuscated):
        files = FilesInMemory(judge, reference, original, toy_obfuscated)
        given = JudgedRelease.of("", judge.verdict(original, toy_obfuscated))
        with pytest.raises(InvalidParameter, match="below the floor"):
            flow.shuffle_release(files, ENTRY, given)

    def test_hors_concours_is_published_all_the_same(
        self, judge, reference, original, toy_obfuscated
    ):
        files = FilesInMemory(judge, reference, original, toy_obfuscated)
        given = JudgedRelease.of("", judge.verdict(original, toy_obfuscated), hors_concours=True)
        released, table = flow.shuffle_release(files, ENTRY, given, 1)
        assert table.is_permutation
        assert released.users.tolist() == [4, 5, 6]
        assert flow.is_shuffle(toy_obfuscated, table, released)
        assert not flow.is_shuffle(toy_obfuscated, IdTable.of(table.users[::-1]), released)

    def test_without_a_seed_no_two_shuffles_are_alike(self):
        # 100 users: two equal permutations have probability 1/100!, about 1e-158.
        clock = ContestClock.regular(days=1, slots=1)
        city = City(Grid.from_metres(2, 1, width_m=300, height_m=300))
        judge = Judge(Rules(users=100), city, clock)
        original = Traces.of(np.zeros((100, 1), dtype=int), clock.original)
        files = FilesInMemory(judge, original, original, SetTraces.of_traces(original))
        given = flow.judge_release(files, ENTRY)
        first, second = (flow.shuffle_release(files, ENTRY, given)[1] for _ in range(2))
        assert first != second


class TestSeal:
    def test_fixes_the_secrets_that_are_there(self, judge, folder):
        write_id_table(folder / ENTRY.file("ptable", ".csv"), IdTable.of([1, 2, 0]))
        opening = flow.seal(Files(judge, folder), [ENTRY], "a" * 64)
        wanted = {
            name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
            for name in (ENTRY.file(kind, ".csv") for kind in ("orgtraces", "ptable"))
        }
        assert (opening.team, dict(opening.files)) == ("001", wanted)

    def test_commitments_say_which_releases_are_out(self):
        below = JudgedRelease("", False, "", 0.1, None, None)
        shown = JudgedRelease("", False, "", 0.1, None, None, hors_concours=True)
        held = flow.commitments({"001": "x"}, {Entry(1): below, Entry(2): shown})
        assert held["commitments"] == {"001": "x"}
        out = {name: said["published"] for name, said in held["releases"].items()}
        assert out == {Entry(1).release: False, Entry(2).release: True}


class TestAttack:
    def test_everybody_attacks_all_but_ones_own(self):
        entries = [BENCHMARK, Entry(1, "reid"), Entry(1), Entry(2)]
        assert [e for e in entries if flow.may_attack("001", e)] == [BENCHMARK, Entry(2)]
        assert all(flow.may_attack("T1", e) for e in entries)

    def test_sample_attacks_answer_in_their_own_way(self, judge, reference, original):
        players = flow.sample_players(SampleRules(("VisitProb-R",), ("Prior-T",)))
        case = judge.case(reference, SetTraces.of_traces(original).renamed(np.arange(4, 7)))
        made = {name: flow.attack(player, name, ENTRY, case, 5) for name, player in players.items()}
        assert {name: {k: len(v) for k, v in one.items()} for name, one in made.items()} == {
            "I1": {"reid": 1, "trace": 0},
            "T1": {"reid": 0, "trace": 1},
        }
        wanted = run_attack("reid", "VisitProb-R", case, None)
        assert same_answer(made["I1"]["reid"][0], wanted)

    def test_bayes_answers_for_a_learned_one_that_knows_another_city(
        self, judge, reference, original
    ):
        case = judge.case(reference, SetTraces.of_traces(original).renamed(np.arange(4, 7)))
        learned, bayes = (
            flow.SampleAttack("trace", name).answer("trace", 0, case, 5)
            for name in ("Learned-T", "Bayes-T")
        )
        assert same_answer(learned, bayes)


class TestScoreRelease:
    def test_memory_and_files_agree(self, judge, reference, original, folder):
        released, table = SetTraces.of_traces(original), IdTable.of([1, 2, 0])
        released = released.take_users(table.users).renamed(np.arange(4, 7))
        guess = {"reid": IdTable.of([1, 1, 0]), "trace": original}
        write_traces(folder / ENTRY.file("reftraces", ".csv"), reference)
        write_released(folder / ENTRY.file("pubtraces", ".csv"), released)
        write_id_table(folder / ENTRY.file("ptable", ".csv"), table)
        for kind, answer in guess.items():
            path = folder / f"{CHALLENGES[kind].answer}_002_1.csv"
            ANSWERS[kind].write(path, answer)
        tries = {(kind, "002"): [answer] for kind, answer in guess.items()}
        held = FilesInMemory(judge, reference, original, None, (released, table), tries)
        for files in (held, Files(judge, folder)):
            row = flow.score_release(files, ENTRY, ["001", "002", "003"])
            assert list(row.cells) == ["002", "003"]
            assert row.cells["002"].reid.value == pytest.approx(1 / 3)
            assert row.cells["002"].trace.value == 0
            assert row.cells["003"].of("reid") is None

    def test_what_is_not_there_is_named(self, judge, reference, original):
        with pytest.raises(UnreadableFile, match="ptable_team001"):
            flow.score_release(FilesInMemory(judge, reference, original), ENTRY, [])
