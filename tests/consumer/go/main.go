// SPDX-License-Identifier: Apache-2.0

// The C API from Go: a field job, a kernel of its own, and an error. CGO_CFLAGS and CGO_LDFLAGS say where weft is.
package main

/*
#cgo LDFLAGS: -lweft_c
#include <stdlib.h>
#include <weft/weft.h>
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"
)

const count = 1000

const shader = `#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Block { uint count, first; float a; };
void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < count) y[i] += a * x[i];
}
`

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}

func check(status C.weft_status) {
	if status != C.WEFT_OK {
		fail(C.GoString(C.weft_last_error()))
	}
}

func read[T any](values []T) C.weft_const_span {
	var element T
	return C.weft_const_span{unsafe.Pointer(&values[0]), C.uint64_t(len(values)) * C.uint64_t(unsafe.Sizeof(element))}
}

func write[T any](values []T) C.weft_span {
	var element T
	return C.weft_span{unsafe.Pointer(&values[0]), C.uint64_t(len(values)) * C.uint64_t(unsafe.Sizeof(element))}
}

func addElements(backend *C.weft_backend) {
	a, b, sum := make([]uint64, count), make([]uint64, count), make([]uint64, count)
	for i := range a {
		a[i], b[i] = uint64(i), 0xffffffff00000000 // p - 1
	}
	check(C.weft_field_apply(backend, C.WEFT_GOLDILOCKS, C.WEFT_FIELD_ADD, read(a), read(b), C.weft_const_span{},
		write(sum), nil, nil))
	if sum[0] != b[0] || sum[1] != 0 || sum[count-1] != count-2 {
		fail("wrong sums")
	}
}

// The memory of a job is behind pointers, so it is C's and not Go's, as cgo demands.
func ownKernel(backend *C.weft_backend) {
	text := C.CString(shader)
	defer C.free(unsafe.Pointer(text))
	source := (*C.weft_glsl_source)(C.calloc(1, C.sizeof_weft_glsl_source))
	defer C.free(unsafe.Pointer(source))
	source.size = C.sizeof_weft_glsl_source
	source.text = text
	var spirv *C.weft_spirv
	compiled := C.weft_compile_glsl(source, &spirv)
	if compiled == C.WEFT_UNSUPPORTED {
		return
	}
	check(compiled)
	var program *C.weft_program
	check(C.weft_program_create(backend, C.weft_spirv_words(spirv), nil, &program))
	C.weft_spirv_release(spirv)
	defer C.weft_program_release(program)

	memory := C.calloc(2*count+1, 4)
	defer C.free(memory)
	values := unsafe.Slice((*float32)(memory), 2*count+1)
	x, y := values[:count], values[count:2*count]
	for i := range x {
		x[i], y[i] = float32(i), 1
	}
	values[2*count] = 3
	inputs := (*[2]C.weft_const_span)(C.calloc(2, C.sizeof_weft_const_span))
	outputs := (*[1]C.weft_span)(C.calloc(1, C.sizeof_weft_span))
	job := (*C.weft_job)(C.calloc(1, C.sizeof_weft_job))
	defer C.free(unsafe.Pointer(inputs))
	defer C.free(unsafe.Pointer(outputs))
	defer C.free(unsafe.Pointer(job))
	inputs[0], inputs[1], outputs[0] = read(x), read(y), write(y)
	job.inputs, job.outputs = &inputs[0], &outputs[0]
	job.input_count, job.output_count = 2, 1
	job.elements = count
	job.parameters = read(values[2*count:])
	check(C.weft_run_batch(backend, program, job, 1, nil, nil))
	if y[0] != 1 || y[count-1] != 3*(count-1)+1 {
		fail("wrong numbers")
	}
}

func meetAnError(backend *C.weft_backend) {
	limbs := make([]uint64, 5)
	status := C.weft_field_apply(backend, C.WEFT_BLS12_381_FP, C.WEFT_FIELD_NEG, read(limbs), C.weft_const_span{},
		C.weft_const_span{}, write(limbs), nil, nil)
	if text := C.GoString(C.weft_last_error()); status != C.WEFT_INVALID_ARGUMENT || !strings.HasPrefix(text, "weft_field_apply: ") {
		fail("a wrong length was not refused: " + text)
	}
}

func main() {
	runtime.LockOSThread() // the text of an error belongs to the thread
	var backend *C.weft_backend
	check(C.weft_backend_create(nil, &backend))
	defer C.weft_backend_release(backend)
	addElements(backend)
	ownKernel(backend)
	meetAnError(backend)
	fmt.Println("weft", C.GoString(C.weft_version()), "on", C.GoString(C.weft_backend_name(backend)))
}
