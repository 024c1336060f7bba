# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries, without a copy."""
import array
import datetime
import os
import re

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


CACHED = """
import numpy as np, weftgpu
from test_interop import Cached
from conftest import SCALE
x, square, F = np.ones((4, 3), np.float32), np.zeros((4, 4), np.float32), weftgpu.Field('goldilocks')
ints = F.array([1, 2, 3])
program = weftgpu.Program(weftgpu.compile_glsl(SCALE))
line = np.zeros(12, np.float32)
calls = {
    'kernel_matrix: x': (x, lambda a: weftgpu.kernel_matrix(a)),
    'kernel_matrix: y': (x, lambda a: weftgpu.kernel_matrix(x, a)),
    'kernel_matrix: out': (square, lambda a: weftgpu.kernel_matrix(x, out=a, dtype='float32')),
    'kernel_matrix: weights': (x, lambda a: weftgpu.kernel_matrix(x, weights=a, reupload=True)),
    'kernel_operator: x': (x, lambda a: weftgpu.kernel_operator(a)),
    'kernel_operator: y': (x, lambda a: weftgpu.kernel_operator(x, a)),
    'kernel_operator: weights': (x, lambda a: weftgpu.kernel_operator(x, weights=a, reupload=True)),
    'KernelOperator.predict: x_new': (x, lambda a: weftgpu.kernel_operator(x).predict(a, np.ones(4))),
    'encode: x': (x, lambda a: weftgpu.encode(a, 'angle', qubits=3)),
    'Field.neg: a': (ints, lambda a: F.neg(a)),
    'Field.neg: out': (ints.copy(), lambda a: F.neg(ints, a)),
    'Field.ntt: x': (F.array([1, 2]), lambda a: F.ntt(a)),
    'Lattice.encode: x': (x, lambda a: weftgpu.Lattice('z2').encode(a)),
    'center_kernel_matrix: k': (np.eye(3), lambda a: weftgpu.center_kernel_matrix(a)),
    'Job: inputs[0]': (line, lambda a: weftgpu.Job([a], [line.copy()])),
    'Job: outputs[0]': (line.copy(), lambda a: weftgpu.Job([line], [a])),
    'Stream.upload: array': (x, lambda a: weftgpu.Stream().upload(a, weftgpu.Buffer((4, 3)))),
    'Program: spirv': (np.frombuffer(weftgpu.compile_glsl(SCALE).code, np.uint32).copy(), lambda a: weftgpu.Program(a)),
}
for name, (array, call) in calls.items():
    cached = Cached(array)
    kept = call(cached)  # the first use of the capsule
    try:
        print(name, call(cached))
    except TypeError as e:
        text = f'{name}: __dlpack__() gave a capsule that was used before (need a new capsule from each call)'
        print(name if str(e) == text else e)
twice = Cached(x)
try:
    print(weftgpu.kernel_matrix(twice, twice))
except TypeError as e:
    print(str(e).partition(' gave')[0])
print('end')
"""


class Cached(Producer):
    """A library that gives the same capsule each time, as none should."""

    def __dlpack__(self, **arguments):
        if not self.exported:
            self.capsule = super().__dlpack__(**arguments)
        return self.capsule


def test_a_library_that_gives_a_capsule_twice_is_refused(run_python):
    out = run_python(f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n{CACHED}").splitlines()
    assert len(out) == 20 and out[-2:] == ["kernel_matrix: y: __dlpack__()", "end"], out
    assert all(re.fullmatch(r"[\w.]+: [\w\[\]]+", line) for line in out[:-2]), out


@pytest.mark.parametrize(
    "given, text",
    [
        (lambda x: None, "x: __dlpack__.. gave no capsule .got NoneType, need a DLPack capsule"),
        (lambda x: b"dltensor", "x: __dlpack__.. gave no capsule .got bytes"),
        (lambda x: datetime.datetime_CAPI, "x: __dlpack__.. gave a capsule that is not one of DLPack .got 'datetime.datetime_CAPI'"),
    ],
)
def test_what_is_no_capsule_of_dlpack(given, text):
    class Wrong(Producer):
        def __dlpack__(self, **_):
            return given(self.owner)

    with pytest.raises(TypeError, match=text):
        weftgpu.kernel_matrix(Wrong(np.zeros((3, 2), np.float32)))
    with pytest.raises(TypeError, match="x: a capsule that is not one of DLPack"):
        weftgpu.kernel_matrix(datetime.datetime_CAPI)


def test_an_array_is_asked_for_its_memory_once(rng, tmp_path):
    x = rng.uniform(0, 1, (5, 2))
    producer, y, new = Producer(x), Producer(x[:3]), Producer(x[:2])
    k = weftgpu.kernel_operator(producer, dtype="float64")
    weftgpu.kernel_operator(x, y)
    assert np.allclose(k.predict(new, np.ones((5, 65))), weftgpu.kernel_matrix(x[:2], x).sum(1)[:, np.newaxis])
    assert [p.exported for p in (producer, y, new)] == [1, 1, 1]
    capsule = x.__dlpack__()
    assert weftgpu.kernel_operator(capsule).shape == (5, 5)
    k = weftgpu.kernel_matrix(Producer(x), Producer(x[:3]), out=tmp_path / "k.npy")
    assert np.array_equal(k, weftgpu.kernel_matrix(x, x[:3]))
    y = np.zeros(5, np.float32)
    assert weftgpu.Job([Producer(np.ones(5, np.float32))], [Producer(y)]).elements == 5
    with pytest.raises(weftgpu.InvalidArgument, match=r"Job: outputs\[0\]: has no axis .need one of its elements, or elements="):
        weftgpu.Job([], [np.zeros((), np.float32)])


def test_what_ends_an_export_is_passed_on():
    class Interrupted(Producer):
        def __dlpack__(self, **_):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        weftgpu.kernel_matrix(Interrupted(np.zeros((3, 2), np.float32)))


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
        (lambda x: weftgpu.compile_glsl("\n", macros=[1]), "compile_glsl: macros: wrong type .got list, need a mapping of str to values"),
        (lambda x: weftgpu.compile_glsl("\n", macros={1: 2}), "compile_glsl: macros: wrong name .got 1, need str"),
        (lambda x: weftgpu.compile_glsl("\n", include_dirs="folder"), "compile_glsl: include_dirs: wrong type .got str, need an iterable of paths"),
        (lambda x: weftgpu.compile_glsl("\n", include_dirs=5), "compile_glsl: include_dirs: wrong type .got int, need an iterable of paths"),
        (lambda x: weftgpu.Program(b"", local_size=(1, 2.5, 1)), "Program: local_size: wrong type .got float, need int"),
        (lambda x: weftgpu.Program(weftgpu.SpirV(b""), name=x), "Program: name: wrong type .got ndarray, need str"),
        (lambda x: weftgpu.Buffer(3, "x"), "Buffer: unknown dtype .got 'x', need float32, float64"),
        (lambda x: weftgpu.kernel_operator(x, dtype=[1]), r"kernel_operator: unknown dtype .got '\[1\]', need float32"),
        (lambda x: weftgpu.Program(b"", constants=[1]), "Program: constants: wrong type .got list, need a mapping of int to bool, int or float"),
        (lambda x: weftgpu.Field("babybear").array([1, 2.0]), r"Field.array: ints\[1\]: wrong type .got float, need int"),
        (lambda x: weftgpu.Field("babybear").array(1.0), "Field.array: ints: wrong type .got float, need int"),
        (lambda x: weftgpu.Field("babybear").array(np.array(1.0)), "Field.array: ints: wrong type .got ndarray, need int"),
        (lambda x: weftgpu.Field("babybear").random("3"), "Field.random: n: wrong type .got str, need int"),
        (lambda x: weftgpu.Lattice("z2").decode(x, shape=(2, "3")), "Lattice.decode: shape: wrong type .got str, need int"),
        (lambda x: weftgpu.Lattice("z2").inner(x, x, (2, None)), "Lattice.inner: shape: wrong type .got NoneType, need int"),
        (lambda x: weftgpu.Job(x, [x]), "Job: inputs: wrong type .got ndarray, need an iterable of arrays"),
        (lambda x: weftgpu.Job([x], x), "Job: outputs: wrong type .got ndarray, need an iterable of arrays"),
        (lambda x: weftgpu.Job([x], 3), "Job: outputs: wrong type .got int, need an iterable of arrays"),
        (lambda x: weftgpu.Job([x], [x], "3"), "Job: elements: wrong type .got str, need int"),
        (lambda x: weftgpu.Job([x], [x], parameters="3"), "Job: parameters: cannot be packed .got str"),
        (lambda x: weftgpu.Stream().dispatch(None, 3, 1), "Stream.dispatch: buffers: wrong type .got int, need an iterable of Buffer"),
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


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: weftgpu.encode(ROWS, "angle", qubits=-1), "encode: qubits: out of range .got -1, need an int of its range"),
        (lambda: weftgpu.encode(ROWS, "angle", qubits=np.int64(-1)), "encode: qubits: out of range .got -1"),
        (lambda: weftgpu.Lattice("e8", q=-4), "Lattice: q: out of range .got -4"),
        (lambda: weftgpu.Backend(ring_slots=2**40), "Backend: ring_slots: out of range .got 1099511627776"),
        (lambda: weftgpu.Buffer((3, 2**70)), r"Buffer: shape: out of range .got \(3, 1180591620717411303424\), need ints of its range"),
        (lambda: weftgpu.Lattice("z2").decode(ROWS, shape=(2, -1)), r"Lattice.decode: shape: negative .got \(2, -1\), need 0 or more"),
        (lambda: weftgpu.Lattice("z2").inner(ROWS, ROWS, (2, -1)), r"Lattice.inner: shape: negative .got \(2, -1\), need 0 or more"),
        (lambda: weftgpu.Program(b"", local_size=(1, 2)), r"Program: local_size: wrong length .got \(1, 2\), need three int"),
        (lambda: weftgpu.Program(b"", local_size=8), "Program: local_size: wrong length .got 8, need three int"),
        (lambda: weftgpu.Program(b"", local_size=(1, -2, 1)), r"Program: local_size: negative .got \(1, -2, 1\), need 0 or more"),
        (lambda: weftgpu.Program(b"", local_size=(1, 2**40, 1)), r"Program: local_size: out of range .got \(1, 1099511627776, 1\)"),
        (lambda: weftgpu.Job([ROWS], [ROWS], parameters=2**40), "Job: parameters: out of range .got 1099511627776, need an int of 32 bits"),
        (lambda: weftgpu.Job([ROWS], [ROWS], parameters=(1, 1e300)), r"Job: parameters: out of range .got 1e\+300, need a number of float32"),
    ],
)
def test_numbers_out_of_range(call, text):
    with pytest.raises(weftgpu.InvalidArgument, match=text):
        call()
