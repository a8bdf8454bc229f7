"""What organisers write for everybody: texts of a contest, public announcements.

Written by Django from `models`.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("server", "0004_lessons"),
    ]

    operations = [
        migrations.AddField(
            model_name="announcement",
            name="public",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="contest",
            name="texts",
            field=models.JSONField(default=dict),
        ),
    ]
