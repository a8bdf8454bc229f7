import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.contest.judging.commitment import (
    AS_HANDED_IN,
    Opening,
    content_hash,
    fresh_nonce,
    read_opening,
)
from tracecup.errors import InvalidFile, InvalidParameter

FILES = {"ptable.csv": "0" * 64, "orgtraces.csv": "f" * 64}


def opening(**other):
    given = {"team": "001", "scorer": "tracecup 1", "files": FILES, "nonce": "a" * 64}
    return Opening(**(given | other))


class TestOpening:
    def test_commitment_is_the_hash_of_the_text(self):
        made = opening()
        assert made.commitment == hashlib.sha256(made.text.encode()).hexdigest()

    @pytest.mark.parametrize(
        "other",
        [
            {"team": "002"},
            {"scorer": "tracecup 2"},
            {"nonce": "b" * 64},
            {"files": FILES | {"ptable.csv": "1" * 64}},
            {"files": {"ptable.csv": "0" * 64}},
            {"version": "1"},
        ],
    )
    def test_everything_is_fixed(self, other):
        assert opening(**other).commitment != opening().commitment

    def test_order_of_files_does_not_matter(self):
        turned = dict(reversed(FILES.items()))
        assert opening(files=turned).commitment == opening().commitment

    @pytest.mark.parametrize(
        "other",
        [
            {"nonce": "a"},
            {"nonce": "g" * 64},
            {"files": {"a b": "0" * 64}},
            {"files": {"a": "0"}},
            {"team": "1\n2"},
            {"scorer": ""},
            {"version": "3"},
        ],
    )
    def test_what_would_make_it_ambiguous_is_refused(self, other):
        with pytest.raises(InvalidParameter):
            opening(**other)


class TestReadOpening:
    def test_reads_what_was_written(self, tmp_path):
        (tmp_path / "o.txt").write_text(opening().text)
        assert read_opening(tmp_path / "o.txt") == opening()

    def test_reads_commitments_from_before_cells_were_sorted(self, tmp_path):
        before = opening(version=AS_HANDED_IN)
        (tmp_path / "o.txt").write_text(before.text)
        assert read_opening(tmp_path / "o.txt") == before
        assert before.text.startswith("tracecup commitment 1\n")

    @given(line=st.integers(0, 5), text=st.text(alphabet="ab01 \t", max_size=70))
    def test_other_texts_are_named_or_mean_something_else(self, tmp_path_factory, line, text):
        lines = opening().text.splitlines()
        if lines[line] == text:
            return
        lines[line] = text
        path = tmp_path_factory.mktemp("o") / "o.txt"
        path.write_text("\n".join(lines) + "\n")
        try:
            assert read_opening(path) != opening()
        except InvalidFile as error:
            assert error.problems[0].line in (line + 1, 4)

    def test_an_empty_file(self, tmp_path):
        (tmp_path / "o.txt").write_text("")
        with pytest.raises(InvalidFile, match="line 1"):
            read_opening(tmp_path / "o.txt")


class TestFreshNonce:
    def test_two_are_different(self):
        assert fresh_nonce() != fresh_nonce()
        assert len(fresh_nonce()) == 64


class TestContentHash:
    def test_the_container_does_not_matter(self, tmp_path):
        import gzip

        import zstandard

        text = b"pse_id,user_id\n3,1\n4,2\n"
        (tmp_path / "a.csv").write_bytes(text)
        (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text))
        (tmp_path / "a.csv.zst").write_bytes(zstandard.compress(text))
        wanted = hashlib.sha256(text).hexdigest()
        assert {content_hash(path) for path in tmp_path.iterdir()} == {wanted}
