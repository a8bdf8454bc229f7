import pytest

from tracecup import City, Grid, Traces
from tracecup.attack import (
    Case,
    argmax_table,
    assignment_table,
    greedy_table,
    parse_inference,
    parse_reid,
)
from tracecup.contest.bots import BOTS, Bot, bots_for
from tracecup.errors import UnknownMethod
from tracecup.obfuscate import parse_obfuscator
from tracecup.score import utility_score
from tracecup.traces import SetTraces


class TestBots:
    def test_there_are_21_different_teams(self):
        assert len(BOTS) == 21
        assert len({(bot.obfuscation, bot.floor) for bot in BOTS}) == 21
        assert len({bot.reid for bot in BOTS}) == 21
        assert len({bot.trace for bot in BOTS}) == 21

    def test_every_name_is_known(self):
        for bot in BOTS:
            parse_obfuscator(bot.obfuscation)
            for name in bot.reid:
                parse_reid(name)
            for name in bot.trace:
                parse_inference(name)

    def test_one_is_out_of_competition_and_cheats(self):
        assert [bot.obfuscation for bot in BOTS if bot.hors_concours] == ["Cheat(1)"]

    def test_an_unknown_attack(self):
        with pytest.raises(UnknownMethod):
            parse_reid("Nobody-R")


class TestBotsFor:
    def test_small_seasons_have_the_special_ones(self):
        assert bots_for(4) == list(BOTS[:4])

    def test_large_ones_repeat_only_ordinary_bots(self):
        again = bots_for(60)[21:]
        assert all(bot in BOTS and not bot.fixed for bot in again)


class TestObfuscator:
    def test_is_tuned_to_the_floor(self, tiny_world):
        original = tiny_world.data(None, _clock(), 50, 3)[1]
        existing = ("Cloak", "MDAV", "MixZone", "Optimal", "OptimalUser", "PLR")
        for name in ("MRLH(1,1)", "RR", "PL", "KMeans(10)", *existing):
            method = Bot(name, (), ()).obfuscator(tiny_world.city, original, 0.7, 5)
            released = method.obfuscate(tiny_world.city, original, 5)
            assert utility_score(tiny_world.city, original, released).valid

    def test_a_floor_of_its_own_may_be_higher(self, tiny_world):
        original = tiny_world.data(None, _clock(), 50, 3)[1]
        method = Bot("RR", (), (), floor=0.9).obfuscator(tiny_world.city, original, 0.7, 5)
        released = method.obfuscate(tiny_world.city, original, 5)
        assert 0.9 <= utility_score(tiny_world.city, original, released).value < 0.91

    def test_what_cannot_keep_the_floor_is_given_up(self):
        city = City(Grid.from_metres(4, 4, width_m=5000, height_m=5000))
        original = Traces.of([[0, 5, 10, 15]])
        assert str(Bot("MRLH(2,2)", (), ()).obfuscator(city, original, 0.7, 1)) == "None"

    def test_a_fixed_one_stays(self, tiny_world):
        original = tiny_world.data(None, _clock(), 5, 3)[1]
        method = Bot("MRLH(2,2,0.5)", (), (), fixed=True).obfuscator(
            tiny_world.city, original, 0.7, 1
        )
        assert str(method) == "MRLH(2,2,0.5)"


class TestIdentify:
    @pytest.mark.parametrize(
        ("match", "matcher"),
        [("argmax", argmax_table), ("greedy", greedy_table), ("assignment", assignment_table)],
    )
    def test_matches_as_it_says(self, tiny_world, match, matcher):
        reference, original = tiny_world.data(None, _clock(), 30, 4)
        case = Case(tiny_world.city, reference, SetTraces.of_traces(original))
        bot = Bot("None", (f"HomeProb-R(match={match})",), ())
        wanted = matcher(parse_reid("HomeProb-R").scores(case))
        assert bot.answer("reid", 0, case, 1) == wanted


class TestExistingMethods:
    """The published methods play as well as the sample ones, under names with parameters."""

    @pytest.fixture
    def data(self, tiny_world):
        return tiny_world.city, *tiny_world.data(None, _clock(), 12, 4)

    @pytest.mark.parametrize(
        "name",
        [
            "Markov-R(match=assignment)", "Markov0-R(start=first)", "MMC-R(sym,minvisits=1)",
            "LPM-R(weak)", "LPM-R(strong,shortlist=3,emission=fitted)", "TF-R(2,start=first)",
        ],
    )  # fmt: skip
    def test_identify(self, data, name):
        city, reference, original = data
        case = Case(city, reference, SetTraces.of_traces(original))
        bot = Bot("None", (name,), ())
        assert bot.answer("reid", 0, case, 1) == parse_reid(name).identify(case, 1)

    @pytest.mark.parametrize("name", ["LPM-T(viterbi,periods=4)", "TF-T(2,rounds=1,keep=0.8)"])
    def test_infer(self, data, name):
        city, reference, original = data
        case = Case(city, reference, SetTraces.of_traces(original))
        answer = Bot("None", (), (name,)).answer("trace", 0, case, 1)
        assert answer == parse_inference(name).infer(case, 1)

    @pytest.mark.parametrize(
        "name",
        [
            "Cloak(3,reciprocal=true)", "MDAV(2,floor=0.7)", "MixZone(2,floor=0.7)",
            "Optimal(0.6)", "OptimalUser(0.6)", "GeoOpt(4,2)", "PLR(4,1)", "SGLT-D(30,0)",
        ],
    )  # fmt: skip
    def test_obfuscate(self, data, name):
        city, _, original = data
        method = Bot(name, (), (), fixed=True).obfuscator(city, original, 0.7, 1)
        assert str(method) == str(parse_obfuscator(name))
        assert method.obfuscate(city, original, 1).shape == original.shape


class TestAttackName:
    def test_names_all_tries(self):
        bot = Bot("None", ("A", "B"), ("C",))
        assert bot.attack_name("reid") == "A | B"
        assert bot.attack_name("trace") == "C"


def _clock():
    from tracecup import ContestClock

    return ContestClock.regular(days=2, slots=4)
