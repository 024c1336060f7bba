# SPDX-License-Identifier: Apache-2.0
"""Classical values into quantum states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weftgpu import _core
from weftgpu._arguments import call_core, no_effect
from weftgpu._errors import InvalidArgument
from weftgpu._progress import with_progress

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from weftgpu._backend import Backend
    from weftgpu._devices import Devices
    from weftgpu._progress import Progress
    from weftgpu._stream import Buffer, Stream


def encode(
    x: Any,
    method: str = "amplitude",
    qubits: int | None = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    *,
    strict: bool = False,
    stream: Stream | None = None,
    backend: Backend | Devices | None = None,
    progress: Progress = None,
) -> Any:
    """Encodes each row of ``x`` into a state of ``qubits`` qubits; qubit k is bit k of an amplitude's index.

    Parameters
    ----------
    x : array, (samples, features), float32 or float64
        For ``basis`` also int64, and also (samples,). Angles are in radians and not halved.
    method : {"amplitude", "angle", "basis", "phase", "iqp", "iqp-z"}
        ``amplitude``: up to 2**qubits values, divided by their norm, then zeros. ``angle``: one angle a qubit,
        cos and sin. ``basis``: one index. ``phase``: one angle a qubit. ``iqp``: qubits + qubits (qubits - 1) / 2
        angles. ``iqp-z``: one angle a qubit.
    qubits : int, optional
        1 to 30. By default the least number that the features fill; ``basis`` needs it.
    dtype : complex64 or complex128, optional
        Of the states; by default that of ``out``, or complex64.
    out : array, (samples, 2**qubits), optional
        Where the states are written; with ``stream`` a Buffer.
    strict : bool
        Refuses the batch before a state is written. Otherwise the states of rows that cannot be encoded become
        zeros, all others are right, and the error comes when the work is done.
    stream : Stream, optional
        ``x`` and ``out`` are Buffers; records the work and returns an EncodeOutcome.
    backend : Backend or Devices, optional
    progress : bool or callable, optional
        Called with (done, total, per second, seconds left), counted in samples.

    Returns
    -------
    numpy.ndarray, (samples, 2**qubits)
        ``out``, or a new array.

    Raises
    ------
    EncodeError
        Rows that cannot be encoded, in ``.rows``.
    TypeError, InvalidArgument
        Types, shapes or order; nothing has run.

    Examples
    --------
    >>> weftgpu.encode(np.array([[3.0, 4.0]], dtype=np.float32)).real.round(4)
    array([[0.6, 0.8]], dtype=float32)
    """
    if qubits is None:
        qubits = _qubits_for(method, x)
    if stream is not None:
        if out is None:
            raise InvalidArgument("encode: with a stream, out must be a Buffer", "invalid_argument")
        no_effect("encode", strict=strict, dtype=dtype is not None, backend=backend is not None,
                  progress=bool(progress))
        return call_core("encode", _core._encode_stream, stream, method, x, qubits, out)
    if dtype is None:
        # By its name, because other libraries have types of their own: torch.complex64.
        dtype = str(getattr(out, "dtype", "complex64")).rpartition(".")[2]
    return with_progress(
        progress,
        "samples",
        lambda callback: call_core("encode", _core._encode, backend, method, x, qubits, dtype, out, strict, callback),
    )


def _qubits_for(method: str, x: Any) -> int:
    """The least number of qubits that a row of ``x`` fills."""
    shape: tuple[int, ...] = tuple(getattr(x, "shape", ()))
    name = str(method).lower()
    if len(shape) != 2 or name == "basis":
        raise InvalidArgument(
            f"encode: qubits: not given, and {name} with x of shape {shape} does not imply it", "invalid_argument"
        )
    features = int(shape[1])
    if name == "amplitude":
        return max(1, (features - 1).bit_length())
    for qubits in range(1, 31):
        if int(_core._encode_features(name, qubits)) == features:
            return qubits
    raise InvalidArgument(
        f"encode: x: no number of qubits has {features} features with {name}", "invalid_argument"
    )
