# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries, without a copy."""
import array

import numpy as np
import pytest

import weftgpu


class Producer:
    """An array of another library: nothing but the DLPack protocol."""

    def __init__(self, owner):
        self.owner = owner
        self.exported = 0

    def __dlpack__(self, **arguments):
        self.exported += 1
        return self.owner.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.owner.__dlpack_device__()


def test_dlpack_in_and_out(rng):
    F = weftgpu.Field("goldilocks")
    a, out = F.random(100, seed=1), np.zeros(100, np.uint64)
    producer, target = Producer(a), Producer(out)
    assert F.neg(producer, target) is target
    assert producer.exported >= 1 and target.exported >= 1
    assert F.to_ints(out) == [-i % F.modulus for i in F.to_ints(a)]  # written in place


def test_buffer_protocol():
    F = weftgpu.Field("goldilocks")
    a = array.array("Q", [1, 2, 3])
    out = array.array("Q", [0, 0, 0])
    assert F.add(memoryview(a), a, out) is out
    assert list(out) == [2, 4, 6]
    with pytest.raises(weftgpu.InvalidArgument, match="read-only"):
        F.add(a, a, memoryview(bytes(24)).cast("Q"))


def test_the_memory_of_the_caller_is_used(rng, scale_program):
    # An output in a larger array: the neighbours stay as they are, so the call wrote where the caller said.
    whole = np.full(3000, -5, np.float32)
    x = rng.random(1000, np.float32)
    weftgpu.run_batch(scale_program, [weftgpu.Job([x], [whole[1000:2000]], parameters=(1.0, 0))])
    assert np.array_equal(whole[1000:2000], x) and (whole[:1000] == -5).all() and (whole[2000:] == -5).all()


def test_pinned_arrays(rng, scale_program):
    x, y = weftgpu.pinned_empty((100, 50)), weftgpu.pinned_empty(5000)
    assert x.shape == (100, 50) and x.dtype == np.float32 and x.flags.writeable
    x[:] = rng.random((100, 50), np.float32)
    weftgpu.run_batch(scale_program, [weftgpu.Job([x.reshape(-1)], [y], parameters=(2.0, 0))])
    assert np.array_equal(y, 2 * x.ravel())
    part = x[3]
    del x  # the memory stays while a view of it lives
    assert part.sum() > 0


def test_pinned_buffer_without_copies():
    buffer = weftgpu.Buffer((3, 4), "float64", pinned=True)
    view = buffer.array
    pointer = view.ctypes.data
    assert buffer.array.ctypes.data == pointer
    taken = np.from_dlpack(buffer)
    assert taken.ctypes.data == pointer and taken.shape == (3, 4)
    view[:] = 7
    assert (taken == 7).all()
    assert buffer[1:].array.ctypes.data == pointer + 32
    assert buffer.__dlpack_device__() == (1, 0)
    with weftgpu.Stream() as stream:
        device = weftgpu.Buffer((3, 4), "float64")
        stream.copy(buffer, device)
        assert (stream.download(device) == 7).all()
        stream.fill(buffer, 0)
        stream.wait()
    assert not view.any()
    del buffer, view
    assert not taken.any()  # the tensor keeps the memory


def test_device_buffers_say_what_to_do():
    buffer = weftgpu.Buffer(4)
    for use in (lambda: buffer.array, lambda: np.from_dlpack(buffer)):
        with pytest.raises(BufferError, match="pinned=True, .* or download it"):
            use()


def test_subclasses_and_zero_dimensions():
    k = weftgpu.kernel_matrix(np.zeros((3, 2), np.float32).view(np.matrix))
    assert (k == 1).all()
    F = weftgpu.Field("babybear")
    assert F.neg(np.zeros((), np.uint32)).shape == ()


def test_torch_on_the_cpu():
    torch = pytest.importorskip("torch")
    x = torch.rand(20, 3)
    out = torch.zeros(20, 20)
    pointer = out.data_ptr()
    assert weftgpu.kernel_matrix(x, out=out) is out and out.data_ptr() == pointer
    assert np.array_equal(out.numpy(), weftgpu.kernel_matrix(x.numpy()))
    buffer = weftgpu.Buffer(6, "float32", pinned=True)
    assert torch.from_dlpack(buffer).data_ptr() == buffer.array.ctypes.data


def test_jax_on_the_cpu():
    jax = pytest.importorskip("jax")
    cpu = jax.devices("cpu")[0]
    x = np.random.default_rng(1).random((4, 3), np.float32)
    assert np.array_equal(weftgpu.kernel_matrix(jax.device_put(x, cpu)), weftgpu.kernel_matrix(x))
    out = jax.device_put(np.zeros((4, 4), np.float32), cpu)  # immutable, which its tensor does not say
    with pytest.raises(weftgpu.InvalidArgument, match="out: is read-only"):
        weftgpu.kernel_matrix(x, out=out)
    assert not np.asarray(out).any()


def test_what_another_library_refuses_is_said():
    class Refuses:
        dtype = "torch.float32"

        def __dlpack__(self, **_):
            raise BufferError("it requires grad; call detach() first")

    with pytest.raises(TypeError, match="x: cannot be read: it requires grad; call detach"):
        weftgpu.kernel_matrix(Refuses())


@pytest.mark.parametrize(
    "name", ["float32", "float64", "complex64", "complex128", "uint8", "uint32", "uint64", "int32", "int64"]
)
def test_every_type_of_a_buffer(name):
    values = np.arange(8).astype(name)
    pinned, device = weftgpu.pinned_empty(8, name), weftgpu.Buffer(8, name)
    assert pinned.dtype == name and device.dtype == name
    pinned[:] = values
    with weftgpu.Stream() as stream:
        stream.upload(pinned, device)
        back = stream.download(device)
    assert back.dtype == name and np.array_equal(back, values)


class TensorType:
    """A type of another library, which NumPy does not know."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return f"torch.{self.name}"


@pytest.mark.parametrize("precision, states", [("float32", "complex64"), ("float64", "complex128")])
def test_type_of_an_output_of_another_library(precision, states, rng):
    x = rng.random((5, 2))
    k, s = np.zeros((5, 5), precision), np.zeros((5, 4), states)
    for out in (k, s):
        tensor = Producer(out)
        tensor.dtype = TensorType(out.dtype.name)
        if out is k:
            weftgpu.kernel_matrix(x, out=tensor)
        else:
            weftgpu.encode(x, "angle", out=tensor)
    assert np.allclose(k, weftgpu.kernel_matrix(x), atol=1e-5) and np.allclose(abs(s) ** 2 @ np.ones(4), 1)


def test_ctypes_arrays_have_no_strides():
    import ctypes

    rows = (ctypes.c_float * 3 * 4)(*((0.1, 0.2, 0.3),) * 4)
    assert np.allclose(weftgpu.kernel_matrix(rows), 1)
    F = weftgpu.Field("babybear")
    assert F.neg((ctypes.c_uint32 * 3)(1, 2, 0)).tolist() == [F.modulus - 1, F.modulus - 2, 0]


def test_masked_arrays_are_refused():
    masked = np.ma.masked_less(np.full((3, 2), 0.5, np.float32), 0)
    for call in (lambda: weftgpu.kernel_matrix(masked), lambda: weftgpu.kernel_matrix(np.zeros((3, 2), np.float32), masked),
                 lambda: weftgpu.encode(masked, "angle")):
        with pytest.raises(TypeError, match=r"is a masked array, whose mask would be lost; write \w\.filled\(value\)"):
            call()
    assert (weftgpu.kernel_matrix(masked.filled(0)) > 0.999).all()


def test_a_capsule_is_used_once():
    x = np.random.default_rng(1).random((4, 3), np.float32)
    want = weftgpu.kernel_matrix(x)
    capsule = x.__dlpack__()
    assert np.array_equal(weftgpu.kernel_matrix(capsule), want)
    for _ in range(2):
        with pytest.raises(TypeError, match="x: a DLPack capsule can be used once, and this one was"):
            weftgpu.kernel_matrix(capsule)
    out = np.zeros((4, 4), np.float32)
    target = out.__dlpack__()
    weftgpu.kernel_matrix(x, out=target, dtype="float32")
    assert np.array_equal(out, want)
    with pytest.raises(TypeError, match="out: a DLPack capsule can be used once"):
        weftgpu.kernel_matrix(x, out=target, dtype="float32")


def test_immutable_arrays_are_not_written():
    """As jax.Array: DLPack without a flag, immutable by its library's own word."""

    class Frozen(Producer):
        @property
        def __cuda_array_interface__(self):
            return {"data": (self.owner.ctypes.data, True)}

    out = np.zeros((3, 3), np.float32)
    with pytest.raises(weftgpu.InvalidArgument, match="out: is read-only"):
        weftgpu.kernel_matrix(np.zeros((3, 2), np.float32), out=Frozen(out), dtype="float32")
    assert not out.any()


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda x: weftgpu.set_default_backend(3), "set_default_backend: backend: wrong type .got int, need Backend"),
        (lambda x: weftgpu.from_dlpack(None), "from_dlpack: x: wrong type .got None"),
        (lambda x: weftgpu.run_batch(None, []), "run_batch: program: wrong type .got NoneType, need Program"),
        (lambda x: weftgpu.JobPipeline(None), "JobPipeline: program: wrong type .got NoneType, need Program"),
        (lambda x: weftgpu.kernel_matrix(x, map=None), "kernel_matrix: map: wrong type .got None, need str"),
        (lambda x: weftgpu.kernel_matrix(x, scale="big"), "kernel_matrix: scale: wrong type .got str, need float"),
        (lambda x: weftgpu.kernel_matrix(x, normalize=1), "kernel_matrix: normalize: wrong type .got int, need bool"),
        (lambda x: weftgpu.kernel_matrix(x, state_tile=1.5), "kernel_matrix: state_tile: wrong type .got float, need int"),
        (lambda x: weftgpu.kernel_matrix(None), "kernel_matrix: x: not an array .got None"),
        (lambda x: weftgpu.kernel_matrix(x, backend="cpu"), "backend: not a Backend .got str"),
        (lambda x: weftgpu.encode(x, 3, qubits=2), "encode: method: wrong type .got int, need str"),
        (lambda x: weftgpu.encode(x, "angle", qubits="2"), "encode: qubits: wrong type .got str, need int"),
        (lambda x: weftgpu.Field(None), "Field: name: wrong type .got None, need str"),
        (lambda x: weftgpu.Field("babybear").neg(None), "Field.neg: a: not an array .got None"),
        (lambda x: weftgpu.Field("babybear").neg(x, checked="yes"), "Field.neg: checked: wrong type .got str, need bool"),
        (lambda x: weftgpu.Lattice("e8", q="4"), "Lattice: q: wrong type .got str, need int"),
        (lambda x: weftgpu.Lattice("e8").encode(None), "Lattice.encode: x: not an array .got None"),
        (lambda x: weftgpu.Backend(ring_slots="3"), "Backend: ring_slots: wrong type .got str, need int"),
        (lambda x: weftgpu.Stream(queue=None), "Stream: queue: wrong type .got None, need str"),
        (lambda x: weftgpu.Stream().fill(None, 1), "Stream.fill: target: not a Buffer .got None"),
        (lambda x: weftgpu.Stream().upload(x, x), "Stream.upload: target: not a Buffer .got ndarray"),
        (lambda x: weftgpu.Buffer(3, name=7), "Buffer: name: wrong type .got int, need str"),
        (lambda x: weftgpu.Buffer(("a",)), "Buffer: shape: wrong type .got str, need int"),
        (lambda x: weftgpu.center_kernel_matrix(None), "center_kernel_matrix: k: not an array .got None"),
        (lambda x: weftgpu.compile_glsl("\n", optimization=2), "compile_glsl: optimization: wrong type .got int, need str"),
        (lambda x: weftgpu.estimate_kernel_matrix("a", 2), "estimate_kernel_matrix: samples: wrong type .got str, need int"),
    ],
)
def test_arguments_of_a_wrong_kind(call, text):
    with pytest.raises(TypeError, match=text) as caught:
        call(np.zeros((3, 2), np.float32))
    assert "incompatible" not in str(caught.value)


ROWS = np.zeros((3, 2), np.float32)
FIELD = weftgpu.Field("babybear")
SCALARS = [
    ("kernel_matrix", lambda **o: weftgpu.kernel_matrix(ROWS, **o), ("map", "reupload", "scale", "normalize", "jitter", "state_tile")),
    ("estimate_kernel_matrix", lambda **o: weftgpu.estimate_kernel_matrix(**{"samples": 3, "qubits": 2, **o}),
     ("samples", "qubits", "map", "scale", "normalize")),
    ("kernel_operator", lambda **o: weftgpu.kernel_operator(ROWS, **o), ("map", "reupload", "scale", "normalize", "jitter", "lambda_")),
    ("KernelOperator.solve", lambda **o: weftgpu.kernel_operator(ROWS).solve(ROWS[:, 0], **{"lambda_": 0.1, **o}),
     ("lambda_", "rank", "tol", "max_iterations", "seed", "checkpoint", "checkpoint_every", "resume")),
    ("KernelOperator.eigen", lambda **o: weftgpu.kernel_operator(ROWS).eigen(**{"k": 1, **o}), ("k", "tol", "max_products", "seed")),
    ("KernelOperator.estimate", lambda **o: weftgpu.kernel_operator(ROWS).estimate(**o), ("columns",)),
    ("encode", lambda **o: weftgpu.encode(ROWS, **{"method": "angle", "qubits": 2, **o}), ("method", "qubits", "strict")),
    ("Lattice", lambda **o: weftgpu.Lattice(**{"lattice": "e8", **o}), ("lattice", "q", "levels", "beta", "alpha", "max_retries", "packed")),
    ("Field", lambda **o: weftgpu.Field(**o), ("name",)),
    ("Field.neg", lambda **o: FIELD.neg(np.zeros(4, np.uint32), **o), ("checked", "montgomery")),
    ("Field.ntt", lambda **o: FIELD.ntt(np.zeros(4, np.uint32), **o), ("order", "axis", "checked", "montgomery")),
    ("Field.ntt_root", lambda **o: FIELD.ntt_root(**o), ("n",)),
    ("Field.lde", lambda **o: FIELD.lde(np.zeros(4, np.uint32), **{"blowup": 2, **o}), ("blowup", "order", "axis")),
    ("Backend", lambda **o: weftgpu.Backend(**o), ("path", "queues", "log_level", "chunk_elements", "memory_limit", "ring_slots", "copy_threads", "cache")),
    ("Devices", lambda **o: weftgpu.Devices(**o), ("path", "queues", "ring_slots")),
    ("Stream", lambda **o: weftgpu.Stream(**o), ("name", "queue")),
    ("Stream.fill", lambda **o: weftgpu.Stream().fill(weftgpu.Buffer(3), **o), ("value",)),
    ("Stream.wait", lambda **o: weftgpu.Stream().wait(**o), ("timeout",)),
    ("Event.wait", lambda **o: weftgpu.Stream().submit().wait(**o), ("timeout",)),
    ("Buffer", lambda **o: weftgpu.Buffer(**{"shape": 3, **o}), ("pinned", "cuda", "name")),
    ("normalize_kernel_matrix", lambda **o: weftgpu.normalize_kernel_matrix(np.eye(3), **o), ("jitter",)),
    ("kernel_alignment", lambda **o: weftgpu.kernel_alignment(np.eye(3), np.ones(3), **o), ("rescale_labels",)),
]


@pytest.mark.parametrize("call, function, names", SCALARS, ids=[call for call, _, _ in SCALARS])
def test_a_scalar_of_a_wrong_kind_is_named(call, function, names):
    for name in names:
        for value in (np.array([1.0, 2.0]), object(), [0.5], 1j):
            with pytest.raises((TypeError, weftgpu.InvalidArgument)) as caught:
                function(**{name: value})
            assert str(caught.value).startswith(f"{call}: {name}: wrong type (got {type(value).__name__}, need "), str(caught.value)


def test_calls_of_users_that_do_not_fit():
    stream, buffer = weftgpu.Stream(), weftgpu.Buffer(3)
    for function, text in (
        (lambda: buffer[1], "Buffer.__getitem__: wrong type .got int, need slice"),
        (lambda: stream.replay(3), "Stream.replay: sequence: wrong type .got int, need Sequence"),
        (lambda: stream.wait_for(None), "Stream.wait_for: event: wrong type .got None, need Event"),
        (lambda: stream.record(5), "Stream.record: steps: wrong type .got int, need Callable"),
        (lambda: stream.fill(buffer), "Stream.fill: value: missing .need int"),
        (lambda: stream.fill(buffer, 1, 2), "Stream.fill: too many arguments .got 3, need at most 2"),
        (lambda: stream.fill(buffer, values=1), "Stream.fill: values: no such argument .need target, value"),
        (lambda: stream.fill(buffer, 1, target=buffer), "Stream.fill: target: given twice"),
        (lambda: weftgpu.clip_kernel_matrix(), "clip_kernel_matrix: k: missing"),
        (lambda: weftgpu.last_report().stage_s(3), "BatchReport.stage_s: stage: wrong type .got int, need str"),
    ):
        with pytest.raises(TypeError, match=text):
            function()


def test_numbers_out_of_range():
    for call in (lambda: weftgpu.encode(np.zeros((3, 2), np.float32), "angle", qubits=-1),
                 lambda: weftgpu.Lattice("e8", q=-4), lambda: weftgpu.Backend(ring_slots=2**40)):
        with pytest.raises(weftgpu.InvalidArgument, match="out of range"):
            call()
