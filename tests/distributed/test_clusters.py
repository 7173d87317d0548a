"""Dask and MPI; only where they are installed. `make adopted` has Dask."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import vtgrad as vt
from tests.distributed.programs import command, constant, pairs, squares, weights, writes_shard
from tests.distributed.test_sums import as_numbers, in_a_loop
from tests.project.tree import ROOT
from vtgrad.distributed import value_and_grad
from vtgrad.errors import NotPicklableError, ReadOnlyError, ShardError, WorkerDiedError

pytestmark = [pytest.mark.xdist_group("distributed"), pytest.mark.slow]

needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="Dask is not installed"
)
needs_mpi = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or shutil.which("mpiexec") is None,
    reason="mpi4py or mpiexec is not installed",
)

ONE = vt.ones(1)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        # What Dask and its packages say of each other.
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=50,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            client.run(_find_tests, str(ROOT))
            yield client


def _find_tests(root: str) -> None:
    sys.path.insert(0, root)


@needs_dask
@pytest.mark.filterwarnings("default")
def test_a_cluster_gives_the_same_bits(client: Any) -> None:
    with value_and_grad(squares, shards=pairs(), executor=client.get_executor()) as total:
        p = weights()
        for _ in range(4):
            assert as_numbers(total(p)) == as_numbers(in_a_loop(p))
            p["w"] += 0.5
        places = set(total._backend._places.values())  # type: ignore[union-attr]  # a cluster
        assert len(places) == 2


@needs_dask
@pytest.mark.filterwarnings("default")
def test_shards_are_sent_once_and_limits_are_kept(client: Any) -> None:
    worker = sorted(client.nthreads())[0]
    executor = client.get_executor(workers=[worker])
    with value_and_grad(constant, shards=[1, 2, 3], executor=executor) as total:
        total(ONE)
        futures = dict(total._backend._futures)  # type: ignore[union-attr]  # a cluster
        assert total(ONE)[0].item() == 6.0
        assert total._backend._futures == futures  # type: ignore[union-attr]  # a cluster
        assert total._backend.used() == [worker]  # type: ignore[union-attr]  # a cluster


@needs_dask
@pytest.mark.filterwarnings("default")
def test_functions_without_a_name_are_sent_and_errors_name_the_shard(client: Any) -> None:
    executor = client.get_executor()
    assert value_and_grad(lambda p, s: (p * s).sum(), ONE, [1.0, 2.0], executor)[0].item() == 3.0
    with value_and_grad(command, shards=[("", ""), ("raise", "")], executor=executor) as total:
        for _ in range(2):
            with pytest.raises(ShardError, match="shard 1 failed: ValueError") as caught:
                total(ONE)
            assert caught.value.shard == 1
    with pytest.raises(ShardError) as caught:
        value_and_grad(writes_shard, ONE, [vt.ones(1)], executor)
    assert isinstance(caught.value.__cause__, ReadOnlyError)
    with pytest.raises(NotPicklableError):
        value_and_grad(constant, ONE, [__import__("threading").Lock()], executor)


@needs_dask
@pytest.mark.filterwarnings("default")
def test_a_worker_killed_in_the_middle(client: Any, tmp_path: Path) -> None:
    file = tmp_path / "killed"
    shards = [("", ""), ("", ""), ("", ""), ("kill", str(file)), ("", ""), ("", "")]
    with value_and_grad(command, shards=shards, executor=client.get_executor()) as total:
        with pytest.raises(
            WorkerDiedError, match="has ended before the results for shard"
        ) as caught:
            total(ONE)
        assert 3 in caught.value.shards
        assert len(caught.value.shards) <= 3
        value, gradient = total(ONE)
        assert (value.item(), gradient.item()) == (6.0, 12.0)
    file.unlink()
    retried = value_and_grad(command, shards=shards, executor=client.get_executor(), retries=1)
    value, gradient = retried(ONE)
    assert (value.item(), gradient.item()) == (6.0, 12.0)
    assert file.exists()


@needs_dask
def test_a_client_that_does_not_wait_is_refused() -> None:
    kind = type("ClientExecutor", (), {"__module__": "distributed.cfexecutor"})
    executor = kind()
    executor._kwargs, executor.submit = {}, print
    executor._client = type("Client", (), {"asynchronous": True})()
    with pytest.raises(vt.errors.ArgumentValueError, match="asynchronous"):
        value_and_grad(constant, ONE, [1], executor)


def _programs_of_the_page() -> dict[str, str]:
    text = (ROOT / "docs" / "many-machines.md").read_text("utf-8")
    found = re.findall(r"```py\n(.*?)```", text, re.DOTALL)
    return {body.split()[1].split(".")[0]: body for body in found}


def _run(start: list[str], body: str, folder: Path) -> str:
    file = folder / "fit.py"
    file.write_text(body, encoding="utf-8")
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", str(ROOT))])
    done = subprocess.run(
        [*start, str(file)],
        env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_has_both_programs() -> None:
    assert _programs_of_the_page().keys() == {"distributed", "mpi4py"}


@needs_dask
def test_the_program_for_dask_runs(tmp_path: Path) -> None:
    _run([sys.executable], _programs_of_the_page()["distributed"], tmp_path)


@needs_mpi
def test_the_program_for_mpi_runs(tmp_path: Path) -> None:
    start = ["mpiexec", "-n", "3", sys.executable, "-m", "mpi4py.futures"]
    assert _run(start, _programs_of_the_page()["mpi4py"], tmp_path) == "[3.0, 4.0]\n"
