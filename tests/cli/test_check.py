"""`tracecup check`: from a module in the current folder to a verdict, and precise refusals."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracecup import registry
from tracecup.cli.main import run
from tracecup.registry import KINDS, methods

EXAMPLES = Path(__file__).parents[2] / "examples"
MODULE = """
from dataclasses import dataclass
import numpy as np
from tracecup.attack import ReidAttack
from tracecup.registry import parameter, register

@register("reid", "First-R", "names the first user")
@dataclass(frozen=True)
class First(ReidAttack):
    weight: float = parameter(1.0, "score of the first user", low=0)

    def score_matrix(self, case, rng=None):
        {check}
        scores = np.zeros((case.n_users, case.n_users))
        scores[:, {column}] = self.weight
        return scores

class NoMethod:
    pass

number = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder; modules, search path and registry are as before afterwards."""
    copies = {kind: {c.name.lower(): c for c in methods(kind).values()} for kind in KINDS}
    monkeypatch.setattr(registry, "_methods", copies)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in list(sys.modules):
        if name.startswith(("mine_", "my_attack")):
            del sys.modules[name]


def write(folder: Path, name: str, check: str = "self.check()", column: str = ":") -> None:
    (folder / f"{name}.py").write_text(MODULE.format(check=check, column=column))


class TestCheck:
    def test_a_sound_method_is_a_yes(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(folder, "mine_a")
        assert run(["check", "mine_a:First", "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert (said["kind"], said["passed"]) == ("reid", True)
        assert all(check["passed"] for check in said["checks"])

    def test_a_broken_one_is_a_no_with_advice(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(folder, "mine_b", check="pass", column="0")
        assert run(["check", "mine_b:First", "--json"]) == 1
        said = json.loads(capsys.readouterr().out)
        failed = {c["name"]: c["message"] for c in said["checks"] if not c["passed"]}
        assert set(failed) == {"refuses bad parameters", "permuting users permutes columns"}
        assert "call self.check() first in score_matrix" in failed["refuses bad parameters"]

    def test_table_for_people(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        write(folder, "mine_c", check="pass")
        assert run(["check", "mine_c:First"]) == 1
        text = capsys.readouterr().out
        assert "mine_c:First (reid)" in text
        assert "call self.check()" in " ".join(text.replace("│", " ").split())

    @pytest.mark.parametrize("name", ["CosineR", "Jitter"])
    def test_the_template(self, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(EXAMPLES)
        assert run(["check", f"my_attack:{name}"]) == 0

    def test_a_class_of_a_package(self, folder: Path) -> None:
        assert run(["check", "tracecup.obfuscate:RR"]) == 0

    @pytest.mark.parametrize("params", ["First-R(2)", "first(weight=2)"])
    def test_parameters(
        self, params: str, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(folder, "mine_d")
        assert run(["check", "mine_d:First", "--params", params, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["params"] == params

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ("First-R(-2)", "First-R.weight must be a number >= 0, got -2"),
            ("Second-R(2)", "--params is written First-R(...) for this class"),
            ("First-R(", "a method is written Name"),
        ],
    )
    def test_wrong_parameters(
        self, params: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(folder, "mine_e")
        assert run(["check", "mine_e:First", "--params", params, "--json"]) == 2
        assert message in json.loads(capsys.readouterr().out)["error"]


class TestLoadClass:
    @pytest.mark.parametrize(
        ("target", "message"),
        [
            ("mine_f", "a class is written module:Class"),
            ("mine_f.py:Frist", "has no method 'Frist'; did you mean First?"),
            ("./mine_f:First", "or folder/my.py:Class"),
            ("mine_f:First()", "a class is written module:Class"),
            (":", "a class is written module:Class"),
            (
                "mine_g:First",
                "no module 'mine_g' in the current folder or installed; did you mean mine_f?",
            ),
            ("mine_f.inner:First", "no module 'mine_f.inner'"),
            ("tracecup.nothing:First", "no module 'tracecup.nothing'"),
            ("mine_f:Frist", "has no 'Frist'; did you mean First? (methods in it: First)"),
            ("mine_f:NoMethod", "mine_f:NoMethod is no method: derive the class from Obfuscator"),
            ("mine_f:number", "mine_f:number is no method"),
            ("tracecup.registry:Method", "Method is no method: a method derives from one of"),
        ],
    )
    def test_precise_refusals(
        self, target: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(folder, "mine_f")
        assert run(["check", target, "--json"]) == 2
        assert message in json.loads(capsys.readouterr().out)["error"]

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            (
                "import nothing_like_this",
                "ModuleNotFoundError: No module named 'nothing_like_this'",
            ),
            ("\n1/0\n", "ZeroDivisionError: division by zero (mine_h.py, line 2)"),
            ("raise SystemExit(3)", "SystemExit: 3 (mine_h.py, line 1)"),
            ("def (", "SyntaxError"),
            (MODULE.format(check="pass", column=0).replace("First-R", "Random-R"), "already taken"),
        ],
    )
    def test_a_module_that_fails_is_a_no(
        self, source: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (folder / "mine_h.py").write_text(source)
        code = run(["check", "mine_h:First", "--json"])
        said = json.loads(capsys.readouterr().out)["error"]
        assert "module mine_h cannot be imported" in said
        assert message in said
        assert code == 1
