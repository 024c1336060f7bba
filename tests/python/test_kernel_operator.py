# SPDX-License-Identifier: Apache-2.0
"""Kernel operators. The oracle is the dense matrix in closed form, in float64 by NumPy."""
import os
import signal
import threading
import time

import numpy as np
import pytest
from test_kernel_matrix import oracle, states_of

import weftgpu

DTYPES = ["float32", "float64"]


def dense(x, y=None, map="ryrz", scale=1.0):
    """The fidelity of a qubit is (1 + a . b) / 2 for its Bloch vectors; K is the product over the qubits."""

    def vectors(rows):
        t = scale * np.asarray(rows, np.float64)
        if map == "ry":
            return np.stack([np.sin(t), np.zeros_like(t), np.cos(t)], -1)
        return np.stack([np.sin(t) * np.cos(t), np.sin(t) * np.sin(t), np.cos(t)], -1)

    a = vectors(x)
    b = a if y is None else vectors(y)
    return ((1 + np.einsum("iqc,jqc->ijq", a, b)) / 2).prod(-1)


def bound(k, v):
    return k.estimate(min(64, np.shape(v)[1] if np.ndim(v) == 2 else 1))["error"] * abs(np.asarray(v)).sum(0)


@pytest.fixture
def x(rng):
    return rng.uniform(-2, 2, (67, 5))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("circuit", [{}, {"map": "ry"}, {"map": "ryrz", "scale": 0.37}, {"map": "ry", "scale": 2.5}])
def test_products(circuit, dtype, x, rng):
    y = rng.uniform(-2, 2, (31, 5))
    k, across = weftgpu.kernel_operator(x, dtype=dtype, **circuit), weftgpu.kernel_operator(x, y, dtype=dtype, **circuit)
    square, cross = dense(x, **circuit), dense(x, y, **circuit)
    assert k.shape == (67, 67) and across.shape == (67, 31) and k.dtype == across.dtype == dtype
    for columns in (None, 1, 3, 17, 64, 65, 130):
        v, w = (rng.standard_normal(n if columns is None else (n, columns)).astype(dtype) for n in (67, 31))
        checks = [(k, k @ v, square @ v, v), (across, across @ w, cross @ w, w)]
        if columns is None:
            checks += [(k, k.rmatvec(v), square @ v, v), (across, across.rmatvec(v), cross.T @ v, v)]
        else:
            checks += [(k, k.rmatmat(v), square @ v, v), (across, across.rmatmat(v), cross.T @ v, v)]
        for of, got, want, by in checks:
            assert got.shape == want.shape and got.dtype == dtype
            assert (abs(got - want) <= bound(of, by)).all()
    assert k.matvec(v[:, :1]).shape == (67, 1) and k.matmat(np.empty((67, 0))).shape == (67, 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_circuits_with_reupload_and_states(dtype, x, rng):
    y, weights = rng.uniform(-2, 2, (31, 5)), rng.uniform(-2, 2, (2, 5))
    circuit = {"weights": weights, "reupload": True}
    states, others = (np.ascontiguousarray(states_of(rows, **circuit)) for rows in (x, y))
    for rows, columns, options in ((x, y, circuit), (states, others, {})):
        k = weftgpu.kernel_operator(rows, dtype=dtype, lambda_=0.25, **options)
        across = weftgpu.kernel_operator(rows, columns, dtype=dtype, **options)
        square, cross = oracle(x, **circuit), oracle(x, y, **circuit)
        v, w = (rng.standard_normal((n, 3)).astype(dtype) for n in (67, 31))
        assert k.estimate()["method"] == "states"
        assert (abs(k @ v - square @ v - 0.25 * v) <= bound(k, v) + 1e-6 * abs(v)).all()
        assert (abs(across @ w - cross @ w) <= bound(across, w)).all()
        assert (abs(across.rmatmat(v) - cross.T @ v) <= bound(across, v)).all()
        assert abs(k.rows([3, 66]) - square[[3, 66]] - 0.25 * np.eye(67)[[3, 66]]).max() < 1e-5
        alpha, report = k.solve(v, 0.1)
        assert report.converged
        assert abs(k.predict(columns, alpha) - cross.T @ alpha).max() < 1e-4 * abs(alpha).sum()
    with pytest.raises(weftgpu.InvalidArgument, match="weights: wrong shape .got .2, 4., need .layers, 5."):
        weftgpu.kernel_operator(x, weights=weights[:, :4].copy(), reupload=True)
    with pytest.raises(weftgpu.InvalidArgument, match="states have 2..qubits amplitudes .got 5"):
        weftgpu.kernel_operator(x.astype(complex))
    with pytest.raises(weftgpu.InvalidArgument, match="of states with normalize makes no predictions"):
        weftgpu.kernel_operator(states, normalize=True).predict(states, np.ones(67))


def test_a_solve_is_continued(x, rng, tmp_path):
    file, y = tmp_path / "solve", rng.standard_normal((67, 2))
    k = weftgpu.kernel_operator(x, dtype="float64")
    options = {"rank": 5, "tol": 1e-9, "checkpoint": file, "checkpoint_every": 3, "resume": True}
    want, whole = k.solve(y, 1e-3, rank=5, tol=1e-9)

    def stop(done, *_):
        if done == 11:
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        k.solve(y, 1e-3, progress=stop, **options)
    alpha, report = k.solve(y, 1e-3, **options)
    assert report.resumed == 9 and report.iterations == whole.iterations
    assert np.array_equal(alpha, want)
    with pytest.raises(weftgpu.InvalidArgument, match="another lambda .the checkpoint has 0.001, the call has 0.01"):
        k.solve(y, 1e-2, **options)

    def again(*_):
        k.solve(y, 1e-3, **{**options, "resume": False})

    os.remove(file)
    with pytest.raises(weftgpu.Error, match="another solve, of this process or another, has this checkpoint"):
        k.solve(y, 1e-3, progress=again, **options)
    with pytest.raises(weftgpu.InvalidArgument, match="KernelOperator.solve: checkpoint: no file .got an empty path"):
        k.solve(y, 1e-3, checkpoint="")


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_and_diagonal(dtype, x, rng):
    y = rng.uniform(-2, 2, (9, 5))
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    k = weftgpu.kernel_operator(x, dtype=dtype, lambda_=0.25)
    want = dense(x) + 0.25 * np.eye(67)
    assert np.array_equal(k.diagonal(), np.full(67, 1.25, dtype))
    indices = [3, 66, 0, 3]
    assert abs(k.rows(indices) - want[indices]).max() < tolerance
    assert k.rows([]).shape == (0, 67) and k.rows(np.array([1], np.uint8)).dtype == dtype
    across = weftgpu.kernel_operator(x, y, dtype=dtype)
    assert abs(across.rows(range(67)) - dense(x, y)).max() < tolerance
    with pytest.raises(weftgpu.InvalidArgument, match="no such row .got 67, need 0 to 66"):
        k.rows([0, 67])
    with pytest.raises(weftgpu.InvalidArgument, match="no such row .got -1"):
        k.rows([-1])
    with pytest.raises(TypeError, match="no numbers of rows"):
        k.rows([0.5])
    assert weftgpu.last_report().op == "kernel_rows"
    with pytest.raises(weftgpu.InvalidArgument, match="no diagonal"):
        across.diagonal()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("map, qubits", [("ry", 1), ("ry", 4), ("ry", 33), ("ryrz", 1), ("ryrz", 2), ("ryrz", 9), ("ryrz", 40)])
def test_rows_of_every_layout(map, qubits, dtype, rng):
    """Numbers of qubits that do not fill a pair, a word or a part; rows that do not fill a workgroup."""
    x, y = rng.uniform(-1, 1, (70, qubits)), rng.uniform(-1, 1, (531, qubits))
    k, want = weftgpu.kernel_operator(x, y, map=map, scale=0.3, dtype=dtype), dense(x, y, map, 0.3)
    square = weftgpu.kernel_operator(x, map=map, scale=0.3, dtype=dtype)
    for indices in ([69], [4, 4], [1, 0, 69], list(range(8)), list(rng.permutation(70)) * 2):
        assert abs(k.rows(indices) - want[indices]).max() < (1e-5 if dtype == "float32" else 1e-13)
        assert (square.rows(indices)[range(len(indices)), indices] == 1).all()
    assert (square.diagonal() == 1).all()


def test_rows_in_several_parts(rng):
    x = rng.uniform(-1, 1, (3000, 3)).astype(np.float32)
    weights = rng.uniform(-1, 1, (2, 3))
    indices = rng.permutation(3000)
    for options in ({}, {"weights": weights, "reupload": True}):
        k = weftgpu.kernel_operator(x, **options)
        got = k.rows(indices)  # 36 MB
        assert weftgpu.last_report().chunks > 1
        assert abs(got - weftgpu.kernel_matrix(x, **options)[indices]).max() < 1e-5
        few = rng.choice(3000, 70)
        assert np.array_equal(k.rows(few), k.rows(np.sort(few))[np.argsort(np.argsort(few, kind="stable"), kind="stable")])


def test_lambda_normalize_jitter(x, rng):
    v = rng.standard_normal(67)
    k = weftgpu.kernel_operator(x, dtype="float64", normalize=True, jitter=0.5, lambda_=0.125)
    want = dense(x) / 1.5
    np.fill_diagonal(want, 1.125)
    assert abs(k @ v - want @ v).max() < 1e-11
    assert abs(k.rows(range(67)) - want).max() < 1e-12
    with pytest.raises(weftgpu.InvalidArgument, match="predict: an operator with jitter"):
        k.predict(x, v)
    for options in ({"jitter": 0.1}, {"normalize": True, "jitter": -1.0}, {"lambda_": float("nan")}):
        with pytest.raises(weftgpu.InvalidArgument):
            weftgpu.kernel_operator(x, **options)
    with pytest.raises(weftgpu.InvalidArgument, match="lambda_: K of x with y has no diagonal"):
        weftgpu.kernel_operator(x, x, lambda_=1.0)


@pytest.mark.parametrize("dtype, tol, error", [("float64", 1e-10, 1e-7), ("float32", 1e-4, 2e-3)])
@pytest.mark.parametrize("rank", [0, 30])
def test_solve(dtype, tol, error, rank, x, rng):
    y = rng.standard_normal((67, 3))
    k = weftgpu.kernel_operator(x, dtype=dtype, lambda_=7.0)
    seen = []
    alpha, report = k.solve(y, 0.1, rank=rank, tol=tol, progress=lambda *at: seen.append(at))
    system = dense(x) + 0.1 * np.eye(67)
    assert alpha.shape == y.shape and alpha.dtype == dtype
    assert abs(alpha - np.linalg.solve(system, y)).max() < error * abs(alpha).max()
    true = np.linalg.norm(y - system @ alpha, axis=0) / np.linalg.norm(y, axis=0)
    assert report.converged and max(report.residuals) == report.residual <= tol
    assert abs(true - report.residuals).max() < (1e-12 if dtype == "float64" else 1e-5)
    assert 0 < report.iterations < 200 and (report.rank > 0) == (rank > 0)
    assert report.wall_s >= report.product_s > 0 and "converged after" in repr(report)
    assert seen and seen[-1][1] == 200
    one, _ = k.solve(y[:, 0])  # the lambda_ of the operator
    assert one.shape == (67,)
    assert abs(one - np.linalg.solve(dense(x) + 7 * np.eye(67), y[:, 0])).max() < 1e-3


def test_a_solve_that_does_not_converge_says_so(x, rng):
    k = weftgpu.kernel_operator(x, dtype="float64")
    alpha, report = k.solve(rng.standard_normal(67), 1e-9, rank=0, tol=1e-12, max_iterations=3)
    assert not report.converged and report.residual > 1e-12 and np.isfinite(alpha).all()
    assert repr(report).startswith("<weftgpu.KernelSolveReport: not converged after 3 products")


def test_eigen(x):
    values, vectors = np.linalg.eigh(dense(x))
    k = weftgpu.kernel_operator(x, dtype="float64", lambda_=0.5)
    found, of_found, report = k.eigen(6, tol=1e-8)
    assert report.converged and max(report.residuals) < 1e-8 and report.products > 0
    assert found.shape == (6,) and of_found.shape == (67, 6)
    assert abs(found - (values[::-1][:6] + 0.5)).max() < 1e-6
    assert abs(abs((of_found * vectors[:, ::-1][:, :6]).sum(0)) - 1).max() < 1e-5
    for count in (0, 49):
        with pytest.raises(weftgpu.InvalidArgument, match="k: out of range .got .*, need 1 to 48"):
            k.eigen(count)


@pytest.mark.parametrize("dtype", DTYPES)
def test_predict(dtype, x, rng):
    new, alpha = rng.uniform(-2, 2, (41, 5)), rng.standard_normal((67, 70))
    k = weftgpu.kernel_operator(x, map="ry", scale=0.6, dtype=dtype)
    want = dense(new, x, "ry", 0.6)
    kept = x.copy()
    x[:] = 0  # the operator has a copy
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    assert abs(k.predict(new, alpha) - want @ alpha).max() < tolerance
    assert abs(k.predict(new, alpha[:, 0]) - want @ alpha[:, 0]).max() < tolerance
    assert k.predict(new, alpha[:, 0]).dtype == dtype
    narrow = new.astype(np.float32)  # is widened, which is exact
    assert np.array_equal(k.predict(narrow, alpha), k.predict(narrow.astype(np.float64), alpha))
    single = weftgpu.kernel_operator(kept.astype(np.float32), map="ry", scale=0.6, dtype=dtype)
    with pytest.raises(TypeError, match=r"predict: x_new: wrong dtype .got float64, need float32.; write x_new.astype.numpy.float32"):
        single.predict(new, alpha)
    with pytest.raises(weftgpu.InvalidArgument, match="alpha: wrong shape .got .66,., need .67,. or .67, n.."):
        k.predict(new, alpha[:66, 0])
    with pytest.raises(weftgpu.InvalidArgument, match="an operator of x with y"):
        weftgpu.kernel_operator(kept, new).predict(new, alpha)


def test_arrays_that_are_taken(x, rng):
    k, single = weftgpu.kernel_operator(x, dtype="float64"), weftgpu.kernel_operator(x.astype(np.float32))
    v = rng.integers(-3, 3, (67, 4))
    want = dense(x) @ v
    assert abs(k @ v - want).max() < 1e-11 and abs(k.matmat(np.asfortranarray(v)) - want).max() < 1e-11
    assert abs(k.matvec(v[:, 1].tolist()) - want[:, 1]).max() < 1e-11
    assert single.dtype == np.float32 and abs(single @ v.astype(np.float64) - want).max() < 1e-3
    with pytest.raises(TypeError, match="matvec: v: wrong dtype .got complex128, need float64"):
        k.matvec(np.zeros(67, complex))
    for bad in (np.zeros(66), np.zeros((67, 2)), np.zeros((67, 1, 1)), 1.0):
        with pytest.raises(weftgpu.InvalidArgument, match="matvec: v: wrong shape"):
            k.matvec(bad)


def test_refusals(x):
    for y in (np.zeros((3, 4)), np.zeros(5), np.zeros((0, 5))):
        with pytest.raises(weftgpu.InvalidArgument, match="y: wrong shape"):
            weftgpu.kernel_operator(x, y)
    with pytest.raises(weftgpu.InvalidArgument, match="x: wrong number of axes .got shape .5,."):
        weftgpu.kernel_operator(x[0])
    for option in ({"map": "ry"}, {"weights": np.ones((1, 2))}, {"reupload": True}, {"scale": 2.0}):
        for call in (weftgpu.kernel_operator, weftgpu.kernel_matrix):
            with pytest.raises(weftgpu.InvalidArgument, match=f"{next(iter(option))} does not apply to states"):
                call(np.eye(4, dtype=complex), **option)
    with pytest.raises(TypeError, match="v: is a masked array"):
        weftgpu.kernel_operator(x) @ np.ma.masked_array(np.ones(67))
    with pytest.raises(TypeError, match="x: wrong dtype .got int64"):
        weftgpu.kernel_operator(np.zeros((3, 2), np.int64))
    with pytest.raises(TypeError, match=r"y: wrong dtype .got float64, need float32.; write y.astype.numpy.float32"):
        weftgpu.kernel_operator(x.astype(np.float32), x)
    with pytest.raises(TypeError, match="y: wrong dtype .got complex64, need float64"):
        weftgpu.kernel_operator(x, np.ones((3, 8), np.complex64))
    with pytest.raises(weftgpu.InvalidArgument):
        weftgpu.kernel_operator(x, map="iqp")
    with pytest.raises(weftgpu.InvalidArgument):
        weftgpu.kernel_operator(x, dtype="int32")
    with pytest.raises(weftgpu.InvalidArgument, match="lambda"):
        weftgpu.kernel_operator(x).solve(np.ones(67))
    with pytest.raises(weftgpu.InvalidArgument, match="not finite"):
        weftgpu.kernel_operator(x).solve(np.full(67, np.nan), 1.0)
    x[4, 2] = np.inf
    with pytest.raises(weftgpu.EncodeError) as error:
        weftgpu.kernel_operator(x)
    assert error.value.rows == [4]


def test_devices_and_report(x, rng):
    v = rng.standard_normal((67, 2))
    with weftgpu.Devices([0, 0]) as devices:
        k = weftgpu.kernel_operator(x, dtype="float64", backend=devices)
        assert abs(k @ v - dense(x) @ v).max() < 1e-11
        report = weftgpu.last_report()
        assert report.op == "kernel_apply" and report.method in ("product", "low_rank")
        alpha, done = k.solve(v, 0.5, tol=1e-9)
        assert done.converged and abs(dense(x) @ alpha + 0.5 * alpha - v).max() < 1e-7
        assert abs(k.predict(x[:5], alpha) - dense(x[:5], x) @ alpha).max() < 1e-10
    assert k.estimate(3)["fits"] and k.estimate()["reasons"]
    assert abs(k @ v - dense(x) @ v).max() < 1e-11  # the operator keeps its devices


def test_linear_operator_of_scipy(x, rng):
    linalg = pytest.importorskip("scipy.sparse.linalg")
    k = weftgpu.kernel_operator(x, dtype="float64", lambda_=0.5)
    assert isinstance(k, linalg.LinearOperator) and isinstance(k, weftgpu.KernelOperator)
    system, v = dense(x) + 0.5 * np.eye(67), rng.standard_normal(67)
    found, status = linalg.cg(k, v, rtol=1e-10)
    assert status == 0 and abs(found - np.linalg.solve(system, v)).max() < 1e-6
    assert abs(linalg.eigsh(k, 3, return_eigenvectors=False) - np.linalg.eigvalsh(system)[-3:]).max() < 1e-9
    assert abs((2 * k + k) @ v - 3 * system @ v).max() < 1e-10
    across = weftgpu.kernel_operator(x, x[:20], dtype="float64")
    want = dense(x, x[:20])
    assert abs(across.T @ v - want.T @ v).max() < 1e-11 and abs(across.H @ v - want.T @ v).max() < 1e-11
    assert abs((across.T @ across) @ np.eye(20) - want.T @ want).max() < 1e-10
    assert linalg.aslinearoperator(k) is k and k.ndim == 2


def test_without_scipy(run_python):
    run_python(
        "import sys; sys.modules['scipy.sparse.linalg'] = None\n"
        "import numpy as np, weftgpu\n"
        "k = weftgpu.kernel_operator(np.zeros((6, 2)))\n"
        "assert type(k) is weftgpu.KernelOperator\n"
        "assert (k @ np.ones(6) == 6).all() and (k @ np.ones((6, 2)) == 6).all() and (k @ [1, 1, 1, 1, 1, 1] == 6).all()"
    )
    run_python("import sys, weftgpu; assert 'scipy' not in sys.modules and 'numpy' not in sys.modules")


def test_threads(x, rng):
    k = weftgpu.kernel_operator(x, dtype="float64")
    v = rng.standard_normal((67, 8))
    results = [None] * 4

    def work(i):
        results[i] = k @ (v + i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(abs(result - dense(x) @ (v + i)).max() < 1e-11 for i, result in enumerate(results))


def test_ctrl_c_ends_a_solve_and_the_operator_stays(rng):
    x = rng.uniform(-2, 2, (4000, 12)).astype(np.float32)
    k = weftgpu.kernel_operator(x)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(1000):
            k.solve(x[:, 0], 1e-9, rank=0, tol=1e-15, max_iterations=100000)
    timer.join()
    time.sleep(0.1)
    v = np.ones(4000, np.float32)
    assert abs((k @ v)[:3] - dense(x[:3], x) @ v).max() < 1e-2


def test_progress_that_raises_ends_a_solve(x):
    def stop(*at):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        weftgpu.kernel_operator(x).solve(np.ones(67), 1e-3, progress=stop)
