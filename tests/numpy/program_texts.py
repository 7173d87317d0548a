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
    "nan_to_num real imag angle fix i0 sinh cosh tan log log2 log10 arcsin arccos arctanh arccosh "
    "isnan isinf fabs degrees radians spacing invert bitwise_count iscomplex isreal isneginf"
).split()
BINARY_UFUNCS: Final = (
    "add subtract multiply divide maximum minimum fmax fmin hypot arctan2 power floor_divide "
    "remainder fmod logaddexp copysign greater less_equal equal not_equal logical_and "
    "logical_xor float_power heaviside logaddexp2 greater_equal less logical_or nextafter gcd lcm "
    "bitwise_and bitwise_or bitwise_xor left_shift right_shift ldexp"
).split()
REDUCTIONS: Final = (
    "sum prod mean max min any all var std nansum nanprod nanmean nanmax nanmin nanvar nanstd "
    "median nanmedian ptp argmax argmin count_nonzero average amax amin nanargmax nanargmin"
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
{new} = np.flipud({v})
{new} = np.vsplit({m}, [1])[{bit}]
{new} = np.matrix_transpose({m})
{new} = np.permute_dims({a}, {perm})
{new} = {a}.transpose({perm})
{new} = {m}.diagonal({k}, -2, -1)
{new} = np.diagonal({m}, {k}, 1, 0)
{new} = np.require({a}, requirements="C")
{new} = np.require({a}, None, ["F", "W"])
{new} = np.asanyarray({a}, order={order})
{new} = np.real_if_close({a})
{new} = np.squeeze({a}[None])
{new} = {a}.reshape(-1, order={order})
{new} = {a}[..., ::-1]
{new} = np.roll({v}, 0, {axv})
{new} = np.rot90({m}, {k}, axes=(1, 0))
{new} = np.expand_dims({a}, (0, -1))
{new} = np.moveaxis({m}, [0, 1], [1, 0])
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
np.fill_diagonal({wm}, {b}.copy())
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
{wv}.partition(0)
{wv}.partition(0, axis={axwv})
{w}[...] = np.sin({w})
{w}[{iw}] -= {w}[{iw}] * {n}
{w}[{mask}] = {w}[{mask}] * 2
np.add({w}, {w}[::-1], out={w})
np.multiply({w}.T, {n}, out={w}.T)
np.add({wv}[1:], {wv}[:-1], out={wv}[1:])
np.subtract({likew}, {w}, out={w})
np.cumprod({wv}, 0, out={wv})
np.multiply.accumulate({wv}, {axwv}, out={wv})
np.maximum.accumulate({wv}, {axwv}, out={wv})
np.sqrt(np.abs({w}), out={w})
np.hypot.at({w}, {at}, {n})
np.divide.at({w}, {at}, {n})
np.clip({w}, None, {n}, out={w})
np.clip({a}, {like}, None, out={same})
{w}.flat[:] = {n}
{w}.flat = [{n}, 1]
{wm}[:, 0] = {n}
{wm}[0] += {wm}[1]
{wm}.T[0] *= {n}
{wm}[np.tril_indices(2)] = {n}
{wm}[np.arange(2), np.arange(2)] += {n}
{w}.flags.writeable = False; {w}.flags.writeable = True
np.put({w}, {places}, {n}, "wrap")
np.copyto({w}.T, {n})
np.copyto({wv}[:1], {wv}[-1:])
np.multiply({w}, {mask}, out={w}, casting="unsafe")
np.std({v}, {axv}, out={reducedv})
np.nansum({v}, {axv}, out={reducedv})
np.ptp({v}, {axv}, out={reducedv})
np.prod({v}, {axv}, out={reducedv})
np.nanmax({v}, {axv}, out={reducedv})
np.cumulative_sum({v}, axis={axv}, out={samev})
np.stack([{w}], out={w}[None])
np.outer({v}, {v}, out=np.zeros(({v}.size, {v}.size), {v}.dtype))
{w}.real += {n}
{w}.imag *= 2
{wv}[np.argsort({wv}[(slice(None),) + (0,) * ({wv}.ndim - 1)])] += {n}
{w} ^= {b}
{w} %= {n}
{w} |= {mask}
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
{new} = np.searchsorted(np.sort({v}, None), {n}, side="right")
{new} = {v}.compress([True, False], {axv})
{new} = np.argpartition({v}, 0, {axv})
{new} = {m}[np.tril_indices(2, {k})]
{new} = {m}[np.diag_indices(2)]
{new} = np.ravel_multi_index(([0, 1], [1, 0]), (2, 3))
{new} = [x for _, x in np.ndenumerate({v})][0]
{new} = {v}[next(iter(np.ndindex({v}.shape)))]
{new} = {v}[{v}.argsort(0)[0]]
{new} = np.take({a}, {places}, None, mode={mode})
{new} = {v}.take([[0, -1]], {axv})
{new} = np.flatnonzero({a} > 0)
{new} = {m}[[0, 1], :][:, [1, 0]]
{new} = {m}[None, [0], ..., 0]
{new} = np.isin({a}, {b}, invert=True)
{new} = {a}[np.array(0)] if {a}.ndim else {a}[()]
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
{new} = np.identity({size})
{new} = np.geomspace(1, 8, {size})
{new} = np.fromiter((x * 2 for x in range({size})), float)
{new} = np.linspace({v}[0], {v}[-1], 3, axis={axs})
{new} = np.linspace({n}, 2, {size}, retstep=True)[{bit}]
{new} = np.arange({n}, 3, 0.5)
{new} = np.mgrid[0:2, 0:{size}]
{new} = np.ogrid[0:2, 0:{size}][{bit}]
{new} = np.r_[{v}.ravel(), {n}, 1:3]
{new} = np.c_[{v}.ravel(), {v}.ravel()]
{new} = np.bartlett({size}) * {n}
{new} = np.kaiser({size}, 2.0) + {a}.sum()
{new} = np.full({fresh}, {a}.sum())
{new} = np.array([[{a}.sum(), {n}], [{b}.max(), 2]], order="F")
{new} = np.asarray([{a}, {a} * 2])
{new} = np.concatenate([np.atleast_1d({a}.sum()), [{n}]])
{new} = np.tri({size}) * {n}
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
{new} = np.apply_over_axes(np.sum, {m}, [0, 1])
{new} = np.intersect1d({a}, {b})
{new} = np.setdiff1d({a}, {b})
{new} = np.setxor1d({a}, {b})
{new} = np.unique_values({a})
{new} = np.unique({v}, axis={axv})
{new} = np.unique({a}, return_index=True)[{bit}]
{new} = np.polyadd({v}.ravel(), [1.0, 2.0])
{new} = np.polysub([1.0], {v}.ravel())
{new} = np.polymul({v}.ravel(), [1.0, -0.5])
{new} = np.polyder({v}.ravel())
{new} = np.polyint({v}.ravel(), k=[{n}])
{new} = np.polydiv({v}.ravel(), [1.0, 2.0])[{bit}]
{new} = np.polyval([1.0, {n}], {a})
{new} = np.histogram({a}, [-1.0, 0.0, 1.5], weights={same})[0]
{new} = np.histogram_bin_edges({a}, 3)
{new} = np.nanquantile({a}, 0.3{axis}{keepdims})
{new} = np.quantile({v}, 0.4, {axv}, method={method})
{new} = np.nanpercentile({v}, [20, 70], {axv}, method={method})
{new} = np.frexp({a})[{bit}]
{new} = np.matvec({m}, {v})
{new} = np.vecmat({v}, {m})
{new} = np.linalg.matrix_power({m}[:2, :2], 2)
{new} = np.linalg.slogdet(np.eye(2) * 3 + {m}[:2, :2])[{bit}]
{new} = np.linalg.solve(np.eye(2) * 3 + {m}[:2, :2], [1.0, 2.0])
{new} = np.linalg.norm({v}, 1, axis={axv}, keepdims=True)
{new} = np.linalg.norm({m}, "fro", axis=(0, 1))
{new} = np.linalg.vector_norm({a}, ord=3)
{new} = np.linalg.outer({v}.ravel(), [1.0, 2.0])
{new} = np.linalg.cholesky(np.eye(2) * 8)
{new} = np.fft.rfft({v}, axis={axv})
{new} = np.fft.ifft({v}, 3)
{new} = np.fft.fftn({a})
{new} = np.fft.fftshift({v}, {axv})
{new} = np.vectorize(lambda t: t * 2)({v})
{new} = np.gradient({m})[{bit}]
{new} = np.gradient({v}, 0.5, axis={axv}, edge_order=2)
{new} = np.trapezoid({v}, dx=0.5)
{new} = np.trapezoid({v}, {samev}, axis={axv})
{new} = np.diff({v}, axis={axv}, append={v})
{new} = np.average({v}, {axv}, {samev}, returned=True)[{bit}]
{new} = np.average({a}, weights={same})
{new} = np.cov({m}, rowvar=False)
{new} = np.cov({v}.ravel(), {v}.ravel())
{new} = np.cumulative_prod({v}, axis={axv}, include_initial={flag})
{new} = np.interp({a}, [0.0, 1.0, 2.0], [0.0, {n}, 5.0], left=-1.0, right={n})
{new} = np.interp({a}, [0.0, 1.0, 2.0], [0.0, 1.0, 5.0], period=4)
{new} = np.correlate({v}, [1.0, 0.5], {convmode})
{new} = np.trim_zeros({v}, "f")
{new} = np.ediff1d({a}, to_begin={n})
{new} = np.digitize({a}, [-1.0, 0.0, 1.5], right=True)
{new} = np.einsum("ij,jk->ik", {m}, {m2})
{new} = np.einsum("...,...->...", {a}, {same})
{new} = np.einsum("ij->", {m})
{new} = np.einsum({m}, [0, 1], [1, 0])
{new} = np.pad({v}, 1, mode="linear_ramp", end_values={n})
{new} = np.pad({v}, (1, 0), mode="median")
{new} = np.pad({v}, 1, mode="maximum", stat_length=1)
{new} = np.pad({v}, 1, mode="reflect", reflect_type="odd")
{new} = np.insert({v}, -1, {n}, {axv})
{new} = np.insert({v}, [1, 0], [[{n}]], 0)
{new} = np.delete({v}, slice(0, 1), {axv})
{new} = np.delete({v}, [True, False], {axv})
{new} = np.repeat({v}, {v}.shape[{axv}], {axv})
{new} = np.rot90({m}, {k}) * {n}
{new} = np.select([{a} > 1], [{a}])
{new} = np.nan_to_num({a}, posinf={n}, neginf=0)
{new} = np.clip({a}, min={n})
{new} = np.isclose({a}, {n}, atol=0.5)
{new} = np.array_equiv({a}, {same})
{new} = np.sum({a}{axis}{keepdims}, dtype=float, where={maska}, initial={n})
{new} = np.var({a}{axis}{keepdims}, mean=0.5)
{new} = np.max({a}{axis}{keepdims}, where={maska}, initial={n})
{new} = np.all({a} > {n}{axis}{keepdims})
{new} = {a}.argmin()
{new} = {a}.any()
{new} = {a}.std()
{new} = {a}.cumprod({axis1})
{new} = {v}.argsort({axv})
{new} = {v}.argpartition(0)
{new} = {a}.conjugate()
{new} = {a}.astype(float, order="F")
{new} = {a}.astype({dt}, casting="same_kind")
{new} = {a}.sum({axis1}, where={maska})
{new} = {a}.max({axis1}{keepdims})
{new} = {a}.nbytes + {a}.itemsize
{new} = np.ndim({a}) + np.size({a}) * {a}
{new} = +{a}
{new} = {a} ** {n}
{new} = {n} ** {a}
{new} = {n} // {a}
{new} = {n} % {a}
{new} = {a} & {like}
{new} = {a} << 1
{new} = {n} < {a}
{new} = (-0.0) * {a}
{new} = {a} * np.inf
{new} = np.float16(0.5) * {a}
{new} = True * {a}
{new} = 1j * {a}
{new} = np.exp(1j * {a}).real
{new} = np.add.outer({a}, [1, 2])
{new} = np.multiply.reduce({a}, None)
{new} = np.logaddexp.reduce({v}, {axv})
{new} = np.hypot.accumulate({v}, {axv})
{new} = np.power({a}, 3)
{new} = np.emath.sqrt({a})
{new} = np.round({a}, -1)
{new} = np.sinc({a}) * np.i0({a})
{new} = np.sort({v}, {axv}, stable=True)
{new} = np.sort({v}, {axv})[::-1]
{new} = np.moveaxis({m}, 0, -1) @ {m}[..., 0]
{new} = np.broadcast_shapes({a}.shape, {same}.shape) and {a} - {a}.mean()
{new} = {a} - {a}.mean(-1, keepdims=True)
{new} = {v} / np.linalg.norm({v})
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
{new} = np.array([t.sum() for t in {v}])
{new} = np.zeros_like({v}); {new}[1:] = {v}[:-1]; {new}[0] = {n}
{new} = {v}.copy(); {new}[::-1] += {new}
{new} = np.empty(3); {new}[:] = {n}; {new}[1] = {a}.sum()
{new} = np.stack([{a}, {a} * 2]); {new}[0] -= {new}[1]
{new} = {v}[:1]; {new} = {new} * {new}; {wv}[:1] = {new}
for j in range(min(2, {w}.ndim)): {w} = np.swapaxes({w}, 0, j)
for i, x in np.ndenumerate({wv}): {wv}[i] = x * {n}
for i in np.ndindex({wv}.shape): {wv}[i] += 1
{new} = {w}; {w} = {w} * 2; {new} -= {n}
{new} = {w}.flat; {new}[0] = {n}; {new} = {new}[:2]
{new} = {wm}[0]; {wm} *= 2; {new} += {wm}[-1]
{new} = {w}[...]; {new}.shape = {shapew}; {new} *= {n}
{new} = np.where({maska}, {a}, 0); {new}[{new} < 0] *= -1
{new} = np.copy({a}); np.add.at({new}, (), {n})
{new} = {wm}.T; {new}[0], {new}[1] = {new}[1].copy(), {new}[0].copy()
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
