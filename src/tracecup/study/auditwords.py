"""What an audit's numbers mean, in plain sentences and as plain JSON.

Says beside every number what it is measured against, and what it does not prove.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracecup import __version__
from tracecup.attack.learned import shipped_suits
from tracecup.score import Interval, Score
from tracecup.study.audit import Audit, Audited
from tracecup.study.tried import known_stronger, links_at_its_best

CAVEATS = (
    "These are averages over users against the attacks listed, no proof for the worst case: "
    "another attack, or an attacker who knows more than the reference traces, may find out more, "
    "and single users may be at much higher risk than the average.",
    "An interval says how far the average would move with other users of the same kind. It does "
    "not allow for having picked the strongest of several attacks.",
)
HABITS_WIN = (
    "On average these attacks get less from the release than from habits alone: a high s_T here "
    "shows how weak they are, not how good the protection is."
)
TOO_WEAK = (
    "The attacks that were run cannot tell what the release adds: habits alone come nearer to the "
    "truth than they do, and stronger attacks on the release were not run."
)
WEAK = "stronger attacks on the release were not run, and may find more"


def sentences(audit: Audit) -> list[str]:
    """The findings, one after the other."""
    parts = (_identification, _inference, _usefulness, _persons, _knowledge)
    return [tried(audit), *(sentence for part in parts for sentence in part(audit))]


def as_dict(audit: Audit, top: int, per_user: bool = False) -> dict[str, Any]:
    """The audit as plain JSON with the `top` users at most risk; `per_user`: all of them."""
    subject, best = audit.subject, audit.strongest_reid
    found: dict[str, Any] = {
        "tracecup": __version__,
        "seed": audit.seed,
        "confidence": audit.confidence,
        "users": audit.users,
        "events": audit.events,
        "regions": subject.city.n_regions,
        "utility": None if audit.utility is None else _score(audit.utility),
        "bounds": vars(audit.bounds),
        "reidentification": None,
        "trace_inference": {
            "attacks": {one.attack: _attacked(one) for one in audit.trace},
            "with_release": _name(audit.linked),
            "without_release": _name(audit.prior),
            "added": None,
        },
        "own_s_t": {
            "quantiles": {f"{q:g}": value for q, value in audit.quantiles.items()},
            "histogram": audit.histogram,
        },
        "worst_users": [vars(risk) for risk in audit.worst(top)],
        "sentences": sentences(audit),
        "caveats": list(CAVEATS),
        "notes": list(subject.notes),
    }
    if best is not None and audit.identified_interval is not None:
        found["reidentification"] = {
            "attacks": {one.attack: _attacked(one) for one in audit.reid},
            "strongest": best.attack,
            "identified": audit.identified,
            "rate": audit.identified / audit.users,
            "interval": _ends(audit.identified_interval),
            "guessing": audit.guessing,
            "above_guessing": _above_guessing(audit),
            "users_by_attacks_that_named_them": np.bincount(
                audit.times_identified, minlength=len(audit.reid) + 1
            ).tolist(),
        }
    if audit.added is not None:
        value, interval = audit.added
        found["trace_inference"]["added"] = {"s_t": value, "interval": _ends(interval)}
    if per_user:
        found["per_user"] = [vars(audit.risk(i)) for i in range(audit.users)]
    return found


def tried(audit: Audit) -> str:
    """What was tried, and what is known to be stronger."""
    stronger = known_stronger([one.attack for one in (*audit.reid, *audit.trace)])
    return (
        f"{_run(audit.reid, 're-identifications')} and {_run(audit.trace, 'trace inferences')} "
        f"were run. {stronger}".rstrip()
    )


def _run(attacks: Sequence[Audited], kind: str) -> str:
    """How many attacks, and the methods that they are variants of."""
    families = dict.fromkeys(one.attack.partition("(")[0].rpartition("-")[0] for one in attacks)
    return f"{len(attacks)} {kind}" + (f" ({', '.join(families)})" if families else "")


def _knowledge(audit: Audit) -> list[str]:
    """What attacks knew, such as the held-out log-likelihood of a prior."""
    told = [f"{one.attack}: {one.remark}" for one in (*audit.reid, *audit.trace) if one.remark]
    return [f"What attacks knew: {'; '.join(told)}."] if told else []


def _identification(audit: Audit) -> list[str]:
    best, interval = audit.strongest_reid, audit.identified_interval
    if best is None or interval is None:
        return [
            "Re-identification and utility could not be scored: without the ID table nobody can "
            "tell who is behind a pseudonym."
        ]
    if audit.users == 1:
        return ["With one user there is nobody to be taken for: re-identification tells nothing."]
    rate = audit.identified / audit.users
    said = [
        f"The strongest re-identification, {best.attack}, named the right user for "
        f"{audit.identified} of {audit.users} pseudonyms: {percent(rate)} "
        f"({_level(audit)} interval {percent(interval.low)} to {percent(interval.high or 0)}). "
        f"A random guess names {percent(audit.guessing)}."
    ]
    if not _above_guessing(audit):
        said.append("That cannot be told from guessing.")
    else:
        said.append(f"That is {rate / audit.guessing:.3g} times the rate of guessing.")
    return said


def _inference(audit: Audit) -> list[str]:
    linked, prior = audit.linked, audit.prior
    said = []
    if linked is not None and linked.error is not None:
        said.append(
            f"With the release, {linked.attack} infers where users were with s_T = "
            f"{linked.score.value:.3f} ({span(linked.score.interval)}) and is "
            f"{linked.error.value:.2f} km off on average. s_T is 0 when every place is found out "
            "and 1 when every guess is 2 km off or more."
        )
    if prior is not None and prior.error is not None:
        said.append(
            f"Without looking at the release, {prior.attack} already reaches s_T = "
            f"{prior.score.value:.3f} ({span(prior.score.interval)}), {prior.error.value:.2f} km "
            "off: that much is known from the reference traces, and no protection of the release "
            "can take it back."
        )
    if audit.added is not None:
        value, interval = audit.added
        if interval.low > 0:
            said.append(
                f"The release adds to what is known: it lowers s_T by {value:.3f} "
                f"({span(interval)})."
            )
        elif interval.high is not None and interval.high < 0:
            said.append(HABITS_WIN if _at_its_best(audit) else TOO_WEAK)
        else:
            told = (
                "What the release adds beyond prior knowledge cannot be told from nothing "
                f"({value:+.3f}, {span(interval)})"
            )
            said.append(f"{told}." if _at_its_best(audit) else f"{told} by these attacks; {WEAK}.")
    return said


def _at_its_best(audit: Audit) -> bool:
    """Whether the strongest linking that comes with the package was tried."""
    subject = audit.subject
    learned = shipped_suits(subject.city, subject.original.clock.slots)
    return links_at_its_best([one.attack for one in audit.trace], learned=learned)


def _usefulness(audit: Audit) -> list[str]:
    if audit.utility is None:
        return []
    return [
        f"Utility is s_U = {audit.utility.value:.3f} ({span(audit.utility.interval)}): 1 when "
        "every released place is the true one, 0 when all are 2 km off or deleted. An "
        "attacker who is told who is behind the pseudonyms and answers the released places gets "
        f"s_T down to {audit.bounds.true_link:.3f} or below, whatever else the release hides."
    ]


def _persons(audit: Audit) -> list[str]:
    said = []
    if audit.reid:
        every = int((audit.times_identified == len(audit.reid)).sum())
        some = int((audit.times_identified > 0).sum())
        said.append(
            f"{some} of {audit.users} users were named by at least one of {len(audit.reid)} "
            f"re-identifications, {every} by all of them."
        )
    if audit.quantiles:
        bound = audit.quantiles[0.05]
        said.append(
            f"For one user in twenty the own s_T, against whichever attack fits her best, is at "
            f"most {bound:.3f}; the median is {audit.quantiles[0.5]:.3f}."
        )
    told = int((audit.own < audit.own_prior).sum())
    if audit.linked is not None and audit.prior is not None:
        said.append(
            f"For {told} of {audit.users} users some attack with the release came nearer to the "
            "truth than all without it."
        )
    return said


def percent(share: float) -> str:
    """A share for people: three digits, never rounded to nothing.

    >>> percent(0.118), percent(0.0005), percent(0.0)
    ('11.8%', '0.05%', '0%')
    """
    return f"{100 * share:.3g}%"


def span(interval: Interval) -> str:
    """An interval for people.

    >>> span(Interval(0.1, 0.2, 0.95, "made up"))
    '95% interval 0.100 to 0.200'
    """
    high = "∞" if interval.high is None else f"{interval.high:.3f}"
    return f"{100 * interval.confidence:.4g}% interval {interval.low:.3f} to {high}"


def _level(audit: Audit) -> str:
    return f"{100 * audit.confidence:.4g}%"


def _above_guessing(audit: Audit) -> bool:
    interval = audit.identified_interval
    return interval is not None and interval.low > audit.guessing


def _name(one: Audited | None) -> str | None:
    return None if one is None else one.attack


def _attacked(one: Audited) -> dict[str, Any]:
    found = _score(one.score) | {"seconds": one.seconds, "knew": one.remark}
    if one.error is not None:
        found["expected_error_km"] = one.error.value
        found["expected_error_interval"] = _ends(one.error.interval)
    return found


def _score(score: Score) -> dict[str, Any]:
    return {"score": score.value, "interval": _ends(score.interval)}


def _ends(interval: Interval) -> list[float | None]:
    return [interval.low, interval.high]
