"""ahrs: orientation from gyroscopes and accelerometers."""

from __future__ import annotations

from typing import Any

import numpy

from tests.adopted.checking import check

random = numpy.random.default_rng(0)
TURNING = 0.1 * random.normal(size=(6, 3)) + 0.2
FALLING = 0.3 * random.normal(size=(6, 3)) + [0.5, 0.3, 9.5]
QUATERNION = [0.5, 0.4, -0.3, 0.7]


def test_madgwick_by_gain_and_scale() -> None:
    def call(m: Any, np: Any, gain: Any, scale: Any) -> Any:
        return m.Madgwick(gyr=TURNING * scale, acc=FALLING, gain=gain).Q

    check("ahrs.filters", call, 0.05, 1.1)


def test_update_ten_times() -> None:
    def call(m: Any, np: Any, turning: Any, falling: Any) -> Any:
        madgwick = m.Madgwick(gain=0.04)
        q = np.array([1.0, 0.0, 0.0, 0.0])
        for _ in range(10):
            q = madgwick.updateIMU(q, turning, falling)
        return q

    check("ahrs.filters", call, [0.2, -0.1, 0.3], [0.5, 0.3, 9.5])


def test_q2euler() -> None:
    check("ahrs.common.orientation", lambda m, np, q: m.q2euler(q), UNIT)


def test_q2r() -> None:
    check("ahrs.common.orientation", lambda m, np, q: m.q2R(q), QUATERNION)


UNIT = list(numpy.array(QUATERNION) / numpy.linalg.norm(QUATERNION))
