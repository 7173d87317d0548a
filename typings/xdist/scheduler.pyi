# pytest-xdist 3.8.0

import pytest

class LoadScopeScheduling:
    assigned_work: dict[object, dict[str, dict[str, bool]]]

    def __init__(self, config: pytest.Config, log: object | None = None) -> None: ...
    def _reschedule(self, node: object) -> None: ...

class LoadGroupScheduling(LoadScopeScheduling): ...
