// SPDX-License-Identifier: Apache-2.0
// The C API from Rust, without a crate: a field job, a kernel of its own, and an error.
use std::ffi::CStr;
use std::os::raw::{c_char, c_void};
use std::ptr::{null, null_mut};

#[repr(C)]
#[derive(Clone, Copy)]
struct ConstSpan {
    data: *const c_void,
    bytes: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
struct Span {
    data: *mut c_void,
    bytes: u64,
}
/// weft_glsl_source as far as this program needs it: a shorter struct is legal.
#[repr(C)]
struct GlslSource {
    size: u32,
    optimization: u32,
    file: *const c_char,
    text: *const c_char,
}
#[repr(C)]
struct Job {
    inputs: *const ConstSpan,
    outputs: *const Span,
    input_count: u32,
    output_count: u32,
    broadcast: u32,
    reserved: u32,
    elements: u64,
    parameters: ConstSpan,
    name: *const c_char,
}

#[link(name = "weft_c")]
extern "C" {
    fn weft_version() -> *const c_char;
    fn weft_last_error() -> *const c_char;
    fn weft_backend_create(options: *const c_void, backend: *mut *mut c_void) -> i32;
    fn weft_backend_name(backend: *const c_void) -> *const c_char;
    fn weft_backend_release(backend: *mut c_void);
    fn weft_field_apply(
        backend: *mut c_void, field: u32, op: u32, a: ConstSpan, b: ConstSpan, scalar: ConstSpan, out: Span,
        options: *const c_void, report: *mut c_void,
    ) -> i32;
    fn weft_compile_glsl(source: *const GlslSource, spirv: *mut *mut c_void) -> i32;
    fn weft_spirv_words(spirv: *const c_void) -> ConstSpan;
    fn weft_spirv_release(spirv: *mut c_void);
    fn weft_program_create(
        backend: *mut c_void, words: ConstSpan, options: *const c_void, program: *mut *mut c_void,
    ) -> i32;
    fn weft_program_release(program: *mut c_void);
    fn weft_run_batch(
        backend: *mut c_void, program: *const c_void, jobs: *const Job, count: u64, options: *const c_void,
        report: *mut c_void,
    ) -> i32;
}

const OK: i32 = 0;
const INVALID_ARGUMENT: i32 = 1;
const UNSUPPORTED: i32 = 5;
const BLS12_381_FP: u32 = 0;
const GOLDILOCKS: u32 = 7;
const ADD: u32 = 0;
const NEG: u32 = 2;
const NONE: ConstSpan = ConstSpan { data: null(), bytes: 0 };
const SHADER: &[u8] = b"#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Block { uint count, first; float a; };
void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < count) y[i] += a * x[i];
}
\0";

fn read<T>(values: &[T]) -> ConstSpan {
    ConstSpan { data: values.as_ptr().cast(), bytes: std::mem::size_of_val(values) as u64 }
}
fn write<T>(values: &mut [T]) -> Span {
    Span { data: values.as_mut_ptr().cast(), bytes: std::mem::size_of_val(values) as u64 }
}
fn text(pointer: *const c_char) -> String {
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
fn check(status: i32) {
    assert_eq!(status, OK, "{}", text(unsafe { weft_last_error() }));
}

unsafe fn own_kernel(backend: *mut c_void) {
    let source =
        GlslSource { size: 24, optimization: 0, file: null(), text: SHADER.as_ptr().cast() };
    let mut spirv = null_mut();
    let compiled = weft_compile_glsl(&source, &mut spirv);
    if compiled == UNSUPPORTED {
        return;
    }
    check(compiled);
    let mut program = null_mut();
    check(weft_program_create(backend, weft_spirv_words(spirv), null(), &mut program));
    weft_spirv_release(spirv);
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let mut y = vec![1f32; 1000];
    let inputs = [read(&x), read(&y)];
    let outputs = [write(&mut y)];
    let job = Job {
        inputs: inputs.as_ptr(),
        outputs: outputs.as_ptr(),
        input_count: 2,
        output_count: 1,
        broadcast: 0,
        reserved: 0,
        elements: 1000,
        parameters: read(&[3f32]),
        name: null(),
    };
    check(weft_run_batch(backend, program, &job, 1, null(), null_mut()));
    weft_program_release(program);
    assert!(y.iter().enumerate().all(|(i, v)| *v == 3.0 * i as f32 + 1.0), "wrong numbers");
}

fn main() {
    unsafe {
        let mut backend = null_mut();
        check(weft_backend_create(null(), &mut backend));
        let a: Vec<u64> = (0..1000).collect();
        let b = vec![0xffffffff00000000u64; 1000]; // p - 1
        let mut sum = vec![0u64; 1000];
        check(weft_field_apply(
            backend, GOLDILOCKS, ADD, read(&a), read(&b), NONE, write(&mut sum), null(), null_mut(),
        ));
        assert!(sum[0] == b[0] && sum[1] == 0 && sum[999] == 998, "wrong sums");
        own_kernel(backend);
        let mut short = [0u64; 5];
        let limbs = read(&short);
        let status = weft_field_apply(
            backend, BLS12_381_FP, NEG, limbs, NONE, NONE, write(&mut short), null(), null_mut(),
        );
        assert_eq!(status, INVALID_ARGUMENT);
        assert!(text(weft_last_error()).starts_with("weft_field_apply: "));
        println!("weft {} on {}", text(weft_version()), text(weft_backend_name(backend)));
        weft_backend_release(backend);
    }
}
