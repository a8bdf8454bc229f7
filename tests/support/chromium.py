"""A headless Chromium that tests can ask what it shows; spoken to through pipes, no driver needed.

One page at a time; `complaints` are errors and warnings of its console.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

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
PATIENCE_S = 240.0  # a loaded machine is no reason to fail


class Complaint(AssertionError):
    """Chromium did not do what it was told; while a page gives way to the next one it may not."""


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
                if "error" in heard:
                    raise Complaint(heard["error"])
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
        while not self._is_true(condition):
            assert time.monotonic() < end, f"never came true: {condition}; {self.complaints}"
            time.sleep(0.05)

    def _is_true(self, condition: str) -> bool:
        try:
            return self.evaluate(f"Boolean({condition})")
        except Complaint:
            return False

    def wait_for_change(self, selector: str, before: str) -> None:
        """Wait until an element looks different: charts are drawn a while after they are asked."""
        look = f"document.querySelector({json.dumps(selector)})?.outerHTML"
        self.wait(f"({look} ?? {json.dumps(before)}) !== {json.dumps(before)}")

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


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A headless Chromium, or a skip where there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("skipped: no chromium on the PATH to open pages with")
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
            process.wait(PATIENCE_S)
        os.close(to)
        os.close(back)
