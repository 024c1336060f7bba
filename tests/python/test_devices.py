# SPDX-License-Identifier: Apache-2.0
"""Several devices behind one call: two backends on the device of the machine."""
import functools
import threading

import numpy as np
import pytest

import weftgpu
from conftest import SCALE

PAIR = ",".join(2 * [str(weftgpu.default_backend().device.index)])
CHUNK = 1024


@pytest.fixture(scope="module")
def pair():
    """Two devices of one kind. Chunks are so short that small calls are shared."""
    with weftgpu.Devices(PAIR, chunk_elements=CHUNK) as devices:
        yield devices


@pytest.fixture
def restore_default():
    before = weftgpu._default.default_devices()
    yield
    weftgpu.set_default_backend(before)


def check_rows(report, devices, items):
    """One row a device, all of which took part, with all items."""
    assert [row.device for row in report.devices] == list(range(len(devices)))
    assert [row.name for row in report.devices] == devices.names
    assert sum(row.items for row in report.devices) == items
    if devices[0].device.type != "cpu":
        return  # GPUs are so fast that some of these calls are not worth sharing
    for row in report.devices:
        assert row.items > 0 and row.shares > 0 and not row.lost
        assert 0 < row.busy_s <= report.wall_s * 1.001 + 1e-6 and row.idle_end_s >= 0


def test_devices_are_a_list_of_backends(pair):
    assert len(pair) == 2 and pair.lost == [False, False]
    assert pair.names == [backend.name for backend in pair] and repr(pair) == f"<weftgpu.Devices on {', '.join(pair.names)}>"
    assert isinstance(pair[0], weftgpu.Backend) and pair[0] is pair[0] and pair[-1] is pair[1]
    assert pair[0].plan["chunk_elements"] == CHUNK
    with pytest.raises(IndexError):
        pair[2]
    pair.wait_idle()
    pair.trim()
    assert isinstance(pair.save_pipeline_cache(), bool)


def test_devices_are_named_as_backends_are():
    device = weftgpu.default_backend().device
    for given in ([device.index, device.index], [device, device], f"{device.index}, {device.uuid}"):
        with weftgpu.Devices(given) as devices:
            assert devices.names == [device.name, device.name]
    with weftgpu.Devices("all", ring_slots=2) as devices:
        assert len(devices) >= 1 and devices[0].plan["ring_slots"] == 2
    with weftgpu.Devices(device) as devices:
        assert len(devices) == 1
    with pytest.raises(weftgpu.InvalidArgument, match="got an empty list"):
        weftgpu.Devices([])
    with pytest.raises(weftgpu.InvalidArgument, match="no such thing"):
        weftgpu.Devices(f"{device.index},no such thing")
    with pytest.raises(weftgpu.InvalidArgument, match="need one of"):
        weftgpu.Devices(PAIR, path="fast")
    with pytest.raises(TypeError, match="Devices: ring_slots"):
        weftgpu.Devices(PAIR, ring_slots="two")


CODE = weftgpu.Lattice("d4", q=5, levels=2, beta=0.11, max_retries=6, alpha=0.5)
PLAIN = weftgpu.Lattice("d4", q=5, levels=2, beta=0.11)
FIELD = weftgpu.Field("bls12-381-fp")
RNG = np.random.default_rng(1)
A, B = FIELD.random(50_021, seed=1), FIELD.random(50_021, seed=2)
X = RNG.uniform(-1, 1, (20_011, 24)).astype(np.float32)
ANGLES = RNG.uniform(0, 3, (30_011, 4)).astype(np.float32)
# On one device, which test_lattice.py tests.
CODES, STATUS = CODE.encode(X)
PLAIN_CODES, _ = PLAIN.encode(X)
STATES = weftgpu.encode(RNG.uniform(0, 3, (1100, 13)).astype(np.float32), "angle")

CALLS = {
    "add": (50_021, lambda **on: FIELD.add(A, B, **on)),
    "inv": (50_021, lambda **on: FIELD.inv(A, **on)),
    "axpy": (50_021, lambda **on: FIELD.axpy(3, A, B, checked=True, **on)),
    "encode": (30_011, lambda **on: weftgpu.encode(ANGLES, "angle", **on)),
    "lattice encode": (20_011 * 6, lambda **on: CODE.encode(X, **on)[0]),
    "lattice decode": (20_011 * 6, lambda **on: CODE.decode(CODES, STATUS, **on)),
    "lattice quantize": (20_011 * 6, lambda **on: CODE.quantize(X, **on)),
    "lattice inner": (None, lambda **on: PLAIN.inner(PLAIN_CODES, PLAIN_CODES, X.shape, **on)),
    "kernel matrix": (1100 * 1101 // 2, lambda **on: weftgpu.kernel_matrix(STATES, **on)),
}


@functools.cache
def on_one_device(name):
    return CALLS[name][1](backend=weftgpu.default_backend())


@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_one_device(pair, name):
    items, call = CALLS[name]
    got = call(backend=pair)
    report = weftgpu.last_report()
    check_rows(report, pair, items or report.items)
    want = on_one_device(name)
    assert got.dtype == want.dtype and np.array_equal(got, want)


def test_small_calls_run_on_one_device(pair):
    F = weftgpu.Field("babybear")
    assert F.to_ints(F.inner_product(F.array([1, 2, 3]), F.array([4, 5, 6]), backend=pair)) == 32
    rows = weftgpu.last_report().devices
    notes = [row.note for row in rows if row.shares == 0]
    assert sum(row.items for row in rows) == 3 and len(notes) == 1 and "too little work" in notes[0]
    assert PLAIN.search_beta(X[:100], steps=5, backend=pair) == PLAIN.search_beta(X[:100], steps=5, backend=pair[0])
    of_all = weftgpu.estimate_kernel_matrix(100, 8, backend=pair)
    assert of_all["method"] == weftgpu.estimate_kernel_matrix(100, 8, backend=pair[0])["method"]


def test_outputs_of_the_caller(pair, tmp_path):
    out = np.empty_like(A)
    assert FIELD.add(A, B, out, backend=pair) is out and np.array_equal(out, on_one_device("add"))
    assert FIELD.add(A, B, out, backend=pair[1]) is out and weftgpu.last_report().devices == []
    k = weftgpu.kernel_matrix(STATES, out=tmp_path / "k.npy", backend=pair)
    check_rows(weftgpu.last_report(), pair, 1100 * 1101 // 2)
    assert np.array_equal(k, on_one_device("kernel matrix")) and np.array_equal(np.load(tmp_path / "k.npy"), k)
    assert [path.name for path in tmp_path.iterdir()] == ["k.npy"]


def test_page_locked_memory_of_all_devices(pair):
    x = weftgpu.pinned_empty((50_000,), "uint32", backend=pair)
    out = weftgpu.Buffer(50_000, "uint32", pinned=True, backend=pair)[:].array
    x[:] = np.arange(50_000)
    F = weftgpu.Field("babybear")
    assert F.mul(x, x, out, backend=pair) is out
    report = weftgpu.last_report()
    check_rows(report, pair, 50_000)
    assert np.array_equal(out, np.arange(50_000, dtype=np.uint64) ** 2 % F.modulus)
    assert report.copy_in_s == 0 and report.copy_out_s == 0


def test_programs_and_pipelines(pair):
    spirv = weftgpu.compile_glsl(SCALE, name="scale")
    program = weftgpu.Program(spirv, pair)
    assert program.backend is pair
    x, y = np.arange(100_000, dtype=np.float32), np.zeros(100_000, np.float32)
    report = weftgpu.run_batch(program, [weftgpu.Job([x], [y], parameters=(2.0, 1))])
    check_rows(report, pair, 100_000)
    assert np.array_equal(y, 2 * x + 1)
    outputs = [np.zeros(5000, np.float32) for _ in range(40)]
    with weftgpu.JobPipeline(program) as pipeline:
        futures = [pipeline.submit(weftgpu.Job([x[:5000]], [out], parameters=(3.0, i))) for i, out in enumerate(outputs)]
        assert futures[-1].result(timeout=60)[0] is outputs[-1]
        pipeline.wait_all()
        assert sum(row.jobs for row in pipeline.report().devices) == 40
    assert all(np.array_equal(out, 3 * x[:5000] + i) for i, out in enumerate(outputs))
    with weftgpu.Stream(pair[1]) as stream:
        a, b = weftgpu.Buffer(5000, backend=pair[1]), weftgpu.Buffer(5000, backend=pair[1])
        stream.upload(x[:5000], a)
        stream.dispatch(program, [a, b], 5000, (2.0, 0))
        assert np.array_equal(stream.download(b), 2 * x[:5000])


def test_what_works_on_one_device_says_so(pair):
    one = r"works on one device \(got Devices, need one of them: devices\[0\]\)"
    for make in (lambda: weftgpu.Stream(pair), lambda: weftgpu.Buffer(4, backend=pair),
                 lambda: weftgpu.profile(pair).__enter__()):
        with pytest.raises(TypeError, match=one):
            make()
    with pytest.raises(TypeError, match="need a weftgpu.Backend or a weftgpu.Devices"):
        FIELD.add(A, B, backend="all")


def test_errors_are_those_of_one_device(pair):
    wrong, out = A.copy(), np.full_like(A, 5)
    wrong[777] = 2**64 - 1
    with pytest.raises(weftgpu.InvalidArgument, match="element 777 of a"):
        FIELD.add(wrong, B, out, checked=True, backend=pair)
    assert (out == 5).all()
    angles = ANGLES.copy()
    angles[[3, 29_000]] = np.nan
    with pytest.raises(weftgpu.EncodeError) as caught:
        weftgpu.encode(angles, "angle", backend=pair)
    assert caught.value.rows == [3, 29_000]


def test_progress(pair):
    seen = []

    def note(done, total, rate, left):
        seen.append((done, total, threading.get_ident()))

    FIELD.inv(A, backend=pair, progress=note)
    done = [at for at, _, _ in seen]
    assert done == sorted(set(done)) and done[-1] == len(A) and {total for _, total, _ in seen} == {len(A)}
    with pytest.raises(ZeroDivisionError):
        FIELD.inv(A, backend=pair, progress=lambda *_: 1 / 0)
    assert np.array_equal(FIELD.add(A, B, backend=pair), FIELD.add(A, B))  # the devices stay usable


def test_threads(pair):
    want = FIELD.square(A)
    results = [None] * 4
    counted = 0

    def compute(i):
        for _ in range(3):
            results[i] = FIELD.square(A, backend=pair)

    threads = [threading.Thread(target=compute, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        counted += 1
        threads[0].join(0.001)
    assert all(np.array_equal(result, want) for result in results)
    assert counted > 1


def test_close():
    with weftgpu.Devices(PAIR) as devices:
        first = devices[0]
        program = weftgpu.Program(weftgpu.compile_glsl(SCALE), devices)
    devices.close()  # twice does nothing
    x = np.zeros(8, np.float32)
    for use in (lambda: devices[0], lambda: len(devices), lambda: devices.names, lambda: devices.lost, devices.wait_idle,
                lambda: FIELD.add(A, B, backend=devices), lambda: weftgpu.run_batch(program, [weftgpu.Job([x], [x.copy()])]),
                lambda: first.name, lambda: FIELD.add(A, B, backend=first)):
        with pytest.raises(weftgpu.InvalidArgument, match=r"used after close\(\)"):
            use()


def test_default_devices(pair, restore_default):
    weftgpu.set_default_backend(pair)
    assert weftgpu.default_backend() is pair[0]
    got = FIELD.add(A, B)
    check_rows(weftgpu.last_report(), pair, len(A))
    assert np.array_equal(got, FIELD.add(A, B, backend=pair[0]))
    with weftgpu.profile() as p, weftgpu.Stream() as stream:  # on the first one
        buffer = weftgpu.Buffer(16)
        stream.fill(buffer, 0)
        assert not stream.download(buffer).any()
    assert p.report().device == pair.names[0]


def test_default_devices_with_sklearn(pair, restore_default):
    pytest.importorskip("sklearn")
    sklearn = pytest.importorskip("weftgpu.sklearn")
    kernel, x = sklearn.QuantumKernel(dtype="float32"), RNG.uniform(0, 3, (100, 4)).astype(np.float32)
    weftgpu.set_default_backend(pair[0])
    want = kernel(x)
    weftgpu.set_default_backend(pair)
    assert np.array_equal(kernel(x), want) and len(weftgpu.last_report().devices) == 2


@pytest.mark.parametrize("named, rows", [(PAIR, 2), (PAIR.split(",")[0], 0)])
def test_devices_of_the_environment(run_python, named, rows):
    out = run_python(
        "import weftgpu, numpy as np\n"
        "weftgpu.kernel_matrix(np.zeros((3, 2), np.float32))\n"
        "print(len(weftgpu.last_report().devices), type(weftgpu.default_backend()).__name__)\n"
        "print(len(weftgpu.Devices()), weftgpu.Backend().name == weftgpu.default_backend().name)",
        env={"WEFT_DEVICE": named},
    )
    assert out.splitlines() == [f"{rows} Backend", f"{max(rows, 1)} True"]


def test_control_c(run_python):
    out = run_python(
        "import os, signal, threading, numpy as np, weftgpu\n"
        f"devices = weftgpu.Devices({PAIR!r}, chunk_elements=65536)\n"
        "F = weftgpu.Field('bls12-381-fr')\n"
        "a = F.random(2000, seed=1)\n"
        "big = np.tile(a, (1000, 1))\n"
        "F.mul(a, a, backend=devices)\n"
        "threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n    for _ in range(100): F.inv(big, backend=devices)\n    print('was not interrupted')\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
        "print(F.to_ints(F.mul(a, a, backend=devices)) == [i * i % F.modulus for i in F.to_ints(a)])"
    )
    assert out.splitlines() == ["interrupted", "True"]


def test_fork_says_so(run_python):
    out = run_python(
        "import os, weftgpu\n"
        f"devices = weftgpu.Devices({PAIR!r})\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    F = weftgpu.Field('babybear')\n"
        f"    for call in (lambda: F.neg(F.array([1]), backend=devices), lambda: weftgpu.Devices({PAIR!r})):\n"
        "        try:\n            call()\n            os._exit(2)\n"
        "        except weftgpu.Unavailable as e:\n"
        "            if 'fork' not in str(e): os._exit(3)\n"
        "    os._exit(0)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))",
        timeout=60,
    )
    assert out.strip() == "0"
