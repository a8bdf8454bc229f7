"""Whether the archive of a round is open to everybody.

Written by Django from `models`.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("server", "0003_result_order"),
    ]

    operations = [
        migrations.AddField(
            model_name="round",
            name="archive_open",
            field=models.BooleanField(default=False),
        ),
    ]
