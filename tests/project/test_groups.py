"""Tests of one group run in one process, so that what they prepare is prepared once."""

import pytest


@pytest.mark.xdist_group("groups")
def test_groups_of_tests_are_kept_together(request: pytest.FixtureRequest) -> None:
    # `--dist=loadgroup` knows a group by the end of a test's name. A pytest that pytest-xdist
    # does not know well leaves the name as it is, and the tests of a group go everywhere.
    if not hasattr(request.config, "workerinput") or not request.config.getvalue("loadgroup"):
        pytest.skip("not spread over processes by groups")
    assert request.node.nodeid.endswith("@groups")
