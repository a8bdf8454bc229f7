"""A made-up contest of any size, and a browser that can be asked what it shows."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from tracecup.contest.correlation import correlate
from tracecup.report import (
    Attacker,
    Award,
    CityMap,
    ContestFacts,
    Matrix,
    Population,
    Release,
    TraceExample,
)

METHODS = ("MRLH(1,1,0.5)", "RR(4)", "PL(4,1)", "KMeans(8)", "RareShift(3)", "MRLH(0,0,0.8)")
ATTACKS = ("VisitProb", "HomeProb", "Fuzzy")


@dataclass(frozen=True)
class MakeFacts:
    """Draws a contest that looks like one: strong attackers see more, teams differ."""

    teams: int = 5
    users: int = 40
    nx: int = 6
    ny: int = 5
    days: int = 2
    hours: int = 3
    names: tuple[str, ...] = ()

    def __call__(self) -> ContestFacts:
        rng = np.random.default_rng(5)
        releases, strength = self._releases(rng)
        reid, trace = (self._matrix(rng, releases, strength, letter) for letter in "IT")
        x = [m for r, m in zip(releases, reid.minima, strict=True) if r.counts]
        y = [m for r, m in zip(releases, trace.minima, strict=True) if r.counts]
        best = max((r for r in releases if r.counts), key=lambda r: r.label)
        return ContestFacts(
            name="Made-up cup",
            summary=f"{self.users} users, {self.nx * self.ny} regions, {self.days} days",
            users=self.users,
            rules=(("Utility floor", "0.7"), ("Hospital weight", "10")),
            releases=releases,
            reid=reid,
            trace=trace,
            awards=(
                Award("Best anonymization", (best.name,), 0.52, "highest s_T,min"),
                Award("Best re-identification", ("A", "B"), 9.5, "lowest sum of s_R"),
            ),
            correlation=correlate(x, y),
            city=CityMap(self.nx, self.ny, (1, 7), 0.34, 0.35),
            population=self._population(rng),
            example=self._example(rng, best),
            prior_ceiling=0.81,
            made_with="tracecup 0.1.0, seed 5",
        )

    def _releases(self, rng):
        strength = np.concatenate([[0.02], np.linspace(0.15, 0.95, self.teams), [0.02]])
        found = [Release("000", "Pseudonyms only", "None", benchmark=True, utility=1.0)]
        for k in range(1, self.teams + 1):
            name = self.names[k - 1] if k <= len(self.names) else f"Team {k}"
            found.append(
                Release(
                    f"{k:03d}",
                    name,
                    obfuscation=METHODS[k % len(METHODS)],
                    valid=k != 2,
                    utility=0.64 if k == 2 else float(rng.uniform(0.7, 0.76)),
                    expected_error_km=float(rng.uniform(0.3, 1.4)),
                    ranks=(k, k + 1),
                )
            )
        found.append(
            Release(
                "Cheat",
                "Organisers",
                obfuscation="Cheat(1)",
                valid=False,
                hors_concours=True,
                utility=0.3,
            )
        )
        with_risk = [
            Release(
                **{
                    **vars(r),
                    "trace_risk": np.clip(rng.normal(0.9 - 0.7 * s, 0.12, self.users), 0, 1),
                    "reid_risk": (rng.random(self.users) > s).astype(float),
                }
            )
            for r, s in zip(found, strength, strict=True)
        ]
        return tuple(with_risk), strength

    def _matrix(self, rng, releases, strength, letter):
        attackers = [
            Attacker(f"{k:03d}", f"Team {k}", f"{ATTACKS[k % 3]}-{letter}")
            for k in range(1, self.teams + 1)
        ]
        attackers += [Attacker(f"{letter}{k}", "Organisers", "sample", True) for k in (1, 2, 3)]
        skill = rng.uniform(0, 0.5, len(attackers))
        values = []
        for release, s in zip(releases, strength, strict=True):
            level = np.clip(0.05 + 0.6 * s + 0.6 * skill + rng.normal(0, 0.03, len(skill)), 0, 1)
            if release.obfuscation == "Cheat(1)" and letter == "I":
                level = np.full(len(skill), 0.999)
            row = [
                None if a.label == release.label or not release.attacked else float(v)
                for a, v in zip(attackers, level, strict=True)
            ]
            values.append(tuple(row))
        minima = tuple(min((v for v in row if v is not None), default=0.0) for row in values)
        sums = tuple(
            None if a.sample else float(sum(row[j] or 0.0 for row in values))
            for j, a in enumerate(attackers)
        )
        return Matrix(tuple(attackers), tuple(values), minima, sums)

    def _population(self, rng):
        y, x = np.divmod(np.arange(self.nx * self.ny), self.nx)
        rows = []
        for h in range(self.hours):
            cx, cy = self.nx * (0.3 + 0.4 * h / self.hours), self.ny * 0.5
            far = ((x - cx) / self.nx) ** 2 + ((y - cy) / self.ny) ** 2
            rows.append(rng.poisson(self.users / len(x) * 6 * np.exp(-14 * far)))
        hours = tuple(f"{8 + h:02d}:00" for h in range(self.hours))
        return Population(hours, np.array(rows, dtype=float))

    def _example(self, rng, release):
        slots, regions = 8, self.nx * self.ny
        events = self.days * slots
        original = np.repeat(rng.integers(0, regions, events // 2 + 1), 2)[:events]
        cells = []
        for region in original:
            draw = rng.random()
            if draw < 0.2:
                cells.append(())
            elif draw < 0.5:
                cells.append(tuple(int(r) for r in rng.integers(0, regions, 3)))
            else:
                cells.append((int(region),))
        inferred = np.where(rng.random(events) < 0.6, original, (original + 1) % regions)
        return TraceExample(
            "17",
            f"{release.label} {release.name}",
            "team001",
            self.days,
            tuple(f"{8 + k:02d}:00" for k in range(slots)),
            tuple(int(r) for r in original),
            tuple(cells),
            tuple(int(r) for r in inferred),
        )


@pytest.fixture(scope="session")
def make_facts() -> type[MakeFacts]:
    return MakeFacts


# Chromium is spoken to through two pipes (its DevTools protocol), so that the test needs no driver
# and no port. The little launcher puts the pipes where Chromium expects them: 3 and 4.
LAUNCHER = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4);"
    "os.execvp(sys.argv[3], sys.argv[3:])"
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE_S = 60.0


@dataclass
class Browser:
    """One page of a headless Chromium: navigate, evaluate, look, and hear its complaints."""

    process: subprocess.Popen[bytes]
    to: int
    back: int
    session: str = ""
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    _pending: bytes = b""
    _number: int = 0

    def call(self, method: str, **parameters):
        self._number += 1
        number, message = self._number, {"id": self._number, "method": method}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps({**message, "params": parameters}).encode() + b"\0")
        while True:
            heard = self._hear()
            if heard.get("id") == number:
                assert "error" not in heard, heard["error"]
                return heard["result"]

    def start(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = found["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def evaluate(self, expression: str):
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def open(self, path: Path, *, width: int, height: int = 900, dark: bool = False) -> None:
        self.complaints.clear()
        self.requests.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.theme(dark)
        self.call("Page.navigate", url=path.as_uri())
        self.wait("document.documentElement?.dataset.charts === 'drawn'")

    def theme(self, dark: bool, media: str = "") -> None:
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[feature])

    def wait(self, condition: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not self.evaluate(f"Boolean({condition})"):
            assert time.monotonic() < end, f"never came true: {condition}; {self.complaints}"
            time.sleep(0.05)

    def shot(self, path: Path, selector: str = "html") -> Path:
        """A picture of the first such element, or of the whole page."""
        box = self.evaluate(
            f"(() => {{ const b = document.querySelector('{selector}').getBoundingClientRect();"
            "return {x: b.x + scrollX, y: b.y + scrollY, width: b.width, height: b.height}; })()"
        )
        data = self.call(
            "Page.captureScreenshot", captureBeyondViewport=True, clip={**box, "scale": 1}
        )["data"]
        path.write_bytes(base64.b64decode(data))
        return path

    def close(self) -> None:
        self.session = ""
        self.call("Browser.close")
        self.process.wait(PATIENCE_S)

    def _hear(self):
        end = time.monotonic() + PATIENCE_S
        while b"\0" not in self._pending:
            ready, _, _ = select.select([self.back], [], [], max(0.0, end - time.monotonic()))
            block = os.read(self.back, 1 << 20) if ready else b""
            assert block, "Chromium does not answer"
            self._pending += block
        line, _, self._pending = self._pending.partition(b"\0")
        message = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, parameters) -> None:
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in {"error", "warning"}:
            self.complaints.append(json.dumps(parameters["args"])[:500])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A headless Chromium, or a skip where there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("skipped: no chromium on the PATH to open the report with")
    profile = tmp_path_factory.mktemp("profile")
    read_there, to = os.pipe()
    back, write_there = os.pipe()
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            LAUNCHER,
            str(read_there),
            str(write_there),
            program,
            *FLAGS,
            f"--user-data-dir={profile}",
        ],
        pass_fds=(read_there, write_there),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(read_there)
    os.close(write_there)
    browser = Browser(process, to, back)
    try:
        browser.start()
        yield browser
        browser.close()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(to)
        os.close(back)
