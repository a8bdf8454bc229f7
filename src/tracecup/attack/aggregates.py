"""AggMIA: whether somebody's trace is part of published counts of a group of people.

After Pyrgelis, Troncoso, De Cristofaro, NDSS 2018; features, classifier and sizes are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from tracecup.attack.measures import Measure, Measured
from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.errors import InvalidTraces
from tracecup.registry import parameter, register
from tracecup.rng import Rng, child_seed, generator
from tracecup.score.intervals import Interval, mean_interval
from tracecup.traces import SetTraces, Traces

PENALTY = 1.0
"""Weight of the squared coefficients, for features of variance 1."""
STEPS, SMALL = 50, 1e-9
TIE_DIGITS = 9

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AggregateMembership:
    """How well the members of groups are told from others by the groups' counts.

    `auc` (targets,): the chance that a group with target `target[k]` looks more like one than a
    group without her, ties half; 0.5 is guessing. NaN where she has no reference visit.
    """

    target: NDArray[np.int64]
    auc: Floats

    @property
    def value(self) -> float:
        """Mean over the targets of whom something is known."""
        known = self.auc[~np.isnan(self.auc)]
        return float(known.mean()) if len(known) else float("nan")

    def interval(self, confidence: float) -> Interval:
        """For the mean, over targets."""
        known = self.auc[~np.isnan(self.auc)]
        if not len(known):
            return Interval(0.0, 1.0, confidence, "no target is known")
        return mean_interval(known, confidence)


def slot_visits(city: City, traces: Traces | SetTraces) -> sparse.csc_array:
    """Mean visits a day by user, slot of the day and region, shape (users, slots x regions).

    Column t X + r; a region of a cell of s counts 1/s, gaps and deleted cells nothing. O(visits).

    >>> from tracecup.city import Clock, Grid
    >>> city = City(Grid.from_metres(3, 1, width_m=300, height_m=300))
    >>> slot_visits(city, Traces.of([[0, 2, 1, 2]], Clock.regular(2, 2))).toarray().tolist()
    [[0.5, 0.5, 0.0, 0.0, 0.0, 1.0]]
    """
    cells = SetTraces.of_traces(traces) if isinstance(traces, Traces) else traces
    sizes = cells.sizes.ravel()
    cell = np.repeat(np.arange(len(sizes)), sizes)
    user, time = np.divmod(cell, cells.times)
    clock = cells.clock
    column = (time % clock.slots) * city.n_regions + cells.regions
    counts = sparse.coo_array(
        (1.0 / (sizes[cell] * clock.days), (user, column)),
        shape=(cells.n_users, clock.slots * city.n_regions),
    )
    return sparse.csc_array(counts)


def aggregate_membership(
    city: City,
    reference: Traces,
    released: SetTraces,
    group: int = 100,
    rng: Rng = None,
    *,
    groups: int = 200,
    features: int = 50,
    targets: int = 100,
) -> AggregateMembership:
    """Train on counts of reference traces with and without a target, test on released ones.

    For each of `targets` random users: the `features` (slot of the day, region) that she visits
    most in the reference; `groups` random groups of `group` users, half of them with her, whose
    summed `slot_visits` of the reference train a logistic regression (features of mean 0 and
    variance 1, squared coefficients penalised by 1); the same number of fresh groups, summed over
    the release, are told apart by it. `released` is in user order. Any number of days; memory
    O(visits + groups x users), time O(targets x groups x users x features).

    >>> from tracecup.city import Grid
    >>> city = City(Grid.from_metres(9, 1, width_m=300, height_m=300))
    >>> habits = Traces.of([[u, u] for u in range(9)])
    >>> found = aggregate_membership(city, habits, SetTraces.of_traces(habits), 3, rng=1)
    >>> found.value
    1.0
    """
    m = reference.n_users
    if released.n_users != m or released.clock.slots != reference.clock.slots:
        raise InvalidTraces(
            f"reference traces are of {m} users with {reference.clock.slots} slots a day, the "
            f"release of {released.n_users} with {released.clock.slots}"
        )
    if m < 2:
        raise InvalidTraces("counts without a target need a second user")
    known, shown = slot_visits(city, reference), slot_visits(city, released)
    by_user = known.tocsr()
    random = generator(rng)
    seed = int(random.integers(2**63))
    chosen = np.sort(random.permutation(m)[:targets])
    size = min(group, m - 1)
    auc = np.empty(len(chosen))

    def work(low: int, high: int) -> None:
        for k in range(low, high):
            target = int(chosen[k])
            columns = _favourites(by_user, target, features)
            auc[k] = np.nan
            if len(columns):
                sides = (known[:, columns].toarray(), shown[:, columns].toarray())
                own = generator(child_seed(seed, target))
                auc[k] = _told_apart(sides, target, size, groups, own)

    map_blocks(work, len(chosen))
    return AggregateMembership(chosen, auc)


def logistic_coefficients(samples: Floats, inside: NDArray[np.bool_]) -> tuple[Floats, float]:
    """(w, c) minimising sum log(1 + exp(-y (x w + c))) + |w|^2 / 2, y = 1 inside, -1 outside.

    Newton's method with halved steps; `samples` is (n, d), O(n d^2) a step.

    >>> w, c = logistic_coefficients(np.array([[-1.0], [1.0]]), np.array([False, True]))
    >>> w.round(4).tolist(), abs(round(c, 6))
    ([0.6748], 0.0)
    """
    design = np.column_stack([samples, np.ones(len(samples))])
    ridge = np.full(design.shape[1], PENALTY)
    ridge[-1] = SMALL
    sign = np.where(inside, 1.0, -1.0)
    at = np.zeros(design.shape[1])

    def loss(coefficients: Floats) -> float:
        margin = sign * (design @ coefficients)
        return float(np.logaddexp(0, -margin).sum() + (ridge * coefficients**2).sum() / 2)

    best = loss(at)
    for _ in range(STEPS):
        share = special.expit(design @ at)
        slope = design.T @ (share - inside) + ridge * at
        curve = (design * (share * (1 - share))[:, None]).T @ design + np.diag(ridge)
        step = np.linalg.solve(curve, slope)
        if float(slope @ step) < SMALL**2:
            break
        scale = 1.0
        while (now := loss(at - scale * step)) > best and scale > SMALL:
            scale /= 2
        at, best = at - scale * step, min(now, best)
    return at[:-1], float(at[-1])


def _favourites(visits: sparse.csr_array, user: int, features: int) -> NDArray[np.int64]:
    """Columns that a user visits most, ties to the smallest; ascending."""
    row = slice(visits.indptr[user], visits.indptr[user + 1])
    columns, often = visits.indices[row], visits.data[row]
    order = np.lexsort((columns, -often))[:features]
    return np.sort(columns[order]).astype(np.int64)


def _told_apart(
    sides: tuple[Floats, Floats],
    target: int,
    size: int,
    groups: int,
    random: np.random.Generator,
) -> float:
    """AUC of one target: `sides` are her features of all users in reference and release."""
    from scipy.stats import rankdata

    inside = np.arange(groups) < groups // 2
    summed = []
    for visits in sides:
        member = _random_groups(len(visits), target, size, inside, random)
        summed.append(member @ visits)
    train, test = summed
    mean, spread = train.mean(axis=0), train.std(axis=0)
    spread[spread == 0] = 1.0
    weights, _ = logistic_coefficients((train - mean) / spread, inside)
    score = (test - mean) / spread @ weights
    ranks = rankdata(score.round(TIE_DIGITS))
    n, k = int(inside.sum()), int((~inside).sum())
    return float((ranks[inside].sum() - n * (n + 1) / 2) / (n * k))


def _random_groups(
    m: int, target: int, size: int, inside: NDArray[np.bool_], random: np.random.Generator
) -> Floats:
    """0/1 of shape (groups, users): `size` users each, with the target where `inside`."""
    key = random.random((len(inside), m))
    key[:, target] = np.where(inside, -1.0, 2.0)
    member = np.zeros(key.shape)
    np.put_along_axis(member, np.argpartition(key, size - 1, axis=1)[:, :size], 1.0, axis=1)
    return member


@register(
    "measure",
    "AggMIA",
    "how well members of a group are told by the group's counts of visits",
    "after A. Pyrgelis, C. Troncoso, E. De Cristofaro, Knock Knock, Who's There? Membership "
    "Inference on Aggregate Location Data, NDSS 2018",
)
@dataclass(frozen=True)
class AggMia(Measure):
    """`aggregate_membership`: mean AUC over random targets; 0.5 is guessing, 1 always right."""

    g: int = parameter(100, "users whose visits are counted together", low=1, high=10**6)
    groups: int = parameter(200, "groups to learn from, and to test on", low=4, positional=False)
    features: int = parameter(
        50, "slots and regions of a target that are looked at", low=1, positional=False
    )
    targets: int = parameter(100, "users whose membership is asked", low=1, positional=False)

    known: ClassVar[Literal["reference", "original"]] = "reference"

    def _measure(
        self, city: City, known: Traces, released: SetTraces, rng: Rng, confidence: float
    ) -> Measured:
        found = aggregate_membership(
            city, known, released, self.g, rng,
            groups=self.groups, features=self.features, targets=self.targets,
        )  # fmt: skip
        size = min(self.g, known.n_users - 1)
        meaning = f"AUC of membership in counts of {size} users, mean of {len(found.auc)} targets"
        return Measured(found.value, found.interval(confidence), 0.5, meaning)
