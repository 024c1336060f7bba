/* SPDX-License-Identifier: Apache-2.0 */
/* A program in C: a field job, a transform, a kernel of its own, and an error. Strict C11. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weft/weft.h>

enum { kCount = 1000 };

static const char kShader[] =
    "#version 450\n"
    "layout(local_size_x = 64) in;\n"
    "layout(set = 0, binding = 0) readonly buffer X { float x[]; };\n"
    "layout(set = 0, binding = 1) buffer Y { float y[]; };\n"
    "layout(push_constant) uniform Block { uint count, first; float a; };\n"
    "void main() {\n"
    "    const uint i = gl_GlobalInvocationID.x;\n"
    "    if (i < count) y[i] += a * x[i];\n"
    "}\n";

/* Prints what failed. */
static int failed(const char* what) {
    fprintf(stderr, "%s: %s\n", what, weft_last_error());
    return 1;
}

static int add_elements(weft_backend* backend) {
    static uint64_t a[kCount], b[kCount], sum[kCount];
    for (uint64_t i = 0; i < kCount; ++i) {
        a[i] = i;
        b[i] = UINT64_C(0xffffffff00000000); /* p - 1 of goldilocks */
    }
    weft_report report = {.size = sizeof report};
    const weft_field_options options = {.size = sizeof options, .check_values = 1};
    if (weft_field_apply(backend, WEFT_GOLDILOCKS, WEFT_FIELD_ADD, (weft_const_span){a, sizeof a},
                         (weft_const_span){b, sizeof b}, (weft_const_span){0}, (weft_span){sum, sizeof sum}, &options,
                         &report) != WEFT_OK)
        return failed("weft_field_apply");
    if (sum[0] != b[0] || sum[1] != 0 || sum[kCount - 1] != kCount - 2 || report.items != kCount) {
        fprintf(stderr, "weft_field_apply: wrong sums\n");
        return 1;
    }
    return 0;
}

/* The values of 1 + 2 y at 1 and -1. */
static int transform(weft_backend* backend) {
    uint64_t x[] = {1, 2};
    const weft_ntt_shape shape = {.log_size = 1, .batch = 1};
    if (weft_ntt(backend, WEFT_GOLDILOCKS, WEFT_NTT_FORWARD, (weft_const_span){x, sizeof x}, (weft_span){x, sizeof x},
                 shape, NULL, NULL) != WEFT_OK)
        return failed("weft_ntt");
    if (x[0] != 3 || x[1] != UINT64_C(0xffffffff00000000)) {
        fprintf(stderr, "weft_ntt: wrong values\n");
        return 1;
    }
    return 0;
}

static int run_own_kernel(weft_backend* backend) {
    const weft_glsl_source source = {.size = sizeof source, .text = kShader, .name = "saxpy"};
    weft_spirv* spirv = NULL;
    const weft_status compiled = weft_compile_glsl(&source, &spirv);
    if (compiled == WEFT_UNSUPPORTED) return 0; /* a build without the compiler */
    if (compiled != WEFT_OK) return failed("weft_compile_glsl");
    weft_program* program = NULL;
    const weft_status made = weft_program_create(backend, weft_spirv_words(spirv), NULL, &program);
    weft_spirv_release(spirv);
    if (made != WEFT_OK) return failed("weft_program_create");

    static float x[kCount], y[kCount];
    for (int i = 0; i < kCount; ++i) {
        x[i] = (float)i;
        y[i] = 1;
    }
    const float factor = 3;
    const weft_const_span inputs[] = {{x, sizeof x}, {y, sizeof y}};
    const weft_span outputs[] = {{y, sizeof y}};
    const weft_job job = {.inputs = inputs,
                          .outputs = outputs,
                          .input_count = 2,
                          .output_count = 1,
                          .elements = kCount,
                          .parameters = {&factor, sizeof factor}};
    const weft_status ran = weft_run_batch(backend, program, &job, 1, NULL, NULL);
    weft_program_release(program);
    if (ran != WEFT_OK) return failed("weft_run_batch");
    if (y[0] != 1 || y[kCount - 1] != 3 * (kCount - 1) + 1) {
        fprintf(stderr, "weft_run_batch: wrong numbers\n");
        return 1;
    }
    return 0;
}

static int meet_an_error(weft_backend* backend) {
    uint64_t limbs[6] = {0};
    const weft_status status =
        weft_field_apply(backend, WEFT_BLS12_381_FP, WEFT_FIELD_NEG, (weft_const_span){limbs, 5 * sizeof limbs[0]},
                         (weft_const_span){0}, (weft_const_span){0}, (weft_span){limbs, sizeof limbs}, NULL, NULL);
    if (status != WEFT_INVALID_ARGUMENT || strstr(weft_last_error(), "weft_field_apply: ") == NULL) {
        fprintf(stderr, "a wrong length was not refused: %s, %s\n", weft_status_name(status), weft_last_error());
        return 1;
    }
    return 0;
}

int main(void) {
    if (weft_abi_version() < WEFT_ABI_VERSION) {
        fprintf(stderr, "libweft is older than weft.h\n");
        return 1;
    }
    weft_backend* backend = NULL;
    if (weft_backend_create(NULL, &backend) != WEFT_OK) return failed("weft_backend_create");
    const int bad = add_elements(backend) + transform(backend) + run_own_kernel(backend) + meet_an_error(backend);
    if (bad == 0) printf("weft %s on %s\n", weft_version(), weft_backend_name(backend));
    weft_backend_release(backend);
    return bad;
}
