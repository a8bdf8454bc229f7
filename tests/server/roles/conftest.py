"""A contest played through all phases; in each, every address is asked by everybody.

The helpers of this folder are modules of their own (`roles_...`), found beside this file.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction
from tally import tally

from fixedclock import FixedClock
from tracecup.server import clock
from tracecup.server.config import ServerConfig

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def played(django_db_setup, django_db_blocker, tmp_path_factory):
    """The contest, played once for all tests of this folder; the database is as before then."""
    from roles_asking import play
    from roles_secrets import secrets_of
    from roles_world import NOON, World

    config = ServerConfig(tmp_path_factory.mktemp("roles") / "server")
    config.prepare()
    patch, before = pytest.MonkeyPatch(), clock.use(FixedClock(NOON["before"]))
    patch.setattr(settings, "CONFIG", config)
    patch.setattr(settings, "TRACECUP_INLINE", True, raising=False)
    # With the same scores in every run none can look like a planted one by chance.
    patch.setenv("TRACECUP_SHUFFLE_SEED", "1")
    hasher = "django.contrib.auth.hashers.MD5PasswordHasher"
    patch.setattr(settings, "PASSWORD_HASHERS", [hasher])
    try:
        with django_db_blocker.unblock(), transaction.atomic():
            found = play(World(), secrets_of)
            transaction.set_rollback(True)
        tally("requests for the role table", len(found.heard))
        tally("canaries: secrets looked for", len(found.secrets))
    finally:
        patch.undo()
        clock.use(before)
    return found
