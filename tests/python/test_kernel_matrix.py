# SPDX-License-Identifier: Apache-2.0
import os
import threading

import numpy as np
import pytest

import weftgpu


def gate(states, matrix, qubit, qubits):
    """A gate of one qubit on [samples, 2^qubits]; qubit k is bit k. `matrix` is [2, 2] or [samples, 2, 2]."""
    split = states.reshape(len(states), 1 << (qubits - 1 - qubit), 2, 1 << qubit)
    matrix = np.broadcast_to(matrix, (len(states), 2, 2))
    return np.einsum("sab,sxby->sxay", matrix, split).reshape(states.shape)


def rotation(axis, angle):
    c, s = np.cos(angle / 2), np.sin(angle / 2)
    zero = np.zeros_like(c)
    if axis == "y":
        rows = [[c, -s], [s, c]]
    elif axis == "x":
        rows = [[c + 0j, -1j * s], [-1j * s, c + 0j]]
    else:
        rows = [[np.exp(-0.5j * angle), zero], [zero, np.exp(0.5j * angle)]]
    return np.moveaxis(np.array([[np.asarray(e, complex) for e in row] for row in rows]), (0, 1), (-2, -1))


def states_of(x, kind="ryrz", weights=None, reupload=False, scale=1.0):
    x = scale * np.asarray(x, np.float64)
    samples, qubits = x.shape
    states = np.zeros((samples, 1 << qubits), complex)
    states[:, 0] = 1

    def embed(states):
        for q in range(qubits):
            states = gate(states, rotation("y", x[:, q]), q, qubits)
            if kind == "ryrz":
                states = gate(states, rotation("z", x[:, q]), q, qubits)
        return states

    index = np.arange(1 << qubits)
    layers = np.zeros((0, qubits)) if weights is None else np.asarray(weights, np.float64)
    if not reupload or not len(layers):
        states = embed(states)
    for w in layers:
        if reupload:
            states = embed(states)
        for q in range(qubits):
            states = gate(states, rotation("x", w[q]), q, qubits)
        ring = [(0, 1)] if qubits == 2 else [(q, (q + 1) % qubits) for q in range(qubits)] if qubits > 2 else []
        for control, target in ring:
            states = states[:, index ^ ((index >> control & 1) << target)]
    return states


def oracle(x, y=None, **circuit):
    a = states_of(x, **circuit)
    b = a if y is None else states_of(y, **circuit)
    return abs(a @ b.conj().T) ** 2


@pytest.mark.parametrize("kind", ["ry", "ryrz"])
@pytest.mark.parametrize("scale", [1.0, 0.37])
def test_closed_form(kind, scale, rng):
    x, y = rng.uniform(-4, 4, (31, 5)), rng.uniform(-4, 4, (17, 5))
    for dtype, bound in (("float32", 2e-6), ("float64", 1e-12)):
        if dtype == "float64" and not weftgpu.default_backend().device.float64:
            continue
        k = weftgpu.kernel_matrix(x, map=kind, scale=scale, dtype=dtype)
        assert k.shape == (31, 31) and k.dtype == dtype and np.array_equal(k, k.T)
        assert abs(k - oracle(x, kind=kind, scale=scale)).max() < bound
        k = weftgpu.kernel_matrix(x, y, map=kind, scale=scale, dtype=dtype)
        assert abs(k - oracle(x, y, kind=kind, scale=scale)).max() < bound


@pytest.mark.parametrize("qubits", [1, 2, 3, 5])
def test_reupload(qubits, rng):
    x, y, w = rng.uniform(-2, 2, (13, qubits)), rng.uniform(-2, 2, (7, qubits)), rng.uniform(-3, 3, (3, qubits))
    circuit = {"weights": w, "reupload": True}
    k = weftgpu.kernel_matrix(x.astype(np.float32), **circuit)
    assert abs(k - oracle(x.astype(np.float32), **circuit)).max() < 1e-5
    assert weftgpu.last_report().method == "states"
    k = weftgpu.kernel_matrix(x, y, **circuit)
    assert abs(k - oracle(x, y, **circuit)).max() < 1e-5


def test_weights_cancel_without_reupload(rng):
    x, w = rng.uniform(-2, 2, (9, 4)), rng.uniform(-3, 3, (2, 4))
    assert np.array_equal(weftgpu.kernel_matrix(x, weights=w), weftgpu.kernel_matrix(x))
    assert weftgpu.last_report().method == "product"


def test_given_states(rng):
    a = (rng.standard_normal((11, 8)) + 1j * rng.standard_normal((11, 8))).astype(np.complex64)
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    b = np.ascontiguousarray(a[:4])
    assert abs(weftgpu.kernel_matrix(a) - abs(a @ a.conj().T) ** 2).max() < 1e-5
    assert abs(weftgpu.kernel_matrix(a, b) - abs(a @ b.conj().T) ** 2).max() < 1e-5
    with pytest.raises(weftgpu.InvalidArgument, match="amplitudes .got 6"):
        weftgpu.kernel_matrix(np.zeros((3, 6), np.complex64))


def test_normalize_and_jitter(rng):
    a = (rng.standard_normal((6, 4)) + 1j * rng.standard_normal((6, 4))).astype(np.complex64)
    k = abs(a @ a.conj().T) ** 2
    d = np.maximum(k.diagonal() + 0.5, 1e-12)
    want = k / np.sqrt(d[:, None] * d[None])
    np.fill_diagonal(want, 1)
    assert abs(weftgpu.kernel_matrix(a, normalize=True, jitter=0.5) - want).max() < 1e-5


def test_out_is_written(rng):
    x = rng.random((12, 3), np.float32)
    want = weftgpu.kernel_matrix(x)
    out = np.zeros((12, 12), np.float32)
    assert weftgpu.kernel_matrix(x, out=out) is out and np.array_equal(out, want)


def test_memmap_and_path(rng, tmp_path):
    x, y = rng.random((12, 3), np.float32), rng.random((5, 3), np.float32)
    mapped = np.memmap(tmp_path / "k.bin", np.float32, "w+", shape=(12, 12))
    assert weftgpu.kernel_matrix(x, out=mapped) is mapped
    mapped.flush()
    assert np.array_equal(np.fromfile(tmp_path / "k.bin", np.float32).reshape(12, 12), weftgpu.kernel_matrix(x))
    k = weftgpu.kernel_matrix(x, y, out=tmp_path / "k.npy")
    assert isinstance(k, np.memmap)
    assert np.array_equal(np.load(tmp_path / "k.npy"), weftgpu.kernel_matrix(x, y))
    with pytest.raises(weftgpu.InvalidArgument, match="must end in .npy"):
        weftgpu.kernel_matrix(x, out=tmp_path / "k.csv")
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(weftgpu.InvalidArgument, match="out: is a folder"):
        weftgpu.kernel_matrix(x, out=tmp_path / "folder.npy")
    (tmp_path / "folder.npy").rmdir()
    with pytest.raises(FileNotFoundError, match="kernel_matrix: out: No such file or directory"):
        weftgpu.kernel_matrix(x, out="/nonexistent/k.npy")
    x[3, 1] = np.inf
    with pytest.raises(weftgpu.EncodeError) as caught:
        weftgpu.kernel_matrix(x, out=tmp_path / "bad.npy")
    assert caught.value.rows == [3]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["k.bin", "k.npy"]  # nothing half-written


def test_a_narrower_second_array_is_widened(rng):
    x, y = rng.random((12, 3)), rng.random((5, 3), np.float32)
    wide = y.astype(np.float64)
    assert np.array_equal(weftgpu.kernel_matrix(x, y, dtype="float64"), weftgpu.kernel_matrix(x, wide, dtype="float64"))
    states, others = states_of(x), states_of(y).astype(np.complex64)
    got = weftgpu.kernel_matrix(states, others, dtype="float64")
    assert np.array_equal(got, weftgpu.kernel_matrix(states, others.astype(complex), dtype="float64"))
    assert (y == wide).all()
    k, labels = weftgpu.kernel_matrix(x), np.where(rng.random(12) < 0.5, -1, 1)
    assert weftgpu.kernel_alignment(k, labels.astype(np.float32)) == weftgpu.kernel_alignment(k, labels.astype(np.float64))


def test_refusals(rng):
    x = rng.random((4, 3), np.float32)
    for arguments, error, text in (
        ((x[0],), weftgpu.InvalidArgument, r"need \(samples, qubits\)"),
        ((x, x[:, :2].copy()), weftgpu.InvalidArgument, "y: wrong shape"),
        ((x, x.astype(np.float64)), TypeError, "y: wrong dtype .got float64, need float32"),
        ((x.astype(np.int32),), TypeError, "x.astype.numpy.float32"),
        ((x, x[:0]), weftgpu.InvalidArgument, "one row or more"),
    ):
        with pytest.raises(error, match=text):
            weftgpu.kernel_matrix(*arguments)
    with pytest.raises(weftgpu.InvalidArgument, match="ryrz"):
        weftgpu.kernel_matrix(x, map="rx")
    with pytest.raises(weftgpu.InvalidArgument, match="weights: wrong shape"):
        weftgpu.kernel_matrix(x, weights=np.zeros((2, 4)))
    with pytest.raises(TypeError, match="need float32 or float64"):
        weftgpu.kernel_matrix(x, dtype="complex64")


def test_on_a_stream(rng):
    x = rng.random((10, 4), np.float32)
    stream, values, k = weftgpu.Stream(), weftgpu.Buffer((10, 4)), weftgpu.Buffer((10, 10))
    stream.upload(x, values)
    assert weftgpu.kernel_matrix(values, out=k, stream=stream) is k
    assert abs(stream.download(k) - oracle(x)).max() < 2e-6


def test_estimate():
    plan = weftgpu.estimate_kernel_matrix(1000, 8)
    assert plan["method"] == "product" and plan["pairs"] == 500500 and plan["matrix_bytes"] == 4_000_000
    assert plan["streamed_fits"] and plan["reasons"]


def test_progress_counts_pairs(rng):
    seen = []
    weftgpu.kernel_matrix(rng.random((50, 4), np.float32), progress=lambda done, total, rate, left: seen.append((done, total)))
    assert seen[-1] == (1275, 1275)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_post(kind, rng):
    a = rng.standard_normal((6, 6))
    k = (a + a.T).astype(kind)
    labels = np.array([1.0, -1, 1, 1, -1, -1])
    h = np.eye(6) - 1 / 6
    centered = k.copy()
    weftgpu.center_kernel_matrix(centered)
    assert abs(centered - h @ k @ h).max() < 1e-5
    values, vectors = np.linalg.eigh(k.astype(np.float64))
    clipped = k.copy()
    assert weftgpu.clip_kernel_matrix(clipped) == (values < 0).sum()
    assert abs(clipped - (vectors * np.maximum(values, 0)) @ vectors.T).max() < 1e-5
    polarity = labels @ k @ labels
    assert abs(weftgpu.kernel_polarity(k, labels, rescale_labels=False) - polarity) < 1e-4
    assert abs(weftgpu.kernel_alignment(k, labels, False) - polarity / (np.linalg.norm(k) * 6)) < 1e-6
    square = (a @ a.T).astype(kind)
    d = square.diagonal().copy()
    want = square / np.sqrt(d[:, None] * d[None])
    weftgpu.normalize_kernel_matrix(square)
    assert abs(square - want).max() < 1e-6
    with pytest.raises(weftgpu.InvalidArgument, match="not square"):
        weftgpu.center_kernel_matrix(np.zeros((2, 3)))


def test_threads_may_write_the_same_path(tmp_path):
    x = np.random.default_rng(3).random((300, 4), np.float32)
    path = str(tmp_path / "k.npy")
    threads = [threading.Thread(target=weftgpu.kernel_matrix, args=(x,), kwargs={"out": path}) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(np.load(path), weftgpu.kernel_matrix(x))
    assert os.listdir(tmp_path) == ["k.npy"]


def test_a_file_knows_its_name(tmp_path):
    k = weftgpu.kernel_matrix(np.ones((3, 2), np.float32), out=str(tmp_path / "k.npy"))
    assert os.path.samefile(k.filename, tmp_path / "k.npy")


def test_all_negative_eigenvalues_are_clipped_to_zero():
    k = -np.eye(48)
    assert weftgpu.clip_kernel_matrix(k) == 48
    assert not k.any()


def test_a_link_as_out_stays_a_link(tmp_path, rng):
    x = rng.random((5, 3), np.float32)
    (tmp_path / "data").mkdir()
    link = tmp_path / "k.npy"
    link.symlink_to(tmp_path / "data" / "real.npy")  # which is not there yet
    for _ in range(2):
        k = weftgpu.kernel_matrix(x, out=link)
        assert link.is_symlink() and np.array_equal(np.load(tmp_path / "data" / "real.npy"), k)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["data", "k.npy", "real.npy"]


def test_a_disk_that_is_full(tmp_path, run_python):
    """The limit of a file's size stands for the end of the disk."""
    out = run_python(
        "import os, resource, numpy as np, weftgpu\n"
        f"os.chdir({str(tmp_path)!r})\n"
        "small = np.zeros((4, 2), np.float32)\n"
        "weftgpu.kernel_matrix(small, out='k.npy')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))\n"
        "try:\n    weftgpu.kernel_matrix(np.zeros((1000, 2), np.float32), out='k.npy')\n"
        "except OSError as e:\n    print(e.errno in (27, 28) and 'kernel_matrix: out: ' in str(e) and '4000000 bytes for K' in str(e) and 'k.npy' in str(e))\n"
        "print(os.listdir(), np.load('k.npy').shape)\n"
        "print(weftgpu.kernel_matrix(small).shape)"
    )
    assert out.splitlines() == ["True", "['k.npy'] (4, 4)", "(4, 4)"]


def test_resume_after_a_kill(tmp_path, run_python):
    x = np.random.default_rng(5).normal(size=(600, 6)).astype(np.float32)
    w = np.full((3, 6), 0.3)
    circuit = dict(weights=w, reupload=True, state_tile=64)
    want = weftgpu.kernel_matrix(x, **circuit)
    path = tmp_path / "k.npy"
    np.save(tmp_path / "x.npy", x)
    killed = run_python(f"""
import os, signal
import numpy as np, weftgpu
def stop(done, total, rate, left):
    if done > total / 3:
        os.kill(os.getpid(), signal.SIGKILL)
weftgpu.kernel_matrix(np.load({str(tmp_path / "x.npy")!r}), weights=np.full((3, 6), 0.3), reupload=True, state_tile=64,
                      out={str(path)!r}, resume=True, progress=stop)
""", check=False)
    assert killed.returncode == -9, killed.stderr
    assert sorted(os.listdir(tmp_path)) == ["k.npy.part", "k.npy.tiles", "x.npy"]
    with pytest.raises(weftgpu.InvalidArgument, match="another scale"):
        weftgpu.kernel_matrix(x, scale=2, out=path, resume=True, **circuit)
    with pytest.raises(weftgpu.InvalidArgument, match="resume: needs a path"):
        weftgpu.kernel_matrix(x, resume=True)
    done = []
    k = weftgpu.kernel_matrix(x, out=path, resume=True, progress=lambda d, total, *_: done.append(total), **circuit)
    assert done[0] < 600 * 601 / 2  # the pairs that were missing
    assert isinstance(k, np.memmap) and k.tobytes() == want.tobytes()
    assert sorted(os.listdir(tmp_path)) == ["k.npy", "x.npy"]
