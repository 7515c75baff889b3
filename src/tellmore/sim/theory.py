"""Theorem 1 and the constants of its proof (Section III-A and Appendix B of the paper), as printed and as corrected.

All entropies and information gains are in bits. The setting: theta is uniform on the hypercube [-M, M]^d (Assumption 5),
embeddings have squared norm at most ``power`` (P_x), and questions are of one kind on k items with N possible answers.
T_epsilon is the first t with |Sigma_t|^(1/d) < epsilon.

What is called corrected here fixes two errors in the paper:

- gamma_2 (Lemma B.2) inherits the sign of eq. 1, exp(+w z). For w > 0, it is a lower bound on the probability of a label only
  because of the symmetry in y; for w < 0, which the printed eq. 1 requires, it is not. The corrected constant uses |w|.
- The upper bound of Theorem 1 uses eq. 16, E[Z_T] <= E[Z_{T-1}] - L, which has the wrong direction: Z, minus the entropy, grows.
  Lemma B.4 bounds how much one answer can add, Z_T <= Z_{T-1} + gamma/2, so "- 1" becomes "+ gamma/(2 L)".
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tellmore import kinds
from tellmore.errors import SettingError


def outcome_count(kind: str, size: int) -> int:
    """N, the number of possible answers (Table I): 2 for a label, 2k for a selection, (k+1)! for a ranking."""
    return kinds.family(kind)[0].n_outcomes(size)


def lower_bound(d: int, n_outcomes: int, epsilon: float, M: float = 1.0) -> float:
    """Theorem 1, left: E[T] >= (d/2) log2(2 M^2 / (pi e epsilon)) / log2 N. It is empty (<= 0) for epsilon >= 0.234 M^2.

    >>> round(lower_bound(301, outcome_count("select_high", 4), 1e-3))
    395
    """
    _require_positive(d=d, epsilon=epsilon, M=M)
    if n_outcomes < 2:
        raise SettingError(f"a question has at least 2 possible answers, not {n_outcomes}")
    return d / 2 * math.log2(2 * M**2 / (math.pi * math.e * epsilon)) / math.log2(n_outcomes)


def upper_bound_printed(d: int, L_bits: float, epsilon: float, M: float = 1.0) -> float:
    """Theorem 1, right, as printed: (d / 2L) log2(e^4 d^2 M^2 / (2 sqrt2 (d+2) epsilon)) - 1. Its "- 1" is unsupported."""
    return _upper_main_term(d, L_bits, epsilon, M) - 1


def upper_bound_corrected(d: int, L_bits: float, epsilon: float, gamma_bits: float, M: float = 1.0) -> float:
    """Theorem 1, right, with a valid last step: "- 1" is replaced by + gamma / (2 L), with gamma of Lemma B.4."""
    return _upper_main_term(d, L_bits, epsilon, M) + gamma_bits / (2 * L_bits)


def _upper_main_term(d: int, L_bits: float, epsilon: float, M: float) -> float:
    _require_positive(d=d, L_bits=L_bits, epsilon=epsilon, M=M)
    return d / (2 * L_bits) * math.log2(math.e**4 * d**2 * M**2 / (2 * math.sqrt(2) * (d + 2) * epsilon))


@dataclass(frozen=True)
class LemmaConstants:
    """gamma_1, gamma_2 (Lemma B.2), gamma_L (Corollary B.3, bits, negative) and gamma (Lemma B.4, bits).

    gamma_1 and gamma_2, the smallest probabilities of a choice and of a label, are stored as logarithms, because both underflow
    for sharp answers in many dimensions.
    """

    log2_gamma_1: float
    log2_gamma_2: float
    gamma_l_bits: float
    gamma_bits: float


def lemma_constants(d: int, size: int, *, K: float, w: float, M: float = 1.0, power: float = 1.0) -> LemmaConstants:
    """The constants of Appendix B for questions on ``size`` items.

    With r = M sqrt(power d), the largest |theta'x|:
    gamma_1 = exp(-|K| r) / (exp(-|K| r) + (k-1) exp(|K| r)), gamma_2 = 1 / (1 + exp(|w| r)),
    gamma_L = log2(gamma_1^(k-1) gamma_2^k), gamma = 16 d + d log2(2 pi e d) - 2 gamma_L.
    """
    _require_positive(d=d, size=size, M=M, power=power)
    reach = M * math.sqrt(power * d)
    log_others = math.log(size - 1) if size > 1 else -math.inf
    log2_gamma_1 = -float(np.logaddexp(0.0, log_others + 2 * abs(K) * reach)) / math.log(2)
    log2_gamma_2 = -float(np.logaddexp(0.0, abs(w) * reach)) / math.log(2)
    gamma_L = (size - 1) * log2_gamma_1 + size * log2_gamma_2
    gamma = 16 * d + d * math.log2(2 * math.pi * math.e * d) - 2 * gamma_L
    return LemmaConstants(log2_gamma_1, log2_gamma_2, gamma_L, gamma)


def smallest_gain(gains_bits: Iterable[float]) -> float:
    """The measured L_s or L_r of Assumption 4: the smallest information gain among the questions asked."""
    values = np.asarray(list(gains_bits), dtype=float)
    if values.size == 0 or not np.isfinite(values).all():
        raise SettingError("the smallest gain needs at least one finite gain; pass the gains of the questions asked")
    return float(values.min())


def _require_positive(**values: float) -> None:
    for name, value in values.items():
        if not (value > 0 and math.isfinite(value)):
            raise SettingError(f"{name} must be a positive finite number, not {value}")
