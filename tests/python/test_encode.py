# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import weftgpu


def bits(qubits):
    """[2^qubits, qubits]: bit k of each index."""
    return np.arange(1 << qubits)[:, None] >> np.arange(qubits) & 1


def oracle(method, x, qubits):
    """States in complex128, from the definitions in the documentation."""
    x = np.asarray(x, np.float64)
    b = bits(qubits)
    if method == "amplitude":
        states = np.zeros((len(x), 1 << qubits))
        states[:, : x.shape[1]] = x / np.linalg.norm(x, axis=1, keepdims=True)
        return states.astype(complex)
    if method == "angle":
        return np.where(b[None], np.sin(x)[:, None], np.cos(x)[:, None]).prod(axis=2).astype(complex)
    if method == "basis":
        return np.eye(1 << qubits)[x.astype(int).ravel()].astype(complex)
    if method == "phase":
        return np.exp(1j * x @ b.T) / np.sqrt(1 << qubits)
    theta = x[:, :qubits] @ b.T
    if method == "iqp":
        pairs = [(i, j) for i in range(qubits) for j in range(i + 1, qubits)]
        theta = theta + x[:, qubits:] @ np.array([b[:, i] * b[:, j] for i, j in pairs]).reshape(len(pairs), -1)
    hadamard = np.array([[1.0]])
    for _ in range(qubits):
        hadamard = np.kron(hadamard, np.array([[1, 1], [1, -1]]) / np.sqrt(2))
    return np.exp(1j * theta) @ hadamard.T / np.sqrt(1 << qubits)


FEATURES = {"amplitude": 11, "angle": 4, "phase": 4, "iqp": 10, "iqp-z": 4}


@pytest.mark.parametrize("method", FEATURES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_against_numpy(method, kind, rng):
    x = rng.uniform(-3, 3, (37, FEATURES[method])).astype(kind)
    want = oracle(method, x, 4)
    for dtype, bound in (("complex64", 3e-6), ("complex128", 3e-6 if kind == np.float32 else 1e-12)):
        if dtype == "complex128" and not weftgpu.default_backend().device.float64:
            continue
        got = weftgpu.encode(x, method, dtype=dtype)
        assert got.shape == (37, 16) and got.dtype == dtype
        assert abs(got - want).max() < bound


def test_basis(rng):
    index = rng.integers(0, 8, 20)
    for x in (index, index[:, None], index.astype(np.float32), index.astype(np.float64)[:, None]):
        assert np.array_equal(weftgpu.encode(x, "basis", 3), oracle("basis", index, 3))


def test_qubits_are_implied(rng):
    for features, qubits in ((1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (17, 5)):
        assert weftgpu.encode(rng.random((2, features), np.float32)).shape == (2, 1 << qubits)
    assert weftgpu.encode(rng.random((2, 15), np.float32), "iqp").shape == (2, 32)
    with pytest.raises(weftgpu.InvalidArgument, match="no number of qubits has 7 features"):
        weftgpu.encode(rng.random((2, 7), np.float32), "iqp")
    with pytest.raises(weftgpu.InvalidArgument, match="qubits: not given"):
        weftgpu.encode(np.array([1, 2]), "basis")


def test_out(rng):
    x = rng.random((5, 3), np.float32)
    out = np.zeros((5, 8), np.complex64)
    assert weftgpu.encode(x, "angle", 3, out=out) is out
    assert abs(out - oracle("angle", x, 3)).max() < 1e-6
    wide = np.zeros((5, 8), np.complex128)
    assert weftgpu.encode(x, "angle", 3, out=wide) is wide and abs(wide - oracle("angle", x, 3)).max() < 1e-6


def test_failures_name_their_rows(rng):
    x = rng.random((6, 4), np.float32)
    x[2] = 0
    x[4, 1] = np.nan
    out = np.full((6, 4), 7, np.complex64)
    with pytest.raises(weftgpu.EncodeError) as caught:
        weftgpu.encode(x, out=out, strict=True)
    assert caught.value.rows == [2, 4] and (out == 7).all()
    assert isinstance(caught.value, ValueError) and caught.value.code == "invalid_argument"
    assert caught.value.failures[1][:2] == (4, 1)
    with pytest.raises(weftgpu.EncodeError) as caught:
        weftgpu.encode(x, out=out)
    assert caught.value.rows == [2, 4]
    good = [0, 1, 3, 5]
    assert abs(out[good] - oracle("amplitude", x[good], 2)).max() < 1e-6 and (out[[2, 4]] == 0).all()


def test_refusals(rng):
    x = rng.random((3, 4), np.float32)
    with pytest.raises(weftgpu.InvalidArgument, match=r"one sample is x\[None, :\]"):
        weftgpu.encode(x[0], "angle", 4)
    with pytest.raises(weftgpu.InvalidArgument, match="wrong number of features"):
        weftgpu.encode(x, "angle", 5)
    with pytest.raises(TypeError, match="x.astype.numpy.float32"):
        weftgpu.encode(x.astype(np.float16))
    with pytest.raises(TypeError, match="need complex64 or complex128"):
        weftgpu.encode(x, dtype="float32")
    with pytest.raises(weftgpu.InvalidArgument, match="qubits: out of range"):
        weftgpu.encode(x, "amplitude", 31)
    with pytest.raises(weftgpu.InvalidArgument, match="amplitude, angle"):
        weftgpu.encode(x, "angel", 4)


def test_on_a_stream(rng):
    x = rng.random((9, 3), np.float32)
    stream, values, states = weftgpu.Stream(), weftgpu.Buffer((9, 3)), weftgpu.Buffer((9, 8), "complex64")
    stream.upload(x, values)
    outcome = weftgpu.encode(values, "angle", 3, out=states, stream=stream)
    assert outcome.failures(stream) == []
    assert abs(stream.download(states) - oracle("angle", x, 3)).max() < 1e-6
