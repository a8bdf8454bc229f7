"""Fixtures of this room: the published people-flow training and testing records."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracecup.records import Records, read_records


@pytest.fixture(scope="session")
def people_flow(data_dir: Path) -> tuple[Records, Records]:
    folder = data_dir / "ppmtfplus_pf"
    train = read_records(folder / "traintraces_TK.csv", 400)
    return train, read_records(folder / "testtraces_TK.csv", 400)
