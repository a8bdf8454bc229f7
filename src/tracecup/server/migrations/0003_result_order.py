"""Results keep the order of their columns.

Written by Django from `models`.
"""

from django.db import migrations

import tracecup.server.models.jsontext


class Migration(migrations.Migration):
    dependencies = [
        ("server", "0002_judging"),
    ]

    operations = [
        migrations.AlterField(
            model_name="resultset",
            name="summary",
            field=tracecup.server.models.jsontext.JsonText(default=dict),
        ),
        migrations.AlterField(
            model_name="resultset",
            name="tables",
            field=tracecup.server.models.jsontext.JsonText(default=dict),
        ),
    ]
