"""``python -m vtgrad.codegen``: write the generated code, or check that it is up to date."""

import argparse
import sys

from .generate import FOLDERS, generate
from .language import TableError
from .source_files import OPS


def main() -> int:
    """Run the command line; the exit code is 1 if something is stale or wrong."""
    parser = argparse.ArgumentParser(prog="python -m vtgrad.codegen", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if stale")
    options = parser.parse_args()
    try:
        files = generate()
    except TableError as error:
        print(f"codegen: {error}", file=sys.stderr)
        return 1
    present = {
        f"{folder}/{path.name}": path.read_text()
        for folder in FOLDERS
        for path in (OPS / folder).glob("*.py")
    }
    stale = sorted(
        name for name in files.keys() | present.keys() if files.get(name) != present.get(name)
    )
    if options.check:
        for name in stale:
            print(f"codegen: {OPS / name} is stale; run make codegen", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        if name in files:
            (OPS / name).write_text(files[name])
            print(f"codegen: wrote {name}")
        else:
            (OPS / name).unlink()
            print(f"codegen: removed {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
