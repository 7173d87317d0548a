"""``python -m vtgrad.demo``: fit the Nile series, and show the purpose of the library.

Exit codes: 0 if both variances are within 0.5 % of the published ones and every check passed; 1 if
not; 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vtgrad.demo.data import NileSeries, load_nile
from vtgrad.demo.estimate import (
    PUBLISHED_LEVEL_VARIANCE,
    PUBLISHED_OBSERVATION_VARIANCE,
    Estimate,
    fit,
)
from vtgrad.demo.exhibits import show_illegal_write, show_stale_grad_fn
from vtgrad.demo.gradient_check import check_gradient
from vtgrad.demo.local_level import FloatArray, log_likelihood_value, value_and_gradient
from vtgrad.demo.optimise import NotFiniteError, Outcome
from vtgrad.demo.plot import matplotlib_is_there, write_plot
from vtgrad.demo.progress import FitProgress
from vtgrad.demo.replayed import show_replayed_search

__all__ = ["main"]


class _Arguments(argparse.Namespace):
    """The options of the command line."""

    observation_variance: float | None
    level_variance: float | None
    max_iterations: int
    plot: Path | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command line without the program's name; ``sys.argv`` by default.

    Raises
    ------
    SystemExit
        With code 2 after a usage line, if the arguments are wrong.
    """
    options = _parser().parse_args(arguments, namespace=_Arguments())
    series = load_nile()
    start = _start(options, series)
    print(f"The Nile at Aswan, {series.years[0]} to {series.years[-1]}: ", end="")
    print(f"{len(series.flows)} annual flows in 10^8 m^3 (fingerprint verified)")
    print(f"Start: observation variance {np.exp(start[0]):.6g}, level {np.exp(start[1]):.6g}\n")

    passed = [
        _report_gradient_check(start, series),
        _report_stale_grad_fn(start, series),
        _report_illegal_write(start, series),
        _report_fit(start, series, options),
        _report_replayed_search(start, series, options),
    ]
    print("All checks passed." if all(passed) else "FAILED: see above.")
    return 0 if all(passed) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m vtgrad.demo",
        description="Fit the local level model to the Nile's annual flow by maximum likelihood, "
        "with gradients through a Kalman filter that writes in place.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--observation-variance",
        type=_variance,
        metavar="VARIANCE",
        help="where to start (default: the variance of the flows)",
    )
    parser.add_argument(
        "--level-variance",
        type=_variance,
        metavar="VARIANCE",
        help="where to start (default: the variance of the flows)",
    )
    parser.add_argument(
        "--max-iterations",
        type=_count,
        default=100,
        metavar="N",
        help="steps of the optimiser, at most (default: %(default)s)",
    )
    parser.add_argument(
        "--plot", type=_png, metavar="PATH", help="write the fit as a PNG (needs matplotlib)"
    )
    return parser


def _variance(text: str) -> float:
    value = _number(text)
    # The bounds keep squares and ratios of variances inside what a double can hold.
    if not 1e-60 <= value <= 1e60:
        raise argparse.ArgumentTypeError(f"{text} is not a variance between 1e-60 and 1e60")
    return value


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from error


def _png(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() != ".png":
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .png")
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is a folder")
    return path


def _start(options: _Arguments, series: NileSeries) -> FloatArray:
    rough = float(np.var(series.flows, ddof=1))
    chosen = (options.observation_variance, options.level_variance)
    return np.array([math.log(rough if variance is None else variance) for variance in chosen])


def _verdict(passed: bool) -> str:
    return "ok" if passed else "FAILED"


def _report_gradient_check(start: FloatArray, series: NileSeries) -> bool:
    _, gradient = value_and_gradient(start, series.flows)
    check = check_gradient(lambda point: log_likelihood_value(point, series.flows), gradient, start)
    print("1. Gradient of the log-likelihood, through about 400 in-place writes")
    print(f"   by backward            {check.exact[0]: .9f} {check.exact[1]: .9f}")
    print(f"   by central differences {check.estimated[0]: .9f} {check.estimated[1]: .9f}")
    print(f"   relative difference {check.error:.1e}: {_verdict(check.passed)}\n")
    return check.passed


def _report_stale_grad_fn(start: FloatArray, series: NileSeries) -> bool:
    shown = show_stale_grad_fn(start, series.flows)
    print("2. A view whose base is written behind its back")
    print("   states = workspace.select(0, 0)")
    print(f"   states.grad_fn is {shown.name_before}, version {shown.version_before}")
    print(f"   workspace.mul_({shown.scale})")
    print(f"   states.grad_fn is {shown.name_after}, version {shown.version_after}: rebuilt")
    print(f"   its gradient is scaled by exactly {shown.scale}: {_verdict(shown.holds)}\n")
    return shown.holds


def _report_illegal_write(start: FloatArray, series: NileSeries) -> bool:
    shown = show_illegal_write(start, series.flows)
    print("3. A write to values that backward needs")
    print("   innovations /= innovation_variances.sqrt()  # after the likelihood has used them")
    if shown.error is None:
        print("   backward ran without an error")
    else:
        print(f"   {type(shown.error).__name__}: {str(shown.error).splitlines()[0]}")
    untouched = "untouched" if shown.gradients_untouched else "CHANGED"
    print(f"   every .grad is {untouched}: {_verdict(shown.holds)}\n")
    return shown.holds


def _report_fit(start: FloatArray, series: NileSeries, options: _Arguments) -> bool:
    print("4. Maximum likelihood, by BFGS over the log-variances", flush=True)
    try:
        with FitProgress(sys.stderr) as progress:
            estimate = fit(
                series.flows,
                start,
                max_iterations=options.max_iterations,
                on_iterate=progress,
            )
    except NotFiniteError as error:
        print(f"   no fit: {error}: {_verdict(False)}\n")
        return False
    _print_estimate(estimate)
    written = _report_plot(options.plot, series, estimate)
    return estimate.agrees_with_published and written


def _print_estimate(estimate: Estimate) -> None:
    search = estimate.search
    print(f"   {search.iterations} steps, {search.evaluations} evaluations: ", end="")
    print(search.outcome.value)
    print(f"   log-likelihood {estimate.log_likelihood:.4f}")
    errors = estimate.standard_errors
    print("                            estimate  (std. error)   published   deviation")
    rows = (
        ("observation variance", estimate.observation_variance, PUBLISHED_OBSERVATION_VARIANCE),
        ("level variance", estimate.level_variance, PUBLISHED_LEVEL_VARIANCE),
    )
    for index, (name, value, published) in enumerate(rows):
        spread = "(none)" if errors is None else f"({errors[index]:.1f})"
        off = 100.0 * estimate.deviations[index]
        print(f"   {name:<20} {value:>13.2f}  {spread:>12} {published:>11.1f} {off:>+10.4f} %")
    print(f"   within 0.5 % of the published values: {_verdict(estimate.agrees_with_published)}")
    if not estimate.agrees_with_published:
        converged = search.outcome is Outcome.CONVERGED
        print(f"   try another start{'' if converged else ' or more iterations'}")
    print()


def _report_replayed_search(start: FloatArray, series: NileSeries, options: _Arguments) -> bool:
    print("5. The same search, with a likelihood that is recorded once and replayed", flush=True)
    try:
        shown = show_replayed_search(start, series.flows, max_iterations=options.max_iterations)
    except NotFiniteError as error:
        print(f"   no search: {error}: {_verdict(False)}\n")
        return False
    rate = shown.seconds / shown.seconds_replayed
    in_c = shown.steps - shown.steps_in_python
    print(f"   {shown.steps} steps of NumPy, {in_c} in C and {shown.steps_in_python} in Python")
    print(f"   {shown.evaluations} evaluations by the program {1e3 * shown.seconds:9.2f} ms")
    print(f"   {shown.evaluations} evaluations by its replay  ", end="")
    print(f"{1e3 * shown.seconds_replayed:9.2f} ms: {rate:.0f} times as fast")
    print(f"   recorded once, in          {1e3 * shown.seconds_recording:9.2f} ms")
    print(f"   every point, value and gradient has the same bits: {_verdict(shown.same)}\n")
    return shown.same


def _report_plot(path: Path | None, series: NileSeries, estimate: Estimate) -> bool:
    if path is None:
        return True
    if not matplotlib_is_there():
        print("note: no plot, matplotlib is not installed\n", file=sys.stderr)
        return True
    try:
        write_plot(path, series, estimate.log_variances)
    except OSError as error:
        print(f"cannot write the plot: {error}\n", file=sys.stderr)
        return False
    print(f"   plot written to {path}\n")
    return True


if __name__ == "__main__":
    raise SystemExit(main())
