"""Many people in the same moment, on SQLite and on PostgreSQL: numbers, links, limits.

Every thread has its own connection; a barrier lets them all go at once. All of it runs in one
process for each database, since starting one takes longer than what it does.
"""

from __future__ import annotations

import json
import textwrap

MANY = 12
HEAD = """
import json, threading, time
from datetime import timedelta
from concurrent.futures import ThreadPoolExecutor
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
settings.CONFIG.prepare()
call_command("migrate", interactive=False, verbosity=0)
from tracecup.server.organising import running
from tracecup.contest.entries import Entry
from tracecup.contest.rules.file import rules_text
from tracecup.contest.rules import PHASES, Rules
from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.errors import Refused
from tracecup.server.jobs import queue
from tracecup.server.judging.kinds import data
from tracecup.server.models import *
from tracecup.server import auditlog as log
from tracecup.server.organising import contests
from tracecup.server.people import erasure, links, membership, throttle, tokens, visits
from tracecup.server.submissions import choices, quotas
from tracecup.server.teams import registration, teamlist
from tracecup.server.storage import Blob
from tracecup.server.auditlog import check_chain
registration.ensure_data = teamlist.ensure_data = lambda contest: None
PATIENCE = 600
found = {}
def fresh():  # a contest without teams on a site without people; the log goes on
    for model in (Contest, OneTimeLink, Person, LoginAttempt):
        model.objects.all().delete()
    return Contest.objects.create(
        slug="c", name="C", rules_text=rules_text(Rules()), created_at=clock.now())
def together(work, many):
    gate = threading.Barrier(many)
    def one(k):
        gate.wait(PATIENCE)
        try:
            return work(k)
        except Refused as refused:
            return refused.code
        finally:
            connection.close()
    with ThreadPoolExecutor(many) as pool:
        return list(pool.map(one, range(many)))
"""

# What is done, and what has to come out of it.
# Sleeps under a lock wait for nothing: with the right locks their length changes no result; without
# them they give the other thread the time to come in between, and the result is wrong.
DONE: dict[str, tuple[str, object]] = {
    "numbers of teams have no gap and no twin": (
        """
result = sorted(together(lambda k: registration.create_team(contest, f"T{k}", SYSTEM).number, MANY))
""",
        list(range(1, MANY + 1)),
    ),
    "one name makes one team": (
        """
result = (sorted(map(str, together(
    lambda k: registration.create_team(contest, "Foxes", SYSTEM).number, MANY))))
""",
        ["1"] + ["invalid"] * (MANY - 1),
    ),
    "lists of teams do not mix": (
        """
plan = teamlist.plan_csv(contest, "team\\n" + "".join(f"T{k}\\n" for k in range(5)))
made = together(lambda k: len(teamlist.apply_csv(contest, plan, SYSTEM)), 6)
result = [sorted(map(str, made)), Team.objects.count(), OneTimeLink.objects.count()]
""",
        [["5"] + ["conflict"] * 5, 5, 5],
    ),
    "a link makes one account": (
        """
team = registration.create_team(contest, "Foxes", SYSTEM)
secret = links.new_link("member", SYSTEM, team=team)
made = together(lambda k: links.redeem(secret, f"p{k}", "a brand new secret").pk, MANY)
wins = [one for one in made if isinstance(one, int)]
result = [len(wins), Person.objects.count(), Member.objects.count()]
""",
        [1, 1, 1],
    ),
    "there is one first organiser": (
        """
secret = links.first_organiser_link()
together(lambda k: links.redeem(secret, f"p{k}", "a brand new secret").pk, 6)
result = Person.objects.filter(is_staff=True).count()
""",
        1,
    ),
    "one name is one account": (
        """
team = registration.create_team(contest, "Foxes", SYSTEM)
secrets = [links.new_link("member", SYSTEM, team=team) for _ in range(6)]
made = together(lambda k: links.redeem(secrets[k], "ada", "a brand new secret").username, 6)
result = [sorted(made), sum(link.used_at is not None for link in OneTimeLink.objects.all())]
""",
        [["ada"] + ["invalid"] * 5, 1],
    ),
    "somebody joins one team": (
        """
ada = Person.objects.create_user("ada")
codes = [registration.create_team(contest, f"T{k}", SYSTEM).join_code for k in range(6)]
made = together(lambda k: membership.join(codes[k], ada, Actor(ada)).number, 6)
result = [sum(isinstance(one, int) for one in made), Member.objects.count()]
""",
        [1, 1],
    ),
    "a team has one first captain": (
        """
team = registration.create_team(contest, "Foxes", SYSTEM)
crew = [Person.objects.create_user(f"p{k}") for k in range(6)]
together(lambda k: membership.join(team.join_code, crew[k], Actor(crew[k])).number, 6)
result = [Member.objects.count(), Member.objects.filter(captain=True).count()]
""",
        [6, 1],
    ),
    "guesses in the same moment do not pass the limit": (
        """
Person.objects.create_user("ada", password="correct horse battery")
made = together(lambda k: visits.check_password("ada", "guess", f"192.0.2.{k}"), 30)
result = ([made.count("not-signed-in") <= throttle.LOG_IN.by_name,
     set(made) == {"not-signed-in", "throttled"}])
""",
        [True, True],
    ),
    "tokens keep their limit": (
        """
ada = Person.objects.create_user("ada")
for k in range(18):
    tokens.new_token(ada, f"t{k}", 1, Actor(ada))
together(lambda k: tokens.new_token(ada, f"n{k}", 1, Actor(ada))[0].pk, 8)
result = tokens.live_tokens(ada).count()
""",
        20,
    ),
    "a file that waited for a pause sees it": (
        """
team = registration.create_team(contest, "Foxes", SYSTEM)
round = Round.objects.create(contest=contest, name="final", position=0)
is_held = threading.Event()
def one(k):
    if k == 1:
        is_held.wait(PATIENCE)
    with transaction.atomic():
        if k == 0:
            running.pause(contest, SYSTEM, "a fire alarm")
            is_held.set()
            time.sleep(0.5)
            return True
        return choices.locked(round, team)[0].contest.paused_at is not None
result = together(one, 2)
""",
        [True, True],
    ),
    "files of data follow an announcement that is moved meanwhile": (
        """
round = Round.objects.create(contest=contest, name="final", position=0)
times = {phase: clock.now() + timedelta(days=k + 1) for k, phase in enumerate(PHASES)}
queue.enqueue("data", "d", {"round": round.pk, "entry": [0, "reid"]}, contest=contest)
job = queue.lease("w")
made = {Entry(0, "reid").file(kind): Blob("0" * 64, 1) for kind in data.TEAM_FILES}
is_held = threading.Event()
def one(k):
    if k == 1:
        is_held.wait(PATIENCE)
        return queue.finish(job, {}, lambda row: data.apply(row, {}, made))
    with transaction.atomic():
        running.set_phases(round, times, SYSTEM, "a fire alarm")
        is_held.set()
        time.sleep(0.5)
together(one, 2)
result = {one.visible_from for one in StoredFile.objects.all()} == {times["announce"]}
""",
        True,
    ),
    "a try that was given back is used once": (
        """
team = registration.create_team(contest, "Foxes", SYSTEM)
round = Round.objects.create(contest=contest, name="final", position=0)
place = {"kind": "reid", "challenge": "trace", "target": 2}
def answer(k, **more):
    return Submission.objects.create(
        contest=contest, round=round, team=team, **place, idempotency_key=str(k), via="api",
        file_name="x", sha256="0" * 64, size=1, received_at=clock.now(), **more)
failed = answer(0, state="failed")
allowed = quotas.quota(round, team, **place).allowed
for k in range(1, allowed):
    answer(k, state="scored", charged=True)
is_held = threading.Event()
def one(k):
    if k == 1:
        is_held.wait(PATIENCE)
    with transaction.atomic():
        if k == 1:
            return choices.stand_again(failed).state
        choices.locked(round, team)
        is_held.set()
        time.sleep(0.5)
        return answer(99, state="queued", charged=True).state
made = together(one, 2)
result = [made, quotas.quota(round, team, **place).left]
""",
        [["queued", "quota"], 0],
    ),
    "somebody is forgotten while her teams hand in": (
        """
ada = Person.objects.create_user("ada", is_staff=True)
Person.objects.create_user("ben", is_staff=True)
other = Contest.objects.create(
    slug="d", name="D", rules_text=rules_text(Rules()), created_at=clock.now())
rounds = [Round.objects.create(contest=c, name="final", position=0) for c in (contest, other)]
crew = [registration.create_team(c, "Foxes", SYSTEM) for c in (contest, other)]
for team in crew:
    membership.join(team.join_code, ada, Actor(ada))
is_held = threading.Event()
def one(k):
    if k == 2:
        is_held.wait(PATIENCE)
        return erasure.erase(ada, SYSTEM)
    with transaction.atomic():  # as a submission does
        choices.locked(rounds[k], crew[k])
        is_held.set()
        Download.objects.create(
            contest=rounds[k].contest, name="x", person=ada, team=crew[k], at=clock.now(), length=0)
        time.sleep(0.4 + 0.4 * k)
        log.record(Actor(ada), "test")
result = [together(one, 3), Member.objects.count()]
""",
        [[None, None, None], 0],
    ),
    "a team is made while somebody is told something": (
        """
is_held = threading.Event()
def one(k):
    if k == 1:
        is_held.wait(PATIENCE)
    with transaction.atomic():
        if k == 0:
            registration._lock(contest)
            is_held.set()
            time.sleep(0.5)
            log.record(SYSTEM, "test")
            return True
        log.record(SYSTEM, "test")
        return bool(Announcement.objects.create(
            contest=contest, title="x", text="x", at=clock.now()).pk)
result = together(one, 2)
""",
        [True, True],
    ),
}


def test_together(new_server, database_url):
    code = [HEAD, f"MANY = {MANY}"]
    for name, (done, _expected) in DONE.items():
        body = textwrap.indent(done.strip(), "    ")
        code.append(f"def work(contest):\n{body}\n    return result")
        code.append(f"found[{name!r}] = work(fresh())")
    code.append('found["the log is whole"] = list(check_chain()) == []')
    code.append("print(json.dumps(found))")
    said = json.loads(new_server(database_url).python("\n".join(code)).splitlines()[-1])
    assert said == {name: expected for name, (_done, expected) in DONE.items()} | {
        "the log is whole": True
    }
