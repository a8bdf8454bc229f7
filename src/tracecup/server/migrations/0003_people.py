"""Who registered a team, and who left one: one person plays in one team.

Written by Django from `models`.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("server", "0002_clock"),
    ]

    operations = [
        migrations.AddField(
            model_name="team",
            name="registered",
            field=models.BooleanField(default=False),
        ),
        migrations.CreateModel(
            name="FormerMember",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("left_at", models.DateTimeField()),
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
                        related_name="former_teams",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="former_members",
                        to="server.team",
                    ),
                ),
            ],
        ),
    ]
