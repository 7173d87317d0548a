"""``python -m tests.oracle.run``: random programs from the command line."""

import argparse
import sys
import time

from tests.oracle.fuzz import Fuzzer, Totals
from vtgrad.testing.session import DivergenceError


def report(failure: DivergenceError | None) -> str:
    """A failed program as text for both libraries, and what differed."""
    return "" if failure is None else f"--- {failure.signature}\n{failure}"


def main() -> int:
    """Run and print the first divergence of each signature; exit with 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first program")
    parser.add_argument("--peer", default="vtgrad", help="the library under test")
    parser.add_argument("--show", type=int, default=10, help="how many signatures to print")
    parser.add_argument("--only", default="", help="print signatures that contain this")
    parser.add_argument("--no-shrink", action="store_true")
    options = parser.parse_args()
    fuzzer = Fuzzer(options.peer, options.seed)
    totals = Totals()
    started = time.monotonic()
    for index in range(options.start, options.start + options.programs):
        deep, run = fuzzer.run(index)
        known = len(totals.counts)
        totals.add(index, deep, run)
        if len(totals.counts) > known:
            print(f"program {index}: {run.signature}", flush=True)
    seconds = time.monotonic() - started
    shown = 0
    for signature, count in sorted(totals.counts.items(), key=lambda item: -item[1]):
        index, deep, run = totals.failures[signature]
        if options.only in signature and shown < options.show:
            shown += 1
            small = run.failure if options.no_shrink else fuzzer.smallest(deep, run)
            print(f"\n=== {count} x {signature} (program {index})")
            print(report(small))
    print(f"\n{totals.programs} programs, {totals.steps} steps, {totals.errors} refused by both,")
    print(
        f"{sum(totals.counts.values())} diverged, {len(totals.counts)} signatures, {seconds:.0f} s"
    )
    for signature, count in sorted(totals.counts.items(), key=lambda item: -item[1]):
        print(f"{count:5d}  {signature[:170]}  (program {totals.failures[signature][0]})")
    for reason, count in totals.excused.items():
        print(f"{count:5d}  excused: {reason[:150]}")
    if fuzzer.missing:
        print("missing:", " ".join(sorted(fuzzer.missing)))
    return 1 if totals.counts else 0


if __name__ == "__main__":
    sys.exit(main())
