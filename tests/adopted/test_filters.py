"""filterpy: Kalman filters."""

from __future__ import annotations

from typing import Any

import pytest

import vtgrad.numpy as np
from tests.adopted.checking import adopted, check
from vtgrad.errors import GradientLostWarning, NumpyConversionError
from vtgrad.func import grad, jacfwd

SEEN = [1.1, 1.9, 3.2, 4.1]


def _run(np: Any, kalman: Any) -> Any:
    states = []
    for seen in SEEN:
        kalman.predict()
        kalman.update(np.array([[seen]]))
        states += [kalman.x, kalman.P]
    return states


def _set(np: Any, kalman: Any, P: Any, R: Any, Q: Any) -> Any:
    kalman.x = np.array([[0.0], [1.0]])
    kalman.F = np.array([[1.0, 1.0], [0.0, 1.0]])
    kalman.H = np.array([[1.0, 0.0]])
    kalman.P = P
    kalman.R = R
    kalman.Q = Q
    return kalman


MATRICES = [[2.0, 0.3], [0.3, 1.5]], [[0.7]], [[0.1, 0.02], [0.02, 0.2]]


def test_kalman_filter() -> None:
    def call(m: Any, np: Any, *at: Any) -> Any:
        return _run(np, _set(np, m.KalmanFilter(2, 1), *at))

    check("filterpy.kalman", call, *MATRICES)


def test_information_filter() -> None:
    def call(m: Any, np: Any, P: Any, R: Any, Q: Any) -> Any:
        kalman = m.InformationFilter(2, 1, compute_log_likelihood=False)
        kalman.x = np.array([[0.0], [1.0]])
        kalman.F = np.array([[1.0, 1.0], [0.0, 1.0]])
        kalman.H = np.array([[1.0, 0.0]])
        kalman.P_inv = np.linalg.inv(P)
        kalman.R_inv = np.linalg.inv(R)
        kalman.Q = Q
        states = []
        for seen in SEEN:
            kalman.predict()
            kalman.update(np.array([[seen]]))
            states += [kalman.x, kalman.P_inv]
        return states

    check("filterpy.kalman", call, *MATRICES)


def test_smoother() -> None:
    def call(m: Any, np: Any, *at: Any) -> Any:
        kalman = _set(np, m.KalmanFilter(2, 1), *at)
        means, covariances, _, _ = kalman.batch_filter(SEEN)
        return list(kalman.rts_smoother(means, covariances)[:2])

    check("filterpy.kalman", call, *MATRICES)


def test_scipy_is_refused() -> None:
    kalman = adopted("filterpy.kalman")

    def likelihood(variance: Any) -> Any:
        found = _set(np, kalman.KalmanFilter(2, 1), *map(np.array, MATRICES))
        found.R = found.R * variance
        _run(np, found)
        return found.log_likelihood

    with pytest.raises(NumpyConversionError, match="requires grad"):
        grad(likelihood)(np.array(1.0))
    with pytest.raises(GradientLostWarning, match="tangent is lost"):
        jacfwd(likelihood)(np.array(1.0))
