"""Statements of random NumPy programs, drawn from what the program has come to."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import numpy as np

#: How many arrays a program has at once.
NAMES: Final = 7

UFUNCS: Final = (
    "sin cos tanh exp expm1 arctan arcsinh square negative positive absolute sqrt log1p cbrt sign "
    "conjugate floor ceil trunc rint reciprocal isfinite signbit logical_not deg2rad exp2 sinc "
    "nan_to_num real imag angle fix i0"
).split()
BINARY_UFUNCS: Final = (
    "add subtract multiply divide maximum minimum fmax fmin hypot arctan2 power floor_divide "
    "remainder fmod logaddexp copysign greater less_equal equal not_equal logical_and "
    "logical_xor float_power heaviside"
).split()
REDUCTIONS: Final = (
    "sum prod mean max min any all var std nansum nanprod nanmean nanmax nanmin nanvar nanstd "
    "median nanmedian ptp argmax argmin count_nonzero average"
).split()
CUMULATIVE: Final = "cumsum cumprod nancumsum nancumprod".split()
DTYPES: Final = (
    "float64 float64 float64 float32 int64 int64 bool complex128 int32 float16 uint8 complex64"
).split()
NUMBERS: Final = "2 0.5 -1.25 3 -1 0 1 True 1.5 2.0 0.25 -0.5 (1+2j) np.float32(0.5) np.int64(2)"

_FIELD: Final = re.compile(r"\{(\w+)\}")

#: Templates of statements. What the fields mean, the methods of `Writer` of the same names say.
VIEWS: Final = """
{new} = {a}[{ia}]
{new} = {a}[{ia}]
{new} = {a}[{ia}]
{new} = {a}[{slices}]
{new} = {a}[{slices}]
{new} = {a}.T
{new} = np.transpose({a}, {perm})
{new} = {a}.reshape({shape})
{new} = np.reshape({a}, {shape}, order={order})
{new} = {a}.ravel()
{new} = np.ravel({a}, {order})
{new} = {a}[np.newaxis]
{new} = {a}[..., None]
{new} = np.expand_dims({a}, {ax})
{new} = np.diagonal({m}, {k})
{new} = {m}.diagonal()
{new} = np.diag({m})
{new} = np.broadcast_to({a}, {wider})
{new} = np.broadcast_arrays({a}, {b})[{bit}]
{new} = np.swapaxes({m}, 0, -1)
{new} = np.moveaxis({m}, 0, -1)
{new} = np.rollaxis({m}, 1)
{new} = np.squeeze({a})
{new} = {a}.squeeze()
{new} = np.split({v}, {cuts}, axis={axv})[{bit}]
{new} = np.array_split({v}, 2, axis={axv})[{bit}]
{new}, {new2} = np.array_split({v}, 2)
{new} = np.hsplit({m}, [1])[{bit}]
{new} = {a}.view()
{new} = np.atleast_1d({a})
{new} = np.atleast_2d({a})
{new} = np.atleast_3d({a})
{new} = np.asarray({a})
{new} = np.ascontiguousarray({a})
{new} = np.asfortranarray({a})
{new} = np.array({a}, copy=None)
{new} = np.array({a}, ndmin=3, copy=None)
{new} = {a}.astype({dt}, copy=False)
{new} = {a}.real
{new} = {a}.imag
{new} = np.real({a})
{new} = {c}.real
{new} = {c}.imag
{new} = np.flip({v})
{new} = np.flip({v}, {axv})
{new} = np.rot90({m}, {k})
{new} = np.fliplr({m})
{new} = next(iter({v}))
{new} = {a}[...]
{new} = {a}[()]
{new} = {a}.flat[{flat}]
{new} = np.lib.stride_tricks.sliding_window_view({v}, 2, axis={axv})
{new} = {v}[-1]
{new} = np.nan_to_num({a}, copy=False)
{new} = {a}
{new} = {a}.mT
{new} = np.unstack({v})[0]
{new} = np.delete({v}, 0, {axv})
"""

WRITES: Final = """
{w}[{iw}] = {n}
{w}[{iw}] = {b}
{w}[{iw}] += {n}
{w}[{iw}] *= {n}
{w}[{iw}] = {w}[{iw2}]
{w}[{mask}] = {n}
{w}[{mask}] *= {n}
{w}[...] = {likew}
{w}[...] += {likew}
{w}[()] = {n}
{w} += {n}
{w} *= {n}
{w} -= {likew}
{w} += {likew}
{w} *= {likew}
{w} /= {n}
{w} **= 2
{w} //= {n}
{w} += {w}[{iw}]
{w} -= {w} * 0.5
{w} *= {b}.sum() * 0.125
{w}[0], {w}[1] = {w}[1], {w}[0]
{w}[[0, -1]] = {w}[[-1, 0]]
{wv}[1:] = {wv}[:-1]
{wv}[:-1] += {wv}[1:]
{wv}[1:] -= {wv}[:-1] * {n}
{wv}[::2] = {n}
{wv}[::-1] = {likewv}
{wv}[::-2] *= {n}
np.{u}({a}, out={same})
np.{u}({a}, {same})
np.{bin}({a}, {like}, out={same})
np.{bin}({a}, {n}, out=({same},))
np.{bin}({w}, {likew}, out={w})
np.{bin}(np.copy({a}), np.copy({like}), out={same}, where={maska})
np.{u}(np.copy({a}), out={same}, where={maska})
np.{bin}({w}, {n}, out={w}, where={mask}, casting="unsafe")
np.clip({w}, {n}, 2, out={w})
{w}.clip(-1, 1, out={w})
np.add.at({w}, {at}, {n})
np.add.at({w}, {at}, {w}[{at}])
np.multiply.at({w}, {at}, {n})
np.maximum.at({w}, {at}, {n})
np.subtract.at({w}, {at}, {b})
np.negative.at({w}, {at})
np.put({w}, {places}, {n})
np.put({w}, {places}, {b}, mode={mode})
{w}.put({places}, [1, 2.5])
np.copyto({w}, {likew})
np.copyto({w}, {likew}, casting="unsafe")
np.copyto({w}, {n}, where={mask})
np.copyto({w}, {likew}, where={mask}, casting="unsafe")
np.fill_diagonal({wm}, {n})
np.fill_diagonal({wm}, {b})
np.fill_diagonal({wm}, [1.5, 2.5], wrap={flag})
np.place({w}, {mask}, [{n}, 2])
np.place({w}, {mask}, {b}.copy())
np.putmask({w}, {mask}, {n})
np.putmask({w}, {mask}, {b}.copy())
{wv}.sort()
{wv}.sort(0)
{wv}.sort(axis={axwv})
{wv}.sort(kind="stable")
{w}.fill({n})
{w}.flat = {n}
{w}.flat = {b}.copy()
{w}.flat[{flatw}] = {n}
{w}.flat[{flatw}] += {n}
np.put_along_axis({wv}, np.argsort({wv}, {axwv}), {n}, {axwv})
{a}.sum(0, out={reduced})
np.sum({a}, axis={ax}, out={reduced})
np.cumsum({v}, axis={axv}, out={samev})
{v}.cumsum(0, out={samev})
np.mean({a}, {ax}, out={reduced})
np.max({v}, {axv}, out={reducedv})
np.add.reduce({v}, {axv}, out={reducedv})
np.add.accumulate({v}, {axv}, out={samev})
np.dot({m}, {m2}, out={same})
np.matmul({m}, {m2}, out={same})
np.einsum("ij->ij", {m}, out={samem})
np.take({v}, {places}, out={samev})
np.concatenate([{v}], out={samev})
np.choose([0, 1], [{v}, {samev}], out={same})
np.median({v}, {axv}, out={reducedv})
np.percentile({v}, 40, 0, out=np.zeros_like({v}[0]))
np.round({a}, 1, out={same})
np.var({v}, {axv}, out={reducedv})
{w}.real = {n}
{w}.imag = {n}
{w}.real[...] = {likew}
{w}.T[...] = {n}
{w}.T[{iwt}] += {n}
{w}.reshape(-1)[{flatw}] = {n}
{w}.ravel()[{flatw}] *= {n}
np.nan_to_num({w}, copy=False, nan=0.5, posinf=3, neginf=-3)
{w} = {w}[{iw}]
{w}.shape = {shapew}
{wm} @= {m2}
{w} &= {b}
{w} <<= 1
{new} = np.modf({a}, out=({same}, None))[{bit}]
{new} = np.divmod({a}, {n}, out=(None, {same}))[{bit}]
"""

READS: Final = """
{new} = {a}[{index_arrays}]
{new} = {a}[{index_arrays}]
{new} = {a}[{maska}]
{new} = {v}[{maskv0}]
{new} = {m}[{maskv0m}, {im1}]
{new} = np.take({v}, {places}, mode={mode})
{new} = np.take({v}, [0, -1], {axv})
{new} = {v}.take([[0, 1], [1, 0]])
{new} = np.take_along_axis({v}, np.argsort({v}, {axv}), {axv})
{new} = np.compress([True, False, True], {v}, {axv})
{new} = np.extract({maska}, {a})
{new} = np.choose([0, 1, 0], [{v}, {likev}])
{new} = {a}[{ia}].copy()
{new} = {a}[np.ix_([0], [1, 0])]
{new} = np.argwhere({a})
{new} = np.nonzero({v})[0]
{new} = np.flatnonzero({a})
{new} = {v}[np.argsort({v}[:, 0])]
{new} = {v}[np.nonzero({v})]
{new} = {m}[np.triu_indices({k})]
{new} = np.searchsorted(np.sort({v}, None), {a})
"""

CREATIONS: Final = """
{new} = np.zeros({fresh}, dtype={dt})
{new} = np.ones({fresh}, dtype={dt})
{new} = np.full({fresh}, {n})
{new} = np.full({fresh}, {n}, {dt})
{new} = np.arange({count}, dtype={dt}).reshape({of_count}) / 8
{new} = np.arange({count}).reshape({of_count}) - 2
{new} = np.linspace(-1, 1, {count}).reshape({of_count})
{new} = (np.arange({count}) * (0.5 - 1j)).reshape({of_count})
{new} = np.arange({count}).reshape({of_count}) % 3 == 1
{new} = np.array({n})
{new} = np.eye(3, {size}, {k})
{new} = np.zeros_like({a})
{new} = np.ones_like({a}, dtype={dt})
{new} = np.full_like({a}, {n})
{new} = np.full_like({a}, {n}, dtype=float)
{new} = {a}.copy()
{new} = np.copy({a})
{new} = np.array({a})
{new} = np.array([{a}, {same}])
{new} = np.array([{a}.sum(), 1.0, {b}.sum()])
{new} = np.array([[{n}, {a}.max()], [0, 1]])
{new} = np.zeros({fresh}, order="F")
{new} = {a}.astype({dt})
{new} = {a}.astype(float)
{new} = np.astype({a}, np.{dt0})
{new} = {a}.copy(order={order})
{new} = np.array({a}, dtype={dt}, order={order})
{new} = np.linspace({n}, {a}.sum(), 4)
{new} = np.diag({v})
{new} = np.diagflat({v})
{new} = np.vander({v}, 3)
{new} = np.tri(3, {size}, {k})
{new} = np.meshgrid({v}, [1, 2])[{bit}]
{new} = np.fromfunction(lambda i, j: i - j, (2, 3))
{new} = np.indices((2, {size}))
{new} = np.logspace(0, 1, {size})
{new} = np.where([True, False, True], {n}, [[1.0], [np.nan]])
"""

CALLS: Final = """
{new} = np.{u}({a})
{new} = np.{u}({a})
{new} = np.{u}({a}, dtype={dt})
{new} = np.{bin}({a}, {like})
{new} = np.{bin}({a}, {like})
{new} = np.{bin}({a}, {n})
{new} = np.{bin}({n}, {a})
{new} = np.{bin}({a}, {like}, dtype={dt})
{new} = np.add({a}, {like}, where={maska}, out=np.zeros_like({a}))
{new} = np.{bin}.outer({v}, {b})
{new} = np.{accbin}.reduce({a}{axis}{keepdims})
{new} = np.{accbin}.reduce({a}{axis}, initial={n}, where={maska})
{new} = np.{accbin}.accumulate({v}, {axv})
{new} = np.{accbin}.reduceat({v}, [0, 1], {axv})
{new} = {a} + {like}
{new} = {a} * {like}
{new} = {a} - {n}
{new} = {n} - {a}
{new} = {a} / {n}
{new} = {n} / {a}
{new} = {a} ** 2
{new} = 2 ** {a}
{new} = {a} // {n}
{new} = {a} % {n}
{new} = -{a}
{new} = abs({a})
{new} = {a} > {like}
{new} = {a} == {like}
{new} = ~({a} > {n})
{new} = ({a} > {n}) & ({a} < 2)
{new} = {m} @ {m2}
{new} = divmod({a}, {n})[{bit}]
{new} = np.modf({a})[{bit}]
{new} = np.{red}({a}{axis}{keepdims})
{new} = np.{red}({a}{axis}{keepdims})
{new} = np.{red}({a}{axis}{keepdims})
{new} = {a}.{methodred}({axis1}{keepdims})
{new} = np.{sumred}({a}{axis}, where={maska}{keepdims})
{new} = np.{sumred}({a}{axis}, initial={n}, where={maska})
{new} = np.sum({a}{axis}, dtype={dt})
{new} = np.mean({a}{axis}, where={maska})
{new} = np.{spread}({a}{axis}, ddof=1{keepdims})
{new} = np.{spread}({a}{axis}, where={maska})
{new} = {a}.{spread2}({axis1}, ddof=1)
{new} = np.{cum}({a}{axis})
{new} = {a}.cumsum({axis1})
{new} = np.cumulative_sum({v}, axis={axv}, include_initial={flag})
{new} = np.concatenate([{v}, {likev}]{axis})
{new} = np.concatenate([{v}, {v}[:1]])
{new} = np.concatenate(({v}, {b}), axis=None)
{new} = np.stack([{a}, {same}], axis={axs})
{new} = np.hstack([{a}, {b}])
{new} = np.vstack([{a}, {same}])
{new} = np.dstack([{a}, {same}])
{new} = np.column_stack([{v}, {samev}])
{new} = np.block([[{a}, {same}]])
{new} = np.append({a}, {b})
{new} = np.append({v}, {samev}, {axv})
{new} = np.insert({v}, 1, {n}, {axv})
{new} = np.insert({v}, [0, 1], {b})
{new} = np.delete({v}, [0], {axv})
{new} = np.tile({a}, {reps})
{new} = np.repeat({a}, 2{axis})
{new} = np.repeat({v}, [1, 2, 0], {axv})
{new} = np.sort({v}, {axv})
{new} = np.sort({a}, None)
{new} = np.argsort({v}, {axv}, kind="stable")
{new} = np.partition({v}, 0, {axv}).min({axv})
{new} = np.lexsort(({v}, {samev}))
{new} = np.unique({a})
{new} = np.unique({a}, return_counts=True)[{bit}]
{new} = np.sort_complex({a})
{new} = np.median({a}{axis}{keepdims})
{new} = np.percentile({a}, 30{axis}{keepdims})
{new} = np.percentile({a}, [25, 60]{axis}, method={method})
{new} = np.quantile({a}, [[0.1], [0.75]]{axis})
{new} = np.nanpercentile({a}, 50{axis})
{new} = np.average({v}, axis={axv}, weights={samev})
{new} = np.cov({v}, ddof=0)
{new} = np.corrcoef({v})
{new} = np.histogram({a}, bins=3, range=(-1, 2))[0]
{new} = np.bincount([0, 1, 1], weights=np.arange(3.0))
{new} = np.digitize({a}, [-1.0, 0.0, 1.5])
{new} = np.clip({a}, {n}, 2)
{new} = np.clip({a}, None, {like})
{new} = {a}.clip(-0.5, 0.75)
{new} = np.where({maska}, {a}, {like})
{new} = np.where({maska}, {n}, {a})
{new} = np.select([{a} > 1, {a} < 0], [{a}, {like}], {n})
{new} = np.piecewise({a}, [{a} > 0.5], [lambda t: t * 2, {n}])
{new} = np.einsum("ij->j", {m})
{new} = np.einsum("ij,ij->i", {m}, {samem})
{new} = np.einsum("ij,kj->ik", {m}, {samem})
{new} = np.einsum("...i->...", {v})
{new} = np.einsum("ii", {m})
{new} = np.einsum("ij->ji", {m})
{new} = np.einsum("i,j", {v}, {b})
{new} = np.dot({m}, {m2})
{new} = np.dot({a}, {b})
{new} = np.inner({v}, {samev})
{new} = np.outer({a}, {b})
{new} = np.vdot({a}, {same})
{new} = np.kron({a}, {b})
{new} = np.cross({v}, {samev})
{new} = np.matmul({m}, {m2})
{new} = np.tensordot({m}, {samem}, axes={tensordot})
{new} = np.trace({m}, {k})
{new} = np.vecdot({v}, {samev})
{new} = np.linalg.norm({v}, axis={axv})
{new} = np.linalg.norm({a})
{new} = np.linalg.multi_dot([{m}, {m2}, [[1.0], [2.0]]])
{new} = np.pad({v}, 1)
{new} = np.pad({v}, {pads}, mode={padmode})
{new} = np.pad({v}, ((1, 0),), mode="constant", constant_values={n})
{new} = np.roll({a}, 1{axis})
{new} = np.roll({m}, (1, -1), (0, 1))
{new} = np.diff({v}, axis={axv})
{new} = np.diff({v}, 2, axis={axv})
{new} = np.diff({v}, axis={axv}, prepend=0)
{new} = np.ediff1d({a}, to_end={n})
{new} = np.gradient({v}, axis={axv})
{new} = np.trapezoid({v}, axis={axv})
{new} = np.interp({a}, [-1.0, 0.0, 2.0], [0.0, 1.0, 5.0])
{new} = np.interp([-0.4, 0.3, 0.9], np.linspace(-1, 1, np.size({v})), {v})
{new} = np.convolve({v}, [1, -1, 0.5], {convmode})
{new} = np.correlate({v}, [1.0, 2.0])
{new} = np.polyval({v}, {a})
{new} = np.poly1d({v})(2.0)
{new} = np.tril({m}, {k})
{new} = np.triu({m})
{new} = np.round({a}, 1)
{new} = {a}.round()
{new} = np.nan_to_num({a}, nan=1.0)
{new} = np.isclose({a}, {like})
{new} = np.allclose({a}, {same})
{new} = np.array_equal({a}, {b})
{new} = np.isin({a}, [0.5, 1, 2])
{new} = np.union1d({a}, {b})
{new} = np.apply_along_axis(np.sum, {axv}, {v})
{new} = np.apply_along_axis(lambda t: t * 2 - t[0], {axv}, {v})
{new} = np.resize({a}, {fresh})
{new} = np.trim_zeros({v})
{new} = np.unravel_index([1, 0], (2, 3))[{bit}]
{new} = np.ldexp({a}, 2)
{new} = np.unwrap({v})
{new} = np.packbits({v} > 0)
{new} = np.fft.fft({v})
{new} = np.fft.irfft({v})
{new} = np.linalg.det(np.eye(2) + {m}[:2, :2])
{new} = np.linalg.inv(np.eye(2) * 3 + {m}[:2, :2])
{new} = {a}.ptp() if hasattr({a}, "ptp") else np.ptp({a})
{new} = {a}.dot({b})
{new} = {a}.prod()
{new} = {a}.mean()
{new} = {a}.sum() * {b}
{new} = {a}.conj() * {a}
{new} = {a}.argmax()
{new} = {a}.repeat(2)
{new} = {a}.trace()
{new} = {a}.nonzero()[0]
{new} = {a}.flatten({order})
{new} = {a}.swapaxes(0, -1)
{new} = {a}.searchsorted({n})
{new} = {a}.tolist()
{new} = np.array({a}.tolist())
{new} = {a}.size + {a}.ndim
{new} = len({v}) * {a}
{new} = np.float64(2) * {a}
{new} = np.int64(3) + {a}
{new} = np.float32({n}) * {a}
{new} = np.array([1, 2]) * 0.5 + {a}[..., :1]
"""

CONTROL: Final = """
for i in range(len({wv})): {wv}[i] = {wv}[i] * 0.5 + i
for i in range(1, len({wv})): {wv}[i] += {wv}[i - 1]
for row in {wv}: row *= 2
for row in {wm}: row[0], row[-1] = row[-1], row[0]
for i, row in enumerate({wm}): row[...] = row * {n} + i
for t in {v}: {w} += t.sum()
{a}, {b} = {b}, {a}
{new} = {v}[0]; {new} += 5
{new} = {v}[0]; {new} *= {n}; {wv}[-1] = {new}
{new} = {a}.sum(); {new} += {n}; {w} += {new}
{new} = {v}[0]; {wv}[0] = {n}
{new} = {w}[...]; {new} += {n}
{new} = [t * 2 for t in {v}]; {new} = np.stack({new})
{new} = sum({v})
{new} = max({v}.ravel())
{new} = {w}; {new} += {n}
{new} = {w}[{iw}]; {new} += {n}
{new} = {w}[{slices_w}]; {new} *= {n}
{new} = {w}.T; {new}[...] += {n}
{new} = {w}.reshape(-1); {new}[:1] = {n}
if {a}.sum() > 0: {w} *= 2
while np.isfinite({w}).all() and {w}.max() > 8: {w} *= 0.5
{new} = np.zeros(3); {new}[0] = {a}.sum(); {new}[1:] = {b}.sum()
{new} = np.zeros(4); {new}[{places}] += {n}; {new} = {new} * {a}.sum()
{new} = {a}.copy(); {new} += {n}
{new} = np.zeros((2,) + {a}.shape, {a}.dtype); {new}[1] = {a}; {new}[0] -= {new}[1]
{new} = [{a}, {b}][{bit}]
{new} = (lambda t: t * 2)({a})
del {b}
{wv}[0], {new} = {wv}[-1], {wv}[0]
"""

GROUPS: Final = tuple(
    (weight, tuple(line for line in text.splitlines() if line))
    for weight, text in (
        (24, VIEWS),
        (34, WRITES),
        (8, READS),
        (7, CREATIONS),
        (26, CALLS),
        (9, CONTROL),
    )
)


class Writer:
    """Draws statements about arrays of NumPy that have names.

    The method of a field's name draws the text that stands for the field. The same field stands
    for the same text in all of a statement.
    """

    def __init__(self, draw: random.Random, names: dict[str, Any]) -> None:
        self.draw = draw
        self.names = names

    def statement(self) -> str:
        """A statement, of which NumPy may still say that it has no meaning."""
        weights, groups = zip(*GROUPS, strict=True)
        while True:
            template = self.draw.choice(self.draw.choices(groups, weights)[0])
            self.chosen: dict[str, str] = {}
            # NumPy crashes if what `cumsum` writes has no axis, so only arrays that fit are taken.
            with suppress(LookupError):
                return _FIELD.sub(lambda found: self.field(found[1]), template)

    def field(self, name: str) -> str:
        """The text of a field, drawn once."""
        if name not in self.chosen:
            lists = {
                "u": UFUNCS,
                "bin": BINARY_UFUNCS,
                "red": REDUCTIONS,
                "cum": CUMULATIVE,
                "accbin": "add multiply maximum minimum logical_or subtract".split(),
                "sumred": "sum prod max min nansum nanmax".split(),
                "methodred": "sum prod mean max min any all var std argmin".split(),
                "spread": "var std nanvar nanstd".split(),
                "spread2": ["var", "std"],
                "order": ['"C"', '"F"', '"A"', '"K"'],
                "bit": ["0", "1"],
                "flag": ["True", "False"],
                "k": ["0", "0", "1", "-1", "2"],
                "n": NUMBERS.split(),
                "size": ["2", "3", "4"],
                "mode": ['"wrap"', '"clip"'],
                "keepdims": ["", "", ", keepdims=True"],
                "reps": ["2", "(2, 1)", "(1, 2, 2)", "0"],
                "padmode": ['"edge"', '"reflect"', '"wrap"', '"symmetric"', '"mean"'],
                "pads": ["1", "(2, 0)", "((0, 1),)"],
                "convmode": ['"full"', '"same"', '"valid"'],
                "method": ['"linear"', '"lower"', '"midpoint"', '"nearest"', '"hazen"'],
                "tensordot": ["1", "2", "([0], [0])", "([1], [1])"],
                "cuts": ["1", "2", "[1]", "[0, 2]"],
                "places": ["[0]", "[0, 1]", "[1, 1, -1]", "-1"],
                "axs": ["0", "-1"],
                "count": ["1", "2", "3", "4", "6", "6", "8", "12", "12", "0"],
                "dt0": list(DTYPES),
            }
            choices = lists.get(name)
            text = self.draw.choice(choices) if choices else getattr(self, name)()
            self.chosen[name] = text
        return self.chosen[name]

    def value(self, name: str) -> Any:
        """The array, or the scalar, that a field stands for."""
        return self.names[self.field(name)]

    def name_of(self, fits: Callable[[Any], bool]) -> str:
        """The name of an array of a kind, or of any one."""
        names = [name for name, x in self.arrays() if fits(x)]
        if not names:
            raise LookupError("no array fits")
        return self.draw.choice(names)

    def arrays(self) -> list[tuple[str, Any]]:
        """The names of arrays and of NumPy's scalars, without Python's lists and numbers."""
        found = [(n, x) for n, x in self.names.items() if isinstance(x, (np.ndarray, np.generic))]
        return sorted(found, key=lambda pair: pair[0])

    # -- names ------------------------------------------------------------------------------

    def new(self) -> str:
        """A name to bind: a free one, or one that loses its array."""
        free = [f"v{nr}" for nr in range(NAMES) if f"v{nr}" not in self.names]
        return free[0] if free else self.draw.choice(sorted(self.names))

    new2 = new

    def a(self) -> str:
        """Any array."""
        return self.name_of(lambda x: True)

    def b(self) -> str:
        """Any other array."""
        return self.name_of(lambda x: True)

    def v(self) -> str:
        """An array that has elements along an axis."""
        return self.name_of(lambda x: x.ndim > 0 and x.size > 0)

    def m(self) -> str:
        """An array of two dimensions or more."""
        return self.name_of(lambda x: x.ndim > 1)

    def m2(self) -> str:
        """An array by which `m` is multiplied as matrices are."""
        last = self.value("m").shape[-1:]
        return self.name_of(lambda x: x.shape[-2:-1] == last or x.shape == last)

    def c(self) -> str:
        """A complex array."""
        return self.name_of(lambda x: x.dtype.kind == "c")

    def w(self) -> str:
        """An array that is written."""
        return self.name_of(_writeable)

    def wv(self) -> str:
        """An array along an axis that is written."""
        return self.name_of(lambda x: _writeable(x) and x.ndim > 0 and x.size > 0)

    def wm(self) -> str:
        """An array of two dimensions that is written."""
        return self.name_of(lambda x: _writeable(x) and x.ndim > 1)

    def _same(self, other: str) -> str:
        shape, name = self.value(other).shape, self.field(other)
        fits = [n for n, x in self.arrays() if x.shape == shape and _writeable(x)]
        return self.draw.choice(fits or [name])

    def same(self) -> str:
        """An array of the shape of the first."""
        return self._same(next(name for name in ("a", "v", "m") if name in self.chosen))

    def samev(self) -> str:
        """An array of the shape of `v`."""
        return self._same("v")

    def samem(self) -> str:
        """An array of the shape of `m`."""
        return self._same("m")

    def _like(self, other: str) -> str:
        if self.draw.random() < 0.2:
            return self.field("n")
        shape = self.value(other).shape
        found = self.name_of(lambda x: _broadcasts(x.shape, shape))
        return self.draw.choice([found, found, f"{found} * 2", f"{found}[::-1]"])

    def like(self) -> str:
        """What broadcasts to the shape of `a`."""
        return self._like("a")

    def likev(self) -> str:
        """What broadcasts to the shape of `v`."""
        return self._like("v")

    def likew(self) -> str:
        """What broadcasts to the shape of `w`."""
        return self._like("w")

    def likewv(self) -> str:
        """What broadcasts to the shape of `wv`."""
        return self._like("wv")

    def _reduced(self, other: str) -> str:
        x = self.value(other)
        shape = x.shape[:-1] if self.draw.random() < 0.5 else x.shape[1:]
        names = [n for n, y in self.arrays() if y.shape == shape and _writeable(y)]
        return self.draw.choice(names) if names else f"np.zeros({shape})"

    def reduced(self) -> str:
        """An array of the shape of `a` without the first or the last axis."""
        return self._reduced("a")

    def reducedv(self) -> str:
        """An array of the shape of `v` without the first or the last axis."""
        return self._reduced("v")

    # -- indices ----------------------------------------------------------------------------

    def ia(self) -> str:
        """An index of `a`."""
        return self._index(self.value("a").shape)

    def iw(self) -> str:
        """An index of `w`."""
        return self._index(self.value("w").shape)

    iw2 = iw

    def iwt(self) -> str:
        """An index of the transposed `w`."""
        return self._index(self.value("w").shape[::-1])

    def im1(self) -> str:
        """An index of the second dimension of `m`."""
        return self._entry(_size(self.value("m").shape, 1), arrays=False)

    def slices(self) -> str:
        """Slices of `a`."""
        return self._slices("a")

    def slices_w(self) -> str:
        """Slices of `w`."""
        return self._slices("w")

    def _slices(self, other: str) -> str:
        shape = self.value(other).shape
        entries = [self._slice(n) for n in shape[: self.draw.randrange(len(shape) + 1)]]
        return ", ".join(entries) or "..."

    def index_arrays(self) -> str:
        """An index of `a` with arrays, slices and integers."""
        entries = [self._entry(n, arrays=True) for n in self.value("a").shape]
        return ", ".join(entries[: self.draw.randrange(1, 4)]) or "..."

    def at(self) -> str:
        """An index of `w` with repeated places."""
        shape = self.value("w").shape
        n = _size(shape, 0)
        places = [self.draw.randrange(-n, n) if n else 0 for _ in range(3)]
        if len(shape) > 1 and self.draw.random() < 0.4:
            return f"({places}, {self.draw.randrange(shape[1]) if shape[1] else 0})"
        return str(places) if shape else "()"

    def flat(self) -> str:
        """An index of the elements of `a` in order."""
        return self._entry(self.value("a").size, arrays=self.draw.random() < 0.3)

    def flatw(self) -> str:
        """An index of the elements of `w` in order."""
        return self._entry(self.value("w").size, arrays=self.draw.random() < 0.3)

    def _index(self, shape: tuple[int, ...]) -> str:
        kept = self.draw.randrange(1, len(shape) + 1) if shape else 0
        arrays = self.draw.random() < 0.3
        entries = [self._entry(n, arrays=arrays) for n in shape[:kept]]
        if self.draw.random() < 0.15:
            entries.insert(self.draw.randrange(len(entries) + 1), "...")
        if self.draw.random() < 0.1:
            entries.insert(self.draw.randrange(len(entries) + 1), "None")
        return ", ".join(entries) or self.draw.choice(["...", "()", "None"])

    def _entry(self, n: int, *, arrays: bool) -> str:
        if arrays and self.draw.random() < 0.6:
            places = [self.draw.randrange(-n, n) if n else 0 for _ in range(2)]
            mask = [self.draw.random() < 0.5 for _ in range(n)]
            return self.draw.choice(
                [str(places), str(places), f"np.array({mask}, bool)", f"[{places}, {places}]"]
            )
        if n and self.draw.random() < 0.4:
            return str(self.draw.randrange(-n, n))
        return self._slice(n)

    def _slice(self, n: int) -> str:
        start, stop = sorted([self.draw.randrange(n + 1), self.draw.randrange(n + 1)])
        return self.draw.choice(
            [":", f"{start}:", f":{stop}", f"{start}:{stop}", "::2", "1::2", "::-1", "-1:0:-1"]
        )

    # -- masks, axes and shapes -------------------------------------------------------------

    def _mask(self, other: str) -> str:
        name = self.field(other)
        same = self._same(other)
        return self.draw.choice(
            [f"{name} > 0.5", f"{same} < 1", f"{name} != 0", f"~({same} > 0)", f"{name} > 99"]
        )

    def mask(self) -> str:
        """A mask of the shape of `w`."""
        return self._mask("w")

    def maska(self) -> str:
        """A mask of the shape of `a`."""
        return self._mask("a")

    def maskv0(self) -> str:
        """A mask of the first dimension of `v`."""
        return str([self.draw.random() < 0.5 for _ in range(_size(self.value("v").shape, 0))])

    def maskv0m(self) -> str:
        """A mask of the first dimension of `m`."""
        return str([self.draw.random() < 0.5 for _ in range(_size(self.value("m").shape, 0))])

    def _axis(self, other: str) -> str:
        ndim = self.value(other).ndim
        return str(self.draw.randrange(-ndim, ndim) if ndim else 0)

    def ax(self) -> str:
        """An axis of `a`."""
        return self._axis("a")

    def axv(self) -> str:
        """An axis of `v`."""
        return self._axis("v")

    def axwv(self) -> str:
        """An axis of `wv`."""
        return self._axis("wv")

    def axis(self) -> str:
        """An argument for the axis of `a` or `v`, or none."""
        other = "a" if "a" in self.chosen else "v"
        ndim = self.value(other).ndim
        if self.draw.random() < 0.35:
            return ""
        if ndim > 1 and self.draw.random() < 0.2:
            return f", axis=({self.draw.randrange(1, ndim)}, 0)"
        return f", axis={self._axis(other)}"

    def axis1(self) -> str:
        """The same as the first argument."""
        return self.axis().removeprefix(", ") or "axis=None"

    def perm(self) -> str:
        """The axes of `a` in another order."""
        axes = list(range(self.value("a").ndim))
        self.draw.shuffle(axes)
        return str(tuple(axes))

    def _shape(self, size: int) -> str:
        found = [(-1,), (size,), (1, size), (size, 1)]
        found += [(n, size // n) for n in (2, 3, 4) if size % n == 0]
        found += [(size // 2, 2, 1), (1, 2, -1)] if size % 2 == 0 and size else []
        return str(self.draw.choice(found))

    def shape(self) -> str:
        """A shape of the elements of `a`."""
        return self._shape(self.value("a").size)

    def shapew(self) -> str:
        """A shape of the elements of `w`."""
        return self._shape(self.value("w").size)

    def of_count(self) -> str:
        """A shape of `count` elements."""
        return self._shape(int(self.field("count")))

    def fresh(self) -> str:
        """A shape, most often that of an array that is there."""
        shapes = [str(x.shape) for x in self.names.values() if isinstance(x, np.ndarray)]
        return self.draw.choice([*shapes, "()", "3", "(2, 3)", "(0, 2)", "(2, 1, 3)"])

    def wider(self) -> str:
        """A shape to which `a` broadcasts."""
        shape = self.value("a").shape
        return str((self.draw.randrange(1, 3), *[3 if n == 1 else n for n in shape]))

    def dt(self) -> str:
        """The name of a dtype."""
        return f'"{self.draw.choice(DTYPES)}"'


def _writeable(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.flags.writeable


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    if len(shape) > len(to):
        return False
    return all(n in (1, m) for n, m in zip(shape[::-1], to[::-1], strict=False))


def _size(shape: tuple[int, ...], axis: int) -> int:
    return shape[axis] if axis < len(shape) else 0
