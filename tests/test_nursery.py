"""A process that forks others: what they write, how they end, and that none stays behind."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tracecup.nursery import GONE, Nursery, forked

TOY = """
import os, sys, time
from tracecup.nursery import serve

def work(asked):
    said = asked.strip()
    os.write(1, f"{os.getpid()} {os.getppid()} {said}".encode())
    if said == "sleep":
        time.sleep(600)
    if said == "die":
        os.abort()
    os.write(2, b"words")
    return int(said) if said.isdigit() else 0

serve(int(sys.argv[2]), work)
"""


@pytest.fixture
def nursery(tmp_path, monkeypatch):
    (tmp_path / "toynursery.py").write_text(TOY)
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path) + (os.pathsep + before if before else ""))
    made = Nursery("toynursery")
    yield made
    made.end()


def told(nursery: Nursery, asked: str) -> tuple[list[str], bytes, int]:
    with nursery.child(asked) as child:
        return child.data.read().decode().split(maxsplit=2), child.words.read(), child.wait()


def gone(pid: int) -> bool:
    """Whether a process is no more, or nobody has asked yet how it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except OSError:
        return True


def until_gone(pid: int) -> None:
    end = time.monotonic() + 600
    while not gone(pid):
        assert time.monotonic() < end, "it still runs"
        time.sleep(0.01)


class TestChild:
    def test_writes_speaks_and_ends(self, nursery):
        (pid, parent, asked), words, code = told(nursery, "7")
        assert (asked, words, code) == ("7", b"words", 7)
        (other, again, _), _, code = told(nursery, "hello")
        assert (again, code) == (parent, 0)
        assert len({pid, other, parent, str(os.getpid())}) == 4

    def test_a_signal_is_told(self, nursery):
        _, words, code = told(nursery, "die")
        assert (words, code) == (b"", -signal.SIGABRT)

    def test_several_at_once(self, nursery):
        with nursery.child("sleep") as first, nursery.child("3") as second:
            assert second.data.read().split()[2] == b"3"
            assert second.wait() == 3
            assert first.data.read(1)

    def test_one_that_nobody_wants_any_more_is_killed(self, nursery):
        with nursery.child("sleep") as child:
            pid = int(child.data.read1(100).split()[0])
            assert not gone(pid)
        until_gone(pid)


class TestNursery:
    def test_starts_again_where_somebody_killed_it(self, nursery):
        (_, parent, _), _, _ = told(nursery, "1")
        os.kill(int(parent), signal.SIGKILL)
        until_gone(int(parent))
        (_, again, _), _, code = told(nursery, "1")
        assert code == 1
        assert again != parent

    def test_killed_while_a_child_works(self, nursery):
        with nursery.child("sleep") as child:
            pid, parent, _ = child.data.read1(100).split()
            os.kill(int(parent), signal.SIGKILL)
            os.kill(int(pid), signal.SIGKILL)
            assert child.wait() == GONE

    def test_a_new_child_beside_one_that_goes(self, nursery):
        # While it is stopped, one child is given up, another asked for, and the first one dies.
        with nursery.child("sleep") as child:
            pid, parent, _ = map(bytes.decode, child.data.read1(100).split())
            os.kill(int(parent), signal.SIGSTOP)
        with nursery.child("4") as other:
            os.kill(int(pid), signal.SIGKILL)
            until_gone(int(pid))
            os.kill(int(parent), signal.SIGCONT)
            assert other.wait() == 4
        assert told(nursery, "1")[0][1] == parent

    def test_ends_with_all_its_children(self, nursery):
        with nursery.child("sleep") as child:
            pid, parent, _ = child.data.read1(100).split()
            nursery.end()
            until_gone(int(pid))
            until_gone(int(parent))

    def test_a_copy_of_the_process_has_its_own(self, nursery):
        (_, parent, _), _, _ = told(nursery, "1")

        def work() -> int:
            (_, other, _), _, code = told(nursery, "5")
            nursery.end()
            return code if other != parent else 1

        with forked(work) as child:
            assert child.wait() == 5
        assert told(nursery, "2")[0][1] == parent


class TestForked:
    def test_one_that_nobody_wants_any_more_is_killed(self):
        def work() -> int:
            os.write(1, str(os.getpid()).encode())
            time.sleep(600)
            return 0

        with forked(work) as child:
            pid = int(child.data.read1(100))
        assert gone(pid)
