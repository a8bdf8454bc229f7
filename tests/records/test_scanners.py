"""Scanners of text fields against Python's own."""

from __future__ import annotations

import csv
import io
import itertools
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tracecup.records import scanners


def fields(*words: bytes):
    """(text, begin, end) of words one after the other, with a separator between."""
    text = np.frombuffer(b";".join(words) or b";", dtype=np.uint8)
    ends = np.cumsum([len(word) + 1 for word in words]) - 1
    begins = ends - [len(word) for word in words]
    return text, begins.astype(np.int32), ends.astype(np.int32)


class TestLineEnds:
    @given(st.binary(max_size=40))
    def test_agrees_with_count(self, text):
        assert scanners.line_ends(np.frombuffer(text, dtype=np.uint8)) == text.count(b"\n")


class TestSplitLines:
    @pytest.mark.parametrize("text", [b"a\tb\n\tc\nd\n", b"a\tb\r\n\tc\r\nd\r\n"])
    def test_fields_and_counts(self, text):
        buffer = np.frombuffer(text, dtype=np.uint8)
        begin, end, count, lengths = scanners.split_lines(buffer, 9, False, np.arange(2), 2, 3)
        assert count.tolist() == [2, 2, 1]
        assert lengths.tolist() == [len(line) for line in text.rstrip(b"\n").split(b"\n")]
        cut = [
            [text[b:e] if b >= 0 else None for b, e in zip(*row, strict=True)]
            for row in zip(begin.T, end.T, strict=True)
        ]
        assert cut == [[b"a", b"b"], [b"", b"c"], [b"d", None]]

    def test_only_the_wanted_fields_are_kept(self):
        buffer = np.frombuffer(b"a,b,c,d\n", dtype=np.uint8)
        begin, _, count, _ = scanners.split_lines(buffer, 44, False, np.array([-1, 1, 0]), 2, 1)
        assert begin.tolist() == [[4], [2]]
        assert count.tolist() == [4]

    def test_quoted_fields_before_every_line_end(self):
        text = b'"a","b"\r\n"c",d\r\n"e","f"\n'
        buffer = np.frombuffer(text, dtype=np.uint8)
        begin, end, count, _ = scanners.split_lines(buffer, 44, True, np.arange(2), 2, 3)
        assert count.tolist() == [2, 2, 2]
        cut = [text[b:e] for b, e in zip(begin.T.ravel(), end.T.ravel(), strict=True)]
        assert cut == [b"a", b"b", b"c", b"d", b"e", b"f"]

    def test_unclosed_quote_is_marked(self):
        buffer = np.frombuffer(b'"a,b\n1,2\n', dtype=np.uint8)
        assert scanners.split_lines(buffer, 44, True, np.arange(2), 2, 2)[2].tolist() == [-1, 2]

    @given(
        st.lists(
            st.lists(st.text(st.sampled_from('ab",;\t '), max_size=6), min_size=2, max_size=4),
            min_size=1,
            max_size=6,
        )
    )
    def test_agrees_with_the_csv_module(self, rows):
        file = io.StringIO()
        csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
        text = file.getvalue().encode()
        buffer = np.frombuffer(text, dtype=np.uint8)
        begin, end, count, _ = scanners.split_lines(buffer, 44, True, np.arange(4), 4, len(rows))
        assert count.tolist() == [len(row) for row in rows]
        for k, row in enumerate(rows):
            cut = [
                text[b:e].decode().replace('""', '"')
                for b, e in zip(begin[:, k], end[:, k], strict=True)
            ]
            assert cut[: len(row)] == row


class TestScanWhole:
    @given(st.integers(-(10**18) + 1, 10**18 - 1))
    def test_reads_what_python_writes(self, number):
        values, marks = scanners.scan_whole(*fields(str(number).encode()))
        assert (values[0], marks[0]) == (number, scanners.GOOD)

    @given(st.binary(max_size=8))
    @example(b"")
    @example(b"-")
    @example(b"1_0")
    @example(b" 1")
    def test_other_bytes_are_bad(self, word):
        _, marks = scanners.scan_whole(*fields(word))
        plain = word.removeprefix(b"-")
        assert (marks[0] == scanners.GOOD) == (plain.isdigit() and len(word) > 0)

    @given(st.integers(-20, 20), st.integers(-20, 20))
    def test_numbers_outside_the_bounds_are_bad(self, least, most):
        numbers = range(-21, 22)
        _, marks = scanners.scan_whole(*fields(*(str(n).encode() for n in numbers)), least, most)
        assert [n for n, mark in zip(numbers, marks, strict=True) if mark == scanners.GOOD] == [
            *range(max(least, -21), min(most, 21) + 1)
        ]


class TestScanDecimal:
    @given(st.floats(-1e6, 1e6, allow_nan=False))
    @example(35.67334011)
    @example(40.719810375488535)
    @example(0.1)
    def test_rounds_as_python_does(self, number):
        values, marks = scanners.scan_decimal(*fields(repr(number).encode()))
        if marks[0] == scanners.GOOD:
            assert values[0] == number
        else:
            assert marks[0] == (scanners.HARD if "e" in repr(number) else scanners.LONG)

    @given(st.decimals(-180, 180, places=8))
    def test_coordinates_need_no_help(self, number):
        values, marks = scanners.scan_decimal(*fields(f"{number:f}".encode()))
        assert (values[0], marks[0]) == (float(f"{number:f}"), scanners.GOOD)

    @pytest.mark.parametrize("word", [b"", b".", b"-", b"nan", b"inf", b"1,5", b"0x1", b"1.2.3"])
    def test_no_numbers(self, word):
        assert scanners.scan_decimal(*fields(word))[1].tolist() == [scanners.BAD]


class TestScanIsoTime:
    @given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), st.integers(-719, 719))
    def test_agrees_with_datetime(self, when, east):
        zone = timezone(timedelta(minutes=east))
        when = when.replace(microsecond=0, tzinfo=zone)
        values, marks = scanners.scan_iso_time(*fields(when.isoformat().encode()))
        assert marks[0] == scanners.GOOD
        assert values[0] == when.timestamp()

    @pytest.mark.parametrize(
        ("word", "seconds"),
        [
            (b"2010-10-19T23:55:27Z", 1287532527),
            (b"2013-07-01 09:00:53", 1372669253),
            (b"1970-01-01 00:01", 60),
            (b"1970-01-01 00:00:01.5", 1.5),
            (b"1970-01-01T00:00:00+0900", -32400),
        ],
    )
    def test_forms(self, word, seconds):
        values, marks = scanners.scan_iso_time(*fields(word))
        assert (values[0], marks[0]) == (seconds, scanners.GOOD)

    @pytest.mark.parametrize(
        "word",
        [
            b"",
            b"2013-02-29 00:00:00",
            b"2013-13-01 00:00:00",
            b"2013-00-01 00:00:00",
            b"2013-01-00 00:00:00",
            b"2013-01-01 24:00:00",
            b"2013-01-01 00:60:00",
            b"2013-01-01 00:00:60",
            b"2013-01-01 00:00:0",
            b"2013-01-01 00:00:00 ",
            b"2013-01-01 00:00:00x",
            b"2013-01-01 00:00:00.",
            b"2013-01-01 00:00:00+9",
            b"2013/01/01 00:00:00",
            b"0000-01-01 00:00:00",
        ],
    )
    def test_no_times(self, word):
        assert scanners.scan_iso_time(*fields(word, b"00:00"))[1][0] == scanners.BAD


class TestScanTweetTime:
    @given(st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1)))
    def test_agrees_with_datetime(self, when):
        when = when.replace(microsecond=0, tzinfo=UTC)
        word = when.strftime("%a %b %d %H:%M:%S +0000 %Y").encode()
        values, marks = scanners.scan_tweet_time(*fields(word))
        assert (values[0], marks[0]) == (when.timestamp(), scanners.GOOD)

    @pytest.mark.parametrize(
        "word",
        [
            b"Tue Apr 31 18:00:06 +0000 2012",
            b"Tue Abc 03 18:00:06 +0000 2012",
            b"Tue Apr 03 18:00:06 +0000 12",
            b"Tue Apr 03 18:00:06 2012",
            b"Tue-Apr-03-18:00:06 +0000-2012",
        ],
    )
    def test_no_times(self, word):
        assert scanners.scan_tweet_time(*fields(word))[1].tolist() == [scanners.BAD]


class TestPack:
    @given(st.lists(st.binary(max_size=5), max_size=10))
    def test_fields_side_by_side(self, words):
        offsets, packed = scanners.pack(*fields(*words))
        cut = [packed[a:b].tobytes() for a, b in itertools.pairwise(offsets)]
        assert cut == words


class TestRuns:
    @given(st.lists(st.sampled_from([b"", b"a", b"b", b"ab", b"bb"]), max_size=12))
    def test_neighbours_alike_are_one(self, words):
        number, first = scanners.runs(*fields(*words))
        groups = [(word, len(list(same))) for word, same in itertools.groupby(words)]
        assert [words[k] for k in first] == [word for word, _ in groups]
        assert number.tolist() == [k for k, (_, many) in enumerate(groups) for _ in range(many)]
