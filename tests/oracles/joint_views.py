"""Several people's views as one Gaussian over (theta, delta_1, ..., delta_P), of D (P + 1) dimensions: exact, slow, obvious."""

from __future__ import annotations

import numpy as np

from tellmore.core.gaussian import Gaussian


def joint_prior(prior: Gaussian, own: float, people: int) -> Gaussian:
    """theta ~ N(m, (1 - own) S), delta_p ~ N(0, own S), all independent."""
    mean = np.concatenate([prior.mean, np.zeros(prior.dim * people)])
    return Gaussian.from_moments(mean, np.kron(np.diag([1 - own, *[own] * people]), prior.cov))


def seen_by(A: np.ndarray, who: int, people: int) -> np.ndarray:
    """Rows over (theta, delta_1, ...) whose product is A (theta + delta_who)."""
    blocks = [A, *(A if one == who else np.zeros_like(A) for one in range(people))]
    return np.hstack(blocks)


def view_of(joint: Gaussian, who: int, people: int) -> Gaussian:
    """The belief about theta + delta_who."""
    D = joint.dim // (people + 1)
    mean, cov, _ = joint.project(seen_by(np.eye(D), who, people))
    return Gaussian.from_moments(mean, cov)
