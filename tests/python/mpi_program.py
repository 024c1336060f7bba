# SPDX-License-Identifier: Apache-2.0
"""What every rank runs: test_mpi.py starts it under mpirun with the names of cases and a folder for each."""
import fcntl
import os
import resource
import signal
import sys
import time
import traceback

import numpy as np
from mpi4py import MPI

import weftgpu
from weftgpu.mpi import Ranks, kernel_matrix, kernel_operator, run_batch

RNG = np.random.default_rng(20261130)
X, Y = RNG.uniform(0, 3, (700, 4)).astype(np.float32), RNG.uniform(0, 3, (300, 4)).astype(np.float32)


def oracle(x, y):
    """K of the map ryrz in double."""
    x, y = x.astype(float)[:, np.newaxis], y.astype(float)[np.newaxis]
    bloch = np.cos(x) * np.cos(y) + np.sin(x) * np.sin(y) * np.cos(x - y)
    return ((1 + bloch) / 2).prod(-1)


def raised(kind, call):
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError(f"nothing was raised, need {kind}")


def case_matrix(ranks, folder):
    for name, y, options in (("k", None, {}), ("ky", Y, {"dtype": "float64"}), ("kw", None, {
            "weights": np.full((2, 4), 0.3), "reupload": True, "normalize": True})):
        path = os.path.join(folder, name + ".npy")
        made = kernel_matrix(ranks, X, y, out=path, **options)
        assert ranks.comm.allreduce(made) == 700 * (700 if y is None else 300)
        k = np.load(path)
        want = oracle(X, X if y is None else y) if name != "kw" else weftgpu.kernel_matrix(X, **options)
        assert k.dtype == options.get("dtype", "float32") and np.abs(k - want).max() < 1e-5, name
        assert y is not None or (k == k.T).all()
    ranks.together(lambda: None)
    assert not [name for name in os.listdir(folder) if name.endswith(".part")]


def case_operator(ranks, folder):
    v, w = RNG.uniform(-1, 1, (700, 3)), RNG.uniform(-1, 1, (300, 2))
    k, both = kernel_operator(ranks, X, lambda_=0.5, dtype="float64"), kernel_operator(ranks, X, Y, dtype="float64")
    dense = oracle(X, X) + 0.5 * np.eye(700)
    for got, want in ((k @ v, dense @ v), (k @ v[:, 0], dense @ v[:, 0]), (k.rmatmat(v), dense @ v),
                      (both @ w, oracle(X, Y) @ w), (both.rmatmat(v), oracle(X, Y).T @ v),
                      (both.rmatvec(v[:, 0]), oracle(X, Y).T @ v[:, 0])):
        assert got.shape == want.shape and np.abs(got - want).max() < 1e-9
        assert ranks.comm.allgather(got.tobytes()) == [got.tobytes()] * ranks.size
    circuit = {"weights": np.full((2, 4), 0.3), "reupload": True, "dtype": "float64"}
    layers = kernel_operator(ranks, X, **circuit)
    assert np.abs(layers @ v - weftgpu.kernel_matrix(X, **circuit) @ v).max() < 1e-9
    solves(ranks, folder, k, dense, v)
    states = np.exp(1j * RNG.uniform(0, 6, (200, 4))) / 2
    given = kernel_operator(ranks, states, dtype="float64", lambda_=0.5)
    of_states = np.abs(states @ states.conj().T) ** 2 + 0.5 * np.eye(200)
    assert np.abs(given @ v[:200] - of_states @ v[:200]).max() < 1e-9
    weights, report = given.solve(v[:200, 0], tol=1e-9, rank=10)
    assert report.converged and np.abs(of_states @ weights - v[:200, 0]).max() < 1e-7
    small = kernel_operator(ranks, X[:1])  # some ranks have no rows
    assert np.abs(small.matvec(np.ones(1)) - 1).max() < 1e-6
    try:
        from scipy.sparse.linalg import cg
    except ImportError:
        return
    alpha, info = cg(k, v[:, 0], atol=1e-9)
    assert info == 0 and np.linalg.norm(dense @ alpha - v[:, 0]) < 1e-4


def solves(ranks, folder, k, dense, v):
    """With a preconditioner, and from a checkpoint of as many ranks and of one."""
    file = os.path.join(folder, "solve")
    alpha, report = k.solve(v, tol=1e-9, rank=60)
    assert report.converged and np.linalg.norm(dense @ alpha - v) < 1.1e-9 * np.linalg.norm(v) + 1e-9
    assert ranks.comm.allgather(alpha.tobytes()) == [alpha.tobytes()] * ranks.size
    plain = k.solve(v[:, 0], tol=1e-9, rank=0)
    assert plain[0].shape == (700,) and report.iterations < plain[1].iterations
    options = {"tol": 1e-9, "rank": 60, "checkpoint": file, "checkpoint_every": 2, "resume": True}
    part = k.solve(v, max_iterations=5, **options)[1]
    assert not part.converged and os.path.exists(file)
    again, report = k.solve(v, **options)
    assert report.resumed == 5 and again.tobytes() == alpha.tobytes()
    with_one = weftgpu.kernel_operator(X, dtype="float64", lambda_=0.5).solve(v, **options) if ranks.rank == 0 else None
    assert with_one is None or np.abs(with_one[0] - alpha).max() < 1e-7
    if ranks.size > 1:
        text = raised(weftgpu.InvalidArgument, lambda: k.solve(v, tol=0.1 / (1 + ranks.rank)))
        assert "differ in tol (rank 0 has 0.1" in text, text
    text = raised(weftgpu.InvalidArgument, lambda: kernel_operator(ranks, X, Y).solve(v))
    assert "need an operator of x alone" in text
    text = raised(weftgpu.InvalidArgument, lambda: k.solve(v, 0.0))
    assert "lambda out of range" in text, text


def case_batch(ranks, folder):
    program = weftgpu.Program(weftgpu.compile_glsl("""#version 450
layout(local_size_x_id = 0) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Job { uint count, first; };
void main() { uint i = gl_GlobalInvocationID.x; if (i < count) y[i] = 2 * x[i]; }"""), backend=ranks.backend())
    inputs = [np.full(100, i, np.float32) for i in range(21)]
    outputs = [np.full(100, -5, np.float32) for _ in inputs]
    done = run_batch(ranks, program, [weftgpu.Job([i], [o]) for i, o in zip(inputs, outputs)])
    for job, out in enumerate(outputs):
        assert (out == (2 * job if job in done else -5)).all()
    assert sorted(sum(ranks.comm.allgather(done), [])) == list(range(21))


def case_refusals(ranks, folder):
    path, last = os.path.join(folder, "none.npy"), ranks.size - 1
    odd = ranks.rank == last
    prefix = "" if odd else f"rank {last}: "
    bad = X.copy()
    bad[600, 1] = np.nan
    assert "x: row 600 column 1 is not finite" in raised(weftgpu.EncodeError, lambda: kernel_operator(ranks, bad))
    if last:
        k = kernel_operator(ranks, X)
        for mine, others in ((np.ones(700), np.zeros(700)), (np.ones(700), np.ones((700, 2)))):
            assert "v" in raised(weftgpu.InvalidArgument, lambda: k @ (mine if odd else others))
    if last:
        other = X.copy()
        other[3] = 1
        text = raised(weftgpu.InvalidArgument, lambda: kernel_matrix(ranks, other if odd else X, out=path))
        assert text.startswith(prefix + "mpi.kernel_matrix: the ranks must agree, but differ in X (rank 0 has"), text
        text = raised(weftgpu.InvalidArgument, lambda: kernel_operator(ranks, X, scale=2.0 if odd else 1.0))
        assert "differ in scale (rank 0 has 1.0, this rank has 2.0)" in text

    def fail():
        if odd:
            raise weftgpu.OutOfMemory("enough", "out_of_memory")

    assert raised(weftgpu.OutOfMemory, lambda: ranks.together(fail)) == prefix + "enough"
    text = raised(weftgpu.Error, lambda: kernel_matrix(ranks, X, out=os.path.join(folder, "no", "k.npy")))
    assert "k.npy: cannot be written" in text, text
    wrong = X.copy()
    wrong[600, 2] = np.nan
    text = raised(weftgpu.EncodeError, lambda: kernel_matrix(ranks, wrong, out=path))
    assert text.startswith("mpi.kernel_matrix: x: row 600 column 2 is not finite"), text
    assert "jitter: no such option" in raised(TypeError, lambda: kernel_matrix(ranks, X, out=path, jitter=1))
    k = kernel_operator(ranks, X, lambda_=1)
    for call in (lambda: k @ (np.ones(700) * 1j), lambda: k.solve(np.ones(700) * 1j)):
        assert "v: wrong dtype (got complex128, need float" in raised(TypeError, call)
    assert "tolerance" in raised(weftgpu.InvalidArgument, lambda: k.solve(np.ones(700), tol=float("nan")))
    # Another run makes this K.
    part = path + ".mpi.part"
    if ranks.rank == 0:
        with open(part, "wb") as file:
            file.write(b"of another run")
            file.flush()
            fcntl.flock(file, fcntl.LOCK_EX)
            text = raised(weftgpu.Error, lambda: kernel_matrix(ranks, X, out=path))
        with open(part, "rb") as file:
            assert file.read() == b"of another run"
        os.unlink(part)
    else:
        text = raised(weftgpu.Error, lambda: kernel_matrix(ranks, X, out=path))
    assert "another run over ranks makes this K" in text, text
    # A full disk: a file cannot grow beyond this limit.
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    text = raised(weftgpu.Error, lambda: kernel_matrix(ranks, X, out=path))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "none.npy: cannot be written" in text, text
    ranks.together(lambda: None)
    assert os.listdir(folder) == []


def case_silent(ranks, folder):
    """The last rank never comes: the others name it."""
    ranks = Ranks(timeout=1)
    if ranks.rank == ranks.size - 1:
        time.sleep(600)
    require_named(ranks, lambda: kernel_matrix(ranks, X, out=os.path.join(folder, "k.npy")))


def case_stopped(ranks, folder):
    """The last rank stops in the middle of a solve: the others name it."""
    y = np.ones(len(X))
    kernel_operator(ranks, X, lambda_=1e-3).solve(y)  # compiles what takes longer than the limit
    ranks = Ranks(timeout=1)
    k = kernel_operator(ranks, X, lambda_=1e-3)
    if ranks.rank == ranks.size - 1:
        steps, together = iter(range(100)), ranks.together

        def stop_at_some_time(step):
            if next(steps) == 8:
                os.kill(os.getpid(), signal.SIGSTOP)
            return together(step)

        ranks.together = stop_at_some_time
    require_named(ranks, lambda: k.solve(y, rank=0, tol=1e-12))


def require_named(ranks, call):
    text = raised(weftgpu.DeviceLost, call)
    assert ranks.lost and f"rank {ranks.size - 1} of {ranks.size} has not come within 1 s" in text, text
    print("NAMED", flush=True)
    end = time.monotonic() + 2  # until all have said so, for which they may need this rank's help
    while time.monotonic() < end:
        MPI.COMM_WORLD.Iprobe()
        time.sleep(1e-3)
    ranks.comm.Abort(7)


try:
    everyone = Ranks()
    for case in sys.argv[1].split(","):
        own = os.path.join(sys.argv[2], case)
        everyone.together(lambda own=own: os.makedirs(own, exist_ok=True))
        globals()["case_" + case](everyone, own)
    everyone.close()
    if MPI.COMM_WORLD.Get_rank() == 0:
        print("DONE", MPI.COMM_WORLD.Get_size(), flush=True)
except BaseException:
    traceback.print_exc()
    MPI.COMM_WORLD.Abort(1)
