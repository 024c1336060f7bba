# SPDX-License-Identifier: Apache-2.0
"""Arrays on CUDA devices, as far as they can be tested without one. test_arrays_cuda.py needs a GPU."""
import enum

import numpy as np
import pytest

import weftgpu
from weftgpu import _cuda


class Kind(enum.IntEnum):
    """As PyTorch and JAX name kinds of devices."""

    CUDA = 2


class OnCuda:
    """Claims to be on a CUDA device, as an array of another library does."""

    dtype, shape = "float32", (2, 2)

    def __dlpack_device__(self):
        return (Kind.CUDA, 0)

    def __dlpack__(self, **_):
        raise AssertionError("read before anything was known about the device")


def has_cuda():
    """Whether this build has CUDA and this machine a device of it."""
    try:
        weftgpu.Buffer(1, cuda=True)
    except weftgpu.Unavailable:
        return False
    return True


def test_an_array_that_cannot_be_reached_is_refused():
    if has_cuda():
        pytest.skip("CUDA is here")
    F, code = weftgpu.Field("babybear"), weftgpu.Lattice("e8")
    for name, call in {
        "kernel_matrix": lambda: weftgpu.kernel_matrix(OnCuda()),
        "encode": lambda: weftgpu.encode(OnCuda(), "angle"),
        "Field.add": lambda: F.add(OnCuda(), OnCuda()),
        "Lattice.encode": lambda: code.encode(OnCuda()),
        "from_dlpack": lambda: weftgpu.from_dlpack(OnCuda()),
    }.items():
        with pytest.raises(weftgpu.Unavailable, match=f"{name}: an array on a CUDA device: ") as caught:
            call()
        assert "no NVIDIA driver" in str(caught.value) or "has no CUDA" in str(caught.value)


def test_memory_for_cuda_says_why_it_is_not_there():
    if has_cuda():
        pytest.skip("CUDA is here")
    with pytest.raises(weftgpu.Unavailable, match="CUDA|NVIDIA"):
        weftgpu.Buffer(4, cuda=True)
    with pytest.raises(weftgpu.Unavailable, match="CUDA|NVIDIA"):
        weftgpu.default_backend().cuda_event(1)
    with pytest.raises(weftgpu.InvalidArgument, match="pinned=True or cuda=True"):
        weftgpu.Buffer(4, cuda=True, pinned=True)


def test_buffers_without_cuda_do_not_look_like_cuda():
    for buffer in (weftgpu.Buffer(4), weftgpu.Buffer(4, pinned=True)):
        assert not hasattr(buffer, "__cuda_array_interface__")


def test_numbers_of_streams():
    class Torch:
        cuda_stream = 0

    class Cupy:
        ptr = 77

    class Protocol:
        def __cuda_stream__(self):
            return (0, 99)

    assert [_cuda.stream_number(s) for s in (Torch(), Cupy(), Protocol(), 2, -1)] == [1, 77, 99, 2, -1]
    with pytest.raises(weftgpu.InvalidArgument, match="no CUDA stream"):
        _cuda.stream_number(1 << 70)
    with pytest.raises(TypeError, match="not a CUDA stream .got str"):
        weftgpu.default_backend().cuda_event("fast")


def test_arrays_of_a_device_in_a_call_on_the_host_are_refused():
    with pytest.raises(weftgpu.InvalidArgument, match="x: is not on a CUDA device"):
        weftgpu.from_dlpack(np.zeros(4))


def test_importing_loads_no_driver_of_cuda(run_python):
    out = run_python(
        "import sys, weftgpu\n"
        "print([name for name in ('libcuda', 'libnvidia', 'libcudart') if name in open('/proc/self/maps').read()], "
        "'torch' in sys.modules, 'cupy' in sys.modules)"
    )
    assert out == "[] False False\n"
