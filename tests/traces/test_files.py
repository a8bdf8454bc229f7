"""Every format: round trips, line-precise errors, hostile and mutated files."""

from __future__ import annotations

import gzip
import os
import stat
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracecup import Clock, ContestClock, IdTable, InvalidFile, SetTraces, TraceCupError, Traces
from tracecup.errors import InvalidParameter, UnreadableFile
from tracecup.safeio import Limits, read_blocks
from tracecup.traces import files

USERS, CLOCK = 3, Clock.regular(1, slots=2, first_time=2)
ORIGINAL = Traces.of([[0, 5], [1023, 7], [8, 9]], CLOCK)
CELLS = SetTraces.of_cells([[[0], []], [[1, 1], [1023, 4, 2]], [[6], [7]]], CLOCK)
RELEASED = CELLS.renamed([4, 5, 6])
TABLE = IdTable.of([2, 0, 1])

# name -> (what is written, writer, reader)
FORMATS = {
    "original": (
        ORIGINAL,
        files.write_traces,
        lambda p, **k: files.read_traces(p, clock=CLOCK, **k),
    ),
    "obfuscated": (
        CELLS,
        files.write_obfuscated,
        lambda p, **k: files.read_obfuscated(p, users=USERS, clock=CLOCK, **k),
    ),
    "released": (
        RELEASED,
        files.write_released,
        lambda p, **k: files.read_released(p, clock=CLOCK, **k),
    ),
    "id-table": (TABLE, files.write_id_table, files.read_id_table),
    "inferred-table": (
        IdTable.of([1, 1, 0]),
        files.write_inferred_table,
        lambda p, **k: files.read_inferred_table(p, users=USERS, **k),
    ),
    "inferred-traces": (
        ORIGINAL,
        files.write_inferred_traces,
        lambda p, **k: files.read_inferred_traces(p, users=USERS, clock=CLOCK, **k),
    ),
}
ENDINGS = ("csv", "csv.gz", "csv.zst", "parquet")


def text_of(tmp_path: Path, name: str) -> list[str]:
    value, write, _ = FORMATS[name]
    write(tmp_path / "valid.csv", value)
    return (tmp_path / "valid.csv").read_text().splitlines()


@pytest.mark.parametrize("name", FORMATS)
class TestRoundTrips:
    @pytest.mark.parametrize("ending", ENDINGS)
    def test_every_container(self, tmp_path, name, ending):
        value, write, read = FORMATS[name]
        write(tmp_path / f"f.{ending}", value)
        assert read(tmp_path / f"f.{ending}") == value

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    @pytest.mark.parametrize("last", [True, False])
    def test_line_ends_mark_and_missing_last_end(self, tmp_path, name, end, mark, last):
        value, _, read = FORMATS[name]
        text = mark + end.join(text_of(tmp_path, name)) + (end if last else "")
        (tmp_path / "f.csv").write_bytes(text.encode())
        assert read(tmp_path / "f.csv") == value

    @pytest.mark.parametrize("ending", ENDINGS)
    def test_convert_there_and_back(self, tmp_path, name, ending):
        canonical = "\n".join(text_of(tmp_path, name)) + "\n"
        files.convert(tmp_path / "valid.csv", tmp_path / f"f.{ending}")
        files.convert(tmp_path / f"f.{ending}", tmp_path / "back.csv")
        assert (tmp_path / "back.csv").read_text() == canonical


class TestLargeText:
    """Text beyond the limits of a reader becomes Parquet, which is read in parts."""

    @pytest.fixture(autouse=True)
    def small(self, monkeypatch):
        blocks = partial(read_blocks, block_bytes=100)
        monkeypatch.setattr("tracecup.traces.csvtext.read_blocks", blocks)
        monkeypatch.setattr(files, "GROUP_ROWS", 7)
        monkeypatch.setattr("tracecup.traces.parquet.GROUP_ROWS", 7)

    @pytest.mark.parametrize("rows", [0, 1, 7, 20, 500])
    @pytest.mark.parametrize("most", [1, 3])
    def test_a_group_at_a_time(self, tmp_path, rows, most):
        random = np.random.default_rng(rows + most)
        sizes = random.integers(most == 1, most + 1, size=rows)
        cells = [random.integers(1, 99, size=size) for size in sizes]
        text = "reg_id\n" + "".join((" ".join(map(str, cell)) or "*") + "\n" for cell in cells)
        (tmp_path / "f.csv").write_text(text)
        files.convert(tmp_path / "f.csv", tmp_path / "f.parquet", Limits(max_bytes=10, max_rows=2))
        files.convert(tmp_path / "f.parquet", tmp_path / "back.csv")
        assert (tmp_path / "back.csv").read_text() == text
        groups = pq.ParquetFile(tmp_path / "f.parquet")
        assert groups.num_row_groups == -(-rows // 7)
        numbers = most == 1 or rows == 0
        assert str(groups.schema_arrow.types[0]).startswith("int32" if numbers else "list")

    def test_a_problem_leaves_no_file(self, tmp_path):
        lines = ["reg_id", *["5"] * 300, "x", *["6"] * 50, "y"]
        (tmp_path / "f.csv").write_text("\n".join(lines))
        with pytest.raises(InvalidFile, match=r"line 302(.|\n)*line 353"):
            files.convert(tmp_path / "f.csv", tmp_path / "f.parquet")
        assert not (tmp_path / "f.parquet").exists()

    @pytest.mark.parametrize("limits", [Limits(max_rows=2), Limits(max_bytes=20)])
    def test_readers_say_so(self, tmp_path, limits, monkeypatch):
        files.write_traces(tmp_path / "f.csv", Traces.of([[0, 1, 2, 3]]))
        with pytest.raises(InvalidFile, match=r"at most \d+( bytes)?$"):
            files.read_traces(tmp_path / "f.csv", limits=limits)
        monkeypatch.setattr(files, "DEFAULT_LIMITS", limits)
        with pytest.raises(InvalidFile, match="`tracecup convert IN.csv OUT.parquet`"):
            files.read_traces(tmp_path / "f.csv", limits=limits)


cell_lists = st.lists(st.lists(st.integers(1, 99_999), max_size=5), min_size=1, max_size=60)


class TestScanner:
    """The compiled scanner against an obvious parser in Python."""

    @given(cell_lists)
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
    def test_any_cells_come_back(self, tmp_path, cells):
        clock = Clock.unknown(len(cells))
        traces = SetTraces.of_cells([[[r - 1 for r in cell] for cell in cells]], clock)
        files.write_obfuscated(tmp_path / "f.csv", traces)
        text = "reg_id\n" + "".join((" ".join(map(str, c)) or "*") + "\n" for c in cells)
        assert (tmp_path / "f.csv").read_text() == text
        assert files.read_obfuscated(tmp_path / "f.csv", users=1, clock=clock) == traces

    @given(st.lists(st.text("0123456789 *,\r\tx", max_size=6), max_size=8))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=1500)
    def test_accepts_exactly_what_the_format_says(self, tmp_path, lines):
        (tmp_path / "f.csv").write_bytes(("reg_id\n" + "".join(x + "\n" for x in lines)).encode())
        wanted = [_slow_cell(line.removesuffix("\r")) for line in lines]
        bad = [k + 2 for k, cell in enumerate(wanted) if cell is None]
        clock = Clock.unknown(max(1, len(lines)))
        try:
            found = files.read_obfuscated(tmp_path / "f.csv", users=1, clock=clock, n_regions=1024)
        except InvalidFile as error:
            reported = [p.line for p in error.problems if p.line]
            assert reported == bad[:10] or not lines
            assert error.total == len(bad) or not lines
        else:
            assert not bad
            assert [found.cell(0, j).tolist() for j in range(len(lines))] == wanted

    def test_blocks_do_not_matter(self, tmp_path, monkeypatch):
        rng = np.random.default_rng(3)
        clock = Clock.unknown(400)
        cells = [[rng.integers(0, 1024, rng.integers(0, 9)).tolist() for _ in range(400)]]
        traces = SetTraces.of_cells(cells, clock)
        files.write_obfuscated(tmp_path / "f.csv", traces)
        for size in (7, 64, 1000):
            blocks = files.read_csv.__globals__["read_blocks"]
            monkeypatch.setitem(
                files.read_csv.__globals__, "read_blocks", lambda p, m, b=blocks, s=size: b(p, m, s)
            )
            assert files.read_obfuscated(tmp_path / "f.csv", users=1, clock=clock) == traces
            monkeypatch.undo()


def _slow_cell(text: str) -> list[int] | None:
    if text == "*":
        return []
    tokens = text.split(" ")
    if any(t != str(int(t)) if t.isdigit() else True for t in tokens):
        return None
    ids = [int(t) for t in tokens]
    return [i - 1 for i in ids] if all(1 <= i <= 1024 for i in ids) else None


def expect(tmp_path: Path, name: str, lines: list[str], text: str, **options: int) -> None:
    (tmp_path / "bad.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(InvalidFile, match=text) as caught:
        FORMATS[name][2](tmp_path / "bad.csv", **options)
    assert str(caught.value).startswith(str(tmp_path / "bad.csv"))


class TestErrors:
    @pytest.mark.parametrize(
        "cell", ["0", "1025", "007", "1.0", "5 *", "* *", "", "3 ", "3  4", "-1"]
    )
    def test_bad_cells(self, tmp_path, cell):
        lines = text_of(tmp_path, "obfuscated")
        lines[3] = cell
        expect(tmp_path, "obfuscated", lines, r"line 4, column reg_id: found ", n_regions=1024)

    def test_comma_in_a_one_column_file(self, tmp_path):
        lines = text_of(tmp_path, "obfuscated")
        lines[1] = "10,20"
        expect(tmp_path, "obfuscated", lines, r"line 2: found 2 columns in '10,20', expected 1")

    def test_repeated_ids_are_accepted_with_multiplicity(self, tmp_path):
        lines = text_of(tmp_path, "obfuscated")
        lines[1] = "10 10"
        (tmp_path / "f.csv").write_text("\n".join(lines))
        read = files.read_obfuscated(tmp_path / "f.csv", users=USERS, clock=CLOCK)
        assert read.cell(0, 0).tolist() == [9, 9]

    @pytest.mark.parametrize(("change", "found"), [(slice(1, 2), 5), (slice(0, 0), 6)])
    def test_wrong_number_of_rows(self, tmp_path, change, found):
        lines = text_of(tmp_path, "obfuscated")
        if found == 5:
            del lines[change]
            expect(tmp_path, "obfuscated", lines, "found 5 rows, expected exactly 6 rows")
        else:
            expect(tmp_path, "obfuscated", [*lines, "1"], "line 8: found more rows, expected")

    def test_lists_ten_and_counts_the_rest(self, tmp_path):
        (tmp_path / "bad.csv").write_text("reg_id\n" + "x\n" * 25)
        with pytest.raises(InvalidFile) as caught:
            files.read_obfuscated(tmp_path / "bad.csv", users=5, clock=Clock.unknown(5))
        assert len(caught.value.problems) == 10
        assert caught.value.total == 25
        assert "and 15 more" in str(caught.value)

    def test_header(self, tmp_path):
        expect(
            tmp_path, "obfuscated", ["region", "1"], r"line 1: found 'region', expected the header"
        )

    @pytest.mark.parametrize("ending", ["csv", "parquet"])
    def test_a_file_of_another_kind_is_named(self, tmp_path, ending):
        path = tmp_path / f"original.{ending}"
        files.write_traces(path, Traces.of([[0, 1], [2, 3]]))
        with pytest.raises(InvalidFile, match="as in files of kind reference or original"):
            files.read_released(path)

    @pytest.mark.parametrize("gaps", [False, True])
    def test_the_other_part_of_the_contest(self, tmp_path, gaps):
        clock = ContestClock.regular(days=1, slots=2)
        path = tmp_path / "reference.csv"
        files.write_traces(path, Traces.of([[0, 1], [2, 3]], clock.reference))
        with pytest.raises(InvalidFile, match=r"found 1, expected 3.*are reference and original"):
            files.read_traces(path, clock=clock.original, gaps=gaps)

    def test_utf16(self, tmp_path):
        (tmp_path / "bad.csv").write_bytes("reg_id\n1\n".encode("utf-16"))
        with pytest.raises(InvalidFile, match="UTF-16 text"):
            files.read_obfuscated(tmp_path / "bad.csv", users=1, clock=Clock.unknown(1))

    @pytest.mark.parametrize(
        ("name", "line", "text", "message"),
        [
            ("original", 3, "2,4,6", "line 3, column user_id: found 2, expected 1"),
            ("original", 2, "1,9,1", "line 2, column time_id: found 9, expected 3"),
            ("original", 2, "1,3,1 2", "line 2, column reg_id: found '1 2', expected one whole"),
            ("original", 2, "1,3,*", r"line 2, column reg_id: found '\*'"),
            ("original", 2, "01,3,1", "line 2, column user_id: found '01'"),
            ("original", 2, "1,3", "line 2: found 2 columns"),
            ("released", 2, "1,3,1", "line 2, column pse_id: found 1, expected 4"),
            ("id-table", 2, "9,3", "line 2, column pse_id: found 9, expected 4"),
            ("id-table", 3, "5,3", "line 3, column user_id: found 3 a second time"),
            ("id-table", 3, "5,4", "line 3, column user_id: found 4, expected 1 to 3"),
            ("inferred-table", 2, "4", "line 2, column user_id: found '4', expected .* 1 to 3"),
            ("inferred-traces", 2, "1 2", "line 2, column reg_id: found '1 2', expected one"),
            ("inferred-traces", 2, "*", r"line 2, column reg_id: found '\*'"),
        ],
    )
    def test_each_format_names_line_and_column(self, tmp_path, name, line, text, message):
        lines = text_of(tmp_path, name)
        lines[line - 1] = text
        expect(tmp_path, name, lines, message)

    def test_empty_tables(self, tmp_path):
        for name in ("original", "released", "id-table"):
            expect(tmp_path, name, text_of(tmp_path, name)[:1], "no rows")

    def test_unknown_header_for_convert(self, tmp_path):
        (tmp_path / "f.csv").write_text("a,b\n1,2\n")
        with pytest.raises(InvalidFile, match="one of the headers"):
            files.convert(tmp_path / "f.csv", tmp_path / "g.csv")
        assert not (tmp_path / "g.csv").exists()


class TestGaps:
    def test_missing_rows_are_unobserved(self, tmp_path):
        traces = Traces.of([[0, -1], [-1, 3]], CLOCK)
        files.write_traces(tmp_path / "f.csv", traces)
        assert files.read_traces(tmp_path / "f.csv", clock=CLOCK, users=2, gaps=True) == traces

    def test_refused_unless_asked_for(self, tmp_path):
        files.write_traces(tmp_path / "f.csv", Traces.of([[0, -1], [2, 3]], CLOCK))
        with pytest.raises(InvalidFile):
            files.read_traces(tmp_path / "f.csv", clock=CLOCK)

    @pytest.mark.parametrize(
        ("rows", "text"),
        [
            ("1,4,1\n1,3,1\n", "line 3: found user 1, time 3"),
            ("1,9,1\n", "line 2, column time_id: found 9, expected 3 to 4"),
            ("5,3,1\n", "line 2, column user_id: found 5, expected 1 to 2"),
        ],
    )
    def test_errors(self, tmp_path, rows, text):
        (tmp_path / "f.csv").write_text("user_id,time_id,reg_id\n" + rows)
        with pytest.raises(InvalidFile, match=text):
            files.read_traces(tmp_path / "f.csv", clock=CLOCK, users=2, gaps=True)

    def test_inferred_traces_have_none(self, tmp_path):
        with pytest.raises(InvalidParameter, match="every event"):
            files.write_inferred_traces(tmp_path / "f.csv", Traces.of([[-1]]))


class TestSecrets:
    def test_the_id_table_is_for_its_owner_only(self, tmp_path):
        files.write_id_table(tmp_path / "p.csv", TABLE)
        files.convert(tmp_path / "p.csv", tmp_path / "q.csv.gz")
        for name in ("p.csv", "q.csv.gz"):
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600

    def test_release_and_table_appear_together_or_not_at_all(self, tmp_path):
        with pytest.raises(UnreadableFile):
            files.write_release_and_table(
                tmp_path / "a.csv", RELEASED, tmp_path / "no" / "b", TABLE
            )
        assert os.listdir(tmp_path) == []


class TestHostile:
    LIMITS = Limits(max_bytes=300_000, max_line=5_000, max_rows=2_000, max_ids=20_000)

    def refuse(self, path: Path, text: str) -> None:
        with pytest.raises(InvalidFile, match=text):
            files.cell_columns(path, "obfuscated", n_regions=1024, limits=self.LIMITS)

    @pytest.mark.parametrize(
        ("content", "text"),
        [
            (b"1 " * 10_000, "line 2: found a line of more than 5000 bytes"),
            (b"1\n2 3\n" + b"1" * 200_000, "line 4: found a line of more than 5000 bytes"),
            (b"1 " * 1_200 + b"1\n", "1201 ids in a cell, expected at most 1024"),
            (b"1\n" * 3_000, "over 2000 rows"),
            (b"1 2 3 4 5 6 7 8 9 1 2 3\n" * 1_900, "over 20000 ids"),
            (b"1\n" * 200_000, "at most 300000 bytes"),
            (b"1\n\0\n", r"line 3, column reg_id: found '\\x00'"),
            (b"\xff\xfe\n", r"line 2, column reg_id: found '\\\\xff\\\\xfe'"),
        ],
    )
    def test_refused(self, tmp_path, content, text):
        (tmp_path / "f.csv").write_bytes(b"reg_id\n" + content)
        self.refuse(tmp_path / "f.csv", text)

    def test_header_without_end(self, tmp_path):
        (tmp_path / "f.csv").write_bytes(b"r" * 100_000)
        self.refuse(tmp_path / "f.csv", "line 1: found 'rrr")

    def test_bomb(self, tmp_path):
        (tmp_path / "f.gz").write_bytes(gzip.compress(b"reg_id\n" + b"1 2\n" * 500_000))
        self.refuse(tmp_path / "f.gz", "over 2000 rows|after decompression")

    def test_empty(self, tmp_path):
        (tmp_path / "f.csv").write_bytes(b"")
        self.refuse(tmp_path / "f.csv", "an empty line")

    def test_parquet_that_claims_too_much(self, tmp_path):
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"reg_id": pa.array([1] * 5_000)}), tmp_path / "f.parquet")
        self.refuse(tmp_path / "f.parquet", "5000 rows")

    @pytest.mark.parametrize(
        ("column", "text"),
        [
            ([1, None], "row|line 2, column reg_id: found nothing"),
            ([1, 5000], "line 2, column reg_id: found 5000"),
            (["a"], "a column of string"),
            ([[1], [2, 0]], "line 2, column reg_id: found 0"),
            ([[1], None], "line 2, column reg_id: found nothing"),
        ],
    )
    def test_parquet_with_bad_values(self, tmp_path, column, text):
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"reg_id": column}), tmp_path / "f.parquet")
        self.refuse(tmp_path / "f.parquet", text)

    def test_parquet_with_other_columns(self, tmp_path):
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"region": [1]}), tmp_path / "f.parquet")
        self.refuse(tmp_path / "f.parquet", "the columns reg_id")


SNIPPETS = [
    b"",
    b"\n",
    b"\r",
    b",",
    b" ",
    b"*",
    b"\0",
    b"\xff",
    b"0",
    b"1",
    b"99999999999",
    b"-",
    b"x",
]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst", "parquet"])
@pytest.mark.parametrize("name", FORMATS)
class TestFuzz:
    """Mutated files: a reader returns, or raises an error of ours that names the file."""

    @given(
        st.lists(
            st.tuples(st.floats(0, 1), st.integers(0, 4), st.sampled_from(SNIPPETS)), min_size=1
        )
    )
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
    def test_only_our_own_errors_come_out(self, tmp_path, name, ending, changes):
        value, write, read = FORMATS[name]
        path = tmp_path / f"f.{ending}"
        if not (tmp_path / "valid").exists():
            write(path, value)
            path.rename(tmp_path / "valid")
        content = bytearray((tmp_path / "valid").read_bytes())
        for place, length, snippet in changes:
            start = int(place * len(content))
            content[start : start + length] = snippet
        path.write_bytes(bytes(content))
        try:
            read(path)
        except TraceCupError as error:
            assert str(path) in str(error)
