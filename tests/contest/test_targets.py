"""All targets at once, on a played archive of bots."""

from __future__ import annotations

import shutil
import zipfile

import pytest

from tracecup.attack import parse_inference, parse_reid
from tracecup.cli.main import run
from tracecup.contest.entries import Entry
from tracecup.contest.filenames import parse_file_name
from tracecup.contest.judging import flow
from tracecup.contest.targets import attack_all, find_targets
from tracecup.errors import InvalidParameter, UnreadableFile
from tracecup.score import reid_score
from tracecup.study.sweepdata import find_data
from tracecup.traces.files import read_inferred_table

ATTACKS = [parse_reid("VisitProb-R"), parse_inference("VisitProb-T")]


class TestAttackAll:
    def test_every_other_teams_release_is_answered(self, played, tmp_path):
        out = tmp_path / "answers.zip"
        made = attack_all(played.public, ATTACKS, "001", out)
        released = {path.name for path in played.public.rglob("pubtraces_*")}
        with zipfile.ZipFile(out) as packed:
            said = [parse_file_name(name) for name in packed.namelist()]
            assert packed.namelist() == list(made.answers)
            packed.extractall(tmp_path / "open")
        samples = {entry.label for entry in played.samples}
        assert samples
        own = {"team001", *samples}
        others = {name for name in released if not any(label in name for label in own)}
        assert len(said) == 2 * len(others)
        assert {one.attacker for one in said} == {"001"}
        assert "001" not in {one.team for one in said}

    def test_answers_are_those_of_the_attack(self, played, tmp_path):
        attack_all(played.public, ATTACKS[:1], "001", tmp_path / "a.zip")
        with zipfile.ZipFile(tmp_path / "a.zip") as packed:
            name = next(n for n in packed.namelist() if "-002_" in n)
            packed.extract(name, tmp_path)
        case = flow.case_of(played, Entry(2))
        table = read_inferred_table(tmp_path / name, users=case.n_users)
        assert table == ATTACKS[0].identify(case)
        truth = flow.truth_of(played, Entry(2))
        assert reid_score(truth.table, table).value <= 1

    def test_the_same_seed_the_same_bytes(self, played, tmp_path):
        for name in ("a.zip", "b.zip"):
            attack_all(played.public, [parse_reid("Random-R")], "002", tmp_path / name, seed=3)
        assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()

    def test_a_release_without_references_is_told(self, played, tmp_path):
        folder = tmp_path / "public"
        shutil.copytree(played.public, folder)
        next(iter(folder.rglob("reftraces_team002*"))).unlink()
        found, lone = find_targets(folder)
        assert len(lone) == 1
        assert "team002" in lone[0]
        assert all(target.about.team != "002" for target in found)

    def test_nonsense(self, played, tmp_path):
        with pytest.raises(InvalidParameter, match="one of each"):
            attack_all(played.public, [ATTACKS[0]] * 2, "001", tmp_path / "x.zip")
        with pytest.raises(InvalidParameter, match="no release of another team"):
            attack_all(tmp_path, ATTACKS, "001", tmp_path / "x.zip")
        with pytest.raises(UnreadableFile, match="no such folder"):
            find_targets(tmp_path / "nothing")

    def test_the_command(self, played, tmp_path, capsys):
        out = tmp_path / "answers.zip"
        words = ["attack", "all", str(played.public), "--team", "1", "--out", str(out)]
        assert run([*words, "--reid", "VisitProb-R", "--trace", ""]) == 0
        assert "answers" in capsys.readouterr().out
        assert zipfile.is_zipfile(out)


class TestArchiveAsData:
    def test_every_team_is_a_data_set(self, played):
        found = find_data([played.root])
        assert [one.team for one in found] == [entry.label for entry in played.entries]
        city, reference, original = found[0].load()
        assert original == flow.truth_of(played, played.entries[0]).original
        assert (city.n_regions, reference.n_users) == (played.city.n_regions, original.n_users)

    def test_without_secrets_it_says_so(self, own_copy):
        shutil.rmtree(own_copy.secret)
        with pytest.raises(InvalidParameter, match="secret part"):
            find_data([own_copy.root])
