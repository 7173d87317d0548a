"""A program that imports the library, and forks for each program that its input names.

It imports nothing that `import vtgrad` does not: a program must not find loaded what it forgot to
import. A line of the input is the file to run, and the files for its output and its errors, with
tabs between them; the answer is a line with the exit code.
"""

import os
import sys
import warnings
from types import ModuleType

import vtgrad  # noqa: F401


def wait() -> str | None:
    """Give the program that this process is to run, or None in the first process, at the end."""
    while line := sys.stdin.readline():
        program, *outputs = line.rstrip("\n").split("\t")
        with warnings.catch_warnings():
            # On threads of BLAS, which the child makes anew.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            become(program, outputs)
            return program
        _, status = os.waitpid(child, 0)
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))
    return None


def become(program: str, outputs: list[str]) -> None:
    """Be as an interpreter is that was started with this program, in its folder."""
    for number, name in enumerate([os.devnull, *outputs]):
        opened = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    folder = os.path.dirname(program)
    os.chdir(folder)
    sys.argv[:] = [program]
    if not sys.flags.safe_path:
        sys.path[0] = folder
    # The compiled build is tested with it; interpreters that the program starts are a reader's.
    os.environ.pop("PYTHONSAFEPATH", None)


if __name__ == "__main__" and (found := wait()) is not None:
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__file__ = found
    with open(found, encoding="utf-8") as opened:
        text = opened.read()
    exec(compile(text, found, "exec"), main.__dict__)
