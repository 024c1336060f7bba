# SPDX-License-Identifier: Apache-2.0
"""Threads, fork, exit, and machines without Vulkan."""
import os
import pickle
import sys
import threading
import time

import numpy as np
import pytest

import weftgpu

ABSENT = {"WEFT_VULKAN_LIBRARY": "/nonexistent/libvulkan.so"}


def test_import_loads_no_driver_and_no_numpy(run_python):
    out = run_python(
        "import sys, weftgpu\n"
        "maps = open('/proc/self/maps').read()\n"
        "print([name for name in ('libvulkan', 'lvp', 'libLLVM', '_glsl') if name in maps], 'numpy' in sys.modules, "
        "'asyncio' in sys.modules, 'tqdm' in sys.modules)"
    )
    assert out.split("\n")[0] == "[] False False False"


def test_without_vulkan(run_python):
    out = run_python(
        "import weftgpu, numpy as np\n"
        "print(weftgpu.devices())\n"
        "F = weftgpu.Field('babybear')\n"
        "print(F.to_ints(F.array([-1])))\n"
        "try:\n    weftgpu.kernel_matrix(np.zeros((2, 2), np.float32))\n"
        "except weftgpu.Unavailable as e:\n    print(e.code, isinstance(e, RuntimeError), '/nonexistent' in str(e))",
        env=ABSENT,
    )
    assert out.splitlines() == ["[]", "[2013265920]", "no_loader True True"]


def test_shapes_are_checked_before_a_device_is_needed():
    # With a default backend made, a refusal must not depend on the device.
    before = weftgpu.default_backend().counters["submissions"]
    with pytest.raises(TypeError):
        weftgpu.kernel_matrix(np.zeros((2, 2), np.int8))
    assert weftgpu.default_backend().counters["submissions"] == before


def test_other_threads_run_meanwhile():
    """While one thread waits for a kernel matrix, another one counts."""
    x = np.random.default_rng(1).random((500, 12), np.float32)
    w = np.ones((2, 12), np.float32)
    counted = 0
    running = threading.Event()
    over = threading.Event()

    def compute():
        running.set()
        weftgpu.kernel_matrix(x, weights=w, reupload=True)
        over.set()

    thread = threading.Thread(target=compute)
    thread.start()
    running.wait()
    while not over.is_set():
        counted += 1
        time.sleep(0.0005)
    thread.join()
    assert counted > 5


def test_two_threads_compute_simultaneously():
    F = weftgpu.Field("bls12-381-fr")
    a = F.random(20_000, seed=1)
    want = F.square(a)
    results = [None] * 4

    def compute(i):
        for _ in range(5):
            results[i] = F.square(a)

    threads = [threading.Thread(target=compute, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(r, want) for r in results)


def test_a_stream_belongs_to_one_thread():
    stream = weftgpu.Stream()
    buffer = weftgpu.Buffer(16)
    errors = []

    def steps(s):
        def other():
            try:
                stream.fill(buffer, 1)
            except weftgpu.InvalidArgument as e:
                errors.append(str(e))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    stream.record(steps)
    assert len(errors) == 1 and "two threads" in errors[0]


def test_a_second_import_is_refused(run_python):
    out = run_python(
        "import sys, weftgpu\n"
        "for name in [name for name in sys.modules if name.startswith('weftgpu')]:\n    del sys.modules[name]\n"
        "try:\n    import weftgpu\n"
        "except ImportError as e:\n    print('was imported before' in str(e))\n"
    )
    assert out == "True\n"


def test_what_is_closed_can_be_printed():
    backend = weftgpu.Backend()
    devices = weftgpu.Devices()
    backend.close(), devices.close()
    assert [repr(backend), repr(devices)] == ["<weftgpu.Backend, closed>", "<weftgpu.Devices, closed>"]


def test_shapes_and_devices_of_numpy_integers():
    assert weftgpu.Buffer(np.int64(3)).shape == (3,)
    assert weftgpu.pinned_empty((np.int32(2), 3)).shape == (2, 3)
    with weftgpu.Devices(np.int64(0)) as devices:
        assert len(devices) == 1
    with pytest.raises(weftgpu.InvalidArgument, match=r"Buffer: shape: negative \(got \(-1,\)"):
        weftgpu.Buffer(-1)
    with pytest.raises(TypeError, match=r"Buffer: shape: wrong type \(got float, need int\)"):
        weftgpu.Buffer(1.5)


def test_progress_must_be_callable():
    x, out = np.ones((3, 2), np.float32), np.full((3, 3), 7, np.float32)
    with pytest.raises(TypeError, match=r"progress: wrong type \(got int, need True or a callable\)"):
        weftgpu.kernel_matrix(x, out=out, progress=1)
    assert (out == 7).all()


def test_advice_about_arrays_that_are_written():
    F, a = weftgpu.Field("babybear"), weftgpu.Field("babybear").array([1, 2])
    with pytest.raises(TypeError, match=r"out: wrong dtype \(got uint64, need uint32\); give an array of that dtype"):
        F.add(a, a, out=np.zeros(2, np.uint64))
    with pytest.raises(weftgpu.InvalidArgument, match="out: is not in C order; give an array in C order"):
        F.add(a, a, out=np.zeros((2, 2), np.uint32)[:, 0])


FORK = """
import os, sys, numpy as np, weftgpu
x = np.ones((3, 2), np.float32)
used = sys.argv[1] == 'used'
if used:
    weftgpu.kernel_matrix(x)
    backend = weftgpu.default_backend()
    buffer = weftgpu.Buffer(4)
    software = 'llvmpipe' in backend.name and ',' not in os.environ.get('WEFT_DEVICE', '')  # its handlers crash too
child = os.fork()
if child == 0:
    if not used:
        os._exit(0 if weftgpu.kernel_matrix(x).shape == (3, 3) else 1)
    for call in (lambda: weftgpu.kernel_matrix(x), lambda: weftgpu.kernel_matrix(x, backend=backend),
                 lambda: weftgpu.Buffer(4, backend=backend), weftgpu.Backend, weftgpu.devices, weftgpu.default_backend):
        try:
            call()
            os._exit(2)
        except weftgpu.Unavailable as e:
            if 'fork' not in str(e):
                os._exit(3)
    del buffer, backend
    if not software:
        os._exit(0)  # as multiprocessing does; exit handlers of a hardware driver may crash in a child
    sys.exit(0)  # the exit of a child does not hang either
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("parent", ["used", "fresh"])
def test_fork_says_so(run_python, parent):
    out = run_python(f"import sys; sys.argv = ['x', {parent!r}]\n{FORK}", timeout=60)
    assert out.strip().splitlines()[-1] == "0"


@pytest.mark.parametrize("work", ["daemon", "pipeline", "stream", "globals"])
def test_exit_with_work_under_way(run_python, work, tmp_path):
    scripts = {
        "daemon": "w = np.ones((3, 12), np.float32)\n"
        "x = np.ones((700, 12), np.float32)\n"
        "for _ in range(2):\n    threading.Thread(target=lambda: weftgpu.kernel_matrix(x, weights=w, reupload=True), daemon=True).start()\n"
        "time.sleep(0.3)\n",
        "pipeline": "from weftgpu import *\n"
        f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); from conftest import SCALE\n"
        "p = JobPipeline(Program(compile_glsl(SCALE)))\n"
        "fs = [p.submit(Job([np.ones(2_000_000, np.float32)], [np.zeros(2_000_000, np.float32)], parameters=(1.0, 0))) for _ in range(8)]\n",
        "stream": "s = weftgpu.Stream(); x = weftgpu.Buffer((500, 12)); k = weftgpu.Buffer((500, 500))\n"
        "s.fill(x, 0)\n"
        "weftgpu.kernel_matrix(x, out=k, stream=s, weights=np.ones((3, 12), np.float32), reupload=True)\n"
        "s.submit()\n",
        "globals": "b = weftgpu.Backend(); s = weftgpu.Stream(b); x = weftgpu.Buffer(10, backend=b); x.me = [x, s, b]\n",
    }
    done = run_python(
        "import threading, time, numpy as np, weftgpu\n" + scripts[work] + "print('end')", check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_backends(backend):
    assert backend.name and backend.device.name == backend.name and backend.plan["reasons"]
    with weftgpu.Backend(backend.device, chunk_elements=4096) as other:
        assert other.plan["chunk_elements"] == 4096
        k = weftgpu.kernel_matrix(np.zeros((3, 2), np.float32), backend=other)
        assert (k == 1).all()
    with pytest.raises(weftgpu.InvalidArgument, match="after close"):
        other.name
    assert any(d.chosen for d in weftgpu.devices())
    with pytest.raises(weftgpu.Error, match="no such card"):
        weftgpu.Backend("no such card")
    with pytest.raises(weftgpu.InvalidArgument, match="need one of 'auto', 'staged'"):
        weftgpu.Backend(path="fast")
    with pytest.raises(weftgpu.OutOfMemory) as caught:
        weftgpu.Buffer(1 << 24, backend=weftgpu.Backend(memory_limit=1 << 20))
    assert isinstance(caught.value, MemoryError) and caught.value.code == "out_of_memory"


def test_errors_survive_pickling():
    error = weftgpu.EncodeError("text", failures=[(3, 1, "zero norm")])
    again = pickle.loads(pickle.dumps(error))
    assert again.rows == [3] and str(again) == "text" and again.code == "invalid_argument"
    error = pickle.loads(pickle.dumps(weftgpu.Error("text", "io", 2)))
    assert (error.code, error.native_code) == ("io", 2)


def test_nothing_leaks():
    F = weftgpu.Field("babybear")
    a = F.random(1000, seed=1)
    reference = sys.getrefcount(a)
    for _ in range(100):
        F.add(a, a)
        with pytest.raises(weftgpu.InvalidArgument):
            F.add(a, a[:5].copy())
    assert sys.getrefcount(a) == reference


def test_devices_is_empty_without_a_driver(run_python):
    out = run_python("import os; os.environ['VK_DRIVER_FILES'] = '/dev/null'\nimport weftgpu; print(weftgpu.devices())")
    assert out == "[]\n"


def test_a_stream_may_be_closed_twice(run_python):
    done = run_python(
        "import weftgpu\nwith weftgpu.Stream() as s:\n    s.close()\ns.close()\nprint('end')", check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
