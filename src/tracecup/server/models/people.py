"""People: accounts, one-time links, API tokens, sessions, attempts to log in.

Secrets (links, tokens) are stored as SHA-256 of a random string; the string is shown once.
"""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models


class Person(AbstractUser):
    """Somebody with an account; what she may do in a contest is in `Organiser` and `Member`.

    `is_staff` means: may create contests and see the site's health. `is_superuser` is who set the
    server up: may fetch backups, which hold the secrets of all contests.
    """

    language = models.CharField(max_length=8, default="", blank=True)
    zone = models.CharField(max_length=60, default="", blank=True)
    erased_at = models.DateTimeField(null=True, blank=True)


class OneTimeLink(models.Model):
    """A link that works once: first organiser, invitation, password reset."""

    PURPOSES = ("first-organiser", "organiser", "member", "reset")

    token_hash = models.CharField(max_length=64, unique=True)
    purpose = models.CharField(max_length=20)
    person = models.ForeignKey(Person, null=True, on_delete=models.CASCADE, related_name="links")
    contest = models.ForeignKey("server.Contest", null=True, on_delete=models.CASCADE)
    team = models.ForeignKey("server.Team", null=True, on_delete=models.CASCADE)
    name = models.CharField(max_length=150, default="")
    email = models.EmailField(default="")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)


class ApiToken(models.Model):
    """A named, expiring token of a person; `Authorization: Bearer tct_...`."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    token_hash = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=8)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)


class LoginAttempt(models.Model):
    """A failed log-in; many of one name or from one address slow the next one down."""

    name_hash = models.CharField(max_length=64, db_index=True)
    address_hash = models.CharField(max_length=64, db_index=True)
    at = models.DateTimeField(db_index=True)


class Visit(models.Model):
    """A session of a person, so that she can see and end it."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="visits")
    session_key = models.CharField(max_length=40, unique=True)
    agent = models.CharField(max_length=200, default="")
    created_at = models.DateTimeField()
    seen_at = models.DateTimeField()
