"""``python -m vtgrad.codegen``: write the generated code, or check that it is up to date."""

import argparse
import gc
import sys

from vtgrad.codegen.generate import FOLDERS, generate, generate_stubs
from vtgrad.codegen.language import TableError
from vtgrad.codegen.library import Library
from vtgrad.codegen.source_files import OPS

PACKAGE = OPS.parent


def main() -> int:
    """Run the command line; the exit code is 1 if something is stale or wrong."""
    parser = argparse.ArgumentParser(prog="python -m vtgrad.codegen", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if stale")
    options = parser.parse_args()
    try:
        library = Library.read()
        sources = generate(library)
        files = {f"ops/{name}": text for name, text in sources.items()}
        files |= generate_stubs(library, sources)
    except TableError as error:
        print(f"codegen: {error}", file=sys.stderr)
        return 1
    paths = [path for folder in FOLDERS for path in (OPS / folder).glob("*.py")]
    # The stub of a module in C is written by hand.
    paths += [path for path in PACKAGE.rglob("*.pyi") if not path.with_suffix(".c").exists()]
    present = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in paths}
    stale = sorted(
        name for name in files.keys() | present.keys() if files.get(name) != present.get(name)
    )
    if options.check:
        for name in stale:
            print(f"codegen: {PACKAGE / name} is stale; run make codegen", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        if name in files:
            (PACKAGE / name).write_text(files[name], "utf-8", newline="\n")
            print(f"codegen: wrote {name}")
        else:
            (PACKAGE / name).unlink()
            print(f"codegen: removed {name}")
    return 0


if __name__ == "__main__":
    # Hundreds of syntax trees are kept until the end: collections would visit them in vain.
    gc.disable()
    sys.exit(main())
