"""Run inside a server's Django: a contest of 24 users whose releases are due in a while.

TOLD says how many teams, tries and seconds; prints the deadline, the teams' tokens and a release
that is valid for each of them.
"""

import json
import os
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from tracecup import City, Grid, SetTraces, Traces
from tracecup.city.files import write_city
from tracecup.server.access import SYSTEM
from tracecup.server.models import Contest, Member, Person, Round, StoredFile, Team
from tracecup.server.people.tokens import new_token
from tracecup.server.storage import store
from tracecup.traces.files import write_obfuscated, write_traces

told = json.loads(os.environ["TOLD"])
now = datetime.now(UTC)
deadline = now + timedelta(seconds=told["seconds"])
begins = {
    "announce": now - timedelta(hours=2),
    "anonymize": now - timedelta(hours=1),
    "judge": deadline,
    "attack": deadline + timedelta(days=1),
    "results": deadline + timedelta(days=2),
}
rules = f"""
name = "Small contest"
users = 24
[clock]
days = 2
slots = 4
[limits]
release_tries = {told["tries"]}
[[rounds]]
name = "final"
[rounds.phases]
""" + "\n".join(f"{name} = {at.isoformat()}" for name, at in begins.items())

folder = Path(tempfile.mkdtemp())
write_city(folder / "city.csv", City(Grid.from_metres(4, 4, width_m=1000, height_m=1000)))
contest = Contest.objects.create(
    slug="small",
    name="Small contest",
    rules_text=rules,
    created_at=now,
    is_public=True,
    city_sha256=store().put_file(folder / "city.csv").sha256,
)
final = Round.objects.create(contest=contest, name="final", position=0)
times = contest.rules.clock_of("final").original
walk = np.random.default_rng(1).integers(0, 16, (24, times.times)).astype(np.int32)
original = Traces(walk, np.arange(1, 25), times)
write_traces(folder / "org.csv", original)
write_obfuscated(folder / "ano.csv", SetTraces.of_traces(original))
blob = store().put_file(folder / "org.csv")
tokens = []
for number in range(1, told["teams"] + 1):
    person = Person.objects.create(username=f"p{number}")
    team = Team.objects.create(contest=contest, number=number, name=f"T{number}", created_at=now)
    Member.objects.create(team=team, contest=contest, person=person, since=now)
    StoredFile.objects.create(
        contest=contest,
        round=final,
        team=team,
        challenge="trace",
        kind="orgtraces",
        name=f"orgtraces_team{number:03d}_data02_TRP.csv",
        sha256=blob.sha256,
        size=blob.size,
        audience="team",
        visible_from=begins["announce"],
        created_at=now,
    )
    tokens.append(new_token(person, "t", 1, SYSTEM)[1])
print(
    json.dumps(
        {
            "deadline": deadline.timestamp(),
            "tokens": tokens,
            "file": (folder / "ano.csv").read_text(),
        }
    )
)
