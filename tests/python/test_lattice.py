# SPDX-License-Identifier: Apache-2.0
import pickle

import numpy as np
import pytest

import weftgpu


def nearest_even(x):
    """The nearest integers with an even sum (Conway and Sloane)."""
    rounded = np.round(x)
    off = x - rounded
    worst = abs(off).argmax(axis=-1)
    other = rounded.copy()
    rows = np.arange(len(x))
    other[rows, worst] += np.where(off[rows, worst] >= 0, 1, -1)
    odd = rounded.sum(axis=-1) % 2 != 0
    return np.where(odd[:, None], other, rounded)


def nearest(lattice, x):
    if lattice == "z2":
        return np.round(x)
    if lattice == "d4":
        return nearest_even(x)
    whole, half = nearest_even(x), nearest_even(x - 0.5) + 0.5
    closer = ((x - half) ** 2).sum(axis=-1) < ((x - whole) ** 2).sum(axis=-1)
    return np.where(closer[:, None], half, whole)


DIMENSION = {"z2": 2, "d4": 4, "e8": 8}


@pytest.mark.parametrize("lattice", DIMENSION)
@pytest.mark.parametrize("packed", [False, True])
def test_nearest_points(lattice, packed, rng):
    d = DIMENSION[lattice]
    code = weftgpu.Lattice(lattice, q=11, levels=3, beta=0.25, packed=packed)
    x = rng.uniform(-3, 3, (200, d)).astype(np.float32)
    codes, status = code.encode(x)
    assert codes.dtype == np.uint8 and status.shape == (200, 1) and not status.any()
    if not packed:
        assert codes.shape == (200, 1, 3, d) and codes.max() < 11
    y = code.decode(codes, status, shape=(200, d))
    assert abs(y - 0.25 * nearest(lattice, x.astype(np.float64) / 0.25)).max() < 1e-6
    assert np.array_equal(code.quantize(x), y)


def test_rows_are_padded(rng):
    code = weftgpu.Lattice("e8", q=16, levels=3, beta=0.01)
    x = rng.uniform(-1, 1, (2, 3, 13)).astype(np.float32)
    codes, status = code.encode(x)
    assert codes.shape == (2, 3, 2, 3, 8) and status.shape == (2, 3, 2)
    y = code.decode(codes, status, shape=x.shape)
    assert y.shape == x.shape and abs(y - x).max() < 0.02
    assert code.decode(codes).shape == (2, 3, 16)
    out = np.zeros_like(x)
    assert code.decode(codes, out=out) is out and np.array_equal(out, y)


def test_retries_and_status(rng):
    x = (rng.standard_normal((64, 4)) * 100).astype(np.float32)
    code = weftgpu.Lattice("d4", q=4, levels=2, beta=0.5, max_retries=20)
    codes, status = code.encode(x)
    assert (status & 0x7F).max() > 0
    assert np.array_equal(code.decode(codes, status), code.quantize(x))
    report = weftgpu.last_report()
    assert report.op == "lattice_quantize" and report.retried > 0


def test_depth_out_and_in_place(rng):
    x = rng.uniform(-1, 1, (16, 4)).astype(np.float32)
    code = weftgpu.Lattice("d4", q=5, levels=3, beta=0.05)
    codes, status = code.encode(x)
    coarse, fine = code.decode(codes, status, depth=1), code.decode(codes, status)
    assert abs(coarse - x).max() > abs(fine - x).max()
    target = np.zeros_like(codes)
    assert code.encode(x, target)[0] is target and np.array_equal(target, codes)
    want = code.quantize(x)
    assert code.quantize(x, x) is x and np.array_equal(x, want)


def test_inner(rng):
    code = weftgpu.Lattice("d4", q=4, levels=2, beta=0.125)
    x, y = (rng.uniform(-1, 1, (20, 12)).astype(np.float32) for _ in range(2))
    (cx, _), (cy, _) = code.encode(x), code.encode(y)
    want = (code.decode(cx).astype(np.float64) * code.decode(cy)).sum(axis=1)
    assert abs(code.inner(cx, cy, (20, 12)) - want).max() < 1e-5
    one = np.ascontiguousarray(cy[:1])
    want = (code.decode(cx).astype(np.float64) * code.decode(one)).sum(axis=1)
    assert abs(code.inner(cx, one, (20, 12)) - want).max() < 1e-5


def test_search_beta(rng):
    x = rng.standard_normal((512, 4)).astype(np.float32)
    found = weftgpu.Lattice("d4", q=4, levels=2).search_beta(x, steps=20)
    assert found.best.mean_squared_error == min(t.mean_squared_error for t in found.trials)
    tuned = weftgpu.Lattice("d4", q=4, levels=2).replace(beta=found.best.beta)
    assert np.isclose(((tuned.quantize(x) - x) ** 2).mean(), found.best.mean_squared_error, rtol=1e-4)


def test_refusals(rng):
    x = rng.random((3, 4), np.float32)
    code = weftgpu.Lattice("d4")
    with pytest.raises(weftgpu.InvalidArgument, match="need one of 'z2', 'd4', 'e8'"):
        weftgpu.Lattice("a2")
    with pytest.raises(weftgpu.InvalidArgument, match="q"):
        weftgpu.Lattice("d4", q=2).encode(x)
    with pytest.raises(TypeError, match="need float32"):
        code.encode(x.astype(np.float64))
    with pytest.raises(weftgpu.InvalidArgument, match="codes: wrong shape"):
        code.decode(np.zeros((3, 1, 1, 4), np.uint8))
    with pytest.raises(weftgpu.InvalidArgument, match="give shape="):
        weftgpu.Lattice("d4", packed=True).decode(np.zeros(8, np.uint8))
    x[1, 2] = np.inf
    with pytest.raises(weftgpu.EncodeError) as caught:
        code.encode(x, checked=True)
    assert caught.value.rows == [1]
    with pytest.raises(weftgpu.InvalidArgument, match="no values"):
        code.inner(np.zeros((3, 1, 2, 4), np.uint8), np.zeros((3, 1, 2, 4), np.uint8), (3, 0))


def test_codes_are_values():
    code = weftgpu.Lattice("d4", q=5, levels=3, beta=0.25, max_retries=2, packed=True, dither_seed=9)
    again = pickle.loads(pickle.dumps(code))
    assert again == code and hash(again) == hash(code) and repr(again) == repr(code)
    assert code != code.replace(q=6) and code != "d4" and len({code, again, code.replace(beta=0.5)}) == 2
