"""The sample layout in deploy/: its files are read by those they are for, its commands exist."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
import typer

from tracecup.cli.main import app
from tracecup.cli.worker import TOKEN_VARIABLE

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
COMPOSE = DEPLOY / "compose" / "compose.yaml"
CONFS = [DEPLOY / "nginx" / "tracecup.conf", COMPOSE.parent / "nginx.conf"]
SERVICE_KEYS = {
    "image", "build", "restart", "environment", "volumes", "depends_on", "healthcheck", "command",
    "ports",
}  # fmt: skip
PROGRAM = "/opt/tracecup/bin/tracecup"


def unit(path: Path) -> configparser.ConfigParser:
    read = configparser.ConfigParser(interpolation=None, strict=False)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string(path.read_text())
    return read


def compose() -> dict:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(COMPOSE.read_text())


def parse(words: list[str]) -> None:
    """Let the command line read the words, without running anything."""
    command: click.Command = typer.main.get_command(app)
    context = click.Context(command)
    while isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        assert found is not None, words
        command, words = found, words[1:]
    command.make_context("tracecup", list(words), resilient_parsing=False)


class TestSystemd:
    @pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
    def test_the_command_is_one_of_ours(self, path: Path) -> None:
        program, *words = shlex.split(unit(path)["Service"]["ExecStart"].replace("%i", "8019"))
        assert program == PROGRAM
        parse(words)

    @pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
    def test_it_comes_back_and_may_not_do_much(self, path: Path) -> None:
        service = unit(path)["Service"]
        assert service["Restart"] == "always"
        assert service["NoNewPrivileges"] == service["ProtectHome"] == "yes"
        assert "User" in service or service["DynamicUser"] == "yes"

    @pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
    def test_systemd_has_no_complaint(self, tmp_path: Path) -> None:
        for path in UNITS:  # the program is not installed there, so another one that is
            text = path.read_text().replace(PROGRAM, sys.executable)
            (tmp_path / path.name.replace("@.", "@8019.")).write_text(text)
        done = subprocess.run(
            ["systemd-analyze", "verify", *map(str, sorted(tmp_path.iterdir()))],
            capture_output=True,
            text=True,
            check=False,
        )
        about = [line for line in done.stderr.splitlines() if "tracecup-" in line]
        assert (done.returncode, about) == (0, [])

    def test_variables_are_those_that_the_server_knows(self) -> None:
        server = ROOT / "src" / "tracecup" / "server"
        code = "".join((server / name).read_text() for name in ("config.py", "settings.py"))
        lines = (DEPLOY / "systemd" / "tracecup.env").read_text().splitlines()
        names = [line.partition("=")[0] for line in lines if line and not line.startswith("#")]
        assert names
        assert [name for name in names if f'"{name}"' not in code] == []


class TestCompose:
    def test_commands_are_ours(self) -> None:
        ours = [one["command"] for one in compose()["services"].values() if "command" in one]
        assert [words[0] for words in ours] == ["serve", "serve", "worker", "worker"]
        for words in ours:
            parse(words)

    def test_what_is_named_is_there(self) -> None:
        told = compose()
        for name, service in told["services"].items():
            assert set(service.get("depends_on", ())) <= set(told["services"]), name
            for volume in service.get("volumes", ()):
                source = volume.partition(":")[0]
                assert source in told["volumes"] or (COMPOSE.parent / source).exists(), name
            if "build" in service:
                assert (COMPOSE.parent / service["build"]["dockerfile"]).exists()

    def test_the_proxy_hands_on_to_the_web_processes(self) -> None:
        conf = (COMPOSE.parent / "nginx.conf").read_text()
        servers = re.findall(r"server (\w+):(\d+);", conf)
        services = compose()["services"]
        assert servers
        for name, port in servers:
            assert services[name]["command"][-3] == port

    def test_keys_are_those_of_the_compose_specification(self) -> None:
        told = compose()
        assert {key for key in told if not key.startswith("x-")} <= {"name", "services", "volumes"}
        for name, service in told["services"].items():
            assert set(service) <= SERVICE_KEYS, name
            assert ("image" in service) or ("build" in service), name
            assert service["restart"] in {"no", "always", "on-failure", "unless-stopped"}, name
            assert set(service.get("build", ())) <= {"context", "dockerfile"}, name
            assert set(service.get("healthcheck", ())) <= {"test", "interval", "retries"}, name
            waits = service.get("depends_on", {})
            conditions = waits.values() if isinstance(waits, dict) else ()
            assert all(one == {"condition": "service_healthy"} for one in conditions), name
            for other in waits if isinstance(waits, dict) else ():
                assert "healthcheck" in told["services"][other], name
            for port in service.get("ports", ()):
                assert re.fullmatch(r"\d+:\d+", port), name
            assert all(isinstance(value, str) for value in service.get("environment", {}).values())

    def test_what_is_not_set_is_asked_for_or_has_a_value(self) -> None:
        asked = re.findall(r"\$\{(\w+)(:[?-])([^}]*)\}", COMPOSE.read_text())
        assert len(asked) == COMPOSE.read_text().count("$")
        assert {name for name, _, _ in asked} == {"POSTGRES_PASSWORD", "CONTEST_HOST"}
        assert all(text for _, _, text in asked)

    def test_the_image_installs_what_the_wheel_offers(self) -> None:
        lines = (COMPOSE.parent / "Containerfile").read_text().splitlines()
        steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
        assert [word for word, _ in steps] == [
            "FROM", "RUN", "COPY", "RUN", "USER", "VOLUME", "ENTRYPOINT"
        ]  # fmt: skip
        about = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        (extra,) = re.findall(r"tracecup\[(\w+)\]", steps[3][1])
        assert extra in about["optional-dependencies"]
        (python,) = re.findall(r"python:(\S+)-slim", steps[0][1])
        assert about["requires-python"] == f">={python}"
        (program,) = json.loads(steps[-1][1])
        assert program in about["scripts"]


class TestRemoteWorker:
    def test_it_needs_the_image_a_token_and_an_address_alone(self) -> None:
        yaml = pytest.importorskip("yaml")
        text = (COMPOSE.parent / "remote-worker.yaml").read_text()
        asked = re.findall(r"\$\{(\w+):\?[^}]+\}", text)
        assert asked == ["TRACECUP_WORKER_TOKEN", "CONTEST_URL"]
        filled = re.sub(r"\$\{\w+:\?[^}]+\}", "https://told", text)
        (worker,) = yaml.safe_load(filled)["services"].values()
        assert set(worker) == {"image", "build", "restart", "environment", "command"}
        assert (worker["image"], worker["build"]) == tuple(
            compose()["services"]["worker1"][key] for key in ("image", "build")
        )
        assert set(worker["environment"]) == {TOKEN_VARIABLE}
        parse(worker["command"])


class TestNginx:
    @pytest.mark.parametrize("path", CONFS, ids=lambda path: path.parent.name)
    def test_headers_cannot_be_forged_and_files_are_handed_through(self, path: Path) -> None:
        conf = path.read_text()
        assert "proxy_request_buffering off;" in conf
        for header in ("X-Forwarded-For $remote_addr", "X-Forwarded-Proto", "X-Forwarded-Host"):
            assert f"proxy_set_header {header}" in conf

    @pytest.mark.skipif(not shutil.which("nginx"), reason="needs nginx")
    @pytest.mark.parametrize("path", CONFS, ids=lambda path: path.parent.name)
    def test_nginx_reads_it(self, path: Path, tmp_path: Path) -> None:
        text = re.sub(r" *ssl_certificate.*\n", "", path.read_text())
        text = re.sub(r"(?m)^ *listen [^;]*;", f"listen unix:{tmp_path}/s;", text)
        text = re.sub(r"server web\d:", "server 127.0.0.1:", text)
        temporary = "".join(
            f"{kind}_temp_path {tmp_path}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        whole = tmp_path / "nginx.conf"
        whole.write_text(f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\n{temporary}{text}}}\n")
        done = subprocess.run(
            ["nginx", "-t", "-e", str(tmp_path / "log"), "-c", str(whole)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
