"""Composition beside dp-accounting and prv-accountant (``make bench``, in the peers' environment).

Each row asks for ε at δ = 1e-6. A bracket is what a tool can say about the truth: for
dp-accounting, the optimistic estimate of its buckets and the pessimistic one by connecting the
dots, at its default interval; only the second is timed. Our caches are emptied before each run.
"""

from __future__ import annotations

import math
import random
import time
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib import import_module, metadata
from typing import Any

import discreet as dp
from benchmarks.timing import Row, race
from discreet.guarantees import convolution as curve
from discreet.guarantees import convolution as plan

DELTA = 1e-6
ROUNDS = 3
STEPS = 1000

Bracket = tuple[float, float]
Ours = Callable[[], Bracket]
Theirs = Callable[..., float]


def rows() -> Iterator[Row]:
    """Yield one row for each job and other tool."""
    warnings.simplefilter("ignore")  # NumPy's deprecations, in the other tools
    pld = import_module("dp_accounting.pld.privacy_loss_distribution")
    yield from _compared("1,000 Laplace, ε = 0.1", *_laplace(pld))
    yield _beside_prv("1,000 Laplace, ε = 0.1", _laplace(pld)[0], "LaplaceMechanism", 1000, mu=0.1)
    yield from _compared("10,000 Gaussians, 100 different σ", *_gaussians(pld))
    yield from _compared("10,000 sampled Gaussians, q = 0.01, σ = 1", *_sampled(pld))
    yield _beside_prv(
        "10,000 sampled Gaussians, q = 0.01, σ = 1",
        _sampled(pld)[0],
        "PoissonSubsampledGaussianMechanism",
        10_000,
        noise_multiplier=1.0,
        sampling_probability=0.01,
    )
    yield from _compared(
        "1,000 mixed, one at a time, ε after each", *_mixed(pld), least=10, rounds=1
    )
    yield _charges()


def _charges() -> Row:
    """A session of 10⁵ charges in a filter, beside plain fractions without any check."""
    cost, plain = dp.GDP(mu="0.001"), Fraction(1, 10**6)

    def ours() -> None:
        account = dp.Filter(limit=dp.ZCDP(rho=1))
        for _ in range(10**5):
            account = account.charge(cost)

    def theirs() -> None:
        total = Fraction(0)
        for _ in range(10**5):
            total += plain

    mine, other = race(ours, theirs, rounds=3)
    shown = f"{mine:.2f} s", f"{other:.2f} s, plain sums of fractions"
    return Row("100,000 charges", *shown, f"{mine / other:.2f}", "under 1 s", mine < 1)


def _laplace(pld: Any) -> tuple[Ours, Theirs]:
    def ours() -> Bracket:
        return dp.LaplacePair(epsilon="0.1").repeat(1000).bracket("1e-6")

    def theirs(**options: Any) -> float:
        one = pld.from_laplace_mechanism(10.0, **options)
        return float(one.self_compose(1000).get_epsilon_for_delta(DELTA))

    return ours, theirs


def _gaussians(pld: Any) -> tuple[Ours, Theirs]:
    sigmas = [100 + 4 * i for i in range(100)]

    def ours() -> Bracket:
        parts = [dp.GDP(mu=Fraction(1, sigma)).repeat(100) for sigma in sigmas]
        return dp.compose(parts).bracket("1e-6")

    def theirs(**options: Any) -> float:
        total = None
        for sigma in sigmas:
            part = pld.from_gaussian_mechanism(sigma, **options).self_compose(100)
            total = part if total is None else total.compose(part)
        return float(total.get_epsilon_for_delta(DELTA))

    return ours, theirs


def _sampled(pld: Any) -> tuple[Ours, Theirs]:
    def ours() -> Bracket:
        one = dp.PoissonSampled(dp.Gaussian(sensitivity=1, sigma=1), rate="0.01")
        return one.guarantee.repeat(10_000).bracket("1e-6")

    def theirs(**options: Any) -> float:
        one = pld.from_gaussian_mechanism(1.0, sampling_prob=0.01, **options)
        return float(one.self_compose(10_000).get_epsilon_for_delta(DELTA))

    return ours, theirs


def _mixed(pld: Any) -> tuple[Ours, Theirs]:
    """Laplace, Gaussian and randomized response in turn, each with a size of its own."""
    generator = random.Random(5)
    sizes = [round(generator.uniform(0.01, 0.1), 4) for _ in range(STEPS)]

    def ours() -> Bracket:
        kinds = (dp.LaplacePair, dp.GDP, dp.Pure)
        total: dp.Guarantee = dp.Pure(0)
        bracket = (0.0, 0.0)
        for i, size in enumerate(sizes):
            total = dp.compose([total, kinds[i % 3](size)], tolerance=1e-3)
            bracket = total.bracket("1e-6")
        return bracket

    def theirs(**options: Any) -> float:
        def one(i: int, size: float) -> Any:
            match i % 3:
                case 0:
                    return pld.from_laplace_mechanism(1 / size, **options)
                case 1:
                    return pld.from_gaussian_mechanism(1 / size, **options)
            # It has no connecting of dots for randomized response.
            kept = {key: value for key, value in options.items() if key != "use_connect_dots"}
            at_random = 2 / (math.exp(size) + 1)
            return pld.from_randomized_response(at_random, 2, **kept)

        total, epsilon = None, 0.0
        for i, size in enumerate(sizes):
            total = one(i, size) if total is None else total.compose(one(i, size))
            epsilon = float(total.get_epsilon_for_delta(DELTA))
        return epsilon

    return ours, theirs


def _compared(
    what: str, ours: Ours, theirs: Theirs, *, least: float = 1, rounds: int = ROUNDS
) -> Iterator[Row]:
    """Our time and bracket against dp-accounting's."""
    mine, our_bracket = _timed(ours, rounds)
    other, above = _timed(theirs, rounds)
    below = theirs(pessimistic_estimate=False, use_connect_dots=False)
    narrower = our_bracket[1] - our_bracket[0] <= above - below
    version = metadata.version("dp-accounting")
    yield Row(
        what,
        f"{mine * 1e3:.1f} ms {_shown(our_bracket)}",
        f"{other * 1e3:.0f} ms {_shown((below, above))}, dp-accounting {version}",
        f"{mine / other:.3f}",
        f"at most {1 / least:g}, and no wider",
        mine * least <= other and narrower,
    )


def _beside_prv(what: str, ours: Ours, name: str, times: int, **parameters: float) -> Row:
    """Our time against prv-accountant's for ε ± 0.01."""
    prv = import_module("prv_accountant")

    def theirs() -> Bracket:
        one = getattr(prv, name)(**parameters)
        accountant = prv.PRVAccountant(
            prvs=[one], max_self_compositions=[times], eps_error=0.01, delta_error=1e-9
        )
        low, _, high = accountant.compute_epsilon(DELTA, [times])
        return float(low), float(high)

    mine, our_bracket = _timed(ours, ROUNDS)
    other, bracket = _timed(theirs, 1)
    version = metadata.version("prv-accountant")
    return Row(
        what,
        f"{mine * 1e3:.1f} ms {_shown(our_bracket)}",
        f"{other * 1e3:.0f} ms {_shown(bracket)}, prv-accountant {version}",
        f"{mine / other:.3f}",
        "",
        None,
    )


def _timed(job: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """The best seconds of a cold start, and the answer."""
    best, answer = float("inf"), None
    for _ in range(rounds):
        plan.sketch_of.cache_clear()
        curve.nodes.cache_clear()
        start = time.perf_counter()
        answer = job()
        best = min(best, time.perf_counter() - start)
    return best, answer


def _shown(bracket: Bracket) -> str:
    return f"[{bracket[0]:.6f}, {bracket[1]:.6f}]"
