from collections.abc import Callable, Iterable, Sequence as _Sequence
from typing import Any, overload


version: str = '0.2.0'

def _shut_down() -> None:
    """Called when the interpreter exits."""

def _after_fork() -> None:
    """Called in a process that was forked."""

class DeviceReport:
    """What one device of a Devices did in a call."""

    @property
    def name(self) -> str:
        """Of the device."""

    @property
    def device(self) -> int:
        """Its place in the Devices."""

    @property
    def shares(self) -> int:
        """Parts of the call that it did."""

    @property
    def jobs(self) -> int:
        """Of these parts; a job that several devices did counts for each."""

    @property
    def items(self) -> int:
        """As ``OpReport.items``; of run_batch, elements."""

    @property
    def bytes_in(self) -> int: ...

    @property
    def bytes_out(self) -> int: ...

    @property
    def busy_s(self) -> float:
        """From the beginning to the end of each share, added up."""

    @property
    def idle_end_s(self) -> float:
        """From the end of its last share to the end of the call."""

    @property
    def lost(self) -> bool:
        """In this call or before."""

    @property
    def note(self) -> str:
        """
        Why it took no share, or no more; the error if it failed; otherwise empty.
        """

    def __repr__(self) -> str: ...

class BatchReport:
    """
    What a batch did. Every figure was measured or counted in that run; times in seconds.
    """

    @property
    def jobs(self) -> int: ...

    @property
    def elements(self) -> int: ...

    @property
    def chunks(self) -> int: ...

    @property
    def bundles(self) -> int:
        """Sets of chunks that were submitted together."""

    @property
    def bytes_in(self) -> int: ...

    @property
    def bytes_out(self) -> int: ...

    @property
    def wall_s(self) -> float:
        """From the call until the last output was in place."""

    @property
    def copy_in_s(self) -> float:
        """Host time of staging copies of inputs."""

    @property
    def copy_out_s(self) -> float:
        """Host time of staging copies of outputs."""

    @property
    def waits(self) -> int:
        """Times that the host waited for the device."""

    @property
    def wait_s(self) -> float: ...

    @property
    def path(self) -> str: ...

    @property
    def mixed_paths(self) -> bool: ...

    @property
    def split_queues(self) -> bool: ...

    @property
    def host_memory(self) -> str: ...

    @property
    def queues(self) -> str: ...

    @property
    def ring_slots(self) -> int: ...

    @property
    def chunk_elements(self) -> int: ...

    @property
    def devices(self) -> list[DeviceReport]:
        """
        A row for each device of a Devices; empty: the call was on one Backend. The other figures are
        sums over the rows, except ``wall_s``.
        """

    @property
    def gb_per_s(self) -> float:
        """(bytes_in + bytes_out) / wall_s / 1e9."""

    @property
    def device_s(self) -> float:
        """Time in which at least one stage ran; 0 if not timed."""

    @property
    def overlap(self) -> float:
        """Share of device_s in which at least two stages ran; 0 if not timed."""

    def stage_s(self, stage: str) -> float:
        """
        Busy time of ``upload``, ``kernel``, ``download``, ``copy-in`` or ``copy-out``.
        """

    def __repr__(self) -> str: ...

class OpReport(BatchReport):
    """What an op did on arrays in host memory."""

    @property
    def op(self) -> str:
        """``field_add``, ``encode``, ``kernel_matrix``, ..."""

    @property
    def method(self) -> str:
        """How it was computed, if there was a choice."""

    @property
    def items(self) -> int:
        """
        Elements of field ops, samples of encodes, vectors of lattices, pairs of kernel matrices.
        """

    @property
    def items_per_s(self) -> float: ...

    @property
    def retried(self) -> int:
        """Of lattice codes: vectors with at least one retry."""

    @property
    def unresolved(self) -> int:
        """Of lattice codes: vectors that still overload after the last retry."""

    def __repr__(self) -> str: ...

def last_report() -> OpReport:
    """
    The report of this thread's last call on arrays in host memory.

    Returns
    -------
    OpReport
        Of an op; before the first call, a report of nothing.
    """

class _Devices:
    def __init__(self, device: str | None, path: str | None, queues: str | None, host_allocator: str | None, validation: str | None, log_level: str | None, trace: str | None, cache_dir: str | None, vulkan_library: str | None, chunk_elements: int | None, memory_limit: int | None, ring_slots: int | None, copy_threads: int | None, cache: bool | None) -> None: ...

    def __len__(self) -> int: ...

    @property
    def names(self) -> list[str]:
        """Name of each device."""

    @property
    def lost(self) -> list[bool]:
        """
        Of each device, whether a call found it lost, so that later calls leave it out.
        """

    def wait_idle(self) -> None:
        """
        Waits until every device that is not lost is idle, and until calls that a signal ended write to no array any more.
        """

    def trim(self) -> None:
        """
        Frees staging memory and scratch that no call uses at the moment, of every device that is not lost.
        """

    def save_pipeline_cache(self) -> bool:
        """
        Writes the pipeline caches to disk now; False if they are off or one cannot be written.
        """

    def _close(self) -> None: ...

class Device:
    """One physical device as its driver reports it; see devices()."""

    @property
    def index(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def driver(self) -> str:
        """Name and version text of the driver."""

    @property
    def uuid(self) -> str:
        """32 hexadecimal digits."""

    @property
    def type(self) -> str:
        """``discrete``, ``integrated``, ``virtual``, ``cpu`` or ``other``."""

    @property
    def api(self) -> str:
        """Version of Vulkan."""

    @property
    def memory(self) -> int:
        """Bytes of device memory."""

    @property
    def unified_memory(self) -> bool:
        """The host can map all device memory."""

    @property
    def float64(self) -> bool:
        """Shaders can use float64."""

    @property
    def int64(self) -> bool:
        """Shaders can use 64-bit integers."""

    @property
    def refused(self) -> list[str]:
        """Why weft cannot use the device; empty: it can."""

    @property
    def chosen(self) -> bool:
        """A Backend without settings takes this one."""

    def __repr__(self) -> str: ...

def devices() -> list[Device]:
    """
    Every device that the Vulkan loader reports, with the reasons why some cannot be used.

    Returns
    -------
    list of Device
        Empty where there is no Vulkan loader or no device.

    Examples
    --------
    >>> for device in weftgpu.devices():
    ...     usable = not device.refused
    """

class _Backend:
    @overload
    def __init__(self, device: str | None, path: str | None, queues: str | None, host_allocator: str | None, validation: str | None, log_level: str | None, trace: str | None, cache_dir: str | None, vulkan_library: str | None, chunk_elements: int | None, memory_limit: int | None, ring_slots: int | None, copy_threads: int | None, cache: bool | None) -> None: ...

    @overload
    def __init__(self, devices: _Devices, index: int) -> None: ...

    @property
    def name(self) -> str:
        """Name of the device."""

    @property
    def device(self) -> Device: ...

    @property
    def plan(self) -> dict[str, Any]:
        """
        What was chosen for the device, with a line of ``reasons`` for each choice.
        """

    @property
    def counters(self) -> dict[str, Any]:
        """Running totals since the Backend was made."""

    @property
    def memory(self) -> dict[str, Any]:
        """
        Bytes of device and page-locked memory; ``names`` maps a name to live and peak bytes and buffers.
        """

    @property
    def startup(self) -> dict[str, Any]:
        """Seconds of each part of the start."""

    def wait_idle(self) -> None:
        """
        Waits until the device is idle, and until calls that a signal ended write to no array any more.
        """

    def trim(self) -> None:
        """Frees staging memory and scratch that no call uses at the moment."""

    def save_pipeline_cache(self) -> bool:
        """
        Writes the pipeline cache to disk now; False if it is off or cannot be written.
        """

    def _cuda_event(self, stream: int) -> Event: ...

    def close(self) -> None:
        """
        Waits for running work, saves the pipeline cache and lets go of the device. Buffers, programs and
        streams that were made with it keep the device open.
        """

class _Buffer:
    @overload
    def __init__(self, backend: object | None, shape: _Sequence[int], dtype: object | None, pinned: bool, cuda: bool, name: str) -> None: ...

    @overload
    def __init__(self, backend: object | None, array: object) -> None: ...

    @property
    def shape(self, /) -> tuple[int, ...]: ...

    @property
    def _dtype(self) -> object: ...

    @property
    def size(self) -> int:
        """In elements."""

    @property
    def nbytes(self) -> int: ...

    @property
    def pinned(self) -> bool:
        """Page-locked memory of the host, which the device reaches."""

    @property
    def array(self, /) -> Any:
        """
        The memory of a pinned buffer as a NumPy array, without a copy. Wait for the streams that use it
        before it is read or changed.
        """

    def __len__(self) -> int: ...

    def __getitem__(self, arg: slice, /) -> _Buffer:
        """A contiguous part along the first axis, of the same memory."""

    def __dlpack__(self, **kwargs: object) -> object: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

    def __repr__(self) -> str: ...

class _Program:
    def __init__(self, backend: object, spirv: object | None, name: str, entry: str, constants: dict[int, object], local_size: _Sequence[int], elements_per_workgroup: int, max_workgroups: int, workgroups_per_element: int) -> None: ...

    @property
    def name(self) -> str: ...

    @property
    def bindings(self) -> list[tuple[int, str, str]]:
        """(number, name, ``read``, ``write`` or ``read_write``) of each buffer."""

    @property
    def local_size(self) -> list[int]:
        """Invocations of a workgroup."""

    @property
    def push_constant_bytes(self) -> int: ...

    @property
    def create_s(self) -> float:
        """Seconds that the driver took for the pipeline."""

class _Job:
    def __init__(self, inputs: _Sequence[object], every_chunk: _Sequence[bool], outputs: _Sequence[object], elements: int | None, parameters: bytes, name: str) -> None: ...

    @property
    def elements(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def outputs(self) -> list[Any]: ...

def _run_batch(backend: object, program: _Program, jobs: Iterable[_Job], progress: object | None, mode: str, path: str, queues: str, chunk_elements: int, ring_slots: int) -> BatchReport: ...

class _Pipeline:
    def __init__(self, backend: object, program: _Program, mode: str, path: str, queues: str, chunk_elements: int, ring_slots: int) -> None: ...

    def submit(self, arg: _Job, /) -> int: ...

    def state(self, arg: int, /) -> str: ...

    def cancel(self, arg: int, /) -> bool: ...

    def wait(self, token: int, timeout_s: float | None) -> bool: ...

    def report(self) -> BatchReport: ...

    def close(self, jobs: object, wait: bool) -> None: ...

class Event:
    """
    A point in the work of a stream: reached when everything before it is done.
    """

    def done(self) -> bool: ...

    def wait(self, timeout: float | None = None) -> bool:
        """Waits, at most ``timeout`` seconds; False if the time was up."""

class Sequence:
    """Steps that Stream.record recorded; run them with Stream.replay."""

    @property
    def steps(self) -> int: ...

    @property
    def dispatches(self) -> int: ...

    @property
    def barriers(self) -> int: ...

class _Stream:
    def __init__(self, backend: object | None, name: str, queue: str) -> None: ...

    def upload(self, array: object | None, target: object | None) -> None:
        """
        Copies an array to a buffer of the same type and shape. The array may change when the call returns.
        """

    def download(self, source: object | None, out: object | None = None) -> Any:
        """
        Waits for the recorded work and copies a buffer to ``out`` or to a new array, which is returned.
        """

    def fill(self, target: object | None, value: int) -> None:
        """Fills a buffer with a 32-bit value."""

    def copy(self, source: object | None, target: object | None) -> None:
        """Copies a buffer to another one of as many bytes."""

    def _dispatch(self, program: _Program, buffers: _Sequence[object], elements: int, parameters: bytes) -> None: ...

    def submit(self) -> Event:
        """
        Hands everything recorded to the device. The event is reached when it is done.
        """

    def wait(self, timeout: float | None = None) -> bool:
        """
        Submits, then waits, at most ``timeout`` seconds; False if the time was up.
        """

    def wait_for(self, event: Event) -> None:
        """
        Work that is recorded from now on runs after ``event`` of another stream.
        """

    @overload
    def record(self, steps: Callable[[_Stream], object]) -> Sequence:
        """
        Records the steps of ``steps(stream)``, or of the block ``with stream.record() as sequence:``, without
        running them. An exception drops the steps.
        """

    @overload
    def record(self) -> Recording: ...

    def replay(self, sequence: Sequence) -> Event:
        """
        Submits what is pending, then the sequence, without recording anything.
        """

    def close(self) -> None:
        """
        Waits for submitted work; drops what was recorded and not submitted. Closing twice does nothing.
        """

    @property
    def closed(self) -> bool: ...

class Recording:
    """The block of ``with stream.record() as sequence:``."""

    def __enter__(self) -> Sequence: ...

    def __exit__(self, kind: object | None, error: object | None, where: object | None) -> None: ...

class ProfileReport:
    """What a backend did during a window. Times in seconds."""

    @property
    def device(self) -> str: ...

    @property
    def wall_s(self) -> float:
        """Length of the window."""

    @property
    def busy_s(self) -> float:
        """Time in which a stage ran, on the device or the host."""

    @property
    def device_s(self) -> float:
        """Time in which an upload, a kernel or a download ran."""

    @property
    def overlap(self) -> float:
        """Share of device_s in which at least two of them ran."""

    @property
    def copy_hidden(self) -> float:
        """Share of the device's copy time during which kernels ran."""

    @property
    def host_copy_hidden(self) -> float: ...

    @property
    def idle(self) -> float:
        """Share of the window in which no stage ran."""

    @property
    def stages(self) -> dict[str, float]:
        """Busy seconds of each stage."""

    def to_table(self) -> str: ...

    def to_json(self) -> str: ...

    def to_csv(self) -> str:
        """One line for each stage and kernel, with a header."""

    def __repr__(self) -> str: ...

class _Profile:
    def __init__(self, backend: object | None) -> None: ...

    def report(self) -> ProfileReport:
        """Figures from the start of the window to now."""

    def write_trace(self, path: str) -> None: ...

def field_names() -> list[str]:
    """The names that Field takes."""

class _Field:
    def __init__(self, name: str) -> None: ...

    @property
    def name(self) -> str: ...

    @property
    def bits(self) -> int:
        """Of the modulus."""

    @property
    def limbs(self) -> int:
        """Of an element, least significant first."""

    @property
    def element_bytes(self) -> int: ...

    @property
    def _dtype(self) -> object: ...

    @property
    def modulus(self, /) -> int: ...

    def _apply(self, name: str, backend: object | None, a: object | None, b: object | None, scalar: object | None, out: object | None, checked: bool, montgomery: bool, progress: object | None) -> Any: ...

    def _record(self, name: str, stream: _Stream, a: object | None, b: object | None, scalar: object | None, out: object | None, montgomery: bool) -> None: ...

def _ntt(field: _Field, name: str, backend: object | None, x: object | None, out: object | None, inverse: bool, blowup: int, order: str, axis: int, coset: object | None, root: object | None, checked: bool, montgomery: bool, progress: object | None) -> Any: ...

def _ntt_stream(field: _Field, name: str, stream: _Stream, x: object | None, out: object | None, inverse: bool, blowup: int, order: str, axis: int, coset: object | None, root: object | None, montgomery: bool) -> None: ...

def _ntt_product(field: _Field, backend: object | None, a: object | None, b: object | None, out: object | None, checked: bool, montgomery: bool, progress: object | None) -> Any: ...

def _ntt_product_stream(field: _Field, stream: _Stream, a: object | None, b: object | None, out: object | None, montgomery: bool) -> None: ...

def _ntt_root(field: _Field, log_size: int) -> int: ...

def _two_adicity(field: _Field) -> int: ...

def _encode(backend: object | None, method: str, x: object | None, qubits: int, dtype: object, out: object | None, strict: bool, progress: object | None) -> Any: ...

def _encode_features(arg0: str, arg1: int, /) -> int: ...

class EncodeOutcome:
    """Which samples of an encode on a Stream failed."""

    def failures(self, stream: _Stream) -> list[tuple[int, int, str]]:
        """Waits, and returns (sample, position, fault) of every sample at fault."""

def _encode_stream(stream: _Stream, method: str, x: object | None, qubits: int, out: object | None) -> EncodeOutcome: ...

def _kernel_matrix(backend: object | None, x: object | None, y: object | None, map: str, weights: object | None, reupload: bool, scale: float, dtype: object, normalize: bool, jitter: float, state_tile: int, out: object | None, own_out: bool, store: object | None, progress: object | None) -> Any: ...

def _kernel_matrix_stream(stream: _Stream, x: object | None, y: object | None, map: str, weights: object | None, reupload: bool, scale: float, out: object | None, normalize: bool, jitter: float) -> None: ...

def _estimate_kernel_matrix(backend: object | None, samples: int, others: int, qubits: int, map: str, weights: object | None, reupload: bool, scale: float, dtype: object, normalize: bool) -> dict[str, Any]: ...

def center_kernel_matrix(k: object | None) -> None:
    """
    In place: H K H with H = 1 - ones / rows, so that rows and columns sum to 0.
    """

def clip_kernel_matrix(k: object | None) -> int:
    """
    In place: the nearest positive semidefinite matrix. Returns how many eigenvalues were negative.
    """

def normalize_kernel_matrix(k: object | None, jitter: float = 0.0) -> None:
    """
    In place: K[i, j] / sqrt(d_i d_j) with d_i = max(K[i, i] + jitter, 1e-12).
    """

def kernel_alignment(k: object | None, labels: object | None, rescale_labels: bool = True) -> float:
    """
    Alignment of a kernel matrix with labels of +1 and -1 (float64), at most 1.
    """

def kernel_polarity(k: object | None, labels: object | None, rescale_labels: bool = True) -> float:
    """Sum over i, j of y_i y_j K[i, j] for labels of +1 and -1 (float64)."""

class KernelSolveReport:
    """What a solve with a KernelOperator did."""

    @property
    def converged(self) -> bool: ...

    @property
    def iterations(self) -> int:
        """Products with K + lambda_ I in the recurrence."""

    @property
    def resumed(self) -> int:
        """Of the iterations, those that the checkpoint had."""

    @property
    def rank(self) -> int:
        """Of the preconditioner, which ends early where nothing of K is left."""

    @property
    def residuals(self) -> list[float]:
        """
        ``norm(y - (K + lambda_ I) alpha) / norm(y)`` of each column, computed anew from the
        solution.
        """

    @property
    def residual(self) -> float:
        """The largest."""

    @property
    def preconditioner_s(self) -> float: ...

    @property
    def product_s(self) -> float:
        """Products with K."""

    @property
    def wall_s(self) -> float: ...

    def __repr__(self) -> str: ...

class KernelEigenReport:
    """How the eigenvalues of a KernelOperator were found."""

    @property
    def converged(self) -> bool: ...

    @property
    def products(self) -> int:
        """Of K with a block of vectors."""

    @property
    def residuals(self) -> list[float]:
        """
        ``norm(K v - value v)`` of each vector in units of the largest eigenvalue of K, by a
        product of its own.
        """

    @property
    def product_s(self) -> float:
        """Products with K."""

    @property
    def wall_s(self) -> float: ...

    def __repr__(self) -> str: ...

class _KernelOperator:
    pass

def _kernel_operator(backend: object | None, x: object | None, y: object | None, map: str, weights: object | None, reupload: bool, scale: float, dtype: object, normalize: bool, jitter: float, lambda_: float) -> _KernelOperator: ...

def _view(call: str, name: str, array: object | None, rows: bool) -> Any: ...

def _kernel_apply(k: _KernelOperator, v: object | None, transpose: bool) -> Any: ...

def _kernel_rows(k: _KernelOperator, indices: _Sequence[int]) -> Any: ...

def _kernel_diagonal(k: _KernelOperator) -> Any: ...

def _kernel_solve(k: _KernelOperator, y: object | None, lambda_: float, rank: int, tol: float, max_iterations: int, seed: int, checkpoint: str, checkpoint_every: int, resume: bool, progress: object | None) -> tuple[Any, KernelSolveReport]: ...

def _kernel_solve_over_ranks(k: _KernelOperator, ranks: object, y: object | None, lambda_: float, rank: int, tol: float, max_iterations: int, seed: int, checkpoint: str, checkpoint_every: int, resume: bool) -> tuple[Any, KernelSolveReport]: ...

def _kernel_eigen(operator: _KernelOperator, k: int, tol: float, max_products: int, seed: int, progress: object | None) -> tuple[Any, Any, KernelEigenReport]: ...

def _kernel_predict(backend: object | None, x_new: object | None, x: object | None, alpha: object | None, map: str, weights: object | None, reupload: bool, scale: float, progress: object | None) -> Any: ...

def _estimate_kernel_operator(k: _KernelOperator, columns: int) -> dict[str, Any]: ...

class _Lattice:
    def __init__(self, lattice: str, q: int, levels: int, beta: float, alpha: float, max_retries: int, packed: bool, dither_seed: int | None, dither_first: int) -> None: ...

    @property
    def lattice(self) -> str: ...

    @property
    def dimension(self) -> int:
        """Values of a vector."""

    @property
    def q(self) -> int: ...

    @property
    def levels(self) -> int: ...

    @property
    def beta(self) -> float: ...

    @property
    def alpha(self) -> float: ...

    @property
    def max_retries(self) -> int: ...

    @property
    def packed(self) -> bool: ...

    @property
    def dither_seed(self) -> int | None: ...

    @property
    def dither_first(self) -> int: ...

    @property
    def digit_bits(self) -> int: ...

    def _encode(self, backend: object | None, x: object | None, out: object | None, status: object | None, checked: bool, progress: object | None) -> tuple[Any, Any]: ...

    def _decode(self, backend: object | None, codes: object | None, status: object | None, shape: _Sequence[int] | None, depth: int, out: object | None, checked: bool, progress: object | None) -> Any: ...

    def _quantize(self, backend: object | None, x: object | None, out: object | None, status: object | None, checked: bool, progress: object | None) -> Any: ...

    def _inner(self, backend: object | None, x: object | None, y: object | None, shape: _Sequence[int], out: object | None, checked: bool) -> Any: ...

    def _search_beta(self, backend: object | None, sample: object | None, low: float, high: float, steps: int, progress: object | None) -> tuple[tuple[float, float, float, float], list[tuple[float, float, float, float]]]: ...
