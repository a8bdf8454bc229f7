"""Contests, their rounds, teams and members, extensions, announcements, appeals, questions.

The rules, phases included, are the text of `contest.toml`; columns hold what is not a rule.
"""

from __future__ import annotations

import secrets
from functools import lru_cache

from django.db import models

from tracecup.contest.rules import RoundRules, Rules
from tracecup.contest.rules.file import parse_rules
from tracecup.server.models.people import Person

TEXTS = ("description", "prizes", "terms", "contact", "faq")
"""What organisers write about a contest for everybody, in the order of its page."""


def new_seed() -> str:
    """128 bits of the operating system's entropy."""
    return secrets.token_hex(16)


def new_code() -> str:
    """A join code that people can type."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(alphabet) for _ in range(4)) for _ in range(3))


@lru_cache(maxsize=64)
def _rules(text: str) -> Rules:
    return parse_rules(text)


class Contest(models.Model):
    """One contest. `seed` is secret: the teams' data and the sample attacks come from it.

    `texts` are in Markdown, by the names of `TEXTS`. `clock_offset` (seconds) moves the clock of a
    demo contest. While `paused_at` is set nothing
    is accepted and nothing happens by itself.
    """

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=200)
    rules_text = models.TextField()
    rules_version = models.PositiveIntegerField(default=1)
    seed = models.CharField(max_length=32, default=new_seed)
    divisions = models.JSONField(default=list)
    texts = models.JSONField(default=dict)
    is_public = models.BooleanField(default=False)
    is_demo = models.BooleanField(default=False)
    is_rehearsal = models.BooleanField(default=False)
    clock_offset = models.FloatField(default=0.0)
    paused_at = models.DateTimeField(null=True, blank=True)
    join_open = models.BooleanField(default=False)
    city_sha256 = models.CharField(max_length=64, default="", blank=True)
    appeals_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL)
    deleted_at = models.DateTimeField(null=True, blank=True)

    @property
    def rules(self) -> Rules:
        """The rules as data; parsing is cached by text."""
        return _rules(self.rules_text)


class Round(models.Model):
    """A round of a contest: what the judge has done in it so far.

    The instants are those of the rules. `judged_at` is set, with all releases shuffled and
    committed, when anonymization is over for good; `published_at` when attackers got the
    releases; `closed_at` when attacks are over for good; `released_at` when results are public.
    `frozen` hides boards of the attack phase from everybody but organisers. `auto_publish` and
    `auto_results` say whether releases and results go out by themselves; `archive_open` whether
    everybody who may see results may fetch the archive with all originals and ID tables.
    """

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="rounds")
    name = models.CharField(max_length=40)
    position = models.PositiveSmallIntegerField()
    announced_at = models.DateTimeField(null=True, blank=True)
    judging_at = models.DateTimeField(null=True, blank=True)
    judged_at = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    frozen = models.BooleanField(default=False)
    auto_publish = models.BooleanField(default=True)
    archive_open = models.BooleanField(default=False)
    auto_results = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["contest", "name"], name="round_name")]
        ordering = ["contest", "position"]

    @property
    def rules(self) -> RoundRules:
        """Weight, days and phases of this round."""
        return self.contest.rules.round(self.name)


class Organiser(models.Model):
    """Somebody who runs a contest."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="organisers")
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="organises")
    since = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["contest", "person"], name="organiser_once")]


class Team(models.Model):
    """A team of a contest, numbered from 1 in the order of creation; 0 is the benchmark.

    `bot` names the bot that plays it ("" for people). A disqualified or withdrawn team keeps its
    number; its releases are out of competition or withdrawn, with the reason in the log.
    `registered`: somebody made it for herself.
    """

    STATUSES = ("active", "withdrawn", "disqualified")

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="teams")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=120)
    division = models.CharField(max_length=80, default="", blank=True)
    join_code = models.CharField(max_length=20, default=new_code)
    status = models.CharField(max_length=15, default="active")
    status_reason = models.TextField(default="", blank=True)
    hors_concours = models.BooleanField(default=False)
    bot = models.CharField(max_length=200, default="", blank=True)
    registered = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["contest", "number"], name="team_number"),
            models.UniqueConstraint(fields=["contest", "name"], name="team_name"),
        ]
        ordering = ["contest", "number"]


class Member(models.Model):
    """Somebody in a team; a person is in at most one team of a contest."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="members")
    contest = models.ForeignKey(Contest, on_delete=models.CASCADE)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="memberships")
    captain = models.BooleanField(default=False)
    since = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["contest", "person"], name="one_team")]


class FormerMember(models.Model):
    """Somebody who was in a team and left it: once data are out she joins no other."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="former_members")
    contest = models.ForeignKey(Contest, on_delete=models.CASCADE)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="former_teams")
    left_at = models.DateTimeField()


class Extension(models.Model):
    """More time or more tries for one team in one phase, with the reason."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="extensions")
    round = models.ForeignKey(Round, on_delete=models.CASCADE)
    phase = models.CharField(max_length=10)
    until = models.DateTimeField(null=True)
    extra_tries = models.PositiveSmallIntegerField(default=0)
    reason = models.TextField()
    given_at = models.DateTimeField()
    given_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL)


class Announcement(models.Model):
    """A message of the organisers to all teams (or one); `public` for everybody.

    It is on the pages from `at` on, which may lie ahead.
    """

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="announcements")
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.CASCADE)
    title = models.CharField(max_length=200)
    text = models.TextField()
    public = models.BooleanField(default=False)
    at = models.DateTimeField()
    by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL)
    deleted_at = models.DateTimeField(null=True, blank=True)


class Appeal(models.Model):
    """What a team says against a decision, and the organisers' answer."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="appeals")
    text = models.TextField()
    at = models.DateTimeField()
    by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=10, default="open")
    answer = models.TextField(default="", blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")


class Question(models.Model):
    """What a team asks the organisers; `shared`: all teams have the answer."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="questions")
    text = models.TextField()
    at = models.DateTimeField()
    by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    answer = models.TextField(default="", blank=True)
    shared = models.BooleanField(default=False)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
