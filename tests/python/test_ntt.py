# SPDX-License-Identifier: Apache-2.0
"""Transforms compared with polynomials that Python's integers evaluate point by point."""
import random

import numpy as np
import pytest

import weftgpu

# Generators of the multiplicative groups; the other fields have no transforms.
GENERATORS = {"bls12-381-fr": 7, "bn254-fr": 5, "bls12-377-fp": 15, "bls12-377-fr": 22, "stark252": 3, "goldilocks": 7,
              "babybear": 31, "koalabear": 3}


@pytest.fixture(params=GENERATORS)
def F(request):
    return weftgpu.Field(request.param)


def root_of(F, n):
    p = F.modulus
    twos = ((p - 1) & -(p - 1)).bit_length() - 1
    return pow(pow(GENERATORS[F.name], (p - 1) >> twos, p), (1 << twos) // n, p)


def evaluate(p, coefficients, points):
    values = []
    for at in points:
        value = 0
        for c in reversed(coefficients):
            value = (value * at + c) % p
        values.append(value)
    return values


def forward(F, x, g=1, w=None, n=None):
    """Values on n points."""
    p, n = F.modulus, n or len(x)
    w = w or root_of(F, n)
    return evaluate(p, x, [g * pow(w, j, p) % p for j in range(n)])


def inverse(F, x, g=1, w=None):
    p, n = F.modulus, len(x)
    w = w or root_of(F, n)
    sums = evaluate(p, x, [pow(w, -j, p) for j in range(n)])
    return [s * pow(n, -1, p) * pow(g, -i, p) % p for i, s in enumerate(sums)]


def bit_reversed(x):
    bits = len(x).bit_length() - 1
    return [x[int(format(i, f"0{bits}b")[::-1], 2)] for i in range(len(x))]


def shaped(F, a, *shape):
    return a.reshape(shape if F.limbs == 1 else (*shape, F.limbs))


def test_roots(F):
    for n in 1, 2, 8, 1 << F.two_adicity if F.two_adicity <= 30 else 1 << 30:
        assert F.ntt_root(n) == root_of(F, n)
    assert weftgpu.Field("mersenne31").two_adicity == 0
    with pytest.raises(weftgpu.InvalidArgument, match="no power of two"):
        F.ntt_root(12)
    with pytest.raises(weftgpu.InvalidArgument, match="no such size"):
        F.ntt_root(1 << 48)


def test_forward_and_inverse(F):
    rng = random.Random(F.name)
    for n in 2, 16, 64:
        x, g = F.random(n, seed=n), rng.randrange(1, F.modulus)
        ints = F.to_ints(x)
        assert F.to_ints(F.ntt(x)) == forward(F, ints)
        assert F.to_ints(F.ntt(x, coset=g)) == forward(F, ints, g)
        assert F.to_ints(F.intt(x, coset=g)) == inverse(F, ints, g)
        assert np.array_equal(F.ntt(x, inverse=True, coset=g), F.intt(x, coset=g))
        assert np.array_equal(F.intt(F.ntt(x, coset=g), coset=g), x)


def test_edges(F):
    p, n = F.modulus, 32
    for x in [0] * n, [p - 1] * n, [1] + [0] * (n - 1), [0] * (n - 1) + [p - 1]:
        assert F.to_ints(F.ntt(F.array(x))) == forward(F, x)


def test_orders(F):
    x = F.random(64, seed=1)
    ints = F.to_ints(x)
    wanted = forward(F, ints)
    assert F.to_ints(F.ntt(x, order="nr")) == bit_reversed(wanted)
    assert F.to_ints(F.ntt(F.array(bit_reversed(ints)), order="rn")) == wanted
    assert np.array_equal(F.intt(F.ntt(x, order="nr"), order="rn"), x)


def test_axes():
    for name in "babybear", "bls12-381-fr":
        F = weftgpu.Field(name)
        x = shaped(F, F.random(2 * 3 * 16, seed=2), 2, 3, 16)
        rows = F.to_ints(x)
        wanted = [[forward(F, row) for row in plane] for plane in rows]
        assert F.to_ints(F.ntt(x)) == wanted
        assert np.array_equal(F.ntt(x, axis=2), F.ntt(x, axis=-1))
        columns = np.ascontiguousarray(np.moveaxis(x, 2, 0))
        got = F.ntt(columns, axis=0)
        assert got.shape == columns.shape
        assert F.to_ints(np.moveaxis(got, 0, 2)) == wanted
        with pytest.raises(weftgpu.InvalidArgument, match="axis: neither the first nor the last .*moveaxis"):
            F.ntt(x, axis=1)
        with pytest.raises(weftgpu.InvalidArgument, match="axis"):
            F.ntt(x, axis=3)


def test_extension(F):
    n, g, p = 16, GENERATORS[F.name], F.modulus
    x = shaped(F, F.random(2 * n, seed=3), 2, n)
    for blowup in 2, 4, 8, 16:
        w = root_of(F, n * blowup)
        wanted = [forward(F, inverse(F, row, w=pow(w, blowup, p)), g, w, n * blowup) for row in F.to_ints(x)]
        assert F.to_ints(F.lde(x, blowup, coset=g)) == wanted
    trace = np.ascontiguousarray(np.moveaxis(x, 1, 0))
    assert F.to_ints(np.moveaxis(F.lde(trace, 16, coset=g, axis=0), 0, 1)) == wanted


def test_products(F):
    p = F.modulus
    for m, n in (1, 1), (1, 5), (7, 12), (33, 32):
        a, b = F.random(m, seed=m), F.random(n, seed=n + 100)
        x, y = F.to_ints(a), F.to_ints(b)
        wanted = [0] * (m + n - 1)
        for i, v in enumerate(x):
            for j, w in enumerate(y):
                wanted[i + j] = (wanted[i + j] + v * w) % p
        assert F.to_ints(F.poly_mul(a, b)) == wanted
        ma, mb = F.to_montgomery(a), F.to_montgomery(b)
        assert F.to_ints(F.from_montgomery(F.poly_mul(ma, mb, montgomery=True))) == wanted


def test_another_root_and_montgomery_form(F):
    n, g = 32, 5
    w = pow(root_of(F, n), 3, F.modulus)
    x = F.random(n, seed=4)
    wanted = forward(F, F.to_ints(x), g, w)
    assert F.to_ints(F.ntt(x, root=w, coset=g)) == wanted
    assert F.to_ints(F.ntt(x, root=F.array(w), coset=F.array(g))) == wanted
    m = F.ntt(F.to_montgomery(x), root=w, coset=g, montgomery=True)
    assert F.to_ints(F.from_montgomery(m)) == wanted


def test_in_place_and_out():
    F = weftgpu.Field("goldilocks")
    x = F.random(64, seed=5)
    wanted = F.ntt(x)
    for order in "nn", "nr", "rn":
        y = x.copy()
        assert F.ntt(y, out=y, order=order) is y
        assert np.array_equal(y, F.ntt(x, order=order))
    out = np.empty_like(x)
    assert F.ntt(x, out) is out and np.array_equal(out, wanted)


def test_on_a_stream(backend):
    for name in "koalabear", "bn254-fr":
        F = weftgpu.Field(name)
        x = shaped(F, F.random(3 * 32, seed=6), 3, 32)
        a, b = F.random(9, seed=7), F.random(4, seed=8)
        stream = weftgpu.Stream()
        source, values = weftgpu.Buffer(x.shape, F.dtype), weftgpu.Buffer(x.shape, F.dtype)
        large = weftgpu.Buffer((3, 128) + x.shape[2:], F.dtype)
        left, right = weftgpu.Buffer(a.shape, F.dtype), weftgpu.Buffer(b.shape, F.dtype)
        product = weftgpu.Buffer(F.random(12).shape, F.dtype)
        for buffer, array in (source, x), (left, a), (right, b):
            stream.upload(array, buffer)
        assert F.ntt(source, values, coset=3, stream=stream) is values
        F.lde(source, 4, large, coset=3, stream=stream)
        F.poly_mul(left, right, product, stream=stream)
        F.intt(source, source, order="nr", stream=stream)
        results = [stream.download(buffer) for buffer in (values, large, product, source)]
        wanted = F.ntt(x, coset=3), F.lde(x, 4, coset=3), F.poly_mul(a, b), F.intt(x, order="nr")
        for got, want in zip(results, wanted):
            assert np.array_equal(got, want)
        with pytest.raises(weftgpu.InvalidArgument, match="out must be a Buffer"):
            F.ntt(source, stream=stream)
        with pytest.raises(weftgpu.InvalidArgument, match="checked has no effect"):
            F.ntt(source, source, checked=True, stream=stream)


def test_progress_and_devices():
    F = weftgpu.Field("babybear")
    x = F.random(64 * 32, seed=9).reshape(64, 32)
    seen = []
    wanted = F.ntt(x, progress=lambda done, total, rate, left: seen.append((done, total)))
    assert seen and seen[-1] == (64, 64)
    assert weftgpu.last_report().items == 64
    with weftgpu.Devices([0, 0]) as devices:
        assert np.array_equal(F.ntt(x, backend=devices), wanted)
        assert np.array_equal(F.lde(x, 2, backend=devices), F.lde(x, 2))
        assert F.to_ints(F.poly_mul(F.array([1, 1]), F.array([1, 1]), backend=devices)) == [1, 2, 1]


def test_refusals():
    F = weftgpu.Field("goldilocks")
    x = F.random(16, seed=1)
    out = np.full_like(x, 7)
    for kwargs, text in [
        ({"coset": 0}, "coset is zero"),
        ({"root": 1}, r"root.*order 2\^4"),
        ({"root": F.random(2)}, "root: wrong shape .*need one element"),
        ({"order": "rr"}, "order: no such order"),
        ({"out": out[:8]}, "out"),
    ]:
        with pytest.raises(weftgpu.InvalidArgument, match=text):
            F.ntt(x, **{"out": out, **kwargs})
    with pytest.raises(weftgpu.InvalidArgument, match="got 12 elements along axis 0 .*power of two"):
        F.ntt(x[:12])
    with pytest.raises(weftgpu.InvalidArgument, match="blowup: no such factor"):
        F.lde(x, 3)
    with pytest.raises(weftgpu.InvalidArgument, match="overlap"):
        F.lde(x[:8], 2, out=x)
    with pytest.raises(weftgpu.InvalidArgument, match="at least one coefficient"):
        F.poly_mul(x, x[:0])
    with pytest.raises(TypeError, match="need uint64"):
        F.ntt(x.astype(np.int64))
    bad = x.copy()
    bad[3] = F.modulus
    with pytest.raises(weftgpu.InvalidArgument, match="not canonical"):
        F.ntt(bad, out, checked=True)
    assert (out == 7).all()
    for name in set(weftgpu.field_names()) - set(GENERATORS):
        G = weftgpu.Field(name)
        with pytest.raises(weftgpu.Unavailable, match=f"{name} has no transforms"):
            G.ntt(G.random(4))
