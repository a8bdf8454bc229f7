"""What a server is told from outside: databases, mail, limits; and never a password in an error."""

from __future__ import annotations

import pytest

from tracecup.errors import InvalidParameter
from tracecup.server.config import ServerConfig, mail_settings, postgres_settings


class TestOfEnvironment:
    def test_defaults(self):
        found = ServerConfig.of_environment({"TRACECUP_SERVER_DIR": "x"})
        assert found.database["ENGINE"].endswith("sqlite3")
        assert found.mail["EMAIL_BACKEND"].endswith("console.EmailBackend")
        assert found.upload_bytes == 1024 * 2**20
        assert not found.secure

    @pytest.mark.parametrize("hosts", ["*", "a.example.org, .example.org"])
    def test_any_host_needs_the_address_for_letters(self, hosts):
        with pytest.raises(InvalidParameter, match="TRACECUP_SITE_URL"):
            ServerConfig.of_environment({"TRACECUP_HOSTS": hosts})
        told = {"TRACECUP_HOSTS": hosts, "TRACECUP_SITE_URL": "https://a.example.org"}
        assert ServerConfig.of_environment(told).hosts

    def test_a_folder_for_all_to_read_has_a_private_database(self, tmp_path):
        folder = tmp_path / "shared"
        folder.mkdir(mode=0o755)
        ServerConfig.of_environment({"TRACECUP_SERVER_DIR": str(folder)}).prepare()
        assert (folder / "tracecup.sqlite3").stat().st_mode & 0o777 == 0o600
        assert (folder / "secret_key").stat().st_mode & 0o777 == 0o600

    def test_everything_can_be_said(self):
        env = {
            "TRACECUP_SERVER_DIR": "x",
            "TRACECUP_HOSTS": "a.example.org, b.example.org",
            "TRACECUP_SECURE": "yes",
            "TRACECUP_UPLOAD_MIB": "5",
            "TRACECUP_MAIL_FROM": "cup@example.org",
        }
        found = ServerConfig.of_environment(env)
        assert found.hosts == ("a.example.org", "b.example.org")
        assert found.secure
        assert found.upload_bytes == 5 * 2**20
        assert found.mail_from == "cup@example.org"

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("TRACECUP_SECURE", "perhaps"),
            ("TRACECUP_UPLOAD_MIB", "-1"),
            ("TRACECUP_UPLOAD_MIB", "٣"),
            ("TRACECUP_JOB_SECONDS", "0"),
        ],
    )
    def test_nonsense_is_named(self, name, value):
        with pytest.raises(InvalidParameter, match=name):
            ServerConfig.of_environment({name: value})


class TestPostgresSettings:
    def test_all_parts(self):
        found = postgres_settings("postgres://me:p%40ss@db:5433/contest?sslmode=require")
        expected = {"NAME": "contest", "USER": "me", "PASSWORD": "p@ss", "HOST": "db"}
        assert expected.items() <= found.items()
        assert found["PORT"] == "5433"
        assert found["OPTIONS"] == {"sslmode": "require"}

    def test_a_socket(self):
        assert postgres_settings("postgres://me@/contest?host=/run/pg")["HOST"] == "/run/pg"

    @pytest.mark.parametrize("url", ["mysql://me:geheim@db/x", "postgres://me:geheim@db/", "x"])
    def test_others_are_refused_without_the_password(self, url):
        with pytest.raises(InvalidParameter) as refused:
            postgres_settings(url)
        assert "geheim" not in str(refused.value)


class TestMailSettings:
    @pytest.mark.parametrize(
        ("scheme", "port", "starttls", "tls"),
        [("smtp", 587, True, False), ("smtps", 465, False, True), ("smtp+plain", 25, False, False)],
    )
    def test_how_it_is_secured(self, scheme, port, starttls, tls):
        found = mail_settings(f"{scheme}://me:p%40ss@mail.example.org")
        assert found["EMAIL_HOST_PASSWORD"] == "p@ss"
        assert (found["EMAIL_PORT"], found["EMAIL_USE_TLS"]) == (port, starttls)
        assert found["EMAIL_USE_SSL"] is tls

    def test_into_a_folder(self):
        assert mail_settings("file:/var/letters")["EMAIL_FILE_PATH"] == "/var/letters"

    @pytest.mark.parametrize("url", ["http://me:geheim@mail", "smtp://", "smtp://me:geheim@h:x"])
    def test_others_are_refused_without_the_password(self, url):
        with pytest.raises(InvalidParameter) as refused:
            mail_settings(url)
        assert "geheim" not in str(refused.value)
