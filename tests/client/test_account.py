from __future__ import annotations

import json
import os
import stat
import sys

import pytest

from tracecup.client.account import (
    ACCOUNT_FILE,
    Account,
    config_folder,
    forget_account,
    load_account,
    save_account,
)
from tracecup.errors import InvalidFile, InvalidParameter


@pytest.fixture
def env(tmp_path):
    return {"TRACECUP_CONFIG_DIR": str(tmp_path / "config")}


class TestAccount:
    @pytest.mark.parametrize(
        "url",
        ["contest.example", "ftp://contest.example", "https://", "https://a:b@c/", "http://x?y"],
    )
    def test_refuses_what_is_no_address_of_a_server(self, url):
        with pytest.raises(InvalidParameter, match="address"):
            Account(url, "tct_x")

    @pytest.mark.parametrize("token", ["tct_a b", "tct_a\r\nX-Other: 1", "tct_ü"])
    def test_refuses_a_token_that_cannot_stand_in_a_header(self, token):
        with pytest.raises(InvalidParameter, match="token"):
            Account("https://contest.example", token)

    def test_never_shows_its_token(self):
        assert "tct_x" not in repr(Account("https://contest.example", "tct_x"))

    @pytest.mark.parametrize(
        ("url", "private"),
        [
            ("https://contest.example", True),
            ("http://localhost:8000", True),
            ("http://[::1]:8000", True),
            ("http://contest.example", False),
            ("http://localhost.evil.example", False),
        ],
    )
    def test_knows_where_a_token_can_be_read_on_the_way(self, url, private):
        assert Account(url, "tct_x").is_private is private


class TestConfigFolder:
    def test_each_system_has_its_own(self):
        assert config_folder({"APPDATA": "C:/Roaming"}, "win32").as_posix() == "C:/Roaming/tracecup"
        assert config_folder({}, "darwin").parts[-3:-1] == ("Library", "Application Support")
        assert config_folder({}, "linux").parts[-2:] == (".config", "tracecup")


class TestLoadAccount:
    def test_gives_back_what_was_saved(self, env):
        account = Account("https://contest.example", "tct_x", "spring")
        save_account(account, env)
        assert load_account(env) == account

    def test_environment_needs_no_file(self):
        found = load_account({"TRACECUP_URL": "https://a.example", "TRACECUP_TOKEN": "tct_y\n"})
        assert (found.url, found.token, found.contest) == ("https://a.example", "tct_y", "")

    def test_environment_goes_before_the_file(self, env):
        save_account(Account("https://contest.example", "tct_x", "spring"), env)
        found = load_account({**env, "TRACECUP_CONTEST": "autumn", "TRACECUP_TOKEN": "tct_z"})
        assert (found.url, found.token, found.contest) == (
            "https://contest.example",
            "tct_z",
            "autumn",
        )

    def test_without_an_account_says_what_to_do(self, env):
        with pytest.raises(InvalidParameter, match="tracecup client login"):
            load_account(env)

    @pytest.mark.parametrize("text", ["", "[]", '{"url": 3}', "{"])
    def test_a_broken_file_is_named(self, env, text):
        path = save_account(Account("https://contest.example", "tct_x"), env)
        path.write_text(text)
        with pytest.raises(InvalidFile, match="log in again"):
            load_account(env)


class TestSaveAccount:
    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
    def test_only_its_owner_can_read_it(self, env):
        before = os.umask(0)
        try:
            path = save_account(Account("https://contest.example", "tct_x"), env)
        finally:
            os.umask(before)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700

    def test_an_older_readable_file_does_not_stay_readable(self, env):
        path = save_account(Account("https://contest.example", "tct_x"), env)
        path.chmod(0o644)
        save_account(Account("https://contest.example", "tct_y"), env)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert json.loads(path.read_text())["token"] == "tct_y"


class TestForgetAccount:
    def test_removes_the_file_once(self, env):
        path = save_account(Account("https://contest.example", "tct_x"), env)
        assert path.name == ACCOUNT_FILE
        assert forget_account(env) is True
        assert forget_account(env) is False
