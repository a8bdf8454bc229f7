import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tracecup.contest.archive import export
from tracecup.contest.archive.folder import Archive
from tracecup.contest.archive.manifest import write_manifest
from tracecup.contest.archive.verify import verify
from tracecup.contest.entries import BENCHMARK, Entry
from tracecup.contest.judging.flow import truth_of
from tracecup.contest.smallfiles import write_json
from tracecup.traces import IdTable, Traces
from tracecup.traces.files import (
    write_id_table,
    write_inferred_table,
    write_inferred_traces,
    write_obfuscated,
    write_released,
)

KINDS_OF_FILES = [
    "archive.json", "contest.toml", "MANIFEST.json", "MANIFEST.sha256", "public/info_region.csv",
    "public/info_time.csv", "public/commitments.json", "openings/opening_team002.txt",
    "public/team001/reftraces_team001_data02_TRP.csv.zst",
    "public/team001/pubtraces_team001_data02_TRP.csv.zst",
    "public/team006/orgtraces_team006_data02_TRP.csv.zst",
    "public/team006/ptable_team006_data02_TRP.csv.zst",
    "secret/seed.json", "secret/openings/opening_team002.txt",
    "secret/team001/orgtraces_team001_data02_TRP.csv.zst",
    "secret/team001/anotraces_team001_data02_TRP.csv.zst",
    "secret/team001/ptable_team001_data02_TRP.csv.zst",
    "secret/team001/submission_team001_data02_TRP.json",
    "answers/attacks.json", "answers/team002/etable_team002-001_data02_TRP.csv.zst",
    "answers/T2/etraces_T2-001_data02_TRP.csv.zst", "results/reid.csv", "results/trace.parquet",
    "results/releases.csv", "results/cells.parquet", "results/awards.csv", "results/sums.csv",
    "results/users.parquet", "results/utility.csv", "results/summary.json",
]  # fmt: skip


def forge(archive):
    """Write a manifest that fits what was spoiled: only the content can give it away."""
    write_manifest(archive.root)
    return verify(archive.root)


class TestVerify:
    def test_an_archive_as_it_was_made_is_all_equal(self, played):
        assert verify(played.root, rerun_samples=True) == []

    @pytest.mark.parametrize("name", KINDS_OF_FILES)
    def test_a_flipped_byte_is_named(self, own_copy, name):
        path = own_copy.root / name
        spoiled = bytearray(path.read_bytes())
        spoiled[len(spoiled) // 2] ^= 1
        path.write_bytes(spoiled)
        assert any(name in line for line in verify(own_copy.root))

    def test_missing_and_added_files_are_named(self, own_copy):
        (own_copy.root / "results" / "awards.csv").unlink()
        (own_copy.root / "results" / "extra.csv").write_text("x")
        found = verify(own_copy.root)
        assert "results/awards.csv: is missing" in found
        assert "results/extra.csv: is not in the manifest" in found

    def test_the_published_digest_counts_more_than_the_stored_one(self, own_copy):
        published = (own_copy.root / "MANIFEST.sha256").read_text().split()[0]
        (own_copy.root / "answers" / "attacks.json").write_text('{"reid": {}, "trace": {}}')
        write_manifest(own_copy.root)
        assert any("MANIFEST.json" in line for line in verify(own_copy.root, digest=published))


class TestOrderOfRegions:
    """Releases of before have their cells as they were handed in, those of today sorted ones."""

    @pytest.fixture
    def before(self, tmp_path, monkeypatch):
        """A small contest that was played before cells were sorted; two teams wrote sets."""
        with export.opened(Path(__file__).parent / "before" / "cells_as_handed_in.zip") as folder:
            shutil.copytree(folder, tmp_path / "before")
        archive = Archive(tmp_path / "before")
        scorer = json.loads((archive.public / "commitments.json").read_text())["scorer"]
        monkeypatch.setattr("tracecup.contest.archive.verify.SCORER", scorer)
        return archive

    def test_an_archive_of_before_is_still_all_equal(self, before):
        released = before.released(Entry(1))
        assert released != released.with_sorted_cells()
        assert verify(before.root, rerun_samples=True) == []

    def test_a_commitment_of_today_wants_sorted_cells(self, before):
        for opened in (True, False):
            path = before.opening_file(1, opened=opened)
            path.write_text(path.read_text().replace("commitment 1", "commitment 2"))
        found = forge(before)
        assert any("not the obfuscated file, shuffled" in line for line in found)


class TestNothingHandedIn:
    def test_a_removed_file_is_found_although_its_record_says_so(self, own_copy):
        """Team 4 is invalid; its file is removed and its record says that there was none."""
        own_copy.secret_file(Entry(4), "anotraces").unlink()
        record = own_copy.submission_file(Entry(4))
        said = json.loads(record.read_text())
        said |= {"reason": "nothing was handed in"}
        said |= dict.fromkeys(("utility", "utility_low", "utility_high"))
        write_json(record, said)
        found = forge(own_copy)
        assert not any(line.startswith("secret/team004/submission") for line in found)
        assert any("does not fix anotraces_team004" in line for line in found)

    def test_a_missing_file_is_no_verdict_of_a_valid_release(self, own_copy):
        own_copy.secret_file(Entry(1), "anotraces").unlink()
        assert any("nothing was handed in" in line for line in forge(own_copy))


class TestForgeries:
    """Every file fits a new manifest; what was changed is still found."""

    def test_a_changed_score(self, own_copy):
        path = own_copy.results / "reid.csv"
        path.write_text(path.read_text().replace("0.9", "0.8", 1))
        found = forge(own_copy)
        assert len(found) == 1
        assert found[0].startswith("results/reid.csv: line 2 is")

    def test_a_changed_award(self, own_copy):
        path = own_copy.results / "awards.csv"
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join([lines[0], lines[2], lines[1], *lines[3:]]))
        assert all(line.startswith("results/awards.csv") for line in forge(own_copy))

    def test_a_better_answer(self, own_copy):
        truth = truth_of(own_copy, Entry(1))
        path = own_copy.answer_file(Entry(1), "etable", "005")
        write_inferred_table(path, truth.table)
        found = forge(own_copy)
        assert any("results/cells.csv" in line and "team005" in line for line in found)

    def test_a_worse_answer_of_a_sample_attack(self, own_copy):
        path = own_copy.answer_file(BENCHMARK, "etraces", "T2")
        inferred = own_copy.judge.read_inferred(path)
        write_inferred_traces(path, Traces.of(inferred.regions[::-1], inferred.clock))
        write_manifest(own_copy.root)
        assert any("T2 infers other traces" in x for x in verify(own_copy.root, rerun_samples=True))

    def test_another_table_of_a_sample_attack(self, own_copy):
        path = own_copy.answer_file(BENCHMARK, "etable", "I1")
        write_inferred_table(path, IdTable.of(np.arange(20)))
        write_manifest(own_copy.root)
        found = verify(own_copy.root, rerun_samples=True)
        assert any("I1 gives another table" in line for line in found)

    def test_another_id_table(self, own_copy):
        table = own_copy.id_table(Entry(2))
        swapped = table.users.copy()
        swapped[[0, 1]] = swapped[[1, 0]]
        write_id_table(own_copy.secret_file(Entry(2), "ptable"), IdTable(swapped))
        found = forge(own_copy)
        assert any("shuffled by the table" in line for line in found)
        assert any("opening_team002.txt: the commitment does not fix ptable" in x for x in found)

    def test_a_release_exchanged_after_the_commitment(self, own_copy):
        released = own_copy.released(Entry(1))
        turned = released.take_users(np.arange(20)[::-1]).renamed(released.users)
        write_released(own_copy.public_file(Entry(1), "pubtraces"), turned)
        assert any("shuffled by the table" in line for line in forge(own_copy))

    def test_a_submission_exchanged_after_the_commitment(self, own_copy):
        other = own_copy.obfuscated(Entry(2))
        write_obfuscated(own_copy.secret_file(Entry(4), "anotraces"), other)
        found = forge(own_copy)
        assert any("submission_team004" in line and "utility" in line for line in found)
        assert any("does not fix anotraces_team004_data02_TRP.csv" in line for line in found)

    def test_a_verdict(self, own_copy):
        path = own_copy.submission_file(Entry(4))
        held = json.loads(path.read_text())
        write_json(path, held | {"valid": True})
        found = forge(own_copy)
        assert any("valid is True, computed is False" in line for line in found)

    def test_an_opening_with_another_nonce(self, own_copy):
        for opened in (True, False):
            path = own_copy.opening_file(1, opened=opened)
            lines = path.read_text().splitlines()
            lines[3] = f"nonce {'0' * 64}"
            path.write_text("\n".join(lines) + "\n")
        found = forge(own_copy)
        assert any("openings/opening_team001.txt: is not what was committed" in x for x in found)

    def test_commitments_that_were_replaced(self, own_copy):
        path = own_copy.public / "commitments.json"
        held = json.loads(path.read_text())
        held["commitments"]["001"] = "0" * 64
        held["releases"][Entry(4).release]["valid"] = True
        held["scorer"] = "another"
        write_json(path, held)
        found = forge(own_copy)
        assert sum("commitments.json" in line for line in found) == 2
        assert any("opening_team001.txt: is not what was committed" in line for line in found)
