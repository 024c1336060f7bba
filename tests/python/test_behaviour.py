# SPDX-License-Identifier: Apache-2.0
"""Threads, signals, fork, exit, and machines without Vulkan."""
import os
import pickle
import signal
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


LONG_CALL = """
import os, signal, sys, threading, time
import numpy as np, weftgpu
backend = weftgpu.default_backend()
x = np.random.default_rng(1).random((1000, 12), np.float32)
w = np.ones((3, 12), np.float32)
F = weftgpu.Field('bls12-381-fr')
a = F.random(2000, seed=1)
big = np.tile(a, (2000, 1))
weftgpu.kernel_matrix(x[:10].copy(), weights=w, reupload=True), F.mul(a, a)
live = backend.memory['live_bytes']
calls = {
    'kernel_matrix': lambda: [weftgpu.kernel_matrix(x, weights=w, reupload=True) for _ in range(5000)],
    'field': lambda: [F.inv(big) for _ in range(100)],
    'file': lambda: [weftgpu.kernel_matrix(x, weights=w, reupload=True, out='k.npy') for _ in range(5000)],
}
for name in sys.argv[1:]:
    sent = []
    def interrupt():
        time.sleep(0.3)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    try:
        calls[name]()
        print(name, 'was not interrupted')
    except KeyboardInterrupt:
        print(name, 'interrupted', round(time.perf_counter() - sent[0], 3), file=sys.stderr)
        print(name, 'interrupted')
want = [i * i % F.modulus for i in F.to_ints(a)]
print(F.to_ints(F.mul(a, a)) == want)  # the backend stays usable
freed = False
for _ in range(600):  # what was under way ends in the background
    backend.trim()
    freed = backend.memory['live_bytes'] <= live
    if freed:
        break
    time.sleep(0.1)
print(freed)
"""


def test_control_c_ends_a_long_call(run_python):
    # Small chunks: what is under way must end within the test also on a software device that others use.
    out = run_python(f"import sys; sys.argv = ['x', 'kernel_matrix', 'field']\n{LONG_CALL}",
                     env={"GPU_STREAM_CHUNK_ELEMS": "65536"})
    assert out.splitlines() == ["kernel_matrix interrupted", "field interrupted", "True", "True"]


def test_control_c_ends_a_matrix_in_a_file(run_python, tmp_path):
    out = run_python(f"import os, sys; sys.argv = ['x', 'file']; os.chdir({str(tmp_path)!r})\n{LONG_CALL}")
    assert out.splitlines() == ["file interrupted", "True", "True"]
    assert [p.name for p in tmp_path.iterdir()] in ([], ["k.npy"])  # no part of a file is left


LONG_JOBS = """
import os, signal, sys, threading, time
import numpy as np, weftgpu
source = '''#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Job { uint count, first, steps; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    float v = x[i];
    for (uint step = 0; step < steps; ++step) v = fract(1.1 * v + 0.3);
    y[i] = steps == 0 ? 2 * x[i] : v;
}'''
backend = weftgpu.default_backend()
program = weftgpu.Program(weftgpu.compile_glsl(source))
x = np.ones(200_000, np.float32)
def run(steps, out):
    weftgpu.run_batch(program, [weftgpu.Job([x], [out], parameters=(steps,))])
out = np.zeros_like(x)
run(0, out)
for reuse in (False, True):  # of the array, in the next call
    sent = []
    def interrupt():
        time.sleep(0.3)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    try:
        for _ in range(100_000):  # one chunk on a software device, many calls on a GPU
            run(20_000, out)
        print('was not interrupted')
    except KeyboardInterrupt:
        raised = time.perf_counter()
        print('interrupted')
    if reuse:
        run(0, out)  # waits for what is left of the other
    else:
        backend.wait_idle()
        left = time.perf_counter() - raised
        print(left < 0.5 or raised - sent[0] < left, raised - sent[0], left, file=sys.stderr)
        print(left < 0.5 or raised - sent[0] < left)  # the exception came before the chunk had ended
        out[:] = 2
    time.sleep(0.1)
    print((out == 2).all())
try:
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    for _ in range(100_000):
        run(20_000, np.zeros_like(x))  # an array that only the call keeps
except KeyboardInterrupt:
    print('interrupted')
"""


def test_control_c_ends_jobs_within_a_chunk(run_python):
    out = run_python(LONG_JOBS)  # the interpreter exits while the last chunk is under way
    assert out.split() == ["interrupted", "True", "True", "interrupted", "True", "interrupted"]


def test_control_c_ends_a_clip(run_python):
    out = run_python(
        "import os, signal, threading, time, numpy as np, weftgpu\n"
        "k = np.random.default_rng(1).standard_normal((1500, 1500)); k += k.T; before = k.copy()\n"
        "threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n    weftgpu.clip_kernel_matrix(k); print('was not interrupted')\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
        "print((k == before).all())\n"
        "small = np.diag([1.0, -1.0]); print(weftgpu.clip_kernel_matrix(small), small.tolist())\n"
    )
    assert out.splitlines() == ["interrupted", "True", "1 [[1.0, 0.0], [0.0, 0.0]]"]


@pytest.mark.parametrize("wait", ["stream.wait()", "backend.wait_idle()", "stream.close()", "backend.close()"])
def test_control_c_ends_a_wait(run_python, wait):
    out = run_python(
        "import os, signal, threading, time, numpy as np, weftgpu\n"
        "backend = weftgpu.Backend()\n"
        "stream = weftgpu.Stream(backend=backend)\n"
        "x = weftgpu.Buffer((700, 12), backend=backend); k = weftgpu.Buffer((700, 700), backend=backend)\n"
        "stream.upload(np.ones((700, 12), np.float32), x)\n"
        "w = np.ones((3, 12), np.float32)\n"
        "for _ in range(2):\n    weftgpu.kernel_matrix(x, out=k, stream=stream, weights=w, reupload=True)\n"
        "event = stream.submit()\n"
        "fast = weftgpu.devices()[0].type != 'cpu'\n"
        "threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        f"try:\n    {wait}; time.sleep(1)\n"
        "except KeyboardInterrupt:\n    print('interrupted', fast or not event.done())\n"
        "del stream, x, k, backend\n"
    )
    assert out == "interrupted True\n"


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


def test_an_exception_of_a_signal_handler_is_passed_on():
    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm

    old = signal.signal(signal.SIGALRM, ring)
    x, w = np.ones((1000, 12), np.float32), np.ones((3, 12), np.float32)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Alarm):
            while True:  # a GPU needs many such calls until the alarm
                weftgpu.kernel_matrix(x, weights=w, reupload=True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


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
