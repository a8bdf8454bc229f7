"""Archives of strangers: slip, bomb, floods, doubles, broken and odd ones."""

from __future__ import annotations

import io
import stat
import struct
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracecup.server.errors import Refused
from tracecup.server.storage import store
from tracecup.server.submissions import unpacking
from tracecup.server.submissions.unpacking import members

KIB = 1024
ETABLE = "etable_team001-002_data02_TRP.csv"


@pytest.fixture
def packed(tmp_path):
    """Write a zip archive and give its path."""

    def make(*files, method=zipfile.ZIP_DEFLATED):
        path = tmp_path / "archive.zip"
        with zipfile.ZipFile(path, "w", method) as archive:
            for info, content in files:
                archive.writestr(info, content)
        return path

    return make


def read(path, most=64 * KIB, total=1024 * KIB) -> dict[str, bytes | str]:
    """What each member holds, or why it is not opened."""
    found: dict[str, bytes | str] = {}
    for member in members(path, most, total):
        if member.problem:
            found[member.shown] = member.problem
            continue
        try:
            with member.spooled() as file:
                found[member.shown] = file.path.read_bytes()
        except Refused as error:
            found[member.shown] = error.code
    return found


def refused(path, code, **limits):
    with pytest.raises(Refused) as found:
        read(path, **limits)
    assert found.value.code == code


class TestMembers:
    def test_gives_content_and_leaves_nothing_behind(self, packed):
        assert read(packed(("a/" + ETABLE, b"hello"))) == {"a/" + ETABLE: b"hello"}
        assert not list(store().incoming.iterdir())

    def test_the_name_is_the_last_part(self, packed):
        assert [one.name for one in members(packed((f"x/y/{ETABLE}", b"")), 10, 10)] == [ETABLE]

    @pytest.mark.parametrize(
        "name", ["../evil.csv", "/etc/evil.csv", "a/../../evil.csv", "C:evil.csv", "..\\evil.csv"]
    )
    def test_slips_are_not_opened(self, packed, name):
        info = zipfile.ZipInfo("x")
        info.filename = name
        assert "leads out" in read(packed((info, b"evil")))[name]

    def test_links_are_not_opened(self, packed):
        info = zipfile.ZipInfo("link.csv")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        assert read(packed((info, b"/etc/passwd"))) == {"link.csv": "This is not a plain file."}

    def test_folders_and_what_desktops_leave_are_passed_over(self, packed):
        path = packed(("a/", b""), ("__MACOSX/._x.csv", b"x"), ("a/.DS_Store", b"x"), (ETABLE, b""))
        assert list(read(path)) == [ETABLE]

    def test_doubles_are_not_opened(self, packed):
        with pytest.warns(UserWarning, match="Duplicate name"):
            path = packed((ETABLE, b"1"), (ETABLE, b"2"), ("other.csv", b"3"))
        found = read(path)
        assert "several files" in found[ETABLE]
        assert found["other.csv"] == b"3"

    def test_two_packings_of_one_answer_are_doubles(self, packed):
        found = read(packed((ETABLE, b"1"), (f"x/{ETABLE}.gz", b"2")))
        assert all("several files" in said for said in found.values())

    def test_other_packings_are_not_opened(self, packed):
        found = read(packed((ETABLE, b"1"), method=zipfile.ZIP_LZMA))
        assert "packed in a way" in found[ETABLE]

    def test_encrypted_ones_are_not_opened(self, packed):
        path = packed((ETABLE, b"1"))
        content = bytearray(path.read_bytes())
        content[content.index(b"PK\x01\x02") + 8] |= 1
        path.write_bytes(content)
        assert "encrypted" in read(path)[ETABLE]

    def test_one_that_says_it_is_too_large_is_not_opened(self, packed):
        found = read(packed((ETABLE, b"0" * (65 * KIB))))
        assert "larger than" in found[ETABLE]

    def test_a_bomb_that_lies_about_its_size_stops_at_the_limit(self, packed):
        path = packed((ETABLE, b"0" * (1000 * KIB)))
        content = bytearray(path.read_bytes())
        struct.pack_into("<L", content, content.index(b"PK\x01\x02") + 24, 1000)
        path.write_bytes(content)
        assert read(path)[ETABLE] in ("too-large", "invalid")
        assert not list(store().incoming.iterdir())

    def test_all_together_are_limited_before(self, packed):
        path = packed(*((f"{k}.csv", b"0" * KIB) for k in range(20)))
        refused(path, "too-large", total=10 * KIB)

    def test_the_budget_is_shared(self, packed):
        path = packed(*((f"{k}.csv", b"0" * KIB) for k in range(3)))
        said = []
        for member in members(path, 64 * KIB, 3 * KIB):
            member._budget.left = min(member._budget.left, 1500)
            try:
                with member.spooled() as file:
                    said.append(file.size)
            except Refused as error:
                said.append(error.code)
        assert said == [KIB, "too-large", "too-large"]

    def test_too_many_entries(self, packed, monkeypatch):
        monkeypatch.setattr(unpacking, "MAX_MEMBERS", 3)
        path = packed(*((f"{k}.csv", b"") for k in range(4)))
        refused(path, "too-large")

    def test_a_huge_directory_is_not_read(self, packed, monkeypatch):
        path = packed(("x" * 200 + ".csv", b""))
        monkeypatch.setattr(unpacking, "MAX_DIRECTORY_BYTES", 100)
        monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("was opened"))
        refused(path, "too-large")

    def test_counts_hidden_in_a_second_record_are_refused(self, packed):
        path = packed((ETABLE, b""))
        content = path.read_bytes()
        end = content.rindex(b"PK\x05\x06")
        locator = b"PK\x06\x07" + struct.pack("<LQL", 0, 0, 1)
        path.write_bytes(content[:end] + locator + content[end:])
        refused(path, "too-large")

    def test_broken_content_is_that_files_problem(self, packed):
        path = packed((ETABLE, b"hello world" * 20), ("other.csv", b"fine"))
        content = bytearray(path.read_bytes())
        at = content.index(ETABLE.encode()) + len(ETABLE) + 3
        content[at : at + 6] = b"\xff" * 6
        path.write_bytes(content)
        assert read(path) == {ETABLE: "invalid", "other.csv": b"fine"}

    @pytest.mark.parametrize("content", [b"", b"PK", b"PK\x05\x06", b"nonsense" * 1000])
    def test_no_archive(self, tmp_path, content):
        path = tmp_path / "no.zip"
        path.write_bytes(content)
        refused(path, "invalid")

    def test_a_directory_before_the_file_begins(self, packed):
        path = packed((ETABLE, b"1"))
        content = bytearray(path.read_bytes())
        struct.pack_into("<L", content, content.rindex(b"PK\x05\x06") + 12, 5000)
        path.write_bytes(content)
        refused(path, "invalid")

    def test_a_file_without_a_name(self, packed):
        info = zipfile.ZipInfo("x")
        info.filename = ""
        assert read(packed((info, b"1"))) == {"": b"1"}

    def test_an_archive_with_a_comment_is_fine(self, packed):
        path = packed((ETABLE, b"1"))
        with zipfile.ZipFile(path, "a") as archive:
            archive.comment = b"made by hand"
        assert read(path) == {ETABLE: b"1"}

    @settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    def test_a_damaged_archive_is_refused_or_read_never_an_accident(self, tmp_path, data):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(ETABLE, b"1\n" * 50)
            archive.writestr("b.csv", b"2\n" * 50)
        content = bytearray(made.getvalue())
        for _ in range(data.draw(st.integers(1, 6))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path = tmp_path / "damaged.zip"
        path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
        try:
            read(path)
        except Refused as error:
            assert error.code in ("invalid", "too-large")
        assert not list(store().incoming.iterdir())
