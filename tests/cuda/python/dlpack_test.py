#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dlpack_test.py LIBRARY: arrays between weft, PyTorch and CuPy on one GPU, both directions, without the host.

LIBRARY is the module of bridge.cpp. Libraries that are not installed are skipped with a message; without PyTorch and
CuPy the test fails.
"""
import ctypes
import gc
import os
import sys
import unittest

C_FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, C_FREE]
api.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
# The same for an object that is being destroyed, to which no new reference may be made.
pointer_of_dying = ctypes.PyDLL(None).PyCapsule_GetPointer
pointer_of_dying.restype = ctypes.c_void_p
pointer_of_dying.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
NAME, USED = ctypes.c_char_p(b"dltensor"), ctypes.c_char_p(b"used_dltensor")

library = ctypes.CDLL(sys.argv.pop(1))
library.weft_bridge_error.restype = ctypes.c_char_p
library.weft_bridge_open.restype = ctypes.c_void_p
library.weft_bridge_close.argtypes = [ctypes.c_void_p]
library.weft_bridge_ordinal.argtypes = [ctypes.c_void_p]
library.weft_bridge_live.restype = ctypes.c_uint64
library.weft_bridge_live.argtypes = [ctypes.c_void_p]
library.weft_bridge_make.restype = ctypes.c_void_p
library.weft_bridge_make.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_ssize_t,
                                     ctypes.c_uint32]
library.weft_bridge_take.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p,
                                     ctypes.c_size_t]

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None

try:
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax
    if jax.default_backend() != "gpu":
        jax = None
except (ImportError, RuntimeError):
    jax = None


def failed():
    raise RuntimeError(library.weft_bridge_error().decode())


def delete(tensor):
    """Calls the deleter of a DLManagedTensor, the member after DLTensor (48 bytes) and manager_ctx."""
    deleter = ctypes.c_void_p.from_address(tensor + 56).value
    if deleter:
        DELETER(deleter)(tensor)


@C_FREE
def drop(capsule):
    if api.PyCapsule_IsValid(capsule, NAME):
        delete(pointer_of_dying(capsule, NAME))


class Result:
    """A result that weft's Stream is still computing, as an object with the DLPack protocol."""

    def __init__(self, bridge, rows, columns, slow_rounds=0):
        self.bridge, self.rows, self.columns, self.slow_rounds = bridge, rows, columns, slow_rounds

    def __dlpack_device__(self):
        return (2, library.weft_bridge_ordinal(self.bridge))

    def __dlpack__(self, *, stream=None, **_):
        tensor = library.weft_bridge_make(self.bridge, self.rows, self.columns, 1 if stream is None else stream,
                                          self.slow_rounds)
        return api.PyCapsule_New(tensor or failed(), NAME, drop)


class Bridged(unittest.TestCase):
    def setUp(self):
        self.bridge = library.weft_bridge_open() or failed()

    def tearDown(self):
        gc.collect()
        self.assertEqual(library.weft_bridge_live(self.bridge), 0, "tensors are alive")
        library.weft_bridge_close(self.bridge)

    def take(self, array, stream, count):
        return self.take_capsule(array.__dlpack__(stream=stream), stream, count)

    def take_capsule(self, capsule, stream, count):
        tensor = api.PyCapsule_GetPointer(capsule, NAME)
        out = (ctypes.c_int32 * count)()
        copied = library.weft_bridge_take(self.bridge, tensor, stream, out, count)
        if copied < 0:
            failed()
        api.PyCapsule_SetName(capsule, USED)
        return list(out), copied


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Torch(Bridged):
    def test_from_weft(self):
        t = torch.from_dlpack(Result(self.bridge, 300, 70))
        self.assertEqual(t.shape, (300, 70))
        self.assertEqual(t.dtype, torch.int32)
        i = torch.arange(300 * 70, device=t.device, dtype=torch.int32).reshape(300, 70)
        self.assertTrue(torch.equal(t, i * 3 + 7))
        del t, i

    def test_consumer_stream_waits(self):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            t = torch.from_dlpack(Result(self.bridge, 1000, 100, slow_rounds=2_000_000))
            total = t.sum(dtype=torch.int64)
        stream.synchronize()
        n = 100000
        self.assertEqual(int(total), 3 * n * (n - 1) // 2 + 7 * n)
        del t, total

    def test_never_consumed(self):
        capsule = Result(self.bridge, 10, 10).__dlpack__(stream=1)
        del capsule  # its destructor calls the deleter

    def test_to_weft(self):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)  # so that a missing wait would read too early
            t = torch.arange(5000, device="cuda", dtype=torch.int32) * 2
            out, copied = self.take(t, stream.cuda_stream, 5000)
        self.assertEqual(out, [2 * i * 5 + 1 + i for i in range(5000)])
        self.assertIn(copied, (0, 1))
        del t

    def test_there_and_back(self):
        t = torch.from_dlpack(Result(self.bridge, 1, 4096))
        out, copied = self.take(t, 1, 4096)
        self.assertEqual(out, [(3 * i + 7) * 5 + 1 + i for i in range(4096)])
        del t

    def test_consumed_once(self):
        capsule = Result(self.bridge, 10, 10).__dlpack__(stream=1)
        t = torch.from_dlpack(capsule)
        with self.assertRaises(RuntimeError):
            torch.from_dlpack(capsule)
        back = t.__dlpack__(stream=1)
        self.take_capsule(back, 1, 100)
        with self.assertRaises(ValueError):  # the name of the capsule marks it as used
            self.take_capsule(back, 1, 100)
        del t

    def test_refusals(self):
        with self.assertRaisesRegex(RuntimeError, "no stream .got 0"):
            Result(self.bridge, 4, 4).__dlpack__(stream=0)
        for array, part in ((torch.zeros(4, device="cuda"), "got float32, need int32"),
                            (torch.zeros((4, 4), device="cuda", dtype=torch.int32).t(), "not in C order")):
            with self.assertRaisesRegex(RuntimeError, part):
                self.take(array, 1, 4)


@unittest.skipIf(cupy is None, "CuPy is not installed")
class Cupy(Bridged):
    def test_from_weft(self):
        a = cupy.from_dlpack(Result(self.bridge, 20, 50))
        self.assertEqual(a.shape, (20, 50))
        self.assertTrue((a == cupy.arange(1000, dtype=cupy.int32).reshape(20, 50) * 3 + 7).all())
        del a

    def test_consumer_stream_waits(self):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            a = cupy.from_dlpack(Result(self.bridge, 1000, 100, slow_rounds=2_000_000))
            total = a.sum(dtype=cupy.int64)
        stream.synchronize()
        n = 100000
        self.assertEqual(int(total), 3 * n * (n - 1) // 2 + 7 * n)
        del a, total

    def test_to_weft(self):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            a = cupy.arange(7000, dtype=cupy.int32) * 3
            out, _ = self.take(a, stream.ptr, 7000)
        self.assertEqual(out, [3 * i * 5 + 1 + i for i in range(7000)])
        del a


@unittest.skipIf(jax is None, "JAX for CUDA is not installed")
class Jax(Bridged):
    def test_both_ways(self):
        a = jax.dlpack.from_dlpack(Result(self.bridge, 20, 50))
        self.assertEqual(a.shape, (20, 50))
        self.assertTrue(bool((a == jax.numpy.arange(1000, dtype=jax.numpy.int32).reshape(20, 50) * 3 + 7).all()))
        b = jax.block_until_ready(jax.numpy.arange(3000, dtype=jax.numpy.int32) * 4)
        out, _ = self.take(b, 1, 3000)
        self.assertEqual(out, [4 * i * 5 + 1 + i for i in range(3000)])
        del a, b

    def test_consumer_stream_waits(self):
        a = jax.dlpack.from_dlpack(Result(self.bridge, 1000, 100, slow_rounds=2_000_000))
        total = int(jax.numpy.sum(a.astype(jax.numpy.float32)[:1, :]))
        self.assertEqual(total, 3 * 100 * 99 // 2 + 7 * 100)
        self.assertEqual(int(a[999, 99]), 3 * 99999 + 7)
        del a

    def test_there_and_back(self):
        a = jax.dlpack.from_dlpack(Result(self.bridge, 1, 4096))
        out, _ = self.take(jax.block_until_ready(a + 1), 1, 4096)
        self.assertEqual(out, [(3 * i + 8) * 5 + 1 + i for i in range(4096)])
        del a


class Any(unittest.TestCase):
    def test_somebody_is_there(self):
        self.assertTrue(torch is not None or cupy is not None, "neither PyTorch nor CuPy is installed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
