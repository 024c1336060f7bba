# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays of PyTorch, CuPy and JAX: no copy, order of streams in both directions, lifetime, read-only arrays.

Needs an NVIDIA GPU, a weftgpu that was built where nvcc is found, and the libraries. Oracles are NumPy and Python's
integers.
"""
import gc
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np
import pytest

import weftgpu

torch = pytest.importorskip("torch")
cupy = pytest.importorskip("cupy")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)

LONG = 500_000_000  # cycles of torch.cuda._sleep: a missing wait would be seen


@pytest.fixture(scope="module")
def jax():
    jax = pytest.importorskip("jax")
    ordinal = torch.cuda.current_device()
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no GPU")
    torch.cuda.set_device(ordinal)  # JAX has opened every GPU, and the last one is current now
    return jax


@pytest.fixture(scope="module", autouse=True)
def device():
    """The weft device and the CUDA device of the tests are the same GPU."""
    backend = weftgpu.default_backend()
    buffer = weftgpu.Buffer(1, cuda=True)
    torch.cuda.set_device(buffer.__dlpack_device__()[1])
    return backend


def on_torch(array):
    return torch.from_numpy(array).cuda()


def kernel(x, y=None, scale=1.0):
    """Product kernel of RY then RZ by state vectors in float64."""
    def states(rows):
        out = np.ones((len(rows), 1), complex)
        for k in range(rows.shape[1]):
            angle = scale * rows[:, k].astype(float)
            qubit = np.stack([np.cos(angle / 2) * np.exp(-0.5j * angle), np.sin(angle / 2) * np.exp(0.5j * angle)], 1)
            out = (qubit[:, :, None] * out[:, None, :]).reshape(len(rows), -1)
        return out

    return abs(states(x) @ states(x if y is None else y).conj().T) ** 2


def angle_states(x):
    out = np.ones((len(x), 1))
    for k in range(x.shape[1]):
        qubit = np.stack([np.cos(x[:, k].astype(float)), np.sin(x[:, k].astype(float))], 1)
        out = (qubit[:, :, None] * out[:, None, :]).reshape(len(x), -1)
    return out


# ------------------------------------------------------------------------------------------------ every family

def test_kernel_matrix_of_torch(rng):
    x, y = rng.uniform(0, 3, (70, 5)).astype(np.float32), rng.uniform(0, 3, (33, 5)).astype(np.float32)
    tx, ty = on_torch(x), on_torch(y)
    k = weftgpu.kernel_matrix(tx)
    assert isinstance(k, torch.Tensor) and k.is_cuda and k.dtype == torch.float32 and k.shape == (70, 70)
    assert abs(k.cpu().numpy() - kernel(x)).max() < 1e-5
    out = torch.full((70, 33), -1.0, device="cuda", dtype=torch.float64)
    pointer = out.data_ptr()
    assert weftgpu.kernel_matrix(on_torch(x.astype(np.float64)), on_torch(y.astype(np.float64)), out=out, scale=0.5) is out
    assert out.data_ptr() == pointer and abs(out.cpu().numpy() - kernel(x, y, 0.5)).max() < 1e-6
    states = angle_states(x).astype(np.complex64)
    got = weftgpu.kernel_matrix(on_torch(states)).cpu().numpy()
    assert abs(got - abs(states.astype(complex) @ states.conj().T) ** 2).max() < 1e-4
    got = weftgpu.kernel_matrix(on_torch(states), on_torch(states[:7].copy())).cpu().numpy()
    assert got.shape == (70, 7)
    weights = np.zeros((1, 5), np.float32)
    assert abs(weftgpu.kernel_matrix(tx, weights=weights).cpu().numpy() - kernel(x)).max() < 1e-5
    assert torch.isfinite(weftgpu.kernel_matrix(tx, ty)).all()


def test_encode(rng):
    x = rng.uniform(-2, 2, (50, 6)).astype(np.float32)
    states = weftgpu.encode(on_torch(x), "angle")
    assert states.dtype == torch.complex64 and states.shape == (50, 64)
    assert abs(states.cpu().numpy() - angle_states(x)).max() < 1e-5
    out = cupy.empty((50, 8), cupy.complex128)
    assert weftgpu.encode(cupy.asarray(x.astype(np.float64)), "amplitude", out=out) is out
    want = np.zeros((50, 8))
    want[:, :6] = x / np.linalg.norm(x.astype(float), axis=1)[:, None]
    assert abs(out.get() - want).max() < 1e-6
    x[3] = 0
    with pytest.raises(weftgpu.EncodeError) as caught:
        weftgpu.encode(on_torch(x), "amplitude", strict=True)
    assert caught.value.rows == [3]
    with pytest.raises(weftgpu.EncodeError) as caught:
        weftgpu.encode(on_torch(x), "amplitude")
    assert caught.value.rows == [3]


@pytest.mark.parametrize("name", ["bls12-381-fr", "goldilocks", "babybear"])
def test_field(name):
    F = weftgpu.Field(name)
    a, b = F.random(1000, seed=1), F.random(1000, seed=2)
    ints, others, p = F.to_ints(a), F.to_ints(b), F.modulus
    ca, cb = cupy.asarray(a), cupy.asarray(b)
    pointer = ca.data.ptr
    assert F.to_ints(F.mul(ca, cb).get()) == [i * j % p for i, j in zip(ints, others)]
    assert F.to_ints(F.inner_product(ca, cb).get()) == sum(i * j for i, j in zip(ints, others)) % p
    assert F.to_ints(F.axpy(5, ca, cb).get()) == [(5 * i + j) % p for i, j in zip(ints, others)]
    assert F.to_ints(F.inv(ca).get()) == [pow(i, -1, p) for i in ints]
    assert F.add(ca, cb, ca) is ca and ca.data.ptr == pointer  # in place
    assert F.to_ints(ca.get()) == [(i + j) % p for i, j in zip(ints, others)]
    ta, tb = on_torch(a.view(np.uint8)).view(torch.uint32 if a.dtype == np.uint32 else torch.uint64), cupy.asarray(b)
    got = F.sub(ta, tb)  # arrays of two libraries
    assert isinstance(got, torch.Tensor)
    assert F.to_ints(got.cpu().numpy()) == [(i - j) % p for i, j in zip(ints, others)]


@pytest.mark.parametrize("lattice, packed, rows, width", [("e8", False, 12, 24), ("z2", False, 3, 3), ("d4", True, 5, 7)])
def test_lattice(lattice, packed, rows, width, rng):
    code = weftgpu.Lattice(lattice, q=4, levels=2, beta=0.1, max_retries=3, packed=packed)
    x = rng.standard_normal((rows, width)).astype(np.float32)
    codes, status = code.encode(x)
    on_gpu, on_gpu_status = code.encode(on_torch(x))
    assert np.array_equal(on_gpu.cpu().numpy(), codes) and np.array_equal(on_gpu_status.cpu().numpy(), status)
    want = code.decode(codes, status, shape=x.shape)
    assert np.array_equal(code.decode(on_gpu, on_gpu_status, shape=x.shape).cpu().numpy(), want)
    assert np.array_equal(code.quantize(on_torch(x)).cpu().numpy(), code.quantize(x))
    kept = torch.zeros(status.shape, dtype=torch.uint8, device="cuda")
    code.quantize(on_torch(x), status=kept)
    assert np.array_equal(kept.cpu().numpy(), status)


def test_lattice_inner(rng):
    code = weftgpu.Lattice("d4", q=4, levels=2, beta=0.1)
    x = rng.standard_normal((9, 8)).astype(np.float32)
    codes, _ = code.encode(x)
    on_gpu = on_torch(codes)
    values = code.decode(codes, shape=x.shape).astype(float)
    got = code.inner(on_gpu, on_gpu, x.shape).cpu().numpy()
    assert abs(got - (values * values).sum(1)).max() < 1e-4


# --------------------------------------------------------------------------------------------- streams and lifetime

def test_work_follows_the_stream_that_made_the_array(rng):
    x = rng.uniform(0, 3, (40, 4)).astype(np.float32)
    ready = on_torch(x)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        tensor = torch.zeros(40, 4, device="cuda")
        torch.cuda._sleep(LONG)
        tensor.copy_(ready)  # late
        k = weftgpu.kernel_matrix(tensor)
        del tensor
        torch.empty(40, 4, device="cuda").fill_(7)  # would reuse the memory too early in another order
    stream.synchronize()
    assert abs(k.cpu().numpy() - kernel(x)).max() < 1e-5


def test_a_call_does_not_wait(rng):
    x = on_torch(rng.uniform(0, 3, (40, 4)).astype(np.float32))
    weftgpu.kernel_matrix(x)  # what is made once
    torch.cuda.synchronize()
    torch.cuda._sleep(LONG)
    done = torch.cuda.Event()
    weftgpu.kernel_matrix(x)
    done.record()
    assert not done.query()
    torch.cuda.synchronize()


def test_arrays_of_another_stream_and_library_are_waited_for(rng):
    x = rng.uniform(0, 3, (40, 4)).astype(np.float32)
    source = cupy.asarray(x)
    cupy.cuda.Device().synchronize()
    late = cupy.cuda.Stream(non_blocking=True)
    out = torch.zeros(40, 40, device="cuda")
    with late:
        with torch.cuda.stream(torch.cuda.ExternalStream(late.ptr)):
            torch.cuda._sleep(LONG)
        array = source + cupy.float32(0)
        weftgpu.kernel_matrix(array, out=out)  # on CuPy's current stream
    late.synchronize()
    assert abs(out.cpu().numpy() - kernel(x)).max() < 1e-5


def test_inputs_may_be_deleted_at_once(rng):
    x = rng.uniform(0, 3, (300, 8)).astype(np.float32)
    want = kernel(x)
    for _ in range(20):
        tensor = on_torch(x)
        k = weftgpu.kernel_matrix(tensor)
        del tensor
        junk = torch.full((300, 8), 9.0, device="cuda")
        assert abs(k.cpu().numpy() - want).max() < 1e-4
        del junk


# --------------------------------------------------------------------------------------------------------- Buffer

def test_buffer_to_every_library(rng, jax):
    values = rng.random((30, 7), np.float32)
    buffer = weftgpu.Buffer((30, 7), cuda=True)
    pointer = buffer.__cuda_array_interface__["data"][0]
    with weftgpu.Stream() as stream:
        stream.upload(values, buffer)
        stream.submit()
        tensor = torch.from_dlpack(buffer)
        assert tensor.data_ptr() == pointer and np.array_equal(tensor.cpu().numpy(), values)
        array = cupy.from_dlpack(buffer)
        assert array.data.ptr == pointer and np.array_equal(array.get(), values)
        assert cupy.asarray(buffer).data.ptr == pointer
        other = jax.dlpack.from_dlpack(buffer)
        assert other.unsafe_buffer_pointer() == pointer and np.array_equal(np.asarray(other), values)
        part = torch.from_dlpack(buffer[10:20])
        assert part.data_ptr() == pointer + 10 * 7 * 4 and np.array_equal(part.cpu().numpy(), values[10:20])
        # The other way: weft after CUDA.
        torch.cuda._sleep(LONG)
        tensor.add_(1)
        stream.wait_for(weftgpu.default_backend().cuda_event(torch.cuda.current_stream()))
        assert np.array_equal(stream.download(buffer), values + np.float32(1))
    del buffer
    gc.collect()
    assert np.array_equal(tensor.cpu().numpy(), values + np.float32(1))  # the tensor keeps the memory


def test_consumer_waits_for_weft(rng):
    x = rng.random((2000, 12), np.float32)
    weights = np.ones((3, 12), np.float32)
    rows, k = weftgpu.Buffer((2000, 12)), weftgpu.Buffer((2000, 2000), cuda=True)
    want = weftgpu.kernel_matrix(x, weights=weights, reupload=True)
    with weftgpu.Stream() as stream:
        stream.upload(x, rows)
        stream.fill(k, 0)
        stream.wait()
        weftgpu.kernel_matrix(rows, out=k, stream=stream, weights=weights, reupload=True)
        stream.submit()
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            copied = torch.from_dlpack(k).clone()
        side.synchronize()
    assert abs(copied.cpu().numpy() - want).max() < 1e-4


def test_ops_write_into_a_buffer(rng):
    x = rng.uniform(0, 3, (64, 4)).astype(np.float32)
    out = weftgpu.Buffer((64, 64), cuda=True)
    with weftgpu.Stream() as stream:
        stream.fill(out, 0)
        stream.wait()
        torch.cuda._sleep(LONG)
        assert weftgpu.kernel_matrix(on_torch(x), out=out) is out
        assert abs(stream.download(out) - kernel(x)).max() < 1e-5  # weft runs after CUDA
    with torch.cuda.stream(torch.cuda.Stream()):
        assert abs(torch.from_dlpack(out).cpu().numpy() - kernel(x)).max() < 1e-5


def test_from_dlpack(rng, scale_program):
    values = rng.random(5000, np.float32)
    ready = on_torch(values)
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        tensor = torch.zeros(5000, device="cuda")
        torch.cuda._sleep(LONG)
        tensor.copy_(ready)
        buffer = weftgpu.from_dlpack(tensor)
    del tensor
    assert isinstance(buffer, weftgpu.Buffer) and buffer.shape == (5000,) and buffer.dtype == np.float32
    out = weftgpu.Buffer(5000)
    with weftgpu.Stream() as stream:
        stream.dispatch(scale_program, [buffer, out], 5000, (2.0, 1))
        assert np.array_equal(stream.download(out), np.float32(2) * values + np.float32(1))


def test_memory_is_given_back():
    backend = weftgpu.default_backend()
    gc.collect()
    before = backend.memory["live_buffers"]
    for _ in range(5):
        buffer = weftgpu.Buffer(1000, cuda=True)
        tensor = torch.from_dlpack(buffer)
        again = weftgpu.from_dlpack(torch.ones(10, device="cuda"))
        del buffer, tensor, again
    gc.collect()
    torch.cuda.synchronize()
    backend.wait_idle()
    assert backend.memory["live_buffers"] <= before


# -------------------------------------------------------------------------------------------------------- refusals

def test_jax(rng, jax):
    x = rng.uniform(0, 3, (40, 4)).astype(np.float32)
    array = jax.numpy.asarray(x)
    k = weftgpu.kernel_matrix(array)
    assert isinstance(k, weftgpu.Buffer)
    assert abs(np.asarray(jax.dlpack.from_dlpack(k)) - kernel(x)).max() < 1e-5
    out = torch.empty(40, 40, device="cuda")
    weftgpu.kernel_matrix(array + 0, out=out)
    assert abs(out.cpu().numpy() - kernel(x)).max() < 1e-5
    frozen = jax.numpy.zeros((40, 40))
    with pytest.raises(weftgpu.InvalidArgument, match="out: is read-only"):
        weftgpu.kernel_matrix(array, out=frozen)
    assert not np.asarray(frozen).any()
    buffer = weftgpu.from_dlpack(array)  # a copy, because JAX's arrays must not change
    with weftgpu.Stream() as stream:
        stream.fill(buffer, 0)
        stream.wait()
    assert np.array_equal(np.asarray(array), x)


class Interface:
    """Nothing but __cuda_array_interface__, as arrays of Numba have it."""

    def __init__(self, array, read_only=False, stream=None):
        self.array, self.read_only, self.stream = array, read_only, stream

    @property
    def __cuda_array_interface__(self):
        whole = self.array.__cuda_array_interface__
        return {**whole, "data": (whole["data"][0], self.read_only), "stream": self.stream}


def test_cuda_array_interface_alone(rng):
    x = rng.uniform(0, 3, (40, 4)).astype(np.float32)
    array, k = cupy.asarray(x), cupy.zeros((40, 40), cupy.float32)
    cupy.cuda.Device().synchronize()
    weftgpu.kernel_matrix(Interface(array, read_only=True), out=Interface(k))
    assert abs(k.get() - kernel(x)).max() < 1e-5
    with pytest.raises(weftgpu.InvalidArgument, match="out: is read-only"):
        weftgpu.kernel_matrix(Interface(array), out=Interface(k, read_only=True))
    stream = cupy.cuda.Stream(non_blocking=True)
    with pytest.raises(weftgpu.InvalidArgument, match="several CUDA streams"):
        weftgpu.kernel_matrix(Interface(array, stream=stream.ptr), out=Interface(k, stream=1))


def test_refusals(rng):
    x = on_torch(rng.random((8, 4), np.float32))
    with pytest.raises(TypeError, match="x: wrong dtype .got torch.int32, need float32"):
        weftgpu.kernel_matrix(x.int())
    with pytest.raises(weftgpu.InvalidArgument, match="x: is not in C order"):
        weftgpu.kernel_matrix(x.t())
    with pytest.raises(weftgpu.InvalidArgument, match="out: is not on a CUDA device"):
        weftgpu.kernel_matrix(x, out=np.zeros((8, 8), np.float32))
    with pytest.raises(weftgpu.InvalidArgument, match="x: is not on a CUDA device"):
        weftgpu.kernel_matrix(x.cpu().numpy(), out=torch.zeros(8, 8, device="cuda"))
    with pytest.raises(weftgpu.InvalidArgument, match="out: wrong shape"):
        weftgpu.kernel_matrix(x, out=torch.zeros(8, 7, device="cuda"))
    with pytest.raises(weftgpu.InvalidArgument, match="progress has no effect with CUDA arrays"):
        weftgpu.kernel_matrix(x, progress=print)
    with pytest.raises(TypeError, match="x: cannot be read: .*grad"):
        weftgpu.kernel_matrix(x.clone().requires_grad_())
    with pytest.raises(weftgpu.InvalidArgument, match="k: is not in host memory"):
        weftgpu.center_kernel_matrix(torch.zeros(4, 4, device="cuda"))

    class Liar:
        def __init__(self, owner):
            self.owner = owner

        def __dlpack_device__(self):
            return (2, 0)

        def __dlpack__(self, **_):
            return self.owner.__dlpack__()

    with pytest.raises(weftgpu.InvalidArgument, match="got memory that is not CUDA's"):
        weftgpu.kernel_matrix(Liar(np.zeros((4, 4), np.float32)))
