"""Lessons of a class: how far its teams are, and which practice data they have.

Written by Django from `models`.
"""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("server", "0003_people"),
    ]

    operations = [
        migrations.CreateModel(
            name="Classroom",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("generation", models.PositiveIntegerField(default=0)),
                ("reset_at", models.DateTimeField(blank=True, null=True)),
                (
                    "contest",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="classroom",
                        to="server.contest",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LessonProgress",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lesson", models.CharField(max_length=30)),
                ("step", models.CharField(max_length=30)),
                ("tries", models.PositiveIntegerField(default=0)),
                ("last", models.JSONField(default=dict)),
                ("last_at", models.DateTimeField()),
                ("passed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="lesson_progress",
                        to="server.team",
                    ),
                ),
            ],
            options={
                "ordering": ["team", "lesson", "step"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("team", "lesson", "step"), name="lesson_step_once"
                    )
                ],
            },
        ),
    ]
