"""The tables of the server as they were first made.

Written by Django from `models`.
"""

import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import tracecup.server.models.contests
import tracecup.server.models.jsontext
import tracecup.server.models.submissions


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="LogEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveBigIntegerField(unique=True)),
                ("at", models.CharField(max_length=32)),
                ("contest", models.CharField(blank=True, default="", max_length=60)),
                ("actor", models.CharField(max_length=160)),
                ("action", models.CharField(max_length=60)),
                ("subject", models.CharField(blank=True, default="", max_length=160)),
                ("before", models.JSONField(null=True)),
                ("after", models.JSONField(null=True)),
                ("why", models.TextField(blank=True, default="")),
                ("previous", models.CharField(max_length=64)),
                ("hash", models.CharField(max_length=64)),
            ],
            options={
                "ordering": ["number"],
            },
        ),
        migrations.CreateModel(
            name="LoginAttempt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name_hash", models.CharField(db_index=True, max_length=64)),
                ("address_hash", models.CharField(db_index=True, max_length=64)),
                ("at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="WorkerToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80, unique=True)),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Person",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                (
                    "first_name",
                    models.CharField(blank=True, max_length=150, verbose_name="first name"),
                ),
                (
                    "last_name",
                    models.CharField(blank=True, max_length=150, verbose_name="last name"),
                ),
                (
                    "email",
                    models.EmailField(blank=True, max_length=254, verbose_name="email address"),
                ),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                (
                    "date_joined",
                    models.DateTimeField(
                        default=django.utils.timezone.now, verbose_name="date joined"
                    ),
                ),
                ("language", models.CharField(blank=True, default="", max_length=8)),
                ("zone", models.CharField(blank=True, default="", max_length=60)),
                ("erased_at", models.DateTimeField(blank=True, null=True)),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("hint", models.CharField(max_length=8)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Contest",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("rules_text", models.TextField()),
                ("rules_version", models.PositiveIntegerField(default=1)),
                (
                    "seed",
                    models.CharField(
                        default=tracecup.server.models.contests.new_seed, max_length=32
                    ),
                ),
                ("divisions", models.JSONField(default=list)),
                ("is_public", models.BooleanField(default=False)),
                ("is_demo", models.BooleanField(default=False)),
                ("is_rehearsal", models.BooleanField(default=False)),
                ("clock_offset", models.FloatField(default=0.0)),
                ("paused_at", models.DateTimeField(blank=True, null=True)),
                ("join_open", models.BooleanField(default=False)),
                ("city_sha256", models.CharField(blank=True, default="", max_length=64)),
                ("appeals_until", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("deleted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Round",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=40)),
                ("position", models.PositiveSmallIntegerField()),
                ("announced_at", models.DateTimeField(blank=True, null=True)),
                ("judging_at", models.DateTimeField(blank=True, null=True)),
                ("judged_at", models.DateTimeField(blank=True, null=True)),
                ("published_at", models.DateTimeField(blank=True, null=True)),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("released_at", models.DateTimeField(blank=True, null=True)),
                ("frozen", models.BooleanField(default=False)),
                ("auto_publish", models.BooleanField(default=True)),
                ("archive_open", models.BooleanField(default=False)),
                ("auto_results", models.BooleanField(default=True)),
                (
                    "contest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rounds",
                        to="server.contest",
                    ),
                ),
            ],
            options={
                "ordering": ["contest", "position"],
            },
        ),
        migrations.CreateModel(
            name="ResultSet",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("state", models.CharField(default="draft", max_length=10)),
                ("reason", models.TextField(blank=True, default="")),
                ("scorer", models.CharField(max_length=40)),
                ("inputs_sha256", models.CharField(max_length=64)),
                ("seconds", models.FloatField()),
                ("tables", tracecup.server.models.jsontext.JsonText(default=dict)),
                ("summary", tracecup.server.models.jsontext.JsonText(default=dict)),
                ("files", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField()),
                ("published_at", models.DateTimeField(null=True)),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="result_sets",
                        to="server.round",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Team",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("name", models.CharField(max_length=120)),
                ("division", models.CharField(blank=True, default="", max_length=80)),
                (
                    "join_code",
                    models.CharField(
                        default=tracecup.server.models.contests.new_code, max_length=20
                    ),
                ),
                ("status", models.CharField(default="active", max_length=15)),
                ("status_reason", models.TextField(blank=True, default="")),
                ("hors_concours", models.BooleanField(default=False)),
                ("bot", models.CharField(blank=True, default="", max_length=200)),
                ("created_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField(blank=True, null=True)),
                ("deleted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "contest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="teams",
                        to="server.contest",
                    ),
                ),
            ],
            options={
                "ordering": ["contest", "number"],
            },
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "ref",
                    models.CharField(
                        default=tracecup.server.models.submissions.new_ref,
                        max_length=12,
                        unique=True,
                    ),
                ),
                (
                    "receipt",
                    models.CharField(
                        default=tracecup.server.models.submissions.new_receipt, max_length=40
                    ),
                ),
                ("kind", models.CharField(max_length=7)),
                ("challenge", models.CharField(max_length=5)),
                ("target", models.PositiveSmallIntegerField(null=True)),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("state", models.CharField(max_length=9)),
                ("charged", models.BooleanField(default=False)),
                ("chosen", models.BooleanField(default=False)),
                ("idempotency_key", models.CharField(max_length=80)),
                ("batch", models.CharField(blank=True, default="", max_length=12)),
                ("file_name", models.CharField(max_length=200)),
                ("sha256", models.CharField(max_length=64)),
                ("size", models.BigIntegerField()),
                ("received_at", models.DateTimeField()),
                ("via", models.CharField(max_length=6)),
                ("method", models.TextField(blank=True, default="")),
                ("consent", models.BooleanField(default=False)),
                ("valid", models.BooleanField(null=True)),
                ("reason", models.TextField(blank=True, default="")),
                ("problems", models.JSONField(default=list)),
                ("score", models.FloatField(null=True)),
                ("low", models.FloatField(null=True)),
                ("high", models.FloatField(null=True)),
                ("scorer", models.CharField(blank=True, default="", max_length=40)),
                ("inputs_sha256", models.CharField(blank=True, default="", max_length=64)),
                ("seconds", models.FloatField(null=True)),
                ("scored_at", models.DateTimeField(null=True)),
                ("withdrawn_at", models.DateTimeField(null=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "contest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="submissions",
                        to="server.contest",
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="submissions",
                        to="server.round",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="submissions",
                        to="server.team",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="StoredFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("entry_team", models.PositiveSmallIntegerField(null=True)),
                ("challenge", models.CharField(default="", max_length=5)),
                ("kind", models.CharField(max_length=15)),
                ("name", models.CharField(max_length=120)),
                ("sha256", models.CharField(db_index=True, max_length=64)),
                ("size", models.BigIntegerField()),
                ("audience", models.CharField(max_length=5)),
                ("visible_from", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField()),
                (
                    "contest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="files",
                        to="server.contest",
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="files",
                        to="server.round",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="files",
                        to="server.team",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Release",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("challenge", models.CharField(max_length=5)),
                ("label", models.CharField(max_length=40)),
                ("valid", models.BooleanField()),
                ("hors_concours", models.BooleanField(default=False)),
                ("reason", models.TextField()),
                ("utility", models.FloatField(null=True)),
                ("utility_low", models.FloatField(null=True)),
                ("utility_high", models.FloatField(null=True)),
                ("method", models.TextField(blank=True, default="")),
                ("commitment", models.CharField(blank=True, default="", max_length=64)),
                ("scores", models.JSONField(default=dict)),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="releases",
                        to="server.round",
                    ),
                ),
                (
                    "submission",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="server.submission",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="releases",
                        to="server.team",
                    ),
                ),
            ],
            options={
                "ordering": ["label"],
            },
        ),
        migrations.CreateModel(
            name="OneTimeLink",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("purpose", models.CharField(max_length=20)),
                ("name", models.CharField(default="", max_length=150)),
                ("email", models.EmailField(default="", max_length=254)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "contest",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, to="server.contest"
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="links",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, to="server.team"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("captain", models.BooleanField(default=False)),
                ("since", models.DateTimeField()),
                (
                    "contest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="server.contest"
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="server.team",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Extension",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("phase", models.CharField(max_length=10)),
                ("until", models.DateTimeField(null=True)),
                ("extra_tries", models.PositiveSmallIntegerField(default=0)),
                ("reason", models.TextField()),
                ("given_at", models.DateTimeField()),
                (
                    "given_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="server.round"
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="extensions",
                        to="server.team",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Download",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                ("at", models.DateTimeField()),
                ("first", models.BigIntegerField(default=0)),
                ("length", models.BigIntegerField()),
                (
                    "contest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="downloads",
                        to="server.contest",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "file",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to="server.storedfile",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, to="server.team"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Appeal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField()),
                ("at", models.DateTimeField()),
                ("state", models.CharField(default="open", max_length=10)),
                ("answer", models.TextField(blank=True, default="")),
                ("answered_at", models.DateTimeField(blank=True, null=True)),
                (
                    "answered_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="appeals",
                        to="server.team",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Announcement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                ("text", models.TextField()),
                ("at", models.DateTimeField()),
                ("deleted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "contest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="announcements",
                        to="server.contest",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="server.team",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Visit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("session_key", models.CharField(max_length=40, unique=True)),
                ("agent", models.CharField(default="", max_length=200)),
                ("created_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="visits",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=150, unique=True)),
                ("kind", models.CharField(max_length=30)),
                ("payload", models.JSONField(default=dict)),
                ("state", models.CharField(default="waiting", max_length=8)),
                ("priority", models.SmallIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("max_attempts", models.PositiveSmallIntegerField(default=3)),
                ("run_after", models.DateTimeField()),
                ("lease_until", models.DateTimeField(null=True)),
                ("fence", models.PositiveIntegerField(default=0)),
                ("worker", models.CharField(blank=True, default="", max_length=80)),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("error", models.TextField(blank=True, default="")),
                ("result", models.JSONField(default=dict)),
                ("seconds", models.FloatField(null=True)),
                (
                    "contest",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="jobs",
                        to="server.contest",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["state", "run_after"], name="server_job_state_b397a9_idx")
                ],
            },
        ),
        migrations.CreateModel(
            name="Organiser",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("since", models.DateTimeField()),
                (
                    "contest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="organisers",
                        to="server.contest",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="organises",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("contest", "person"), name="organiser_once")
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.UniqueConstraint(fields=("contest", "name"), name="round_name"),
        ),
        migrations.AddConstraint(
            model_name="resultset",
            constraint=models.UniqueConstraint(fields=("round", "number"), name="result_number"),
        ),
        migrations.AddConstraint(
            model_name="team",
            constraint=models.UniqueConstraint(fields=("contest", "number"), name="team_number"),
        ),
        migrations.AddConstraint(
            model_name="team",
            constraint=models.UniqueConstraint(fields=("contest", "name"), name="team_name"),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(
                fields=["round", "team", "kind", "challenge", "target"],
                name="server_subm_round_i_5b7c17_idx",
            ),
        ),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.UniqueConstraint(
                fields=("team", "idempotency_key"), name="idempotent"
            ),
        ),
        migrations.AddConstraint(
            model_name="storedfile",
            constraint=models.UniqueConstraint(
                fields=("contest", "round", "name"), name="file_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.UniqueConstraint(fields=("round", "label"), name="release_label"),
        ),
        migrations.AddConstraint(
            model_name="member",
            constraint=models.UniqueConstraint(fields=("contest", "person"), name="one_team"),
        ),
    ]
