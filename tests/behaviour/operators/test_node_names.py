"""What the nodes of overloads and in-place variants with a derivative of their own are called."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import fn_name, leaf, node_of, ramp, vt

IN_PLACE: dict[str, Callable[[vt.Tensor], object]] = {
    "AcoshBackward1": lambda x: x.acosh_(),
    "AsinhBackward1": lambda x: x.arcsinh_(),
    "AtanhBackward1": lambda x: x.atanh_(),
    "ConjPhysicalBackward1": lambda x: x.conj_physical_(),
    "PolygammaBackward1": lambda x: x.polygamma_(1),
    "CosBackward0": lambda x: x.cos_(),
    "DivBackward0": lambda x: x.div_(2),
    "EqBackward0": lambda x: x.eq_(2),
    "EqBackward1": lambda x: x.eq_(ramp(3)),
    "FillBackward2": lambda x: x.fill_(2),
    "FillBackward3": lambda x: x.fill_(ramp(1)[0]),
    "PowBackward0": lambda x: x.pow_(2),
    "PowBackward1": lambda x: x.pow_(ramp(3)),
    "SqueezeBackward4": lambda x: x.squeeze_(0),
    "TBackward1": lambda x: x.t_(),
}


@pytest.mark.parametrize(("name", "write"), IN_PLACE.items(), ids=IN_PLACE)
def test_a_write_has_a_node_of_its_own_name(
    name: str, write: Callable[[vt.Tensor], object]
) -> None:
    x = leaf(3).clone()
    write(x)
    assert (fn_name(x), type(node_of(x)).__name__) == (name, name)


OUT_OF_PLACE: dict[str, Callable[[vt.Tensor], vt.Tensor]] = {
    "AcoshBackward0": lambda x: x.acosh(),
    "AsinhBackward0": lambda x: x.asinh(),
    "AtanhBackward0": lambda x: x.arctanh(),
    "ConjPhysicalBackward0": lambda x: (x * 1j).conj_physical(),
    "PolygammaBackward0": lambda x: x.polygamma(1),
    "MulBackward0": lambda x: x * 2,
    "PowBackward0": lambda x: x**2,
    "PowBackward2": lambda x: 2**x,
    "RsubBackward1": lambda x: 2 - x,
    "SumBackward1": lambda x: x.sum(0),
}


@pytest.mark.parametrize(("name", "compute"), OUT_OF_PLACE.items(), ids=OUT_OF_PLACE)
def test_an_overload_has_a_node_of_its_own_name(
    name: str, compute: Callable[[vt.Tensor], vt.Tensor]
) -> None:
    y = compute(leaf(3))
    assert (fn_name(y), type(node_of(y)).__name__) == (name, name)
