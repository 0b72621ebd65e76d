"""Laws whose structure is known, and not only what they say about themselves.

That a ratio is monotone, or that an output is a rounding of another, is a theorem about the laws
of `discreet.laws`. A law of any other type, a subclass included, may compute its probabilities
differently: only its probabilities are taken into account.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from typing import Any

from discreet.laws import (
    CutGaussian,
    DiscreteLaplace,
    Finite,
    Gibbs,
    NoisyArgmax,
    RealGaussian,
    RealLaplace,
    RoundedGaussian,
    RoundedLaplace,
)
from discreet.laws.mixture import Mixture
from discreet.laws.noisy_argmax import NoisyLead
from discreet.laws.sparse_vector import FirstAbove, SparseAnswers

_NOISE = (CutGaussian, DiscreteLaplace, RealGaussian, RealLaplace, RoundedGaussian, RoundedLaplace)
_OURS = (*_NOISE, Finite, FirstAbove, Gibbs, NoisyArgmax, NoisyLead, SparseAnswers)
_PLACE = ("center", "scores")  # what comes from the input


def is_noise(law: Any) -> bool:
    """Whether the law is one of our log-concave noises, or a normal law cut to an interval."""
    return type(law) in _NOISE


def is_ours(law: Any) -> bool:
    """Whether the law is one of `discreet.laws`, or a mixture of two of them."""
    if type(law) is Mixture:
        return is_ours(law.first) and is_ours(law.second)
    return type(law) in _OURS


def form(law: Any) -> Hashable:
    """The law without what comes from the input: its type and its parameters; None for others.

    >>> form(DiscreteLaplace(3, 2)) == form(DiscreteLaplace(5, 2)), form("a law")
    (True, None)
    """
    if type(law) is FirstAbove:
        return FirstAbove, form(law.answers)
    if type(law) not in _OURS:
        return None
    return type(law), *(getattr(law, f.name) for f in fields(law) if f.name not in _PLACE)


def location(law: Any) -> Any:
    """The centre of a noise, or the scores of a choice: what the law says its input is."""
    if type(law) is FirstAbove:
        return location(law.answers)
    center = getattr(law, "center", None)
    return list(getattr(law, "scores", ())) if center is None else center
