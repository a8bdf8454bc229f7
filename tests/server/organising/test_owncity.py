"""A contest in a city of the organisers' own: its two files, and data that wait for them."""

from __future__ import annotations

import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from tracecup.city import write_city
from tracecup.contest.worlds import shipped_model
from tracecup.datasets import Metropolis
from tracecup.server.access import Actor, role_of
from tracecup.server.errors import Refused
from tracecup.server.jobs.worker import drain
from tracecup.server.models import Round, StoredFile
from tracecup.server.organising import contests, rulechange
from tracecup.server.organising.data import run_page
from tracecup.server.organising.owncity import missing_files, own_files, set_city_file

pytestmark = pytest.mark.django_db


@pytest.fixture
def actor(organiser):
    return Actor(organiser)


@pytest.fixture
def own(contest, actor):
    """The contest, with rules that name a city of its own."""
    text = contest.rules_text.replace("[clock]", '[city]\nfile = "/etc/passwd"\n[clock]')
    rulechange.change_rules(contest, text, actor, "our town")
    return contest


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table of regions and a model that belong together."""
    folder = tmp_path_factory.mktemp("city")
    write_city(folder / "info_region.csv", Metropolis().city)
    shipped_model().save(folder / "model.npz")
    return {"city": folder / "info_region.csv", "model": folder / "model.npz"}


class TestOwnCity:
    def test_data_wait_for_the_files(self, own, team, actor, files):
        drain()
        assert missing_files(own) == ["city", "model"]
        assert not StoredFile.objects.filter(kind="orgtraces").exists()
        assert any(not check.ok for check in run_page(role_of(own, actor.person)).checks)
        for kind, path in files.items():
            set_city_file(own, kind, path, actor, "our town")
        assert missing_files(own) == []
        drain()
        made = StoredFile.objects.filter(kind="orgtraces", team=team)
        assert made.count() == 1

    def test_a_file_that_cannot_be_read_is_refused(self, own, actor):
        for kind in ("city", "model"):
            with pytest.raises(Refused) as refused:
                set_city_file(own, kind, io.BytesIO(b"not, this\n"), actor, "x")
            assert refused.value.code == "rejected"
        assert own_files(own) == []

    def test_a_model_of_another_city_is_refused(self, own, actor, files, tmp_path):
        from tracecup.city import City, Grid

        small = tmp_path / "small.csv"
        write_city(small, City(Grid.from_metres(3, 2, width_m=300.0, height_m=300.0), [0]))
        set_city_file(own, "city", small, actor, "x")
        with pytest.raises(Refused) as refused:
            set_city_file(own, "model", files["model"], actor, "x")
        assert "6 regions" in refused.value.problems[0]["expected"]

    def test_not_after_the_announcement(self, own, actor, files):
        from tracecup.server import clock

        Round.objects.update(announced_at=clock.now())
        with pytest.raises(Refused) as refused:
            set_city_file(own, "city", files["city"], actor, "x")
        assert refused.value.code == "closed"

    def test_a_clone_has_the_same_city(self, own, actor, files):
        set_city_file(own, "city", files["city"], actor, "x")
        made = contests.clone_contest(own, actor, name="Next", slug="next")
        assert [one.sha256 for one in own_files(made)] == [one.sha256 for one in own_files(own)]
        assert made.city_sha256 == own.city_sha256

    def test_back_to_the_built_in_city(self, own, team, actor):
        text = own.rules_text.replace('[city]\nfile = "/etc/passwd"\n', "")
        rulechange.change_rules(own, text, actor, "too hard")
        drain()
        assert StoredFile.objects.filter(kind="orgtraces", team=team).exists()

    def test_on_the_page(self, client, own, organiser, files):
        client.force_login(organiser)
        upload = SimpleUploadedFile("info_region.csv", files["city"].read_bytes())
        answer = client.post(
            reverse("run-settings", args=["spring"]),
            {"act": "city", "kind": "city", "file": upload, "why": "our town"},
        )
        assert answer.status_code == 302
        assert [one.kind for one in own_files(own)] == ["city"]
