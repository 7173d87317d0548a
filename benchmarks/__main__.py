"""Run all rows and print their ratios beside the bars."""

import argparse
import json
import platform
import sys
from pathlib import Path

import numpy as np
import torch

from . import chains, filling, imports, large_arrays, mlp, small_operators, views_and_writes

SECTIONS = {
    "small operators": small_operators,
    "views and writes": views_and_writes,
    "chain of 1,000 nodes": chains,
    "small network": mlp,
    "filling a buffer": filling,
    "large arrays (against NumPy)": large_arrays,
}


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", metavar="PATH", type=Path, help="keep the figures in a file")
    options = parser.parse_args()
    torch.set_num_threads(1)
    kept: list[dict[str, str | float]] = []

    def show(section: str, name: str, value: float, bar: float, note: str = "") -> None:
        kept.append({"section": section, "row": name, "value": value, "bar": bar})
        met = "" if value <= bar else "  over the bar"
        print(f"  {name:34s} {value:7.2f}   bar {bar:5.2f}  {note}{met}", flush=True)

    print(
        f"vtgrad against torch {torch.__version__}, one thread; numpy {np.__version__}, "
        f"Python {platform.python_version()}, {platform.machine()}"
    )
    for section, module in SECTIONS.items():
        print(section)
        for name, found, bar in module.rows():
            note = f"+-{found.spread:4.2f}  {found.ours * 1e6:10.1f} us"
            show(section, name, found.value, bar, note)
        if module is filling:
            for name, exponent, bar in filling.exponents():
                show(section, name, exponent, bar, "growth exponent")
    print("import")
    show("import", "beside numpy, ms", imports.milliseconds(), imports.BAR_MS)
    if options.json is not None:
        options.json.write_text(json.dumps(kept, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
