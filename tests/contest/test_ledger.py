import json

import pytest

from tracecup.contest.ledger import Ledger, file_hash
from tracecup.errors import UnreadableFile


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.txt").write_text("c")
    return tmp_path


def ledger_of(folder):
    return Ledger(folder / "ledger.jsonl", folder)


class TestLedger:
    def test_a_recorded_step_is_done_also_later(self, folder):
        first = ledger_of(folder)
        assert not first.done("one")
        first.record("one", [folder / "a.txt", folder / "b" / "c.txt"])
        assert first.done("one")
        assert ledger_of(folder).done("one")
        assert not ledger_of(folder).done("two")

    def test_a_changed_file_undoes_the_step(self, folder):
        ledger_of(folder).record("one", [folder / "a.txt"])
        (folder / "a.txt").write_text("b")
        assert not ledger_of(folder).done("one")

    def test_a_missing_file_undoes_the_step(self, folder):
        ledger_of(folder).record("one", [folder / "b" / "c.txt"])
        (folder / "b" / "c.txt").unlink()
        assert not ledger_of(folder).done("one")

    def test_a_step_may_write_nothing(self, folder):
        ledger_of(folder).record("one", [])
        assert ledger_of(folder).done("one")

    def test_every_cut_of_the_file_keeps_the_whole_lines(self, folder):
        whole = ledger_of(folder)
        for name in ("one", "two", "three"):
            whole.record(name, [folder / "a.txt"])
        text = (folder / "ledger.jsonl").read_bytes()
        ends = [k + 1 for k, byte in enumerate(text) if byte == ord("\n")]
        for cut in range(len(text) + 1):
            (folder / "ledger.jsonl").write_bytes(text[:cut])
            again = ledger_of(folder)
            done = [again.done(name) for name in ("one", "two", "three")]
            assert done == [cut >= end for end in ends]
            again.record("four", [folder / "a.txt"])
            assert ledger_of(folder).done("four")

    def test_garbage_ends_the_ledger(self, folder):
        whole = ledger_of(folder)
        whole.record("one", [])
        with (folder / "ledger.jsonl").open("ab") as file:
            file.write(b'\xff{"step": 3}\n')
        whole.record("two", [])
        again = ledger_of(folder)
        assert again.done("one")
        assert not again.done("two")

    def test_no_place_to_write(self, folder):
        with pytest.raises(UnreadableFile):
            Ledger(folder / "missing" / "ledger.jsonl", folder).record("one", [])

    def test_names_are_relative(self, folder):
        ledger_of(folder).record("one", [folder / "b" / "c.txt"])
        held = json.loads((folder / "ledger.jsonl").read_text())
        assert held["files"] == [["b/c.txt", file_hash(folder / "b" / "c.txt")]]
