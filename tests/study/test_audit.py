from __future__ import annotations

import json
import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from tracecup import City, Clock, Grid, IdTable, SetTraces, Traces
from tracecup.attack.models import bayes
from tracecup.attack.prior import mixture
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.errors import InvalidParameter, InvalidTraces, UnknownMethod
from tracecup.score import inference_score, reid_score, utility_score
from tracecup.study.audit import PORTFOLIO, Subject, audit
from tracecup.study.auditwords import CAVEATS, as_dict, percent, sentences
from tracecup.traces import files

# Nine regions of 1 km; two days of two events.
CITY = City(Grid.from_metres(3, 3, width_m=1000, height_m=1000))
CLOCK = Clock.regular(2, slots=2)


def stays(homes: list[int]) -> Traces:
    """People who never leave their region."""
    return Traces.of([[home] * 4 for home in homes], CLOCK)


def subject(reference: Traces, original: Traces, cells: SetTraces, **other) -> Subject:
    released, table = pseudonymize(cells, 3)
    labels = tuple(f"user {k}" for k in range(original.n_users))
    given = {"table": table, "labels": labels, "notes": ()} | other
    return Subject(CITY, reference, original, released, **given)


HOME = stays([0, 2, 6, 8])
OPEN = subject(HOME, HOME, SetTraces.of_traces(HOME))
GONE = subject(HOME, HOME, SetTraces.of_cells([[[]] * 4] * 4, CLOCK))


def wandering(seed: int, users: int = 40, days: int = 4) -> tuple[Traces, Traces]:
    rng = np.random.default_rng(seed)
    clock = Clock.regular(days, slots=4)

    def part() -> Traces:
        away = rng.integers(0, 9, (users, clock.times))
        home = np.arange(users)[:, None] % 9
        return Traces.of(np.where(rng.random(away.shape) < 0.6, home, away), clock)

    return part(), part()


class TestAudit:
    def test_unchanged_traces_of_people_who_stay_are_all_found(self):
        found = audit(OPEN)
        assert (found.users, found.events) == (4, 16)
        assert found.identified == 4
        assert [one.score.value for one in found.reid] == [0, 0, 0, 0, 0]
        assert found.linked is not None
        assert found.linked.score.value == 0
        assert found.utility is not None
        assert found.utility.value == 1
        assert found.added is not None
        assert found.added[0] == 0  # habits alone already tell everything

    def test_wilson_interval_and_guessing(self):
        found = audit(OPEN)
        assert found.guessing == 0.25
        interval = found.identified_interval
        assert interval is not None
        # Wilson for 4 of 4: low = n / (n + z^2), z = 1.95996.
        assert interval.low == pytest.approx(4 / (4 + 1.959964**2), abs=1e-6)
        assert interval.high == 1

    def test_deleted_release_leaves_prior_knowledge(self):
        found = audit(GONE)
        assert found.utility is not None
        assert found.utility.value == 0
        assert found.identified == 1  # a tie of all users goes to the smallest
        assert found.prior is not None
        assert found.prior.score.value == 0
        assert found.own_prior.tolist() == [0, 0, 0, 0]

    def test_portfolio(self):
        found = audit(OPEN)
        assert {one.attack for one in (*found.reid, *found.trace)} == set(PORTFOLIO)
        assert found.prior is not None
        assert found.prior.attack in ("Replay-T", "Prior-T")

    def test_scores_are_those_of_the_contest(self):
        reference, original = wandering(1)
        rng = np.random.default_rng(2)
        noisy = Traces.of(
            np.where(rng.random(original.shape) < 0.3, 4, original.regions), original.clock
        )
        case = subject(reference, original, SetTraces.of_traces(noisy))
        found = audit(case, attacks=["HomeProb-R", "Prior-T"])
        assert found.utility is not None
        assert (
            found.utility.value == utility_score(CITY, original, SetTraces.of_traces(noisy)).value
        )
        from tracecup.attack import Case, HomeProbR, PriorT

        target = Case(CITY, reference, case.released)
        assert case.table is not None
        guess = HomeProbR().identify(target)
        assert found.reid[0].score.value == reid_score(case.table, guess).value
        inferred = PriorT().infer(target)
        assert found.trace[0].score.value == inference_score(CITY, original, inferred).value

    def test_gaps_in_original_count_nowhere(self):
        reference, original = wandering(4)
        regions = original.regions.copy()
        regions[:, ::3] = -1
        regions[5] = -1
        gapped = Traces.of(regions, original.clock)
        found = audit(subject(reference, gapped, SetTraces.of_traces(gapped)))
        assert found.events == int((regions >= 0).sum())
        assert found.utility is not None
        assert found.utility.value == 1
        assert math.isnan(found.own[5])
        assert sum(found.histogram) == 39

    def test_without_table_only_inference_is_scored(self):
        found = audit(subject(HOME, HOME, SetTraces.of_traces(HOME), table=None))
        assert found.utility is None
        assert found.reid == ()
        assert found.strongest_reid is None
        assert len(found.trace) == 7
        assert found.times_identified.tolist() == [0, 0, 0, 0]

    def test_same_seed_same_result(self):
        reference, original = wandering(5)
        case = subject(reference, original, SetTraces.of_cells([[[0, 4, 8]] * 16] * 40,
                                                              original.clock))  # fmt: skip
        first, second, other = (audit(case, seed=seed) for seed in (1, 1, 2))
        assert [a.score.value for a in first.trace] == [a.score.value for a in second.trace]
        assert [a.score.value for a in first.trace] != [a.score.value for a in other.trace]

    def test_progress_never_passes_the_total(self):
        told = []
        audit(OPEN, progress=lambda done, total: told.append((done, total)))
        assert told == [(k, 12) for k in range(1, 13)]

    def test_what_attacks_learn_of_a_release_is_learnt_once(self, monkeypatch):
        learnt = Counter()

        def counted(name, learn):
            def call(*args, **options):
                learnt[name] += 1
                return learn(*args, **options)

            return call

        monkeypatch.setattr(bayes, "learn_channel", counted("channel", bayes.learn_channel))
        monkeypatch.setattr(mixture, "fit_prior", counted("prior", mixture.fit_prior))
        reference, original = wandering(6)
        open_release = subject(reference, original, SetTraces.of_traces(original))
        attacks = ["Bayes-R", "Bayes-R(channel=identity)", "Prior-T(habits=mixture)", "Bayes-T"]
        found = audit(open_release, attacks=attacks)
        assert learnt == {"channel": 1, "prior": 1}
        assert [one.attack for one in (*found.reid, *found.trace)] == attacks
        with ThreadPoolExecutor(1) as pool:
            again = audit(open_release, attacks=attacks, executor=pool)
        assert learnt["channel"] == 2  # once more in another audit
        assert [one.score.value for one in again.trace] == [one.score.value for one in found.trace]

    def test_bad_input(self):
        with pytest.raises(InvalidParameter, match="trace inference"):
            audit(OPEN, attacks=["VisitProb-R"])
        with pytest.raises(InvalidParameter, match="confidence"):
            audit(OPEN, confidence=1.0)
        with pytest.raises(UnknownMethod):
            audit(OPEN, attacks=["Nobody-T"])


class TestBounds:
    def test_of_an_open_release(self):
        bounds = audit(OPEN).bounds
        assert bounds.guessing == 0.75
        assert bounds.true_link == 0.0
        assert bounds.prior == audit(OPEN).prior.score.value

    def test_of_one_that_is_gone(self):
        assert audit(GONE).bounds.true_link == 1.0

    def test_without_the_table(self):
        hidden = subject(HOME, HOME, SetTraces.of_traces(HOME), table=None)
        assert audit(hidden).bounds.true_link is None


class TestSubject:
    def test_parts_must_fit(self):
        with pytest.raises(InvalidTraces, match="released"):
            Subject(CITY, HOME, HOME, SetTraces.of_cells([[[0]]]), None, ("a",))
        with pytest.raises(InvalidTraces, match="labels"):
            subject(HOME, HOME, SetTraces.of_traces(HOME), labels=("a",))
        with pytest.raises(InvalidTraces, match="labels"):
            subject(HOME, HOME, SetTraces.of_traces(HOME), table=IdTable.of([0]))


class TestWorst:
    def test_most_often_named_first_then_lowest_own_score(self):
        reference, original = wandering(7)
        found = audit(subject(reference, original, SetTraces.of_traces(original)))
        listed = found.worst(40)
        keys = [(-len(risk.identified_by), risk.s_t) for risk in listed]
        assert keys == sorted(keys)
        assert {risk.user for risk in listed} == {f"user {k}" for k in range(40)}

    def test_own_score_is_the_lowest_over_attacks_that_use_the_release(self):
        reference, original = wandering(8)
        found = audit(subject(reference, original, SetTraces.of_traces(original)))
        linked = [one.score.per_user for one in (*found.trace[:3], found.trace[5])]
        assert found.own.tolist() == np.min(linked, axis=0).tolist()
        assert found.risk(3).s_t == min(row[3] for row in linked)

    def test_named_by_counts_attacks(self):
        found = audit(OPEN)
        assert found.worst(1)[0].identified_by == (
            "VisitProb-R",
            "HomeProb-R",
            "Fuzzy-R(0.33,1)",
            "Fuzzy-R(0.33,1,match=assignment)",
            "VisitProb-R(match=assignment)",
        )
        assert found.worst(0) == []

    def test_unobserved_users_come_last(self):
        regions = np.array([[-1] * 4, *HOME.regions[1:].tolist()])
        truth = Traces.of(regions, CLOCK)
        found = audit(subject(HOME, truth, SetTraces.of_traces(truth)), attacks=["VisitProb-T"])
        assert found.worst(4)[-1].user == "user 0"
        assert found.worst(4)[-1].s_t is None


class TestDistribution:
    def test_histogram_and_quantiles(self):
        found = audit(OPEN)
        assert found.histogram == [4, *[0] * 9]
        assert found.quantiles == {0.05: 0, 0.25: 0, 0.5: 0, 0.75: 0, 0.95: 0}


class TestSentences:
    def test_numbers_stand_beside_what_they_are_measured_against(self):
        said = " ".join(sentences(audit(OPEN)))
        assert "4 of 4 pseudonyms: 100%" in said
        assert "A random guess names 25%" in said
        assert "4 times the rate of guessing" in said
        assert "Utility is s_U = 1.000" in said

    def test_no_better_than_guessing_is_said(self):
        assert "cannot be told from guessing" in " ".join(sentences(audit(GONE)))

    def test_one_user_alone_is_no_crowd(self):
        home = stays([4])
        said = " ".join(sentences(audit(subject(home, home, SetTraces.of_traces(home)))))
        assert "re-identification tells nothing" in said
        assert "random guess" not in said

    def test_release_that_adds(self):
        # Everybody is in the same places as before, at other times: known by them, not guessed.
        rng = np.random.default_rng(1)
        clock = Clock.regular(6, slots=3)
        reference = Traces.of(rng.integers(0, 9, (60, 18)), clock)
        original = Traces.of(reference.regions[:, rng.permutation(18)], clock)
        found = audit(subject(reference, original, SetTraces.of_traces(original)))
        assert found.added is not None
        assert found.added[1].low > 0
        assert "adds to what is known" in " ".join(sentences(found))

    def test_attack_weaker_than_habits_is_not_called_protection(self):
        many = stays([k % 9 for k in range(60)])
        gone = SetTraces.of_cells([[[]] * 4] * 60, CLOCK)
        found = audit(subject(many, many, gone), attacks=["VisitProb-T", "Bayes-T", "Prior-T"])
        # Where nothing is released Bayes decides by habits; made worse, so that habits win.
        off = np.full_like(found.trace[0].score.per_user, 0.9)
        worse = replace(found.trace[0].score, value=0.9, per_user=off)
        linked = tuple(
            one if one.attack == "Prior-T" else replace(one, score=worse) for one in found.trace
        )
        said = " ".join(sentences(replace(found, trace=linked)))
        assert "not how good the protection is" in said
        assert "cannot tell what the release adds" not in said

    def test_weak_attacks_alone_say_nothing_of_the_protection(self):
        many = stays([k % 9 for k in range(60)])
        gone = SetTraces.of_cells([[[]] * 4] * 60, CLOCK)
        found = audit(subject(many, many, gone), attacks=["VisitProb-T", "Prior-T"])
        said = " ".join(sentences(found))
        assert "cannot tell what the release adds" in said
        assert "not how good the protection is" not in said

    @pytest.mark.parametrize("strong", [True, False])
    def test_nothing_found_is_only_said_for_good_by_the_strongest_linking(self, strong):
        linked = "Bayes-T" if strong else "VisitProb-T"
        found = audit(OPEN, attacks=[linked, "Prior-T"])
        # Two attacks that find the same: no difference that can be told from nothing.
        same = tuple(replace(one, score=found.trace[0].score) for one in found.trace)
        said = " ".join(sentences(replace(found, trace=same)))
        assert "cannot be told from nothing" in said
        assert ("stronger attacks on the release were not run" in said) is not strong

    def test_without_table(self):
        said = sentences(audit(subject(HOME, HOME, SetTraces.of_traces(HOME), table=None)))
        ran = "7 trace inferences (VisitProb, HomeProb, Fuzzy, Replay, Prior) were run. Known to be"
        assert ran in said[0]
        assert "without the ID table" in said[1]

    def test_caveat_denies_a_proof(self):
        assert any("no proof" in text for text in CAVEATS)


class TestAsDict:
    def test_is_json_also_with_gaps(self):
        regions = np.array([[-1] * 4, *HOME.regions[1:].tolist()])
        truth = Traces.of(regions, CLOCK)
        found = as_dict(audit(subject(HOME, truth, SetTraces.of_traces(truth))), 4, per_user=True)
        again = json.loads(json.dumps(found, allow_nan=False))
        assert again["per_user"][0]["s_t"] is None
        assert len(again["worst_users"]) == 4
        assert again["reidentification"]["users_by_attacks_that_named_them"][0] <= 1

    def test_strongest_attacks_are_named(self):
        found = as_dict(audit(OPEN), 1)
        assert found["reidentification"]["rate"] == 1
        assert found["reidentification"]["guessing"] == 0.25
        assert found["trace_inference"]["without_release"] in ("Replay-T", "Prior-T")
        assert found["trace_inference"]["added"]["s_t"] == 0
        assert "per_user" not in found

    def test_no_pair_of_the_table_leaves(self):
        # Positions of pseudonyms (5 to 8) must not stand beside names.
        text = json.dumps(as_dict(audit(OPEN), 4, per_user=True))
        assert "pse" not in text.replace("pseudonyms", "")


class TestPercent:
    @pytest.mark.parametrize(
        ("share", "said"), [(1.0, "100%"), (0.035, "3.5%"), (1 / 3, "33.3%"), (5e-6, "0.0005%")]
    )
    def test_three_digits(self, share, said):
        assert percent(share) == said


class TestOracle:
    def test_published_case(self, data_dir):
        """The organisers' programs on 200 users of the Osaka sample, without any obfuscation."""
        from tracecup.city import read_city, read_clock

        folder = data_dir / "oracle" / "s01_none"
        city, clock = (
            read_city(data_dir / "osaka" / "info_region.csv"),
            read_clock(data_dir / "osaka" / "info_time.csv"),
        )
        expected = json.loads((folder / "scores.json").read_text())
        case = Subject(
            city,
            files.read_traces(folder / "reftraces.csv.gz", "reference", clock=clock.reference),
            files.read_traces(folder / "orgtraces.csv.gz", clock=clock.original),
            files.read_released(folder / "pubtraces.csv.gz", clock=clock.original),
            files.read_id_table(folder / "ptable.csv.gz"),
            tuple(str(k + 1) for k in range(200)),
        )
        found = audit(case, attacks=["VisitProb-R", "VisitProb-T"])
        assert found.utility is not None
        assert found.utility.value == pytest.approx(expected["utility_paper"], abs=1e-9)
        # Two of 200 pseudonyms have a tied maximum, whose user may be another one.
        s_t, s_r = found.trace[0].score.value, found.reid[0].score.value
        assert s_t == pytest.approx(expected["trace_inference"]["visitprob"]["s_T"], abs=0.01)
        assert s_r == pytest.approx(expected["reidentification"]["visitprob"]["s_R"], abs=0.01)
