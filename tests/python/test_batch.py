# SPDX-License-Identifier: Apache-2.0
"""Programs, batches, pipelines and streams."""
import asyncio
import threading

import numpy as np
import pytest

import weftgpu

from conftest import SCALE


def job(x, y, factor=2.0, offset=-1):
    return weftgpu.Job([x], [y], parameters=(factor, offset))


def test_compile_glsl(tmp_path):
    text = weftgpu.compile_glsl(SCALE)
    assert text.code[:4] == b"\x03\x02\x23\x07" and text.name == "shader"
    (tmp_path / "scale.comp").write_text(SCALE)
    file = weftgpu.compile_glsl(tmp_path / "scale.comp")
    assert file.code == text.code and file.name.endswith("scale.comp")
    assert weftgpu.compile_glsl(str(tmp_path / "scale.comp")).from_cache
    with pytest.raises(weftgpu.InvalidArgument, match="bad:2: ") as caught:
        weftgpu.compile_glsl("#version 450\nnonsense\n", name="bad")
    assert caught.value.code == "invalid_shader"
    with pytest.raises(weftgpu.Error) as caught:
        weftgpu.compile_glsl(tmp_path / "absent.comp")
    assert caught.value.code == "io" and caught.value.native_code == 2
    with_macro = SCALE.replace("factor *", "FACTOR *")
    program = weftgpu.Program(weftgpu.compile_glsl(with_macro, macros={"FACTOR": "3.0"}))
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    weftgpu.run_batch(program, [job(x, y, offset=0)])
    assert (y == 3).all()


def test_program(scale_program):
    assert scale_program.name == "scale"
    assert [access for _, _, access in scale_program.bindings] == ["read", "write"]
    assert scale_program.local_size == [64, 1, 1] and scale_program.push_constant_bytes == 16
    with pytest.raises(weftgpu.InvalidArgument) as caught:
        weftgpu.Program(b"\x00" * 20)
    assert caught.value.code == "invalid_shader"
    with pytest.raises(weftgpu.InvalidArgument, match="32-bit words"):
        weftgpu.Program(b"abc")
    with pytest.raises(weftgpu.InvalidArgument, match="constant"):
        weftgpu.Program(weftgpu.compile_glsl(SCALE), constants={5: 1})


def test_run_batch(scale_program, rng):
    inputs = [rng.random(n, np.float32) for n in (1, 1000, 70_001)]
    outputs = [np.zeros_like(x) for x in inputs]
    seen = []
    report = weftgpu.run_batch(
        scale_program, (job(x, y) for x, y in zip(inputs, outputs)), progress=lambda done, total, *_: seen.append((done, total))
    )
    for x, y in zip(inputs, outputs):
        assert np.array_equal(y, np.float32(2) * x - np.float32(1))
    assert report.jobs == 3 and report.elements == 71_002 and seen[-1] == (3, 3)
    assert report.bytes_in == report.bytes_out == 4 * 71_002 and report.gb_per_s > 0


def test_parameters(scale_program):
    x, y = np.ones(3, np.float32), np.zeros(3, np.float32)
    for parameters in (
        (3.0, 4),
        [np.float32(3), np.int32(4)],
        np.array([(3, 4)], np.dtype([("factor", "f4"), ("offset", "i4")])),
        np.float32(3).tobytes() + np.int32(4).tobytes(),
    ):
        y[:] = 0
        weftgpu.run_batch(scale_program, [weftgpu.Job([x], [y], parameters=parameters)])
        assert (y == 7).all()
    with pytest.raises(TypeError, match="cannot be packed"):
        weftgpu.Job([x], [y], parameters="text")
    with pytest.raises(weftgpu.InvalidArgument, match="32-bit words"):
        weftgpu.Job([x], [y], parameters=b"abc")


def test_broadcast():
    program = weftgpu.Program(weftgpu.compile_glsl(SCALE.replace(
        "layout(binding = 1) writeonly", "layout(binding = 2) readonly buffer T { float table[]; };\nlayout(binding = 1) writeonly"
    ).replace("factor * x[i]", "table[i % 4] * x[i]")))
    x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    table = np.array([1, 2, 3, 4], np.float32)
    weftgpu.run_batch(program, [weftgpu.Job([x, weftgpu.Broadcast(table)], [y], parameters=(0.0, 0))], chunk_elements=256)
    assert np.array_equal(y, x * np.tile(table, 250))


@pytest.mark.parametrize("jobs, text", [
    (3, "jobs: wrong type .got int, need an iterable of Job"), ([3], "jobs: entry 0: wrong type .got int, need Job"),
    ("zzz", "jobs: wrong type .got str, need an iterable of Job"), ([None], "jobs: entry 0: wrong type .got NoneType")])
def test_what_is_no_job(scale_program, jobs, text):
    with pytest.raises(TypeError, match="run_batch: " + text):
        weftgpu.run_batch(scale_program, jobs)


def test_job_refusals(scale_program):
    x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
    with pytest.raises(weftgpu.InvalidArgument, match=r"inputs\[0\]: is not in C order"):
        weftgpu.Job([x[::2]], [y])
    y.setflags(write=False)
    with pytest.raises(weftgpu.InvalidArgument, match=r"outputs\[0\]: is read-only"):
        weftgpu.Job([x], [y])
    y = np.full(8, 7, np.float32)
    with pytest.raises(weftgpu.InvalidArgument):
        weftgpu.run_batch(scale_program, [weftgpu.Job([x, x], [y], parameters=(2.0, 1))])
    assert (y == 7).all()
    with pytest.raises(weftgpu.InvalidArgument, match="need one of 'pipelined', 'sequential'"):
        weftgpu.run_batch(scale_program, [], mode="fast")


def test_pipeline(scale_program, rng):
    inputs = [rng.random(5000, np.float32) for _ in range(20)]
    outputs = [np.zeros_like(x) for x in inputs]
    with weftgpu.JobPipeline(scale_program) as pipeline:
        futures = [pipeline.submit(job(x, y)) for x, y in zip(inputs, outputs)]
        (last,) = futures[-1].result(timeout=30)
        assert last is outputs[-1] and futures[-1].done() and futures[-1].exception() is None
    for x, y in zip(inputs, outputs):
        assert np.array_equal(y, np.float32(2) * x - np.float32(1))
    with pytest.raises(weftgpu.InvalidArgument, match="after close"):
        pipeline.submit(job(inputs[0], outputs[0]))


def test_pipeline_keeps_arrays_and_refuses_overlap(scale_program):
    with weftgpu.JobPipeline(scale_program) as pipeline:
        for _ in range(50):  # neither the Future nor the arrays are kept here
            pipeline.submit(job(np.ones(100_000, np.float32), np.zeros(100_000, np.float32)))
        x, y = np.ones(200_000, np.float32), np.zeros(200_000, np.float32)
        future = pipeline.submit(job(x, y))
        with pytest.raises(weftgpu.InvalidArgument, match="overlap"):
            pipeline.submit(job(x, y))
        future.result()
        assert (y == 1).all()
        assert pipeline.report().jobs == 51


def test_pipeline_cancel_and_timeout(scale_program):
    with weftgpu.JobPipeline(scale_program) as pipeline:
        arrays = [(np.ones(1_000_000, np.float32), np.zeros(1_000_000, np.float32)) for _ in range(20)]
        futures = [pipeline.submit(job(x, y)) for x, y in arrays]
        if futures[-1].cancel():
            assert futures[-1].cancelled() and futures[-1].done()
            with pytest.raises(weftgpu.Cancelled) as caught:
                futures[-1].result()
            assert caught.value.code == "cancelled"
            assert (arrays[-1][1] == 0).all()
        try:
            futures[-2].result(timeout=0)
        except TimeoutError:
            pass
        assert not futures[0].cancel() or futures[0].cancelled()


def test_futures_are_awaitable(scale_program):
    async def work(pipeline):
        arrays = [(np.full(1000, i, np.float32), np.zeros(1000, np.float32)) for i in range(10)]
        results = await asyncio.gather(*[_await(pipeline.submit(job(x, y))) for x, y in arrays])
        return [y[0] for (y,) in results]

    async def _await(future):
        return await future

    with weftgpu.JobPipeline(scale_program) as pipeline:
        assert asyncio.run(work(pipeline)) == [2 * i - 1 for i in range(10)]


def test_stream_dispatch_record_replay(scale_program, rng):
    x = rng.random(1000, np.float32)
    stream = weftgpu.Stream()
    a, b = weftgpu.Buffer(1000), weftgpu.Buffer(1000)
    stream.upload(x, a)

    def steps(s):
        assert s is stream
        s.dispatch(scale_program, [a, b], 1000, (2.0, 1))
        s.copy(b, a)

    sequence = stream.record(steps)
    assert (sequence.steps, sequence.dispatches) == (2, 1)
    for _ in range(3):
        event = stream.replay(sequence)
    assert event.wait(30) and event.done() and stream.wait()
    want = x
    for _ in range(3):
        want = np.float32(2) * want + np.float32(1)
    out = np.empty(1000, np.float32)
    assert stream.download(a, out) is out and np.allclose(out, want, rtol=1e-6)
    with pytest.raises(ZeroDivisionError):
        stream.record(lambda s: 1 / 0)
    stream.fill(a, 0)
    assert not stream.download(a).any()
    stream.close()
    with pytest.raises(weftgpu.InvalidArgument, match="after close"):
        stream.submit()


def test_buffers(scale_program):
    buffer = weftgpu.Buffer((6, 4), "float64")
    assert buffer.shape == (6, 4) and buffer.dtype == np.float64 and buffer.nbytes == 192 and len(buffer) == 6
    part = buffer[2:4]
    assert part.shape == (2, 4)
    with weftgpu.Stream() as stream:
        stream.fill(buffer, 0)
        stream.upload(np.ones((2, 4)), part)
        got = stream.download(buffer)
        assert got.sum() == 8 and got[2:4].all()
        with pytest.raises(weftgpu.InvalidArgument, match="wrong shape"):
            stream.upload(np.ones((3, 4)), part)
        with pytest.raises(TypeError, match="need float64"):
            stream.upload(np.ones((2, 4), np.float32), part)
    with pytest.raises(weftgpu.InvalidArgument, match="contiguous"):
        buffer[::2]
    with pytest.raises(TypeError, match="unknown dtype .got float16"):
        weftgpu.Buffer(4, "float16")
    with pytest.raises(weftgpu.InvalidArgument, match="more bytes"):
        weftgpu.Buffer((2**40, 2**40))
    with pytest.raises(weftgpu.Error):
        weftgpu.Buffer(2**45, "uint8")


def test_profile_and_trace(tmp_path, rng):
    x = rng.random((40, 4), np.float32)
    with weftgpu.profile() as p:
        weftgpu.kernel_matrix(x)
        assert p.report().wall_s > 0
    report = p.report()
    assert report.busy_s > 0 and set(report.stages) >= {"upload", "kernel", "download"}
    assert "kernel" in report.to_table() and report.to_json().startswith("{")
    with weftgpu.trace(tmp_path / "t.json"):
        weftgpu.kernel_matrix(x)
    assert (tmp_path / "t.json").read_text().strip().startswith("{")


def test_an_element_has_whole_items():
    with pytest.raises(weftgpu.InvalidArgument, match="3 items for 4 elements"):
        weftgpu.Job([np.zeros(3, np.float32)], [np.zeros(4, np.float32)])


def test_submits_from_several_threads(backend):
    program = weftgpu.Program(weftgpu.compile_glsl(SCALE))
    failures = []
    with weftgpu.JobPipeline(program) as pipeline:

        def work():
            try:
                for _ in range(100):
                    pipeline.submit(weftgpu.Job([np.ones(64, np.float32)], [np.zeros(64, np.float32)], parameters=(1.0, 0)))
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures


def test_futures_outlive_their_pipeline(scale_program):
    arrays = [(np.full(1000, i, np.float32), np.zeros(1000, np.float32)) for i in range(5)]
    with weftgpu.JobPipeline(scale_program) as pipeline:
        futures = [pipeline.submit(job(x, y)) for x, y in arrays]
        futures[0].result()
    for i, future in enumerate(futures):
        assert future.done() and future.state == "done" and not future.cancel() and future.exception() is None
        assert future.result(timeout=0)[0] is arrays[i][1] and (arrays[i][1] == 2 * i - 1).all()

    async def wait():
        return await futures[1]

    assert asyncio.run(wait())[0] is arrays[1][1]


def test_futures_of_a_pipeline_that_is_closed_early(scale_program):
    arrays = [(np.ones(500_000, np.float32), np.zeros(500_000, np.float32)) for _ in range(20)]
    pipeline = weftgpu.JobPipeline(scale_program)
    futures = [pipeline.submit(job(x, y)) for x, y in arrays]
    pipeline.close()
    pipeline.close()
    for future, (_, y) in zip(futures, arrays):
        assert future.state in ("done", "cancelled")
        if future.cancelled():
            with pytest.raises(weftgpu.Cancelled):
                future.result()
            assert (y == 0).all()
        else:
            assert (future.result()[0] == 1).all()


def test_record_as_a_block(scale_program, rng):
    x = rng.random(500, np.float32)
    a, b, c = weftgpu.Buffer(500), weftgpu.Buffer(500), weftgpu.Buffer(3, "uint32")
    F = weftgpu.Field("babybear")
    with weftgpu.Stream() as stream:
        stream.upload(x, a)
        stream.upload(F.array([1, 2, 3]), c)
        with stream.record() as sequence:
            stream.dispatch(scale_program, [a, b], 500, (2.0, 1))
            stream.copy(b, a)
            F.mul(c, c, c, stream=stream)
            with pytest.raises(weftgpu.InvalidArgument):
                stream.submit()
            with pytest.raises(weftgpu.InvalidArgument), stream.record():
                pass
            with pytest.raises(weftgpu.InvalidArgument, match="inside record"):
                stream.close()
        assert isinstance(sequence, weftgpu.Sequence) and (sequence.steps, sequence.dispatches) == (3, 2)
        for _ in range(2):
            stream.replay(sequence)
        assert np.allclose(stream.download(a), 4 * x + 3, rtol=1e-6)
        assert F.to_ints(stream.download(c)) == [1, 16, 81]
        with pytest.raises(ZeroDivisionError), stream.record() as dropped:
            stream.fill(a, 0)
            1 / 0
        assert dropped.steps == 0
        assert stream.download(a).any()  # the step was dropped
        block = stream.record()
        with block, pytest.raises(weftgpu.InvalidArgument, match="twice"):
            block.__enter__()


def test_constants_of_a_wrong_type():
    code = weftgpu.compile_glsl(SCALE)
    for value, text in (("3", "got str"), (None, "got None"), (2**70, "got int"), (1 + 2j, "got complex")):
        with pytest.raises(TypeError, match=f"Program: constants: 0: wrong type .{text}, need bool, int of 32 bits or float"):
            weftgpu.Program(code, constants={0: value})
    with pytest.raises(TypeError, match="constants: wrong id .got 'x'"):
        weftgpu.Program(code, constants={"x": 1})
