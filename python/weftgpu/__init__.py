# SPDX-License-Identifier: Apache-2.0
"""weftgpu: GPU compute on Vulkan for Python; NumPy in, NumPy out.

Importing this package opens no driver and needs none: the first call that uses a device makes a
:class:`Backend`, and says why if there is none.
"""

# First, because what a module does at exit is done in reverse order, and pipelines and streams end before devices.
from weftgpu._default import default_backend, set_default_backend
from weftgpu._backend import Backend
from weftgpu._batch import Broadcast, Future, Job, JobPipeline, run_batch
from weftgpu._core import (
    BatchReport,
    Device,
    DeviceReport,
    EncodeOutcome,
    Event,
    KernelEigenReport,
    KernelSolveReport,
    OpReport,
    ProfileReport,
    Sequence,
    center_kernel_matrix,
    clip_kernel_matrix,
    devices,
    field_names,
    kernel_alignment,
    kernel_polarity,
    last_report,
    normalize_kernel_matrix,
)
from weftgpu._devices import Devices
from weftgpu._encode import encode
from weftgpu._errors import (
    Cancelled,
    DeviceLost,
    EncodeError,
    Error,
    InvalidArgument,
    OutOfMemory,
    Unavailable,
)
from weftgpu._field import Field
from weftgpu._kernel_matrix import estimate_kernel_matrix, kernel_matrix
from weftgpu._kernel_operator import KernelOperator, kernel_operator
from weftgpu._lattice import Lattice, LatticeSearch, LatticeTrial
from weftgpu._profile import profile, trace
from weftgpu._program import Program, SpirV, compile_glsl
from weftgpu._core import version as __version__
from weftgpu._stream import Buffer, Stream, from_dlpack, pinned_empty

__all__ = [
    "Backend",
    "BatchReport",
    "Broadcast",
    "Buffer",
    "Cancelled",
    "Device",
    "DeviceLost",
    "DeviceReport",
    "Devices",
    "EncodeError",
    "EncodeOutcome",
    "Error",
    "Event",
    "Field",
    "Future",
    "InvalidArgument",
    "Job",
    "JobPipeline",
    "KernelEigenReport",
    "KernelOperator",
    "KernelSolveReport",
    "Lattice",
    "LatticeSearch",
    "LatticeTrial",
    "OpReport",
    "OutOfMemory",
    "ProfileReport",
    "Program",
    "Sequence",
    "SpirV",
    "Stream",
    "Unavailable",
    "__version__",
    "center_kernel_matrix",
    "clip_kernel_matrix",
    "compile_glsl",
    "default_backend",
    "devices",
    "encode",
    "estimate_kernel_matrix",
    "field_names",
    "from_dlpack",
    "kernel_alignment",
    "kernel_matrix",
    "kernel_operator",
    "kernel_polarity",
    "last_report",
    "normalize_kernel_matrix",
    "pinned_empty",
    "profile",
    "run_batch",
    "set_default_backend",
    "trace",
]
