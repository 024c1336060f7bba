# SPDX-License-Identifier: Apache-2.0
"""What the libraries of CUDA arrays say about their arrays: streams, and new arrays. Imports none of them."""

from __future__ import annotations

import sys
from typing import Any

from weftgpu import _core
from weftgpu._errors import InvalidArgument

# The number of CUDA's default stream in DLPack, where 0 is forbidden.
_DEFAULT = 1


def stream_number(stream: Any) -> int:
    """A CUDA stream as DLPack numbers it: an int, or a stream of PyTorch, CuPy or cuda.core."""
    if hasattr(stream, "__cuda_stream__"):
        stream = stream.__cuda_stream__()[1]
    for name in ("cuda_stream", "ptr"):  # of PyTorch and of CuPy
        stream = getattr(stream, name, stream)
    if not isinstance(stream, int):
        raise TypeError(
            f"weftgpu: not a CUDA stream (got {type(stream).__name__}, need an int, or a stream of PyTorch or CuPy)"
        )
    if not -1 <= stream < 1 << 64:  # -1 of DLPack: there is nothing to wait for
        raise InvalidArgument(f"weftgpu: no CUDA stream (got {stream}, need a handle of 64 bits)", "invalid_argument")
    return stream or _DEFAULT


def _library(array: Any) -> str:
    for name, kind in (("torch", "Tensor"), ("cupy", "ndarray")):
        module = sys.modules.get(name)
        if module is not None and isinstance(array, getattr(module, kind, ())):
            return name
    return ""


def _current_stream(library: str, ordinal: int) -> int:
    if library == "torch":
        return stream_number(sys.modules["torch"].cuda.current_stream(ordinal))
    return stream_number(sys.modules["cupy"].cuda.get_current_stream(ordinal))


def order_of(arrays: list[Any], ordinal: int) -> tuple[int, bool]:
    """The stream that a call on these arrays uses, and whether the call waits for it.

    The stream is the current one of the first array's library that has such a thing. Arrays of other libraries, which
    do not know that stream, may reuse their memory as soon as the array is gone, so the call waits then.
    """
    others = [array for array in arrays if not isinstance(array, _core._Buffer)]  # their memory outlives work
    library = next((_library(array) for array in others if _library(array)), "")
    wait = any(_library(array) != library or not library for array in others)
    if library:
        return _current_stream(library, ordinal), wait
    streams = {_stream_of_interface(array) for array in others if not hasattr(array, "__dlpack__")}
    if len(streams) > 1:
        raise InvalidArgument(
            "weftgpu: arrays of several CUDA streams; wait for all but one of the streams first", "invalid_argument"
        )
    return (streams.pop() if streams else _DEFAULT), wait


def _stream_of_interface(array: Any) -> int:
    return array.__cuda_array_interface__.get("stream") or _DEFAULT


def is_read_only(array: Any) -> bool:
    """Whether an array must not be written, by what its library says beside DLPack."""
    if _library(array):
        return False
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(array, jax.Array):
        return True
    interface = getattr(array, "__cuda_array_interface__", None)
    return interface is not None and bool(interface["data"][1])


def empty(like: Any, ordinal: int, shape: tuple[int, ...], dtype: str) -> Any:
    """A new array on the device of ``like``: of PyTorch or CuPy as it is, otherwise a Buffer of the default backend."""
    library = _library(like)
    if library == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
    if library == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(ordinal):
            return cupy.empty(shape, dtype)
    from weftgpu._stream import Buffer

    return Buffer(shape, dtype, cuda=True)
