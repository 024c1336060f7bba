# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import weftgpu

NAMES = weftgpu.field_names()
MODULI = {
    "bls12-381-fr": 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001,
    "bn254-fr": 21888242871839275222246405745257275088548364400416034343698204186575808495617,
    "goldilocks": 2**64 - 2**32 + 1,
    "babybear": 15 * 2**27 + 1,
    "koalabear": 127 * 2**24 + 1,
    "mersenne31": 2**31 - 1,
    "stark252": 2**251 + 17 * 2**192 + 1,
}


@pytest.fixture(params=NAMES)
def F(request):
    return weftgpu.Field(request.param)


def test_moduli_and_layout():
    for name, modulus in MODULI.items():
        F = weftgpu.Field(name)
        assert F.modulus == modulus
        assert F.bits == modulus.bit_length()
        assert F.element_bytes == F.limbs * F.dtype.itemsize
    assert set(MODULI) <= set(NAMES)


def test_array_and_to_ints(F):
    p = F.modulus
    ints = [0, 1, -1, p, p - 1, p + 5, 2**400]
    a = F.array(ints)
    assert a.dtype == F.dtype
    assert a.shape == ((7,) if F.limbs == 1 else (7, F.limbs))
    assert F.to_ints(a) == [i % p for i in ints]
    one = F.array(p + 3)
    assert one.shape == (() if F.limbs == 1 else (F.limbs,))
    assert F.to_ints(one) == 3
    assert F.to_ints(a[:6].reshape((2, 3) + a.shape[1:])) == [[i % p for i in ints[:3]], [i % p for i in ints[3:6]]]
    assert F.to_ints(F.array([])) == []


def test_random_is_below_p_and_reproducible(F):
    a = F.random(500, seed=3)
    ints = F.to_ints(a)
    assert len(ints) == 500 and all(0 <= i < F.modulus for i in ints)
    assert max(ints) > F.modulus * 9 // 10 and min(ints) < F.modulus // 10
    assert np.array_equal(a, F.random(500, seed=3)) and not np.array_equal(a, F.random(500, seed=4))
    assert F.random(0).shape == ((0,) if F.limbs == 1 else (0, F.limbs))


def test_every_operation(F):
    p = F.modulus
    a, b = F.random(301, seed=1), F.random(301, seed=2)
    edges = F.array([0, 1, p - 1])
    a[:3], b[:3] = edges, edges[::-1]
    x, y = F.to_ints(a), F.to_ints(b)
    r = 1 << (8 * F.element_bytes)
    check = lambda got, want: F.to_ints(got) == [w % p for w in want]  # noqa: E731
    assert check(F.add(a, b), [i + j for i, j in zip(x, y)])
    assert check(F.sub(a, b), [i - j for i, j in zip(x, y)])
    assert check(F.neg(a), [-i for i in x])
    assert check(F.mul(a, b), [i * j for i, j in zip(x, y)])
    assert check(F.square(a), [i * i for i in x])
    assert check(F.inv(a), [pow(i, -1, p) if i else 0 for i in x])
    assert check(F.axpy(7, a, b), [7 * i + j for i, j in zip(x, y)])
    assert check(F.axpy(F.array(-3), a, b), [-3 * i + j for i, j in zip(x, y)])
    assert check(F.to_montgomery(a), [i * r for i in x])
    assert np.array_equal(F.from_montgomery(F.to_montgomery(a)), a)
    assert F.to_ints(F.sum(a)) == sum(x) % p
    assert F.to_ints(F.inner_product(a, b)) == sum(i * j for i, j in zip(x, y)) % p
    ma, mb = F.to_montgomery(a), F.to_montgomery(b)
    assert np.array_equal(F.from_montgomery(F.mul(ma, mb, montgomery=True)), F.mul(a, b))
    assert np.array_equal(F.from_montgomery(F.axpy(7, ma, mb, montgomery=True)), F.axpy(7, a, b))


def test_out_is_written_and_returned():
    F = weftgpu.Field("bls12-381-fr")
    a, b = F.random(50, seed=1), F.random(50, seed=2)
    out = np.zeros_like(a)
    pointer = out.ctypes.data
    assert F.mul(a, b, out) is out and out.ctypes.data == pointer
    want = F.mul(a, b)
    assert np.array_equal(out, want)
    assert F.mul(a, b, a) is a  # in place
    assert np.array_equal(a, want)
    total = np.zeros(4, np.uint64)
    assert F.sum(b, out=total) is total
    assert F.to_ints(total) == sum(F.to_ints(b)) % F.modulus


def test_vectors_may_have_any_leading_axes():
    F = weftgpu.Field("babybear")
    a = F.random(24, seed=1).reshape(2, 3, 4)
    assert F.square(a).shape == (2, 3, 4)
    G = weftgpu.Field("bn254-fr")
    b = G.random(6, seed=1).reshape(2, 3, 4)
    assert G.square(b).shape == (2, 3, 4) and G.sum(b).shape == (4,)
    assert np.array_equal(G.square(b).reshape(6, 4), G.square(b.reshape(6, 4)))


def test_empty_vectors():
    F = weftgpu.Field("goldilocks")
    empty = F.random(0)
    assert F.add(empty, empty).shape == (0,)
    assert F.to_ints(F.sum(empty)) == 0


def test_read_only_inputs_are_taken():
    F = weftgpu.Field("goldilocks")
    a = F.random(10, seed=1)
    a.setflags(write=False)
    assert F.to_ints(F.add(a, a)) == [2 * i % F.modulus for i in F.to_ints(a)]
    with pytest.raises(weftgpu.InvalidArgument, match="out: is read-only"):
        F.add(a, a, out=a)


@pytest.mark.parametrize(
    "a, error, text",
    [
        (np.zeros((3, 4), np.int64), TypeError, r"a: wrong dtype \(got int64, need uint64\); write F.array\(a\), which takes integers modulo p"),
        (np.zeros((3, 4), np.float32), TypeError, "got float32, need uint64"),
        (np.zeros((3, 4), ">u8"), TypeError, "wrong dtype .got >u8"),
        ([1, 2, 3], TypeError, r"not an array \(got list\); write F.array\(a\), which takes integers modulo p"),
        (np.zeros((3, 5), np.uint64), weftgpu.InvalidArgument, r"wrong shape \(got \(3, 5\), need \(..., 4\)"),
        (np.zeros(4, np.uint64)[0], weftgpu.InvalidArgument, r"wrong shape \(got \(\)"),
        (np.zeros((4, 3), np.uint64).T, weftgpu.InvalidArgument, r"not in C order; write numpy.ascontiguousarray\(a\)"),
        (np.zeros((6, 4), np.uint64)[::2], weftgpu.InvalidArgument, "not in C order"),
    ],
)
def test_refusals(a, error, text):
    F = weftgpu.Field("bls12-381-fr")
    with pytest.raises(error, match=text):
        F.neg(a)


def test_more_refusals():
    F = weftgpu.Field("bls12-381-fr")
    a, out = F.random(3, seed=1), np.full((3, 4), 7, np.uint64)
    with pytest.raises(weftgpu.InvalidArgument, match="b: wrong shape"):
        F.add(a, F.random(2, seed=1), out)
    with pytest.raises(weftgpu.InvalidArgument, match=r"out: wrong shape \(got \(2, 4\), need \(3, 4\)\)"):
        F.neg(a, out[:2])
    with pytest.raises(TypeError, match="out: wrong dtype"):
        F.neg(a, out.astype(np.int64))
    with pytest.raises(weftgpu.InvalidArgument, match="overlap"):
        big = np.zeros((6, 4), np.uint64)
        F.neg(big[:3], out=big[1:4])
    big = F.array([1, 2, 3])
    big[1] = 2**64 - 1
    with pytest.raises(weftgpu.InvalidArgument, match="not canonical") as caught:
        F.add(big, big, out, checked=True)
    assert caught.value.code == "invalid_argument" and isinstance(caught.value, ValueError)
    assert (out == 7).all()  # untouched
    with pytest.raises(weftgpu.InvalidArgument, match="need one of bls12-381-fp"):
        weftgpu.Field("gf256")
    with pytest.raises(weftgpu.InvalidArgument, match="scalar"):
        F.axpy(F.random(2, seed=1), a, a)


def test_on_a_stream():
    F = weftgpu.Field("bls12-381-fr")
    a, b = F.random(77, seed=1), F.random(77, seed=2)
    stream = weftgpu.Stream()
    da, db, dc, total = (weftgpu.Buffer(s, "uint64") for s in ((77, 4), (77, 4), (77, 4), (4,)))
    stream.upload(a, da)
    stream.upload(b, db)
    assert F.mul(da, db, dc, stream=stream) is dc
    F.axpy(5, dc, da, dc, stream=stream)
    F.sum(dc, total, stream=stream)
    want = F.axpy(5, F.mul(a, b), a)
    assert np.array_equal(stream.download(dc), want)
    assert np.array_equal(stream.download(total), F.sum(want))
    with pytest.raises(weftgpu.InvalidArgument, match="out must be a Buffer"):
        F.neg(da, stream=stream)
    with pytest.raises(TypeError, match="wrong dtype"):
        F.neg(weftgpu.Buffer((77, 4), "float32"), dc, stream=stream)


def test_a_field_is_a_value():
    import pickle

    F = weftgpu.Field("babybear")
    assert pickle.loads(pickle.dumps(F)) == F and hash(F) == hash(weftgpu.Field("babybear"))
    assert F != weftgpu.Field("koalabear") and repr(F) == "weftgpu.Field('babybear')"


def test_report():
    F = weftgpu.Field("babybear")
    F.add(F.random(1000, seed=1), F.random(1000, seed=2))
    report = weftgpu.last_report()
    assert report.op == "field_add" and report.items == 1000 and report.wall_s > 0
    assert report.bytes_in == 8000 and report.bytes_out == 4000


def test_progress():
    F = weftgpu.Field("babybear")
    seen = []
    F.square(F.random(1000, seed=1), progress=lambda done, total, rate, left: seen.append((done, total)))
    assert seen[-1] == (1000, 1000)
    with pytest.raises(ZeroDivisionError):
        F.square(F.random(1000, seed=1), progress=lambda *_: 1 / 0)
    seen.clear()
    many = F.random(1_000_000, seed=1)  # a call that runs on another thread
    F.square(many, progress=lambda done, total, rate, left: seen.append((done, total)))
    assert seen[-1] == (1_000_000, 1_000_000)
    with pytest.raises(ZeroDivisionError):
        F.square(many, progress=lambda *_: 1 / 0)
    F.square(F.random(1000, seed=1), progress=True)  # a bar of tqdm if it is installed


@pytest.mark.parametrize("value", [[1.5, 2.5], "123", [None], 2.0])
def test_only_integers_become_elements(value):
    with pytest.raises(TypeError):
        weftgpu.Field("babybear").array(value)


def test_options_without_effect_on_a_stream_are_refused():
    F = weftgpu.Field("babybear")
    a = weftgpu.Buffer(4, "uint32")
    with pytest.raises(weftgpu.InvalidArgument, match="checked has no effect"):
        F.neg(a, out=a, checked=True, stream=weftgpu.Stream())
    with pytest.raises(weftgpu.InvalidArgument, match="negative"):
        F.random(-1)
