"""Run inside a server's Django: a contest of three teams whose phases are an hour each.

It begins in an hour; prints the teams' tokens. RULES are those of the contest without its round.
"""

import json
import os
from datetime import UTC, datetime, timedelta

from tracecup.server.access import SYSTEM
from tracecup.server.judging.service import ensure_data
from tracecup.server.models import Contest, Member, Person, Round, Team
from tracecup.server.people.tokens import new_token

now = datetime.now(UTC)
names = ("announce", "anonymize", "judge", "attack", "results")
begins = [f"{name} = {(now + timedelta(hours=k + 1)).isoformat()}" for k, name in enumerate(names)]
phases = "\n".join(["[[rounds]]", 'name = "final"', "[rounds.phases]", *begins])
contest = Contest.objects.create(
    slug="spring",
    name="Spring contest",
    rules_text=os.environ["RULES"] + phases,
    created_at=now,
    is_public=True,
    seed=f"{20190909:032x}",
)
Round.objects.create(contest=contest, name="final", position=0)
tokens = []
for number in range(1, 4):
    person = Person.objects.create(username=f"p{number}")
    team = Team.objects.create(contest=contest, number=number, name=f"T{number}", created_at=now)
    Member.objects.create(team=team, contest=contest, person=person, since=now)
    tokens.append(new_token(person, "laptop", 1, SYSTEM)[1])
ensure_data(contest)
print(json.dumps(tokens))
