"""Rules as data: the paper's defaults, the file and back, precise errors, hostile files."""

from __future__ import annotations

import dataclasses
import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.contest.rules import (
    AwardRules,
    ChallengeRules,
    CityRules,
    ClockRules,
    FeedbackRules,
    LimitRules,
    Phases,
    RoundRules,
    Rules,
    SampleRules,
    ScoreRules,
)
from tracecup.contest.rules.file import parse_rules, read_rules, rules_text, write_rules
from tracecup.contest.rules.values import Refusal, local_to_utc, zone_of
from tracecup.errors import InvalidFile, InvalidParameter, TraceCupError, UnreadableFile


def problems(text: str):
    with pytest.raises(InvalidFile) as caught:
        parse_rules(text)
    return caught.value.problems


def only_problem(text: str):
    (problem,) = problems(text)
    return problem


class TestDefaults:
    def test_are_the_papers(self):
        rules = Rules()
        assert rules.users == 2000
        assert rules.scores == ScoreRules(0.7, "paper", 2.0, 2.0, 10.0)
        assert rules.samples.reid == ("Random-R", "VisitProb-R", "HomeProb-R")
        assert rules.samples.trace == ("Random-T", "VisitProb-T", "HomeProb-T")
        assert rules.limits.attack_tries == 2
        assert rules.awards == AwardRules("trace-inference", winner_excluded=False)
        assert rules.challenges_played == ("trace",)
        assert rules.feedback.policy == "none"

    def test_clock_is_the_final_rounds(self):
        clock = Rules().clock_of("final")
        assert (clock.reference.times, clock.original.times) == (400, 400)
        assert clock.original.label(1) == "day 21, 08:30"

    def test_empty_file_means_them(self):
        assert parse_rules("") == Rules()

    def test_preset_of_2019(self):
        rules = Rules.preset("organisers2019")
        assert rules.challenges_played == ("reid", "trace")
        assert [(one.name, one.weight) for one in rules.rounds] == [
            ("preliminary", 1),
            ("final", 9),
        ]
        assert rules.clock_of("preliminary").original.times == 40
        assert rules.samples.columns("trace")["T2"] == "VisitProb-T(cells=0.1,members=10)"

    def test_unknown_preset(self):
        with pytest.raises(InvalidParameter, match="organisers2019"):
            Rules.preset("2020")


class TestText:
    def test_every_key_is_written_and_explained(self):
        lines = rules_text().splitlines()
        for table in (Rules, CityRules, ClockRules, ScoreRules, LimitRules, Phases, RoundRules):
            for field in dataclasses.fields(table):
                if field.metadata["spec"].kind is None:
                    continue
                at = [
                    k
                    for k, line in enumerate(lines)
                    if line.removeprefix("# ").startswith(f"{field.name} = ")
                ]
                assert at
                assert all(lines[k - 1].startswith("# ") for k in at)

    def test_reading_it_gives_the_defaults(self):
        assert parse_rules(rules_text()) == Rules()

    def test_unset_keys_are_examples_that_work(self):
        text = rules_text()
        for line in text.splitlines():
            if line.startswith("# ") and " = " in line and line[2:].split(" = ")[0].isidentifier():
                text = text.replace(line + "\n", line[2:] + "\n")
        text = text.replace('builtin = "metropolis"\n', "")
        rules = parse_rules(text)
        assert rules.city == CityRules(None, "info_region.csv")
        assert rules.rounds[0].phases.scheduled
        assert rules.rounds[0].days == 2

    def test_file_appears_and_reads_back(self, tmp_path):
        rules = Rules.preset("organisers2019").renamed('Wettbewerb \\ "Frühling" 東京')
        write_rules(tmp_path / "contest.toml", rules)
        assert read_rules(tmp_path / "contest.toml") == rules

    def test_bad_rules_are_not_written(self, tmp_path):
        with pytest.raises(InvalidParameter, match="users"):
            write_rules(tmp_path / "contest.toml", Rules(users=1))
        assert list(tmp_path.iterdir()) == []

    @settings(max_examples=60)
    @given(
        name=st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(str.isprintable),
        users=st.integers(2, 10**6),
        floor=st.floats(0, 1),
        reach=st.floats(1e-6, 1000),
        days=st.integers(1, 3660),
        reference=st.none() | st.integers(1, 3660),
        start=st.integers(0, 600),
        file=st.none() | st.just("a b/c.csv"),
        reid=st.lists(st.sampled_from(["Random-R", "Fuzzy-R(0.33,1)", "HomeProb-R"]), unique=True),
        policy=st.sampled_from(["none", "bands", "exact"]),
        scope=st.sampled_from(["all", "trace-inference"]),
        weights=st.lists(st.floats(0.5, 1e6), min_size=1, max_size=4),
        begin=st.none() | st.datetimes(datetime(1971, 1, 1), datetime(8990, 1, 1)),
    )
    def test_any_rules_come_back(
        self, name, users, floor, reach, days, reference, start, file, reid, policy, scope,
        weights, begin,
    ):  # fmt: skip
        phases = Phases()
        if begin:
            phases = Phases(*(begin.replace(tzinfo=UTC) + timedelta(days=k) for k in range(5)))
        rules = Rules(
            name=name,
            users=users,
            zone="Asia/Tokyo",
            city=CityRules(None, file) if file else CityRules(),
            clock=ClockRules(days, reference, start=start),
            scores=ScoreRules(utility_floor=floor, lambda_u=reach),
            challenges=ChallengeRules(reidentification=True),
            samples=SampleRules(tuple(reid), ()),
            feedback=FeedbackRules(policy, (0.1, floor / 2 + 0.3, 0.95)),
            awards=AwardRules(scope, winner_excluded=True),
            rounds=tuple(
                RoundRules(f"round-{k}", weight, phases=phases if k == 0 else Phases())
                for k, weight in enumerate(weights)
            ),
        )
        rules.check()
        assert parse_rules(rules_text(rules)) == rules


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "line", "found", "expected"),
        [
            ("users = 1", 1, "users = 1", "from 2 to 1000000"),
            ("\nusers = true", 2, "users = true", "whole number"),
            ("users = 2000.0", 1, "users = 2000.0", "whole number"),
            ("name = ''", 1, "name = ''", "line of text"),
            ('name = "a\\nb"', 1, "name = 'a\\nb'", "line of text"),
            ("zone = 'Mars'", 1, "zone = 'Mars'", "time zone"),
            ("zone = '../../etc/passwd'", 1, "zone =", "time zone"),
            ("[scores]\nutility_floor = 1.01", 2, "scores.utility_floor = 1.01", "from 0 to 1"),
            ("[scores]\nutility_floor = nan", 2, "nan", "from 0 to 1"),
            ("[scores]\nlambda_t = 0", 2, "scores.lambda_t = 0", "above 0"),
            ("scores.lambda_t = inf", 1, "inf", "above 0 and at most 1000"),
            ("[scores]\nutility_rule = 'mine'", 2, "'mine'", '"paper", "organisers"'),
            ("[scores]\nhospital_weight = '10'", 2, "'10'", "number"),
            ("[clock]\nstart = '8:00'", 2, "'8:00'", "08:00:00"),
            ("[clock]\nstart = 08:00:30", 2, "08:00:30", "whole minutes"),
            ("[clock]\nslots = 48", 2, "48 slots of 30 minutes from 08:00", "before midnight"),
            ("[feedback]\nbands = [\n0.5,\n0.4,\n0.9]", 4, "feedback.bands = 0.4", "before"),
            ("[feedback]\nbands = [0.5]", 2, "an array of 1", "3 rising"),
            ("[samples]\nreid = [\n'Random-R',\n'Rnd-R',\n]", 4, "'Rnd-R'", "mean Random-R"),
            ("[samples]\nreid = ['Random-T']", 2, "'Random-T'", "no reid is called"),
            ("[samples]\ntrace = ['Fuzzy-T(-1)']", 2, "'Fuzzy-T(-1)'", "eta0"),
            ("[samples]\ntrace = ['random-t', 'Random-T']", 2, "'Random-T'", "once"),
            ("[samples]\ntrace = [3]", 2, "samples.trace = 3", "in quotes"),
            ("scores = 3", 1, "scores = 3", "a table [scores]"),
            ("[[scores]]\n", 1, "scores = an array of 1", "a table [scores]"),
            ("users = {}", 1, "users = a table", "whole number"),
            ("rounds = []", 1, "rounds = an array of 0", "1 to 20 tables [[rounds]]"),
            ("rounds = [1]", 1, "rounds = 1", "a table"),
            ("[[rounds]]\nname = 'Final'", 2, "rounds.name = 'Final'", "small letters"),
            ("[[rounds]]\nweight = -1", 2, "rounds.weight = -1", "from 0"),
            ("[challenges]\ntrace_inference = false", 2, "no challenge", "at least one"),
            ("[city]\nbuiltin = 'Paris'", 2, "'Paris'", '"metropolis"'),
            ("[city]\nbuiltin = 'metropolis'\nfile = 'x'", 3, "builtin and file", "one of"),
        ],
    )
    def test_name_line_found_and_expected(self, text, line, found, expected):
        problem = only_problem(text)
        assert problem.line == line
        assert found in problem.found
        assert expected in problem.expected

    def test_unknown_key_gets_the_nearest(self):
        problem = only_problem("users = 5\n[scores]\nutility_flor = 0.7\n")
        assert problem.line == 3
        assert problem.found == "the unknown key 'utility_flor'"
        assert problem.expected.startswith("utility_floor (nearest)")

    def test_unknown_table(self):
        problem = only_problem("[score]\nutility_floor = 0.7\n")
        assert problem.line == 1
        assert problem.expected.startswith("scores (nearest)")

    def test_all_problems_in_order_of_lines(self):
        found = problems("[limits]\nattack_tries = 0\n[scores]\nx = 1\nlambda_u = -1\n")
        assert [problem.line for problem in found] == [2, 4, 5]

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("a = 1\nb =\n", 2),
            ("[x\n", 1),
            ("a = 1\na = 2\n", 2),
            ("x = 'open", 0),
            ("a = \t\x01", 1),
        ],
    )
    def test_syntax(self, text, line):
        problem = only_problem(text)
        assert problem.line in (line, 0)
        assert problem.line == line or "end of document" in problem.found
        assert problem.expected == "valid TOML"

    def test_challenges_and_attack_targets_fit(self):
        text = "[challenges]\nreidentification = true\ntrace_inference = false\n"
        assert only_problem(text).line == 3
        rules = parse_rules(text + "[awards]\nattack_targets = 'all'\n")
        assert rules.challenges_played == ("reid",)

    def test_rounds_have_names_of_their_own_and_a_weight(self):
        assert "different name" in only_problem("[[rounds]]\n[[rounds]]\n").expected
        assert "above 0" in only_problem("[[rounds]]\nweight = 0\n").expected

    def test_missing_file(self, tmp_path):
        with pytest.raises(UnreadableFile, match="no such file"):
            read_rules(tmp_path / "contest.toml")

    def test_large_file(self, tmp_path):
        (tmp_path / "contest.toml").write_text("# x\n" * 100_000)
        with pytest.raises(InvalidFile, match="at most 262144 bytes"):
            read_rules(tmp_path / "contest.toml")


class TestCheck:
    @pytest.mark.parametrize(
        "rules",
        [
            Rules(users="many"),
            Rules(scores=ScoreRules(utility_floor="high")),
            Rules(city=CityRules(None, None)),
            Rules(rounds=()),
            Rules(name="two\nlines"),
            Rules(rounds=(RoundRules(phases=Phases(announce=datetime(2030, 1, 1))),)),
        ],
    )
    def test_refuses_what_no_file_could_say(self, rules):
        with pytest.raises(InvalidParameter):
            rules.check()

    def test_whole_numbers_are_numbers(self):
        Rules(scores=ScoreRules(utility_floor=1, hospital_weight=100)).check()


class TestRounds:
    def test_weights_follow_the_name(self):
        rules = parse_rules(
            "[[rounds]]\nname='preliminary'\n[[rounds]]\nname='final'\n[[rounds]]\nname='encore'\n"
        )
        assert [one.weight for one in rules.rounds] == [1, 9, 1]

    def test_clock_of_a_round(self):
        rules = parse_rules(
            "[clock]\ndays=4\nreference_days=3\n[[rounds]]\nname='a'\ndays=2\n[[rounds]]\nname='b'\n"
            "[[rounds]]\nname='c'\ndays=2\nreference_days=5\n"
        )
        days = [(rules.clock_of(n).reference.days, rules.clock_of(n).original.days) for n in "abc"]
        assert days == [(2, 2), (3, 4), (5, 2)]

    def test_unknown_round(self):
        with pytest.raises(InvalidParameter, match="known: final"):
            Rules().round("semifinal")


PHASED = """zone = "Asia/Tokyo"
[[rounds]]
name = "final"
[rounds.phases]
announce = 2019-08-01T10:00:00
anonymize = 2019-08-02 10:00:00
judge = 2019-09-01T15:00:00+00:00
attack = 2019-09-02T10:00:00
results = 2019-09-20T10:00:00Z
"""


class TestPhases:
    def test_local_times_are_in_the_contests_zone(self):
        phases = parse_rules(PHASED).rounds[0].phases
        assert phases.scheduled
        assert phases.anonymize == datetime(2019, 8, 2, 1, tzinfo=UTC)
        assert phases.judge == datetime(2019, 9, 1, 15, tzinfo=UTC)

    def test_all_or_none(self):
        problem = only_problem(PHASED.replace("attack = 2019-09-02T10:00:00\n", ""))
        assert problem.line == 4
        assert problem.found == "no attack"

    def test_in_order_after_the_zone_is_applied(self):
        # 23:30 in Tokyo is 14:30 UTC: half an hour before the judge, though it reads later.
        text = PHASED.replace("attack = 2019-09-02T10:00:00", "attack = 2019-09-01T23:30:00")
        problem = only_problem(text)
        assert problem.line == 8
        assert "after judge" in problem.expected

    def test_equal_instants_are_not_in_order(self):
        text = PHASED.replace("2019-08-02 10:00:00", "2019-08-01T10:00:00")
        assert only_problem(text).line == 6

    def test_rounds_follow_one_another(self):
        early = PHASED + PHASED.split("\n", 1)[1].replace('"final"', '"encore"')
        problem = only_problem(early)
        assert problem.line == 14
        assert "after the results of final" in problem.expected
        assert len(parse_rules(early.replace("2019", "2018", 5)).rounds) == 2

    @pytest.mark.parametrize(
        "value", ["2019-08-01", "10:00:00", "'2019-08-01T10:00:00'", "0001-01-01T00:00:00+09:00"]
    )
    def test_only_instants(self, value):
        text = PHASED.replace("2019-08-01T10:00:00", value)
        assert only_problem(text).line == 5

    def test_a_time_that_the_clock_skips(self):
        with pytest.raises(Refusal, match="put forward"):
            local_to_utc(datetime(2030, 3, 31, 2, 30), zone_of("Europe/Berlin"))

    def test_a_time_that_the_clock_shows_twice(self):
        with pytest.raises(Refusal, match="offset"):
            local_to_utc(datetime(2030, 10, 27, 2, 30), zone_of("Europe/Berlin"))

    def test_an_offset_decides_which_of_the_two(self):
        rules = parse_rules(
            PHASED.replace("Asia/Tokyo", "Europe/Berlin").replace(
                "2019-09-20T10:00:00Z", "2019-10-27T02:30:00+01:00"
            )
        )
        assert rules.rounds[0].phases.results == datetime(2019, 10, 27, 1, 30, tzinfo=UTC)


class TestHostileFiles:
    @pytest.mark.parametrize(
        "text",
        [
            "x = " + "[" * 5000 + "]" * 5000,
            "name = " + "[" * 200 + "]" * 200,
            "x = " + "9" * 6000,
            "users = 0x" + "f" * 6000,
            "scores.utility_floor = 0x" + "f" * 400,
            ".".join(["a"] * 3000) + " = 1",
            "users = 1e999",
            "\ufeffusers = 5",
            "name = '\ud800'",
            "'" + "k" * 5000 + "' = 1",
            "[samples]\nreid = ['" + "R" * 5000 + "']",
        ],
    )
    def test_are_refused_with_a_short_message(self, text):
        with pytest.raises(InvalidFile) as caught:
            parse_rules(text)
        assert len(str(caught.value)) < 2000

    @settings(max_examples=150)
    @given(st.randoms(use_true_random=False), st.integers(1, 6))
    def test_damaged_rules_give_our_errors_only(self, rnd: random.Random, damages: int):
        text = rules_text(Rules.preset("organisers2019"))
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        for _ in range(damages):
            at = rnd.randrange(len(lines))
            what = rnd.randrange(5)
            if what == 0:
                del lines[at]
            elif what == 1:
                lines.insert(at, lines[rnd.randrange(len(lines))])
            elif what == 2:
                bad = ["-1", "[]", "{}", "'x'", "nan", "2030-01-01", "true", "[[1]]", '"', "07"]
                lines[at] = f"{lines[at].split(' = ')[0]} = {rnd.choice(bad)}"
            elif what == 3:
                k = rnd.randrange(len(lines[at]) + 1)
                lines[at] = lines[at][:k] + rnd.choice("[]{}\"'#=.,\\ \t\x00é0") + lines[at][k:]
            else:
                lines[at] = lines[at][: rnd.randrange(len(lines[at]) + 1)]
        try:
            rules = parse_rules("\n".join(lines))
        except TraceCupError:
            return
        assert parse_rules(rules_text(rules)) == rules

    @settings(max_examples=150)
    @given(st.text(max_size=60))
    def test_any_text(self, text):
        try:
            parse_rules(text)
        except TraceCupError as error:
            assert str(error)

    @settings(max_examples=60)
    @given(st.binary(max_size=60))
    def test_any_bytes(self, tmp_path_factory, data):
        path = tmp_path_factory.mktemp("rules") / "contest.toml"
        path.write_bytes(data)
        try:
            read_rules(path)
        except TraceCupError as error:
            assert str(error)
