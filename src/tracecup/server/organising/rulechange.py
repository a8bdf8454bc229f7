"""Changing the rules of a contest: what each change would do, and what is too late to change.

Every change is checked against what has happened already; the page shows the effects before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, cast

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.contest.rules import PHASES, PhaseName, Rules
from tracecup.contest.rules.file import RULES_LIMITS, parse_rules
from tracecup.contest.rules.toml_lines import key_lines, line_of
from tracecup.errors import InvalidFile, Problem
from tracecup.score.utility import is_valid
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.entries import NEVER
from tracecup.server.errors import Refused
from tracecup.server.judging.service import ensure_data
from tracecup.server.locks import locked
from tracecup.server.models import Contest, LogEntry, Release, Round, StoredFile, Submission
from tracecup.server.models.filekinds import DATA_FILES
from tracecup.server.organising import rulewords
from tracecup.server.organising.endings import (
    Ending,
    endings,
    past_rounds,
    require_confirmed,
)
from tracecup.server.organising.ruletext import flat, place_of
from tracecup.server.organising.telling import tell_teams
from tracecup.server.reasons import require_reason
from tracecup.server.submissions.quotas import charged
from tracecup.server.submissions.verdicts import follow_floor, follow_measure

Weight = Literal["note", "care", "refused"]
ACTS: dict[PhaseName, str] = {
    "announce": "announced_at",
    "judge": "judging_at",
    "attack": "published_at",
    "results": "closed_at",
}
DATA_KEYS = ("users", "clock.", "city.", "challenges.")
DATA_OF_ROUND = ("days", "reference_days")
VERDICT_KEYS = ("scores.utility_floor", "scores.utility_rule", "scores.lambda_u")
SCORE_KEYS = ("scores.lambda_t", "scores.hospital_weight", "samples.")
CAREFUL = ("limits.grace_seconds", "limits.late_minutes", "feedback.board", "zone")


@dataclass(frozen=True)
class Effect:
    """What a change of one key does. `refused`: it is too late for it."""

    key: str
    before: str
    after: str
    sentence: str
    weight: Weight = "note"


@dataclass(frozen=True)
class RulesPlan:
    """What a new text of the rules would do; with problems it cannot be taken.

    `endings`: what would end at once; an organiser has to type that she means it.
    """

    problems: list[dict[str, Any]] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    rules: Rules | None = None
    makes_data: bool = False
    endings: list[Ending] = field(default_factory=list)


def plan_rules(contest: Contest, text: str) -> RulesPlan:
    """Check a text of the rules against what has happened, and tell what it would change.

    Nothing is written. `problems` name the line; `effects` are all changed keys.
    """
    text = tidy(text)
    try:
        rules = read_text(text)
    except Refused as error:
        return RulesPlan([dict(problem) for problem in error.problems])
    effects = list(_Changes(contest, rules).effects())
    lines = key_lines(text)
    problems = [
        _problem(line_of(lines, place_of(rules, e.key)), e.key, e.after, e.sentence)
        for e in effects
        if e.weight == "refused"
    ]
    makes_data = any(_is_data(effect.key) for effect in effects)
    ended = endings(contest, rules, clock.contest_now(contest))
    return RulesPlan(problems, effects, rules, makes_data, ended)


def change_rules(
    contest: Contest,
    text: str,
    actor: Actor,
    why: str,
    version: int | None = None,
    confirm: str = "",
) -> RulesPlan:
    """Take a new text of the rules, or refuse it with all problems.

    `version` is the one the organiser began with: where somebody was quicker, it is a conflict.
    What ends something at once needs the contest's address as `confirm`.
    """
    why, text = require_reason(why), tidy(text)
    with transaction.atomic():
        held = locked(contest, with_data=True)
        if version is not None and version != held.rules_version:
            raise Refused(
                "conflict",
                _("Somebody else has changed the rules meanwhile; look at them and try again."),
                version=held.rules_version,
            )
        plan = plan_rules(held, text)
        if plan.problems or plan.rules is None:
            raise Refused("invalid", _("These rules cannot be accepted."), plan.problems)
        if text == held.rules_text:
            return plan
        require_confirmed(held, plan.endings, confirm)
        apply_rules(held, text, plan, actor, "rules", why)
    contest.refresh_from_db()
    return plan


def apply_rules(
    contest: Contest, text: str, plan: RulesPlan, actor: Actor, action: str, why: str
) -> None:
    """Write planned rules into a locked contest; inside a transaction."""
    before, old = contest.rules_text, contest.rules
    rules = plan.rules or parse_rules(text)
    if rules.name != old.name:
        contest.name = rules.name
    contest.rules_text, contest.rules_version = text, contest.rules_version + 1
    contest.save(update_fields=["name", "rules_text", "rules_version"])
    sync_rounds(contest)
    _move_visibility(contest, old, rules)
    log.record(
        actor,
        action,
        contest=contest,
        subject=f"rules:{contest.rules_version}",
        before={"rules": before},
        after={"rules": text},
        why=why,
    )
    if plan.makes_data:
        make_data_anew(contest)
    if rules.scores.utility_floor != old.scores.utility_floor:
        follow_floor(contest)
    if (old.scores.utility_rule, old.scores.lambda_u) != (
        rules.scores.utility_rule,
        rules.scores.lambda_u,
    ):
        follow_measure(contest)
    tell_teams(contest, [one for one in plan.effects if one.weight != "refused"], actor)


def tidy(text: str) -> str:
    """A text with line ends as files have them; browsers send others."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_text(text: str) -> Rules:
    """The rules of a text, or `Refused` with its problems."""
    if len(text.encode()) > RULES_LIMITS.max_bytes:
        raise Refused("too-large", _("The rules are longer than a rules file may be."))
    try:
        rules = parse_rules(text)
    except InvalidFile as error:
        problems = [_problem(p.line, p.column, p.found, p.expected) for p in error.problems]
        raise Refused("invalid", _("The rules have mistakes."), problems) from None
    return rules


def sync_rounds(contest: Contest) -> None:
    """Rows for the rounds of the rules, in their order; rounds that are gone are removed."""
    names = [one.name for one in contest.rules.rounds]
    contest.rounds.exclude(name__in=names).delete()
    known = {one.name: one.position for one in contest.rounds.all()}
    for k, name in enumerate(names):
        if name not in known:
            Round.objects.create(contest=contest, name=name, position=k)
        elif known[name] != k:
            contest.rounds.filter(name=name).update(position=k)


def history(contest: Contest) -> list[LogEntry]:
    """All changes of the rules, newest first; each entry holds the text before and after."""
    found = LogEntry.objects.filter(contest=contest.slug, subject__startswith="rules:")
    return list(found.order_by("-number"))


class _Changes:
    """The changed keys between the rules of a contest and new ones."""

    def __init__(self, contest: Contest, rules: Rules) -> None:
        self.contest, self.old, self.new = contest, contest.rules, rules
        self.now = clock.contest_now(contest)
        self.rounds = {one.name: one for one in contest.rounds.all()}
        acts = list(self.rounds.values())
        self.announced = any(one.announced_at for one in acts)
        self.judging = any(one.judging_at for one in acts)
        self.published = any(one.published_at for one in acts)
        self.released = any(one.released_at for one in acts)
        self.past = past_rounds(rules, self.now)

    def effects(self) -> Iterator[Effect]:
        yield from self.round_names()
        before, after = flat(self.old), flat(self.new)
        kept = {one.name for one in self.old.rounds} & {one.name for one in self.new.rounds}
        for key in [*after, *(key for key in before if key not in after)]:
            parts = key.split(".")
            if parts[0] == "rounds" and parts[1] not in kept:
                continue
            if before.get(key) != after.get(key):
                yield self.effect(key, before.get(key, ""), after.get(key, ""))

    def round_names(self) -> Iterator[Effect]:
        old, new = ([one.name for one in rules.rounds] for rules in (self.old, self.new))
        for name in old:
            if name in new:
                continue
            row, key = self.rounds.get(name), f"rounds.{name}"
            begun = row is not None and (
                row.announced_at is not None
                or Submission.objects.filter(round=row).exists()
                or Release.objects.filter(round=row).exists()
            )
            if begun:
                yield Effect(
                    key, name, "", _("This round has begun; it cannot be removed."), "refused"
                )
            else:
                yield Effect(key, name, "", _("The round is removed."), "care")
        for name in new:
            if name in old:
                continue
            if name in self.past:
                sentence = _("All times of this round are in the past: it would be over at once.")
                yield Effect(f"rounds.{name}", "", name, sentence, "refused")
            else:
                yield Effect(f"rounds.{name}", "", name, _("A new round."), "note")

    def effect(self, key: str, before: str, after: str) -> Effect:
        weight: Weight = "care"
        if _is_data(key):
            late = self.announced
            too_late = _("Teams have their data already; it is too late for this.")
            said = _("The data of all teams will be generated again.")
        elif key.startswith(VERDICT_KEYS):
            late = self.judging
            too_late = _("The judge has decided about releases already; it is too late for this.")
            said = self.verdicts(key)
        elif key.startswith(SCORE_KEYS):
            late, weight = self.published, "note"
            too_late = _("Attacks are being scored already; it is too late for this.")
            said = _("Privacy scores are computed with this.")
        else:
            return self.soft_effect(key, before, after)
        if late:
            return Effect(key, before, after, too_late, "refused")
        return Effect(key, before, after, said, weight)

    def soft_effect(self, key: str, before: str, after: str) -> Effect:
        """Keys that may change at any time, each with what it does."""
        last = key.rsplit(".", 1)[-1]
        if ".phases." in key:
            return self.phase(key, before, after)
        said, weight = rulewords.change(key, after), "care" if key in CAREFUL else "note"
        if last in ("attack_tries", "release_tries"):
            said, weight = self.tries(last, int(after))
        elif key in ("feedback.policy", "feedback.bands"):
            said, weight = self.feedback()
        elif key.startswith("awards.") or last == "weight":
            said, weight = _("Awards are decided with this."), "note"
            if self.released:
                said = _("Results are out: compute a new result set and publish it.")
                weight = "care"
        return Effect(key, before, after, said, cast(Weight, weight))

    def feedback(self) -> tuple[str, Weight]:
        """What changes for attackers; exact scores for anybody who registers give too much away."""
        if self.new.feedback.policy == "exact" and self.contest.join_open:
            return _(
                "Anybody may register: with several accounts, exact scores give everything away."
            ), "care"
        said = _("Attackers are told more or less about their answers from now on.")
        return said, "care" if self.published else "note"

    def phase(self, key: str, before: str, after: str) -> Effect:
        _rounds, name, _phases, phase = key.split(".")
        row, act = self.rounds.get(name), ACTS.get(cast(PhaseName, phase))
        too_late = ""
        if row is not None and act and getattr(row, act) is not None:
            too_late = _("This has happened already and cannot be moved.")
        elif name in self.past and not (row is not None and row.announced_at):
            too_late = _("All times of this round are in the past: it would be over at once.")
        if too_late:
            return Effect(key, before, after, too_late, "refused")
        old = getattr(self.old.round(name).phases, phase)
        new = getattr(self.new.round(name).phases, phase)
        if new is None:
            return Effect(key, before, after, _("The phase loses its time."), "care")
        if new <= self.now:
            return Effect(
                key,
                before,
                after,
                _("This time is in the past: it takes effect immediately."),
                "care",
            )
        if old is None:
            return Effect(key, before, after, _("The phase gets its time."))
        if old <= self.now:
            return Effect(
                key, before, after, _("A phase that has begun goes back to before it."), "care"
            )
        moved = shown_span(abs(new - old))
        later = _("It begins %(span)s later.") if new > old else _("It begins %(span)s earlier.")
        return Effect(key, before, after, later % {"span": moved}, "note" if new > old else "care")

    def tries(self, key: str, allowed: int) -> tuple[str, Weight]:
        """How many teams have used more than would be allowed."""
        kinds = ("release",) if key == "release_tries" else ATTACK_KINDS
        rows = charged(contest=self.contest, kind__in=kinds)
        used = Counter(rows.values_list("round", "team", "kind", "challenge", "target"))
        over = {row[1] for row, count in used.items() if count > allowed}
        if over:
            return (
                ngettext(
                    "%(count)d team has used more already; what it handed in stays.",
                    "%(count)d teams have used more already; what they handed in stays.",
                    len(over),
                )
                % {"count": len(over)},
                "care",
            )
        return _("Applies to what is handed in from now on."), "note"

    def verdicts(self, key: str) -> str:
        """How many known releases would be judged otherwise by another floor."""
        if key != "scores.utility_floor":
            return _("Utility of all releases handed in so far is computed again now.")
        old, new = self.old.scores.utility_floor, self.new.scores.utility_floor
        known = Submission.objects.filter(
            contest=self.contest, kind="release", state="scored", score__isnull=False
        )
        count = sum(
            is_valid(score, old) != is_valid(score, new)
            for score in known.values_list("score", flat=True)
        )
        said = ngettext(
            "%(count)d release handed in so far changes between valid and invalid.",
            "%(count)d releases handed in so far change between valid and invalid.",
            count,
        )
        return said % {"count": count}


def shown_span(span: timedelta) -> str:
    """A length of time in words: 3 h 12 min.

    >>> shown_span(timedelta(hours=3, minutes=12)), shown_span(timedelta(days=2, hours=1))
    ('3 h 12 min', '2 d 1 h')
    """
    seconds = max(0, int(span.total_seconds()))
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    first = next((k for k, (count, _unit) in enumerate(parts) if count), 3)
    shown = [f"{count} {unit}" for count, unit in parts[first : first + 2] if count]
    return " ".join(shown) or "0 s"


def _is_data(key: str) -> bool:
    parts = key.split(".")
    if parts[0] == "rounds":
        return len(parts) == 3 and parts[2] in DATA_OF_ROUND
    return key.startswith(DATA_KEYS)


def _move_visibility(contest: Contest, old: Rules, new: Rules) -> None:
    """Files that become visible with a phase follow it."""
    for row in contest.rounds.all():
        if row.name not in [one.name for one in old.rounds]:
            continue
        for phase in PHASES:
            was: datetime = getattr(old.round(row.name).phases, phase) or NEVER
            now: datetime = getattr(new.round(row.name).phases, phase) or NEVER
            if was != now:
                StoredFile.objects.filter(round=row, visible_from=was).update(visible_from=now)


def make_data_anew(contest: Contest) -> None:
    """Data that nobody has seen are thrown away and made by the rules as they are."""
    own = contest.files.filter(kind="city", round=None).first()
    uses_own = own is not None and contest.rules.city.file is not None
    contest.city_sha256 = own.sha256 if uses_own else ""
    contest.save(update_fields=["city_sha256"])
    StoredFile.objects.filter(contest=contest, kind__in=DATA_FILES).delete()
    contest.jobs.filter(kind="data").delete()
    ensure_data(contest)


def _problem(line: int, where: str, found: str, expected: str) -> dict[str, Any]:
    return Problem(line, where, found, expected).as_dict()
