# SPDX-License-Identifier: Apache-2.0
"""Many jobs in host memory through one program."""

from __future__ import annotations

import atexit
import struct
import weakref
from typing import TYPE_CHECKING, Any

from weftgpu import _core
from weftgpu._arguments import call_core, items_of
from weftgpu._errors import Cancelled, Error, InvalidArgument
from weftgpu._program import Program
from weftgpu._progress import with_progress

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence
    from types import TracebackType

    from weftgpu._progress import Progress


def pack_parameters(call: str, parameters: Any) -> bytes:
    """Parameters as bytes: of bytes and NumPy values what they hold; of a float a float32; of an int 32 bits."""
    if parameters is None:
        return b""
    if isinstance(parameters, (bytes, bytearray, memoryview)):
        return bytes(parameters)
    if hasattr(parameters, "tobytes"):  # of NumPy
        raw: bytes = parameters.tobytes()
        return raw
    if isinstance(parameters, (tuple, list)):
        return b"".join(pack_parameters(call, parameter) for parameter in parameters)
    if not isinstance(parameters, (float, int)):  # a bool is an int
        raise TypeError(
            f"{call}: parameters: cannot be packed (got {type(parameters).__name__}, need bytes, int, float, NumPy values "
            "or a tuple of these)"
        )
    layout = "<f" if isinstance(parameters, float) else "<i" if parameters < 0 else "<I"
    try:
        return struct.pack(layout, parameters)
    except (OverflowError, struct.error):
        need = "a number of float32" if layout == "<f" else "an int of 32 bits"
        raise InvalidArgument(f"{call}: parameters: out of range (got {parameters}, need {need})", "invalid_argument") from None


class Broadcast:
    """An input that every chunk of a job sees whole: a table, or weights.

    Parameters
    ----------
    array : array
    """

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array


class Job(_core._Job):
    """One unit of streamed work: arrays that a program reads and writes where they lie.

    Parameters
    ----------
    inputs : sequence of arrays or Broadcast
        In the order of the bindings that are read. Each is split in proportion to the elements.
    outputs : sequence of arrays
        In the order of the bindings that are written. An output may be an input of the job (work in place).
    elements : int, optional
        By default the length of the first output.
    parameters : bytes, int, float, NumPy value, or tuple of these
        The push constants that follow ``count`` and ``first``: a float becomes a float32, an int 32 bits.
    name : str
        In reports.

    Raises
    ------
    TypeError, InvalidArgument
        Something that is no array in C order, a read-only output, or parameters that do not fit.
    """

    def __init__(
        self, inputs: Sequence[Any], outputs: Sequence[Any], elements: int | None = None, parameters: Any = None,
        name: str = "",
    ) -> None:
        read, written = items_of("Job", "inputs", inputs, "arrays"), items_of("Job", "outputs", outputs, "arrays")
        call_core(
            "Job", _core._Job.__init__, self,
            [given.array if isinstance(given, Broadcast) else given for given in read],
            [isinstance(given, Broadcast) for given in read],
            written,
            elements,
            pack_parameters("Job", parameters),
            name,
        )


def _jobs_of(call: str, program: Any, jobs: Any) -> list[Job]:
    if not isinstance(program, Program):
        raise TypeError(f"{call}: program: wrong type (got {type(program).__name__}, need Program)")
    given = items_of(call, "jobs", jobs, "Job")
    for index, job in enumerate(given):
        if not isinstance(job, Job):
            raise TypeError(f"{call}: jobs: entry {index}: wrong type (got {type(job).__name__}, need Job)")
    return given


def run_batch(
    program: Program,
    jobs: Iterable[Job],
    *,
    mode: str = "pipelined",
    path: str = "auto",
    queues: str = "auto",
    chunk_elements: int = 0,
    ring_slots: int = 0,
    progress: Progress = None,
) -> _core.BatchReport:
    """Runs all jobs through ``program`` and returns when every output is in place.

    Uploads, kernels and downloads of neighbouring chunks overlap.

    Parameters
    ----------
    program : Program
    jobs : iterable of Job
    mode : {"pipelined", "sequential"}
    path : {"auto", "staged", "direct", "imported", "host"}
    queues : {"auto", "single", "split"}
    chunk_elements, ring_slots : int
        0: as the backend has them.
    progress : bool or callable, optional
        Called with (done, total, per second, seconds left), counted in jobs.

    Returns
    -------
    BatchReport

    Raises
    ------
    InvalidArgument
        Arrays that do not fit the bindings of the program or overlap; nothing has run.

    Examples
    --------
    See :func:`compile_glsl`.
    """
    given = _jobs_of("run_batch", program, jobs)
    return with_progress(
        progress,
        "jobs",
        lambda callback: call_core(
            "run_batch", _core._run_batch, program.backend, program, given, callback, mode, path, queues, chunk_elements, ring_slots
        ),
    )


class Future:
    """The outcome of a job of a JobPipeline. May be awaited, and outlives the pipeline."""

    __slots__ = ("__weakref__", "_end", "_job", "_pipeline", "_token")

    def __init__(self, pipeline: JobPipeline, token: int, job: Job) -> None:
        self._pipeline, self._token, self._job = pipeline, token, job
        self._end: tuple[str, Error | None] | None = None  # the state and the failure, once the pipeline is closed

    def _settle(self, wait: bool) -> None:
        """Keeps the outcome of the job for the time after the pipeline; without ``wait``, a job that runs is given up."""
        if self._end is not None:
            return
        try:
            done = self._pipeline._core.wait(self._token, None if wait else 0.0)
            text = "Future.result: a signal ended the wait for the job while it ran, so its outputs are undefined"
            self._end = ("done", None) if done else ("cancelled", Cancelled(text, "cancelled"))
        except Error as error:
            self._end = (self._pipeline._core.state(self._token), error)

    @property
    def state(self) -> str:
        """``queued``, ``running``, ``done``, ``failed`` or ``cancelled``."""
        try:
            return self._end[0] if self._end else self._pipeline._core.state(self._token)
        except InvalidArgument:
            if self._end is None:
                raise
            return self._end[0]  # another thread has closed the pipeline

    def done(self) -> bool:
        """Whether the job is done, failed or cancelled."""
        return self.state in ("done", "failed", "cancelled")

    def running(self) -> bool:
        return self.state == "running"

    def cancelled(self) -> bool:
        return self.state == "cancelled"

    def cancel(self) -> bool:
        """True: the job had not reached the device and never will. False: it is too late."""
        return self._end is None and self._pipeline._core.cancel(self._token)

    def result(self, timeout: float | None = None) -> list[Any]:
        """Waits for the job, at most ``timeout`` seconds.

        Returns
        -------
        list of arrays
            The outputs of the job.

        Raises
        ------
        TimeoutError
            The job is still queued or running; wait again.
        Cancelled
            It was cancelled.
        Error
            The job's own failure.
        """
        if self._end is None:
            try:
                if not self._pipeline._core.wait(self._token, timeout):
                    raise TimeoutError(f"Future.result: the job is {self.state} after {timeout} s")
                return self._job.outputs
            except InvalidArgument:
                if self._end is None:
                    raise  # otherwise another thread has closed the pipeline
        if self._end[1] is not None:
            raise self._end[1]
        return self._job.outputs

    def exception(self, timeout: float | None = None) -> Error | None:
        """The failure of the job, or None."""
        try:
            self.result(timeout)
        except Cancelled:
            raise
        except Error as error:
            return error
        return None

    def __await__(self) -> Generator[Any, None, list[Any]]:
        import asyncio

        pause = 0.0
        while not self.done():
            yield from asyncio.sleep(pause).__await__()
            pause = min(pause + 0.0001, 0.002)
        return self.result()


class JobPipeline:
    """A running batch that takes jobs one by one; its own thread moves them through the device.

    May be used from any thread. Leaving it as a context manager waits for every job.

    Parameters
    ----------
    program : Program
    mode, path, queues, chunk_elements, ring_slots
        As :func:`run_batch`.

    Examples
    --------
    >>> F = weftgpu.Field("babybear")
    >>> with weftgpu.JobPipeline(program) as pipeline:  # doctest: +SKIP
    ...     futures = [pipeline.submit(job) for job in jobs]
    ...     outputs = [future.result() for future in futures]
    """

    def __init__(
        self, program: Program, *, mode: str = "pipelined", path: str = "auto", queues: str = "auto",
        chunk_elements: int = 0, ring_slots: int = 0,
    ) -> None:
        _jobs_of("JobPipeline", program, ())
        self._core = _core._Pipeline.__new__(_core._Pipeline)
        call_core(
            "JobPipeline", _core._Pipeline.__init__, self._core, program.backend, program, mode, path, queues,
            chunk_elements, ring_slots,
        )
        self._unfinished: dict[int, Job] = {}  # keeps arrays alive whose Future is gone
        self._futures: weakref.WeakSet[Future] = weakref.WeakSet()
        self._closed = False
        _open.add(self)

    def submit(self, job: Job) -> Future:
        """Queues a job and never waits. Its arrays must not change until it is done.

        Raises
        ------
        InvalidArgument
            As :func:`run_batch`, and if the job overlaps memory of a job that is not done.
        """
        for token in list(self._unfinished):  # in the order of their submission
            if self._core.state(token) in ("queued", "running"):
                break
            self._unfinished.pop(token, None)  # another thread may have been faster
        token = self._core.submit(job)
        self._unfinished[token] = job
        future = Future(self, token, job)
        self._futures.add(future)
        return future

    def wait_all(self) -> None:
        """Waits for every job. Raises the first failure; jobs that cancel() cancelled are none."""
        failure: Error | None = None
        for token in list(self._unfinished):
            try:
                self._core.wait(token, None)
            except Cancelled:
                pass
            except Error as error:
                failure = failure or error
            self._unfinished.pop(token, None)
        if failure is not None:
            raise failure

    def report(self) -> _core.BatchReport:
        """Totals of the jobs that are done."""
        return self._core.report()

    def close(self) -> None:
        """Cancels queued jobs and waits for running ones. Futures keep their outcome.

        Ctrl-C, or a signal handler that raises, ends the wait. The futures of jobs that still run then raise Cancelled,
        and their outputs are undefined; the next call of weftgpu waits until nothing writes to them.
        """
        self._close(True)

    def _close(self, wait: bool) -> None:
        if self._closed:
            return
        self._closed = True
        futures = list(self._futures)
        try:
            for token in reversed(list(self._unfinished)):
                self._core.cancel(token)
            for future in futures:
                future._settle(wait)
        except BaseException:  # of a signal handler
            wait = False
            raise
        finally:
            try:
                for future in futures:
                    future._settle(False)
            finally:
                self._core.close(self._unfinished, wait)

    def __enter__(self) -> JobPipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        wait = kind is None or not issubclass(kind, KeyboardInterrupt)
        try:
            if kind is None:
                self.wait_all()
        except Error:  # of a job
            raise
        except BaseException:  # of a signal handler
            wait = False
            raise
        finally:
            self._close(wait)


_open: weakref.WeakSet[JobPipeline] = weakref.WeakSet()


def _close_all() -> None:
    for pipeline in list(_open):
        pipeline.close()


atexit.register(_close_all)
