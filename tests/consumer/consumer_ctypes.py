#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C API from another language without a compiler: a field job, a transform, a kernel of its own, and an error.

consumer_ctypes.py LIBRARY
"""
import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_float, c_uint32, c_uint64, c_void_p, sizeof

SHADER = b"""#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Block { uint count, first; float a; };
void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < count) y[i] += a * x[i];
}
"""
GOLDILOCKS, BLS12_381_FP, ADD, NEG, FORWARD = 7, 0, 0, 2, 0
OK, INVALID_ARGUMENT, UNSUPPORTED = 0, 1, 5


class Span(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("bytes", c_uint64)]


class NttShape(ctypes.Structure):
    _fields_ = [("log_size", c_uint32), ("layout", c_uint32), ("batch", c_uint64), ("inputs", c_uint64)]


class GlslSource(ctypes.Structure):
    """weft_glsl_source as far as this program needs it: a shorter struct is legal."""
    _fields_ = [("size", c_uint32), ("optimization", c_uint32), ("file", c_char_p), ("text", c_char_p)]


class Job(ctypes.Structure):
    _fields_ = [("inputs", POINTER(Span)), ("outputs", POINTER(Span)), ("input_count", c_uint32),
                ("output_count", c_uint32), ("broadcast", c_uint32), ("reserved", c_uint32), ("elements", c_uint64),
                ("parameters", Span), ("name", c_char_p)]


def span(array):
    return Span(ctypes.addressof(array), sizeof(array))


def load(path):
    weft = ctypes.CDLL(path)
    weft.weft_last_error.restype = weft.weft_backend_name.restype = weft.weft_version.restype = c_char_p
    weft.weft_spirv_words.restype = Span
    weft.weft_backend_name.argtypes = weft.weft_backend_release.argtypes = [c_void_p]
    weft.weft_spirv_words.argtypes = weft.weft_spirv_release.argtypes = weft.weft_program_release.argtypes = [c_void_p]
    weft.weft_backend_create.argtypes = [c_void_p, POINTER(c_void_p)]
    weft.weft_field_apply.argtypes = [c_void_p, c_uint32, c_uint32, Span, Span, Span, Span, c_void_p, c_void_p]
    weft.weft_ntt.argtypes = [c_void_p, c_uint32, c_uint32, Span, Span, NttShape, c_void_p, c_void_p]
    weft.weft_compile_glsl.argtypes = [POINTER(GlslSource), POINTER(c_void_p)]
    weft.weft_program_create.argtypes = [c_void_p, Span, c_void_p, POINTER(c_void_p)]
    weft.weft_run_batch.argtypes = [c_void_p, c_void_p, POINTER(Job), c_uint64, c_void_p, c_void_p]
    return weft


def main():
    weft = load(sys.argv[1])

    def require(status):
        if status != OK:
            sys.exit(weft.weft_last_error().decode())

    backend = c_void_p()
    require(weft.weft_backend_create(None, byref(backend)))

    # p - 1 plus i.
    count = 1000
    a = (c_uint64 * count)(*range(count))
    b = (c_uint64 * count)(*[0xFFFFFFFF00000000] * count)
    total = (c_uint64 * count)()
    require(weft.weft_field_apply(backend, GOLDILOCKS, ADD, span(a), span(b), Span(), span(total), None, None))
    assert total[0] == b[0] and list(total[1:]) == list(range(count - 1)), "wrong sums"

    # The values of 1 + 2 y at 1 and -1, in place.
    line = (c_uint64 * 2)(1, 2)
    require(weft.weft_ntt(backend, GOLDILOCKS, FORWARD, span(line), span(line), NttShape(log_size=1, batch=1), None, None))
    assert list(line) == [3, 0xFFFFFFFF00000000], "wrong values"

    source = GlslSource(size=sizeof(GlslSource), text=SHADER)
    spirv, program = c_void_p(), c_void_p()
    compiled = weft.weft_compile_glsl(byref(source), byref(spirv))
    if compiled != UNSUPPORTED:
        require(compiled)
        require(weft.weft_program_create(backend, weft.weft_spirv_words(spirv), None, byref(program)))
        weft.weft_spirv_release(spirv)
        x, y, factor = (c_float * count)(*range(count)), (c_float * count)(*[1] * count), c_float(3)
        inputs, outputs = (Span * 2)(span(x), span(y)), (Span * 1)(span(y))
        job = Job(inputs=inputs, outputs=outputs, input_count=2, output_count=1, elements=count,
                  parameters=span(factor))
        require(weft.weft_run_batch(backend, program, byref(job), 1, None, None))
        weft.weft_program_release(program)
        assert list(y) == [3 * i + 1 for i in range(count)], "wrong numbers"

    short = (c_uint64 * 5)()
    status = weft.weft_field_apply(backend, BLS12_381_FP, NEG, span(short), Span(), Span(), span(short), None, None)
    assert status == INVALID_ARGUMENT, status
    assert weft.weft_last_error().startswith(b"weft_field_apply: "), weft.weft_last_error()

    print(f"weft {weft.weft_version().decode()} on {weft.weft_backend_name(backend).decode()}")
    weft.weft_backend_release(backend)


if __name__ == "__main__":
    main()
