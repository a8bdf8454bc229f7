"""Names of methods: grammar, round trip, precise refusals, plug-ins that work and that break."""

from __future__ import annotations

import contextlib
import math
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup import registry
from tracecup.attack import Case, FuzzyR, ReidAttack
from tracecup.city import City, Grid
from tracecup.errors import InvalidParameter, UnknownMethod
from tracecup.obfuscate import MRLH, RR, KMeans, PlanarLaplace
from tracecup.registry import (
    KINDS,
    MAX_NAME_LENGTH,
    MAX_WHOLE,
    BrokenPlugin,
    Kind,
    Method,
    Parameter,
    build,
    methods,
    nearest,
    parameter,
    parse,
    register,
    spell,
    split_name,
)
from tracecup.traces import SetTraces, Traces

EVERY = [(kind, name) for kind in KINDS for name in sorted(methods(kind))]


def allowed_values(rule: Parameter) -> st.SearchStrategy[Any]:
    """All values a parameter allows."""
    if isinstance(rule.default, bool):
        return st.booleans()
    if rule.words:
        return st.sampled_from(rule.words)
    if rule.text:  # names of files keep their case, so no other one survives upper()
        return st.just(rule.default)
    low = None if rule.low == -math.inf else rule.low
    high = None if rule.high == math.inf else rule.high
    if isinstance(rule.default, int):
        least = -MAX_WHOLE if low is None else math.ceil(low) + (rule.low_open and low == int(low))
        return st.integers(least, MAX_WHOLE if high is None else math.floor(high))
    return st.floats(low, high, exclude_min=rule.low_open, allow_nan=False, allow_infinity=False)


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the registry that forgets what a test registers."""
    copies = {kind: dict(known) for kind, known in registry._methods.items()}
    monkeypatch.setattr(registry, "_methods", copies)
    monkeypatch.setattr(registry, "_loaded", set())


@dataclass(frozen=True)
class Toy(Method):
    """One parameter of every sort."""

    share: float = parameter(0.5, "a share", low=0, high=1, low_open=True)
    steps: int = parameter(3, "steps", low=-2, high=2_000_000)
    style: str = parameter("plain", "a style", words=("plain", "Two-Words"), positional=False)
    loud: bool = parameter(False, "loud or not", positional=False)
    free: float = parameter(0.0, "any number", positional=False)


class TestRoundTrip:
    @pytest.mark.parametrize(("kind", "name"), EVERY)
    @settings(max_examples=25)
    @given(data=st.data())
    def test_what_is_printed_is_parsed(self, kind: Kind, name: str, data: st.DataObject) -> None:
        cls = methods(kind)[name]
        values = {r.attribute: data.draw(allowed_values(r), r.name) for r in cls.parameters()}
        method = cls(**values)
        method.check()
        again = parse(kind, str(method))
        assert again == method
        assert str(again) == str(method)
        assert parse(kind, f"  {str(method).upper()} ") == method

    @pytest.mark.parametrize(("kind", "name"), EVERY)
    def test_the_bare_name_means_the_defaults(self, kind: Kind, name: str) -> None:
        assert parse(kind, name) == methods(kind)[name]()

    def test_every_sort_of_parameter(self) -> None:
        toy = Toy(0.25, -1, "Two-Words", True, 1e300)
        assert str(toy) == "(0.25,-1,style=Two-Words,loud=true,free=1e+300)"
        assert build(Toy, f"Toy{toy}") == toy

    def test_only_keywords_that_differ_are_printed(self) -> None:
        assert str(FuzzyR()) == "Fuzzy-R(0.33,1)"
        assert str(FuzzyR(idf="log")) == "Fuzzy-R(0.33,1,idf=log)"

    def test_numbers_of_numpy_print_like_others(self) -> None:
        assert str(KMeans(np.int64(7))) == "KMeans(7)"
        assert str(RR(np.float64(0.1))) == "RR(0.1)"


class TestSplitName:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("None", ("None", [], [])),
            (" RR ( ) ", ("RR", [], [])),
            ("MRLH(1, 2,0.5)", ("MRLH", [1, 2, 0.5], [])),
            ("PPMTF+(16,masks=true)", ("PPMTF+", [16], [("masks", "true")])),
            ("A(-1,+2,.5,3.,1e3,-2E-1)", ("A", [-1, 2, 0.5, 3.0, 1000.0, -0.2], [])),
            ("A(1_000,0x10,nan,inf,١)", ("A", ["1_000", "0x10", "nan", "inf", "١"], [])),
            ("A(a=b=c)", ("A", [], [("a", "b=c")])),
            ("A((1))", ("A", ["(1)"], [])),
        ],
    )
    def test_splits(self, text: str, expected: object) -> None:
        assert split_name(text) == expected

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "(1)",
            "1A",
            "-A",
            "A B",
            "A(",
            "A)",
            "A(1",
            "A(1)B",
            "A+B",
            "Ünder",
            "A\x00",
            "A" * (MAX_NAME_LENGTH + 1),
        ],
    )
    def test_says_how_a_method_is_written(self, text: str) -> None:
        with pytest.raises(
            InvalidParameter, match=r"written Name or Name\(value, key=value\)"
        ) as e:
            split_name(text)
        assert len(str(e.value)) < 200

    @pytest.mark.parametrize("text", ["A(,)", "A(1,)", "A(=1)", "A(a=)", "A(1,,2)"])
    def test_empty_values(self, text: str) -> None:
        with pytest.raises(InvalidParameter, match="an empty value"):
            split_name(text)

    def test_values_stand_before_keywords(self) -> None:
        with pytest.raises(InvalidParameter, match="'2' stands after a key=value"):
            split_name("A(a=1,2)")


class TestParse:
    def test_case_and_spaces_do_not_matter(self) -> None:
        assert parse("obfuscator", " mrlh ( 1 , LAMBDA = 0.25 ) ") == MRLH(1, 2, 0.25)

    @pytest.mark.parametrize(
        ("kind", "text", "near"),
        [
            ("obfuscator", "MRHL(1,1,0.5)", "MRLH"),
            ("obfuscator", "kmean", "KMeans"),
            ("reid", "VisitProb", "VisitProb-R"),
            ("inference", "Fuzy-T", "Fuzzy-T"),
            ("synthesizer", "PPMF", "PPMTF"),
        ],
    )
    def test_unknown_names_give_the_nearest(self, kind: Kind, text: str, near: str) -> None:
        with pytest.raises(UnknownMethod, match=rf"did you mean {near}\?"):
            parse(kind, text)

    def test_unknown_names_without_a_near_one_list_all(self) -> None:
        with pytest.raises(UnknownMethod, match=r"'xqzw' \(known: .*PL, .*RR") as error:
            parse("obfuscator", "xqzw")
        assert "did you mean" not in str(error.value)

    def test_a_name_belongs_to_its_kind(self) -> None:
        with pytest.raises(UnknownMethod, match="no reid is called 'RR'"):
            parse("reid", "RR(1)")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("RR(-1)", "RR.eps must be a number >= 0, got -1"),
            ("RR(nan)", "RR.eps must be a number >= 0, got 'nan'"),
            ("RR(1e999)", "RR.eps must be a number >= 0, got inf"),
            ("RR(true)", "RR.eps must be a number >= 0, got 'true'"),
            ("MRLH(0.5)", "MRLH.mu_x must be a whole number >= 0 and <= 20, got 0.5"),
            ("MRLH(1,1,1.5)", "MRLH.lambda must be a number >= 0 and <= 1, got 1.5"),
            ("MRLH(21)", "MRLH.mu_x must be a whole number >= 0 and <= 20, got 21"),
            ("RR(1,replay=maybe)", "RR.replay must be true or false, got 'maybe'"),
            ("RR(1,2)", "RR(eps) takes at most 1 values, got 2"),
            ("RR(1,eps=2)", "RR.eps is given twice in 'RR(1,eps=2)'"),
            ("RR(epsilon=2)", "no parameter 'epsilon'; did you mean eps? (known: eps, replay)"),
            ("KMeans(9007199254740992)", "whole numbers end at 9007199254740991"),
        ],
    )
    def test_bad_parameters_give_the_rule(self, text: str, message: str) -> None:
        with pytest.raises(InvalidParameter) as error:
            parse("obfuscator", text)
        assert message in str(error.value)

    def test_words_are_listed(self) -> None:
        with pytest.raises(InvalidParameter, match="Fuzzy-R.tf must be one of log, count"):
            parse("reid", "Fuzzy-R(tf=sqrt)")

    def test_open_ends_are_open(self) -> None:
        with pytest.raises(InvalidParameter, match="Fuzzy-R.eta0 must be a number > 0, got 0"):
            parse("reid", "Fuzzy-R(0)")

    def test_whole_numbers_may_be_written_as_floats(self) -> None:
        method = parse("obfuscator", "KMeans(5.0)")
        assert method == KMeans(5)
        assert isinstance(method, KMeans)
        assert isinstance(method.k, int)


HOSTILE = [
    "RR(" + "9" * 480 + ")",
    "RR(-" + "9" * 480 + ")",
    "KMeans(" + "9" * 480 + ")",
    "RR(" + "(" * 200 + ")" * 200 + ")",
    "RR(" + "," * 400 + ")",
    "RR(" + "=" * 400 + ")",
    "(" * 250 + ")" * 250,
    "RR(\x00)",
    "RR(1\x1b[31m)",
    "\ud800",
    "RR(\ud800)",
    "RR(NaN)",
    "RR(-inf)",
    "RR(Infinity)",
    "RR(1j)",
    "RR(__import__('os'))",
    "RR({0.__class__})",
    "R" * 500,
    "RR(" + "a" * 200 + "=1)",
    "RR(eps=" + "a" * 400 + ")",
    "RR(" + " " * 450 + "x)",
    "RR()()",
    "../RR",
    "x" * 10**6,
]


class TestHostileNames:
    @pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
    @pytest.mark.parametrize("kind", KINDS)
    def test_are_refused_in_few_words(self, kind: Kind, text: str) -> None:
        with pytest.raises((InvalidParameter, UnknownMethod)) as error:
            parse(kind, text)
        assert len(str(error.value)) < 1000
        assert str(error.value).isprintable()

    @settings(max_examples=200)
    @given(kind=st.sampled_from(KINDS), text=st.text(max_size=60))
    def test_any_text_parses_or_is_refused(self, kind: Kind, text: str) -> None:
        with contextlib.suppress(InvalidParameter, UnknownMethod):
            assert parse(kind, text).kind == kind

    @settings(max_examples=200)
    @given(
        which=st.sampled_from(EVERY),
        inside=st.text("0123456789.,=()+-eE_ nafitruls\n", max_size=30),
    )
    def test_any_arguments_parse_or_are_refused(self, which: tuple[Kind, str], inside: str) -> None:
        try:
            method = parse(which[0], f"{which[1]}({inside})")
        except InvalidParameter:
            return
        assert parse(which[0], str(method)) == method


class TestCheck:
    """The rules hold for objects made without a name, too, where nothing was converted."""

    @pytest.mark.parametrize(
        "method",
        [
            RR(-1.0),
            RR(math.nan),
            RR(math.inf),
            RR(10**400),
            RR("1"),
            RR(True),
            RR(None),
            KMeans(5.0),
            KMeans(5, hospital="false"),
            KMeans(5, hospital=1),
            KMeans(10**400),
            FuzzyR(tf="LOG"),
            FuzzyR(tf=0),
            MRLH(1, 1, 1 + 1e-12),
        ],
        ids=repr,
    )
    def test_refuses(self, method: Method) -> None:
        with pytest.raises(InvalidParameter, match=rf"{method.name}\.\w+ must be .*, got "):
            method.check()

    @pytest.mark.parametrize(
        "method", [RR(3), RR(np.float32(0.5)), KMeans(np.int32(3)), PlanarLaplace(np.float64(4), 1)]
    )
    def test_accepts_numbers_of_numpy_and_whole_floats(self, method: Method) -> None:
        method.check()
        assert parse("obfuscator", str(method)) == method

    def test_is_called_when_work_starts(self) -> None:
        city = City(Grid.from_metres(5, 1, width_m=350, height_m=350))
        case = Case(city, Traces.of([[0]]), SetTraces.of_cells([[[0]]]))
        with pytest.raises(InvalidParameter, match="Fuzzy-R.tf must be one of log, count"):
            FuzzyR(tf="LOG").score_matrix(case)


class TestParameter:
    @pytest.mark.parametrize(
        ("rule", "words"),
        [
            (Parameter("a", 1.0, ""), "a number"),
            (Parameter("a", 1, ""), "a whole number"),
            (Parameter("a", 1.0, "", low=0, low_open=True), "a number > 0"),
            (Parameter("a", 1, "", high=1_000_000), "a whole number <= 1000000"),
            (Parameter("a", 1.0, "", low=1e-9, high=0.5), "a number >= 1e-09 and <= 0.5"),
            (Parameter("a", True, ""), "true or false"),
            (Parameter("a", "b", "", words=("b", "c")), "one of b, c"),
        ],
    )
    def test_range_in_words(self, rule: Parameter, words: str) -> None:
        assert rule.allowed == words

    def test_default_must_be_allowed(self) -> None:
        with pytest.raises(InvalidParameter, match="must be a number <= 1, got 2.0"):
            parameter(2.0, "too large", high=1)
        with pytest.raises(InvalidParameter, match="one of a, b, got 'c'"):
            parameter("c", "no such word", words=("a", "b"))

    def test_texts_need_their_words(self) -> None:
        with pytest.raises(InvalidParameter, match=r"declare all words=\(\.\.\.\)"):
            parameter("anything", "free text")


class TestSpell:
    @settings(max_examples=100)
    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_floats_are_spelled_exactly(self, value: float) -> None:
        assert float(spell(value)) == value

    @pytest.mark.parametrize(
        ("value", "text"),
        [(1.0, "1"), (-0.0, "0"), (1e15, "1000000000000000.0"), (True, "true"), ("log", "log")],
    )
    def test_spells(self, value: float | str, text: str) -> None:
        assert spell(value) == text


class TestMethods:
    def test_built_in_names_need_no_import(self) -> None:
        code = "from tracecup.registry import parse; print(parse('reid', 'random-r'))"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=600
        )
        assert done.stdout == "Random-R\n", done.stderr


class TestNearest:
    def test_any_case(self) -> None:
        assert nearest("KMEAN", ["RR", "KMeans"]) == "; did you mean KMeans?"

    def test_nothing_near(self) -> None:
        assert nearest("qqq", ["RR", "KMeans"]) == ""


@dataclass(frozen=True)
class Guess(ReidAttack):
    """An attack like those of plug-ins."""

    tries: int = parameter(1, "tries", low=1)


def fresh_class() -> type[ReidAttack]:
    """A class of its own each time, as if from another module."""
    return dataclass(frozen=True)(type("Guess", (ReidAttack,), {"__module__": "elsewhere"}))


@pytest.mark.usefixtures("own_registry")
class TestRegister:
    def test_makes_a_method_known(self) -> None:
        register("reid", "Guess-R", "guesses", "nobody")(Guess)
        method = parse("reid", "guess-r(3)")
        assert method == Guess(3)
        assert (str(method), method.summary, method.citation) == ("Guess-R(3)", "guesses", "nobody")

    def test_a_name_is_taken_once(self) -> None:
        with pytest.raises(
            InvalidParameter, match="'RANDOM-R' is already taken by tracecup.attack"
        ):
            register("reid", "RANDOM-R", "not the first")(fresh_class())
        assert methods("reid")["Random-R"].__module__.startswith("tracecup.")

    def test_a_refused_class_stays_as_it_was(self) -> None:
        cls = fresh_class()
        with pytest.raises(InvalidParameter):
            register("reid", "Random-R", "not the first")(cls)
        assert cls.name == ""

    def test_the_same_class_may_be_loaded_again(self) -> None:
        for _ in range(2):
            cls = register("reid", "Again-R", "reloaded module")(fresh_class())
        assert methods("reid")["Again-R"] is cls

    def test_kinds_have_names_of_their_own(self) -> None:
        register("reid", "RR", "the name of an obfuscation")(fresh_class())
        assert methods("obfuscator")["RR"] is RR

    @pytest.mark.parametrize("name", ["", "My Attack", "3D", "A(1)", "A+B", "Ä", "A\n", "A=1"])
    def test_names_must_be_writable(self, name: str) -> None:
        with pytest.raises(InvalidParameter, match="cannot be a method's name"):
            register("reid", name, "badly named")(fresh_class())

    def test_kinds_are_known(self) -> None:
        with pytest.raises(InvalidParameter, match="a kind is one of obfuscator, reid"):
            register("attack", "A", "no such kind")(fresh_class())  # type: ignore[arg-type]  # wrong on purpose

    def test_only_methods(self) -> None:
        with pytest.raises(InvalidParameter, match="a class derived from Method"):
            register("reid", "A", "a function")(len)  # type: ignore[type-var]  # wrong on purpose

    def test_needs_a_frozen_dataclass_below(self) -> None:
        for cls in (type("A", (ReidAttack,), {}), dataclass(type("A", (Method,), {}))):
            with pytest.raises(InvalidParameter, match=r"between @register\(...\) and class"):
                register("reid", "A", "not frozen")(cls)

    def test_a_subclass_needs_a_dataclass_of_its_own(self) -> None:
        with pytest.raises(InvalidParameter, match="must be a frozen dataclass"):
            register("obfuscator", "A", "fields would be lost")(type("A", (KMeans,), {}))

    def test_every_field_needs_a_default(self) -> None:
        @dataclass(frozen=True)
        class Needy(ReidAttack):
            size: int

        with pytest.raises(InvalidParameter, match=r"Needy.size has no default.*parameter\(...\)"):
            register("reid", "Needy", "cannot be built from its name")(Needy)

    def test_fields_with_factories_are_fine(self) -> None:
        @dataclass(frozen=True)
        class Cached(ReidAttack):
            cache: dict[str, int] = field(default_factory=dict)

        register("reid", "Cached", "has a field that is no parameter")(Cached)
        assert str(parse("reid", "cached")) == "Cached"

    def test_parameters_must_differ_in_more_than_case(self) -> None:
        @dataclass(frozen=True)
        class Twins(ReidAttack):
            a: int = parameter(1, "one")
            A: int = parameter(1, "other")

        with pytest.raises(InvalidParameter, match="differ in nothing but case"):
            register("reid", "Twins", "ambiguous")(Twins)


GOOD_PLUGIN = """
from dataclasses import dataclass
from tracecup.attack import ReidAttack
from tracecup.registry import register

@register("reid", "{name}", "from a plug-in")
@dataclass(frozen=True)
class Plugged(ReidAttack):
    pass
"""


@pytest.mark.usefixtures("own_registry")
class TestEntryPoints:
    @pytest.fixture
    def install(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Callable[[dict[str, str], str], None]:
        """install({module: source}, "module:object"): entry points of tracecup.attacks."""

        def add(modules: dict[str, str], *values: str) -> None:
            for name, source in modules.items():
                (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
                monkeypatch.delitem(sys.modules, name, raising=False)
            entries = [
                metadata.EntryPoint(f"e{k}", value, "tracecup.attacks")
                for k, value in enumerate(values)
            ]
            monkeypatch.syspath_prepend(tmp_path)
            monkeypatch.setattr(
                registry.metadata,
                "entry_points",
                lambda group: metadata.EntryPoints(e for e in entries if e.group == group),
            )

        return add

    @pytest.mark.parametrize("value", ["plug_a:Plugged", "plug_a"])
    def test_a_class_or_its_module_is_enough(self, value: str, install: Any) -> None:
        install({"plug_a": GOOD_PLUGIN.format(name="Plugged-R")}, value)
        assert str(parse("reid", "plugged-r")) == "Plugged-R"

    def test_loaded_once(self, install: Any, tmp_path: Path) -> None:
        count = "from pathlib import Path\nwith open(Path(__file__).parent / 'n', 'a') as f:\n"
        install({"plug_b": GOOD_PLUGIN.format(name="B-R") + count + "    f.write('x')\n"}, "plug_b")
        for _ in range(3):
            methods("reid")
            methods("inference")
        assert (tmp_path / "n").read_text() == "x"

    @pytest.mark.parametrize(
        ("source", "value", "reason"),
        [
            ("import no_such_thing_anywhere", "plug_c:A", "ModuleNotFoundError: No module named"),
            ("def (", "plug_c:A", "SyntaxError"),
            ("raise SystemExit(3)", "plug_c:A", "SystemExit: 3"),
            ("x = 1", "plug_c:A", "AttributeError"),
            ("x = 1", "plug_c:x", r"registers no method; put @register\(...\)"),
            ("x = 1", "plug_c", "registers no method"),
            (GOOD_PLUGIN.format(name="Random-R"), "plug_c:Plugged", "already taken by tracecup"),
        ],
    )
    def test_a_broken_one_is_named_and_left_out(
        self, source: str, value: str, reason: str, install: Any
    ) -> None:
        install({"plug_c": source, "plug_d": GOOD_PLUGIN.format(name="D-R")}, value, "plug_d")
        message = rf"plug-in e0 = {value} \(entry points tracecup.attacks\) is left out: .*{reason}"
        with pytest.warns(BrokenPlugin, match=message) as heard:
            known = methods("reid")
        assert len(heard) == 1
        assert {"Random-R", "D-R"} <= set(known)
        assert known["Random-R"].__module__.startswith("tracecup.")

    def test_said_once(self, install: Any) -> None:
        install({}, "no_such_module_at_all")
        with pytest.warns(BrokenPlugin):
            methods("reid")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert "Random-R" in methods("reid")

    def test_other_kinds_are_not_touched(self, install: Any) -> None:
        install({}, "no_such_module_at_all")
        assert "RR" in methods("obfuscator")


class TestNaming:
    """Words that take the name of a method: known(PL(4,1))."""

    RULE = Parameter("channel", "no", "a channel", words=("no",), naming=("known",))

    @pytest.mark.parametrize(
        ("written", "kept"),
        [
            ("known(PL(4,1))", "known(PL(4,1))"),
            ("KNOWN( RR(8) + Cheat(0.3) )", "known(RR(8)+Cheat(0.3))"),
            ("known(KMeans(100,floor=0.8))", "known(KMeans(100,floor=0.8))"),
        ],
    )
    def test_keeps_the_name_without_spaces(self, written: str, kept: str) -> None:
        assert self.RULE.convert(written, "A") == kept
        self.RULE.check(kept, "A")

    @pytest.mark.parametrize("bad", ["known", "known()", "unknown(PL)", "PL(4,1)", 3])
    def test_refuses_other_words(self, bad: Any) -> None:
        with pytest.raises(InvalidParameter, match=r"one of no, known\(NAME\)"):
            self.RULE.convert(bad, "A")

    def test_parentheses_hold_their_commas_and_equals(self) -> None:
        found = registry.split_name("A(1, b(2,c=3), d=e(f(4),5), g=6)")
        assert found == ("A", [1, "b(2,c=3)"], [("d", "e(f(4),5)"), ("g", 6)])

    @pytest.mark.parametrize("text", ["A(b(1)", "A(b))", "A(b)(c)", "A(1,b(2)", "A(b=c(1)"])
    def test_parentheses_must_match(self, text: str) -> None:
        with pytest.raises(InvalidParameter, match="parentheses do not match|a method is written"):
            registry.split_name(text)

    def test_an_unknown_defence_is_refused_by_its_owner(self) -> None:
        with pytest.raises(UnknownMethod, match="KMean"):
            parse("reid", "Bayes-R(channel=known(KMean(100)))")
