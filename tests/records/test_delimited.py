"""Block-wise reading: the same whatever the block size, exact lines in errors."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tracecup.errors import InvalidFile, TraceCupError, UnreadableFile
from tracecup.records.delimited import TextLayout, read_text, text_of
from tracecup.safeio import Limits

LAYOUT = TextLayout(("id", "x"), delimiter="\t")
SMALL = Limits(max_bytes=1 << 20, max_line=100)


def numbers(path, layout=LAYOUT, bad_lines="raise", **options):
    ids, values = [], []
    for block in read_text(path, layout, **options):
        first, second = block.whole("id"), block.decimal("x")
        rows = block.settle(bad_lines)
        ids += first[rows].tolist()
        values += second[rows].tolist()
    return ids, values


@pytest.fixture
def table(tmp_path):
    def write(content: bytes, name: str = "table.txt"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


class TestReadText:
    @pytest.mark.parametrize("block_bytes", [1, 2, 3, 7, 64, 1 << 20])
    def test_block_size_does_not_matter(self, table, block_bytes):
        path = table(b"1\t0.5\n22\t1.25\r\n333\t-7\n")
        assert numbers(path, block_bytes=block_bytes) == ([1, 22, 333], [0.5, 1.25, -7.0])

    def test_last_line_needs_no_line_end(self, table):
        assert numbers(table(b"1\t2\n3\t4"))[0] == [1, 3]

    def test_byte_order_mark_is_cut(self, table):
        assert numbers(table(b"\xef\xbb\xbf1\t2\n"))[0] == [1]

    def test_empty_file_has_no_blocks(self, table):
        assert numbers(table(b"")) == ([], [])

    def test_gzip_and_zstd(self, table):
        content = b"1\t2\n" * 1000
        packed = table(gzip.compress(content), "a.gz"), table(zstandard.compress(content), "a.zst")
        assert [len(numbers(path)[0]) for path in packed] == [1000, 1000]

    def test_long_numbers_are_read_by_python(self, table):
        path = table(b"1\t40.719810375488535\n2\t1e3\n")
        assert numbers(path)[1] == [40.719810375488535, 1000.0]

    def test_header_finds_columns_anywhere(self, table):
        layout = TextLayout(("id", "x"), header=True, quoted=True)
        path = table(b'x,"other",id\n0.5,"a,b",7\n')
        assert numbers(path, layout) == ([7], [0.5])

    def test_skipped_lines_count_in_line_numbers(self, table):
        layout = TextLayout(("id", "x"), delimiter="\t", skip=2)
        with pytest.raises(InvalidFile) as caught:
            numbers(table(b"head\nline\n1\t2\n1\tx\n"), layout)
        assert caught.value.problems[0].line == 4

    @pytest.mark.parametrize("block_bytes", [4, 1 << 20])
    def test_error_names_line_column_found_expected(self, table, block_bytes):
        path = table(b"1\t2\n3\t4\n5\tabc\n")
        with pytest.raises(InvalidFile) as caught:
            numbers(path, block_bytes=block_bytes)
        problem = caught.value.problems[0]
        assert (problem.line, problem.column) == (3, "x")
        assert "abc" in problem.found
        assert problem.expected == "a decimal number"

    def test_problems_come_in_order_of_lines(self, table):
        with pytest.raises(InvalidFile) as caught:
            numbers(table(b"1\tx\ny\t1\n1\n"))
        assert [p.line for p in caught.value.problems] == [1, 2, 3]
        assert caught.value.total == 3

    def test_empty_line_is_a_short_line(self, table):
        with pytest.raises(InvalidFile, match="line 2: found an empty line, expected at least 2"):
            numbers(table(b"1\t2\n\n3\t4\n"))

    def test_bad_lines_can_be_skipped(self, table):
        path = table(b"1\t2\nx\t2\n3\t\n4\t5\n6\n")
        assert numbers(path, bad_lines="skip") == ([1, 4], [2.0, 5.0])

    @pytest.mark.parametrize("block_bytes", [16, 1 << 20])
    def test_endless_line(self, table, block_bytes):
        path = table(b"1\t2\n" + b"1" * 500 + b"\n1\t2\n")
        with pytest.raises(InvalidFile, match="line 2: found a line of more than 100 bytes"):
            numbers(path, limits=SMALL, block_bytes=block_bytes)

    @pytest.mark.parametrize("word", [b"nan", b"inf", b"1_0", b"0x10", b"1e999", b"\x00", b"\xff"])
    def test_what_python_would_take_or_choke_on(self, table, word):
        with pytest.raises(InvalidFile):
            numbers(table(b"1\t" + word + b"\n"))

    def test_missing_column_in_the_header(self, table):
        with pytest.raises(InvalidFile, match="line 1, column x: found 0 times"):
            numbers(table(b"id,y\n1,2\n"), TextLayout(("id", "x"), header=True))

    def test_column_twice_in_the_header(self, table):
        with pytest.raises(InvalidFile, match="found 2 times"):
            numbers(table(b"id,x,x\n1,2,3\n"), TextLayout(("id", "x"), header=True))

    def test_no_header(self, table):
        with pytest.raises(InvalidFile, match="no header"):
            numbers(table(b""), TextLayout(("id", "x"), header=True))

    def test_missing_file(self, tmp_path):
        with pytest.raises(UnreadableFile):
            numbers(tmp_path / "nothing")

    def test_memory_stays_small(self, tmp_path):
        """64 MB of text go through in blocks of 256 kB; peak memory stays below 8 MB."""
        import tracemalloc

        path = tmp_path / "big.txt"
        path.write_bytes(b"12345\t35.67334011\n" * (64 << 20 >> 5))
        next(read_text(path, LAYOUT)).decimal("x")
        tracemalloc.start()
        rows = sum(
            len(block.decimal("x")) for block in read_text(path, LAYOUT, block_bytes=256 * 1024)
        )
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert rows == 64 << 20 >> 5
        assert peak < 8 << 20

    @given(st.binary(max_size=200), st.integers(1, 50), st.booleans())
    def test_any_bytes_give_numbers_or_our_error(self, tmp_path_factory, content, block, quoted):
        path = tmp_path_factory.mktemp("fuzz") / "table.csv"
        path.write_bytes(content)
        layout = TextLayout(("id", "x"), quoted=quoted)
        try:
            ids, values = numbers(path, layout, limits=SMALL, block_bytes=block)
        except TraceCupError:
            return
        assert len(ids) == len(values)
        assert np.isfinite(values).all()


class TestTime:
    @pytest.mark.parametrize("word", [b"1e15", b"-1e300", b"noon"])
    def test_seconds_have_bounds(self, table, word):
        block = next(read_text(table(b"1\t" + word + b"\n"), LAYOUT))
        block.time("x", "unix")
        with pytest.raises(InvalidFile, match="line 1, column x"):
            block.settle("raise")


class TestWords:
    def test_doubled_quotes_are_undone_when_quoted(self, table):
        path = table(b'"a""b",1\n')
        quoted = next(read_text(path, TextLayout(("id", "x"), quoted=True)))
        plain = next(read_text(path, TextLayout(("id", "x"))))
        assert quoted.words("id").to_pylist() == [b'a"b']
        assert plain.words("id").to_pylist() == [b'"a""b"']


class TestTextOf:
    def test_utf8_else_latin1(self):
        assert text_of("Café".encode()) == text_of("Café".encode("latin-1")) == "Café"
