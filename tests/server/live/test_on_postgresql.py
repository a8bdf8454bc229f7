"""The role matrix, the canaries, the fuzzed API and the web's dangers once more, on PostgreSQL.

The same tests as beside, in a process of their own whose database is another.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
AGAIN = {"roles": ["roles"], "web": ["test_schemathesis.py", "web/test_security.py"]}


@pytest.mark.parametrize("what", AGAIN)
def test_again(what, postgres):
    env = {**os.environ, "DATABASE_URL": postgres(f"again_{what}")}
    for variable in [one for one in env if one.startswith("PYTEST_")]:
        del env[variable]
    options = ["-q", "-p", "no:cacheprovider", "--show-capture=no"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(str(HERE / one) for one in AGAIN[what])],
        env=env,
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout[-4000:]
