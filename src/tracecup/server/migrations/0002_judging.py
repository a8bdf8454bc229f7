"""Automatic results, result files, and the hash of what a score was computed from.

Written by Django, like the others here.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("server", "0001_tables"),
    ]

    operations = [
        migrations.AddField(
            model_name="resultset",
            name="files",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="round",
            name="auto_results",
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name="submission",
            name="inputs_sha256",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
    ]
