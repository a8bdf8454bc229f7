"""What the pages for everybody show: the list of contests, one contest, a receipt.

Typed; a page renders it and the API returns it.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from django.db.models import Q
from ninja import Schema

from tracecup.city import City, read_city
from tracecup.contest.rules import PHASES, Rules
from tracecup.datasets import Metropolis
from tracecup.facts import CityFacts
from tracecup.server import clock, windows
from tracecup.server.access import Role
from tracecup.server.models import Announcement, Contest, Person, Round
from tracecup.server.models.contests import TEXTS
from tracecup.server.site.density import density_of
from tracecup.server.site.standing import PublicRelease, board_shown, valid_releases
from tracecup.server.site.winners import Winner, winners_of
from tracecup.server.storage import store

NEWS_SHOWN = 5


class PhaseInfo(Schema):
    """A phase of a round; `state` is past, now or coming, or unscheduled."""

    name: str
    begins: datetime | None
    state: str


class RoundInfo(Schema):
    """A round: where it stands and what comes next."""

    name: str
    weight: float
    phase: str | None
    next_phase: str | None
    next_at: datetime | None
    phases: list[PhaseInfo]
    published_at: datetime | None
    released_at: datetime | None


class ContestCard(Schema):
    """A contest in the list of contests."""

    slug: str
    name: str
    zone: str
    now: datetime
    phase: str | None
    next_phase: str | None
    next_at: datetime | None
    teams: int
    demo: bool
    paused: bool
    mine: str
    over: bool
    winners: list[Winner]


class Home(Schema):
    """The list of contests, those that run first; `winners` of those that are over."""

    contests: list[ContestCard]

    @property
    def running(self) -> list[ContestCard]:
        """Those that are not over."""
        return [card for card in self.contests if not card.over]

    @property
    def finished(self) -> list[ContestCard]:
        """Those that are over."""
        return [card for card in self.contests if card.over]


class TeamName(Schema):
    """A team as everybody sees it; `releases` are its valid ones, where the rules tell them."""

    number: int
    name: str
    division: str
    status: str
    hors_concours: bool
    releases: list[PublicRelease]


class RuleFacts(Schema):
    """The rules that people ask for; the whole text is `text`."""

    users: int
    days: int
    reference_days: int
    slots: int
    utility_floor: float
    utility_rule: str
    lambda_u: float
    lambda_t: float
    hospital_weight: float
    challenges: list[str]
    samples_reid: list[str]
    samples_trace: list[str]
    attack_tries: int
    release_tries: int
    file_mib: int
    grace_seconds: int
    feedback: str
    board: str
    attack_targets: str
    winner_excluded: bool
    text: str


class PublicNews(Schema):
    """An announcement for everybody, in Markdown."""

    title: str
    text: str
    at: datetime


class ContestPage(Schema):
    """One contest: story, times, city, rules, teams.

    `density` is people per region; `board` says what of the releases is public now; `texts` and
    `news` are what its organisers wrote, in Markdown.
    """

    slug: str
    name: str
    zone: str
    now: datetime
    paused: bool
    demo: bool
    join_open: bool
    divisions: list[str]
    round: str | None
    rounds: list[RoundInfo]
    rules: RuleFacts
    city: CityFacts | None
    density: tuple[float, ...] | None
    board: str
    teams: list[TeamName]
    texts: dict[str, str]
    news: list[PublicNews]


def home(person: Person | None) -> Home:
    """The contests that a person may see: public ones and her own."""
    seen = Q(is_public=True)
    if person is not None:
        seen |= Q(organisers__person=person)
        seen |= Q(teams__members__person=person, teams__deleted_at=None)
    found = Contest.objects.filter(seen, deleted_at=None, is_rehearsal=False).distinct()
    cards = [_card(contest, person) for contest in found.order_by("-created_at")]
    return Home(contests=sorted(cards, key=_urgency))


def contest_page(role: Role, round: Round | None) -> ContestPage:
    """One contest."""
    contest = role.contest
    rules, now = contest.rules, clock.contest_now(contest)
    teams = contest.teams.filter(deleted_at=None)
    city = city_map(contest)
    valid = valid_releases(contest, round)
    return ContestPage(
        slug=contest.slug,
        name=contest.name,
        zone=rules.zone,
        now=now,
        paused=contest.paused_at is not None,
        demo=contest.is_demo,
        join_open=contest.join_open,
        divisions=list(contest.divisions),
        round=round.name if round else None,
        rounds=[round_info(one, now) for one in contest.rounds.all()],
        rules=rule_facts(contest, round),
        city=city,
        density=density_of(contest, round, city.nx * city.ny) if city else None,
        board=board_shown(contest, round),
        teams=[
            TeamName(
                number=team.number,
                name=team.name,
                division=team.division,
                status=team.status,
                hors_concours=team.hors_concours,
                releases=valid.get(team.number, []),
            )
            for team in teams
        ],
        texts={name: contest.texts[name] for name in TEXTS if contest.texts.get(name)},
        news=_news(contest),
    )


def _news(contest: Contest) -> list[PublicNews]:
    """What is announced to everybody by now, newest first."""
    found = Announcement.objects.filter(
        contest=contest, public=True, deleted_at=None, at__lte=clock.now()
    )
    return [
        PublicNews(title=one.title, text=one.text, at=one.at)
        for one in found.order_by("-at", "-pk")[:NEWS_SHOWN]
    ]


def round_info(round: Round, now: datetime) -> RoundInfo:
    """Where a round stands."""
    phases = round.rules.phases
    # An imported round has results and no instants.
    current = "results" if round.released_at else windows.phase_now(round, now)
    begun = PHASES.index(current) if current else -1
    following = PHASES[begun + 1] if phases.scheduled and begun + 1 < len(PHASES) else None

    def state(place: int) -> str:
        if not phases.scheduled:
            return "unscheduled"
        return "now" if place == begun else "past" if place < begun else "coming"

    return RoundInfo(
        name=round.name,
        weight=round.rules.weight,
        phase=current,
        next_phase=following,
        next_at=getattr(phases, following) if following else None,
        phases=[
            PhaseInfo(name=name, begins=getattr(phases, name), state=state(k))
            for k, name in enumerate(PHASES)
        ],
        published_at=round.published_at,
        released_at=round.released_at,
    )


def rule_facts(contest: Contest, round: Round | None) -> RuleFacts:
    """The rules in words and numbers."""
    rules: Rules = contest.rules
    clocks = rules.clock_of(round.name if round else rules.rounds[0].name)
    return RuleFacts(
        users=rules.users,
        days=clocks.original.days,
        reference_days=clocks.reference.days,
        slots=clocks.original.slots,
        utility_floor=rules.scores.utility_floor,
        utility_rule=rules.scores.utility_rule,
        lambda_u=rules.scores.lambda_u,
        lambda_t=rules.scores.lambda_t,
        hospital_weight=rules.scores.hospital_weight,
        challenges=list(rules.challenges_played),
        samples_reid=list(rules.samples.reid),
        samples_trace=list(rules.samples.trace),
        attack_tries=rules.limits.attack_tries,
        release_tries=rules.limits.release_tries,
        file_mib=rules.limits.file_mib,
        grace_seconds=rules.limits.grace_seconds,
        feedback=rules.feedback.policy,
        board=rules.feedback.board,
        attack_targets=rules.awards.attack_targets,
        winner_excluded=rules.awards.winner_excluded,
        text=contest.rules_text,
    )


def city_map(contest: Contest) -> CityFacts | None:
    """The city as far as a map shows it; None while a city from a file is not there yet."""
    city = city_of(contest)
    if city is None:
        return None
    grid = city.grid
    return CityFacts(
        nx=grid.nx, ny=grid.ny, km_x=grid.km_x, km_y=grid.km_y, hospitals=tuple(city.hospitals)
    )


def city_of(contest: Contest) -> City | None:
    """The city of a contest."""
    if contest.city_sha256 and store().has(contest.city_sha256):
        return _stored_city(contest.city_sha256)
    return _builtin_city() if contest.rules.city.builtin else None


@lru_cache(maxsize=16)
def _stored_city(sha256: str) -> City:
    return read_city(store().checked(sha256))


@lru_cache(maxsize=1)
def _builtin_city() -> City:
    return Metropolis().city


def _card(contest: Contest, person: Person | None) -> ContestCard:
    now = clock.contest_now(contest)
    current = windows.current_round(contest, now)
    info = round_info(current, now) if current else None
    return ContestCard(
        slug=contest.slug,
        name=contest.name,
        zone=contest.rules.zone,
        now=now,
        phase=info.phase if info else None,
        next_phase=info.next_phase if info else None,
        next_at=info.next_at if info else None,
        teams=contest.teams.filter(deleted_at=None).count(),
        demo=contest.is_demo,
        paused=contest.paused_at is not None,
        mine=_mine(contest, person),
        over=_is_over(contest),
        winners=winners_of(contest),
    )


def _is_over(contest: Contest) -> bool:
    """Whether every round has its results."""
    rounds = list(contest.rounds.all())
    return bool(rounds) and all(one.released_at is not None for one in rounds)


def _mine(contest: Contest, person: Person | None) -> str:
    """What a person is in a contest: organiser, member, or nothing."""
    if person is None:
        return ""
    if contest.organisers.filter(person=person).exists():
        return "organiser"
    mine = contest.teams.filter(deleted_at=None, members__person=person)
    return "member" if mine.exists() else ""


def _urgency(card: ContestCard) -> tuple[bool, bool, float]:
    """Finished ones last; before that own ones, then those with the nearest next phase."""
    return (
        card.over,
        not card.mine,
        card.next_at.timestamp() if card.next_at else float("inf"),
    )
