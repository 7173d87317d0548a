"""What a PyTorch that has names on dimensions says to the programs; PyTorch 2.13 has none.

Run with that PyTorch, from the root of the repository: ``python -m tests.names.record``. The last
release that was recorded is named in the file.
"""

import json
import warnings
from pathlib import Path

from tests.names.prelude import prelude, said

FOLDER = Path(__file__).parent
RECORDED = FOLDER / "recorded.json"

# What PyTorch says of operators that it has no rule for.
_NO_RULE = ("not yet supported with named tensors", "does not yet support", "NYI")


def main() -> None:
    """Run the programs, and write what they give."""
    import torch  # noqa: PLC0415  # only here, because no test needs it

    warnings.simplefilter("ignore")
    known = prelude(torch)
    found: dict[str, object] = {}
    for program in (FOLDER / "programs.txt").read_text("utf-8").splitlines():
        try:
            found[program] = {
                "names": said(eval(program, dict(known)), torch.Tensor)
            }  # our own programs
        except (TypeError, AttributeError) as error:
            found[program] = {"absent": type(error).__name__}
        except Exception as error:
            unsupported = any(text in str(error) for text in _NO_RULE)
            kind = "unsupported" if unsupported else "refused"
            found[program] = {kind: type(error).__name__}
    lines = [f"  {json.dumps(p)}: {json.dumps(answer)}" for p, answer in found.items()]
    head = f'{{\n  "torch": {json.dumps(torch.__version__)},\n'
    RECORDED.write_text(head + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
