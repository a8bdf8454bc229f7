"""What machines know of the time, so that a clock that jumps is noticed.

Written by Django from `models`.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("server", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="ClockWatch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("machine", models.CharField(max_length=80, unique=True)),
                ("boot", models.CharField(blank=True, default="", max_length=80)),
                ("seen_at", models.DateTimeField()),
                ("steady", models.FloatField()),
                ("doubt", models.CharField(blank=True, default="", max_length=8)),
                ("seconds", models.FloatField(default=0.0)),
                ("noticed_at", models.DateTimeField(null=True)),
                ("noticed_steady", models.FloatField(default=0.0)),
                ("accepted", models.BooleanField(default=False)),
            ],
        ),
    ]
