"""Which attacks were tried, and which are known to be stronger: by names alone.

Audits, comparisons and benchmarks all say it in these words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tracecup.attack.naming import is_blind

TRUSTING = "where little was changed, Bayes attacks that take the release as it is (--strength max)"
OWN_NETWORKS = "networks trained on this very protection (`tracecup attack train`)"
NETWORKS = "networks trained on public data (Learned-R, Learned-T)"


def known_stronger(names: Collection[str]) -> str:
    """The attacks known to be stronger than those of `names`; empty where none is known.

    >>> print(known_stronger(["VisitProb-R", "Bayes-R", "Bayes-R(channel=identity)", "Learned-R"]))
    Known to be stronger: Bayes attacks that know the protection (channel=known(NAME)); networks \
trained on this very protection (`tracecup attack train`).
    """
    bayes = [name for name in names if name.startswith("Bayes-")]
    stronger, ways = [], []
    if not any(map(_learns, bayes)):
        ways.append("learn the protection from the release (--strength standard)")
    if not any("channel=known" in name for name in bayes):
        ways.append("know the protection (channel=known(NAME))")
    if ways:
        stronger.append(f"Bayes attacks that {' or '.join(ways)}")
    if not any("channel=identity" in name for name in bayes):
        stronger.append(TRUSTING)
    learned = [name for name in names if name.startswith("Learned-")]
    if not learned:
        stronger.append(NETWORKS)
    elif not any("model=" in name for name in learned):
        stronger.append(OWN_NETWORKS)
    return f"Known to be stronger: {'; '.join(stronger)}." if stronger else ""


def what_attacks_knew(remarks: Iterable[tuple[str, str]], rest: str, most: int = 6) -> list[str]:
    """Attack and remark, each said once; of many only the first ones, `rest` holds the others.

    >>> what_attacks_knew([("A", "x"), ("A", "x"), ("B", ""), ("C", "y")], "table.csv", most=1)
    ['A: x', 'and 1 more in table.csv']
    """
    said = list(dict.fromkeys(f"{attack}: {remark}" for attack, remark in remarks if remark))
    more = [f"and {len(said) - most} more in {rest}"] if len(said) > most else []
    return [*said[:most], *more]


def links_at_its_best(names: Collection[str], *, learned: bool) -> bool:
    """Whether trace inference by the strongest linking that comes with the package was run.

    That is a Bayes attack with a channel, and where the shipped model was trained for the city
    (`learned`) the learned attack too.

    >>> links_at_its_best(["Fuzzy-T(0.33,1,0)"], learned=False)
    False
    >>> links_at_its_best(["Bayes-T"], learned=False), links_at_its_best(["Bayes-T"], learned=True)
    (True, False)
    """
    linking = [name for name in names if "-T" in name.partition("(")[0] and not is_blind(name)]
    decided = any(
        name.startswith("Bayes-") and (_learns(name) or "channel=known" in name) for name in linking
    )
    return decided and (not learned or any(name.startswith("Learned-") for name in linking))


def _learns(bayes: str) -> bool:
    """Whether a Bayes attack learns the channel from the release, as it does by default."""
    return "channel=" not in bayes or "channel=learned" in bayes
