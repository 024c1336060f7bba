// SPDX-License-Identifier: Apache-2.0
// Statuses and texts; NULL everywhere.
#include <cerrno>
#include <cmath>
#include <limits>
#include <thread>

#include "capi/fixture.hpp"

using namespace weft_test;

TEST_CASE("c: statuses have names, and unknown ones too") {
    CHECK(std::string(weft_status_name(WEFT_OK)) == "ok");
    CHECK(std::string(weft_status_name(WEFT_INVALID_ARGUMENT)) == "invalid_argument");
    CHECK(std::string(weft_status_name(WEFT_OUT_OF_MEMORY)) == "out_of_memory");
    CHECK(std::string(weft_status_name(WEFT_DRIVER)) == "driver");
    CHECK(std::string(weft_status_name(WEFT_TIMEOUT)) == "timeout");
    CHECK(std::string(weft_status_name(WEFT_INTERNAL)) == "internal");
    for (const weft_status unknown : {-1, 13, INT32_MAX, INT32_MIN})
        CHECK(std::string(weft_status_name(unknown)) == "unknown");
    CHECK(weft_abi_version() == WEFT_ABI_VERSION);
    CHECK(std::string(weft_version()).find('.') != std::string::npos);
}

TEST_CASE("c: an error belongs to its thread and stays until the next one") {
    weft_field field = 0;
    CHECK_REFUSED("weft_field_find: no such field (got 'bls', need one of bls12-381-fp, ",
                  weft_field_find("bls", &field));
    CHECK_OK(weft_field_find("goldilocks", &field));
    CHECK(field == WEFT_GOLDILOCKS);
    CHECK(std::string(weft_last_error()).find("'bls'") != std::string::npos);  // a success changes nothing
    std::thread([] {
        CHECK(std::string(weft_last_error()).empty());
        CHECK(weft_last_native_code() == 0);
        CHECK(weft_last_failures(nullptr, 0) == 0);
    }).join();
}

TEST_CASE("c: a file that is not there is an io error with errno") {
    weft_glsl_source source{};
    source.size = sizeof(source);
    source.file = "/there/is/no/such.comp";
    weft_spirv* spirv = reinterpret_cast<weft_spirv*>(&source);
    const weft_status status = weft_compile_glsl(&source, &spirv);
    CHECK(spirv == nullptr);
    if (status == WEFT_UNSUPPORTED) return;  // built without the compiler
    CHECK(status == WEFT_IO);
    CHECK(weft_last_native_code() == ENOENT);
    source.file = nullptr;
    source.text = "#version 450\nvoid main() { wrong }\n";
    CHECK_STATUS(WEFT_INVALID_SHADER, "weft_compile_glsl: shader:2: ", weft_compile_glsl(&source, &spirv));
}

TEST_CASE("c: values that an op cannot take are listed") {
    on_device([](weft_backend* backend) {
        std::vector<float> angles(8, 0.5f), states(32);
        angles[3] = std::numeric_limits<float>::quiet_NaN();
        angles[6] = std::numeric_limits<float>::infinity();
        CHECK_REFUSED("weft_encode: ", weft_encode(backend, WEFT_ENCODE_ANGLE, WEFT_FLOAT32, in(angles),
                                                   WEFT_COMPLEX64, out(states), 8, 1, nullptr, nullptr));
        weft_failure failures[3] = {};
        CHECK(weft_last_failures(failures, 1) == 2);
        CHECK(failures[0].sample == 3);
        CHECK(failures[0].fault == WEFT_FAULT_NOT_A_NUMBER);
        CHECK(failures[1].fault == 0);  // beyond the capacity
        CHECK(weft_last_failures(failures, 3) == 2);
        CHECK(failures[1].sample == 6);
        CHECK(failures[1].fault == WEFT_FAULT_INFINITE);
        CHECK(states[0] == doctest::Approx(std::cos(0.5)));  // the others are right
        CHECK(states[12] == 0);
        CHECK_REFUSED("NULL", weft_backend_trim(nullptr));
        CHECK(weft_last_failures(failures, 3) == 0);
    });
}

TEST_CASE("c: a trace that cannot be written is an io error with errno") {
    on_device([](weft_backend* backend) {
        Profile profile;
        CHECK_OK(weft_profile_create(backend, 0, &profile));
        CHECK_STATUS(WEFT_IO, "weft_profile_write_trace: ",
                     weft_profile_write_trace(profile, "/there/is/no/trace.json"));
        CHECK(weft_last_native_code() == ENOENT);
        CHECK_STATUS(WEFT_IO, "weft_profile_write_trace: ", weft_profile_write_trace(profile, "/"));
        CHECK(weft_last_native_code() == EISDIR);
    });
}

TEST_CASE("c: a field value that is not canonical is named in the text alone") {
    on_device([](weft_backend* backend) {
        std::vector<std::uint64_t> a{1, UINT64_MAX};
        weft_field_options options{};
        options.size = sizeof(options);
        options.check_values = 1;
        CHECK_REFUSED("element 1 of a is not canonical",
                      weft_field_apply(backend, WEFT_GOLDILOCKS, WEFT_FIELD_NEG, in(a), {}, {}, out(a),
                                       &options, nullptr));
        CHECK(weft_last_failures(nullptr, 0) == 0);
        CHECK(a[0] == 1);
    });
}

TEST_CASE("c: texts name the functions, members and defaults of C") {
    on_device([](weft_backend* backend) {
        std::vector<std::uint32_t> narrow(4, 1);
        weft_field_options field{};
        field.size = sizeof(field);
        field.shader = WEFT_SHADER_LIMBS64;
        CHECK_REFUSED("weft_field_apply: WEFT_SHADER_LIMBS64 does not apply to fields of 31 bits",
                      weft_field_apply(backend, WEFT_BABYBEAR, WEFT_FIELD_NEG, in(narrow), {}, {},
                                       out(narrow), &field, nullptr));
        Program program;
        weft_batch_options batch{};
        batch.size = sizeof(batch);
        batch.ring_slots = 99;
        make_affine(backend, program);
        CHECK_REFUSED("weft_run_batch: weft_batch_options.ring_slots out of range",
                      weft_run_batch(backend, program, nullptr, 0, &batch, nullptr));
        Pipeline pipeline;
        CHECK_OK(weft_pipeline_create(backend, program, nullptr, &pipeline));
        CHECK_REFUSED("weft_pipeline_wait: unknown token", weft_pipeline_wait(pipeline, 7, 0));
        weft_lattice_code code{};
        code.size = sizeof(code);
        code.q = 2;
        std::vector<float> vector(4);
        CHECK_REFUSED("weft_lattice_quantize: weft_lattice_code.q is 2",
                      weft_lattice_quantize(backend, &code, in(vector), out(vector), {}, nullptr, nullptr));
        std::vector<float> x(4, 0.5f), k(4);
        weft_kernel_options options{};
        options.size = sizeof(options);
        options.state_tile = 5;
        CHECK_REFUSED("(got 5, need 0)",
                      weft_kernel_matrix(backend, nullptr, WEFT_FLOAT32, in(x), {}, WEFT_FLOAT32, out(k),
                                         {2, 0, 2, 0}, &options, nullptr));
    });
}

TEST_CASE("c: every retain and release accepts NULL") {
    weft_device_list_retain(nullptr), weft_device_list_release(nullptr);
    weft_backend_retain(nullptr), weft_backend_release(nullptr);
    weft_spirv_retain(nullptr), weft_spirv_release(nullptr);
    weft_program_retain(nullptr), weft_program_release(nullptr);
    weft_buffer_retain(nullptr), weft_buffer_release(nullptr);
    weft_registration_retain(nullptr), weft_registration_release(nullptr);
    weft_stream_retain(nullptr), weft_stream_release(nullptr);
    weft_event_retain(nullptr), weft_event_release(nullptr);
    weft_sequence_retain(nullptr), weft_sequence_release(nullptr);
    weft_pipeline_retain(nullptr), weft_pipeline_release(nullptr);
    weft_encode_outcome_retain(nullptr), weft_encode_outcome_release(nullptr);
    weft_lattice_table_retain(nullptr), weft_lattice_table_release(nullptr);
    weft_kernel_operator_retain(nullptr), weft_kernel_operator_release(nullptr);
    weft_kernel_store_retain(nullptr), weft_kernel_store_release(nullptr);
    weft_profile_retain(nullptr), weft_profile_release(nullptr);
    weft_text_retain(nullptr), weft_text_release(nullptr);
    CHECK(std::string(weft_backend_name(nullptr)).empty());
    CHECK(std::string(weft_text_data(nullptr)).empty());
    CHECK(weft_spirv_words(nullptr).data == nullptr);
    CHECK(std::string(weft_spirv_warnings(nullptr)).empty());
    CHECK(weft_device_list_count(nullptr) == 0);
    CHECK(weft_buffer_bytes(nullptr) == 0);
    CHECK(weft_buffer_data(nullptr) == nullptr);
    CHECK(weft_buffer_view(nullptr).buffer == nullptr);
}

TEST_CASE("c: NULL handles and NULL results are refused by name") {
    weft_backend* const backend = nullptr;
    weft_stream* const stream = nullptr;
    const weft_const_span none{};
    const weft_span nothing{};
    const weft_view view{};
    CHECK_REFUSED("weft_backend_create: the pointer for the result is NULL",
                  weft_backend_create(nullptr, nullptr));
    CHECK_REFUSED("weft_list_devices: list is NULL", weft_list_devices(nullptr, nullptr));
    CHECK_REFUSED("list is NULL", weft_device_list_get(nullptr, 0, nullptr));
    CHECK_REFUSED("weft_backend_device: backend is NULL", weft_backend_device(backend, nullptr));
    weft_text* text = nullptr;
    CHECK_REFUSED("backend is NULL", weft_backend_plan(backend, &text));
    CHECK_REFUSED("backend is NULL", weft_backend_wait_idle(backend));
    CHECK_REFUSED("backend is NULL", weft_backend_save_pipeline_cache(backend, nullptr));
    CHECK_REFUSED("backend is NULL", weft_backend_counters(backend, nullptr));
    CHECK_REFUSED("backend is NULL", weft_backend_memory(backend, nullptr));
    CHECK_REFUSED("backend is NULL", weft_backend_startup(backend, nullptr));
    weft_spirv* spirv = nullptr;
    CHECK(weft_compile_glsl(nullptr, &spirv) != WEFT_OK);
    weft_program* program = nullptr;
    CHECK_REFUSED("backend is NULL", weft_program_create(backend, none, nullptr, &program));
    CHECK_REFUSED("program is NULL", weft_program_describe(nullptr, nullptr));
    CHECK_REFUSED("program is NULL", weft_program_binding(nullptr, 0, nullptr));
    CHECK_REFUSED("backend is NULL", weft_run_batch(backend, nullptr, nullptr, 0, nullptr, nullptr));
    weft_pipeline* pipeline = nullptr;
    CHECK_REFUSED("backend is NULL", weft_pipeline_create(backend, nullptr, nullptr, &pipeline));
    CHECK_REFUSED("pipeline is NULL", weft_pipeline_submit(nullptr, nullptr, nullptr));
    CHECK_REFUSED("pipeline is NULL", weft_pipeline_wait(nullptr, 0, 0));
    CHECK_REFUSED("pipeline is NULL", weft_pipeline_wait_all(nullptr));
    CHECK_REFUSED("pipeline is NULL", weft_pipeline_state(nullptr, 0, nullptr));
    CHECK_REFUSED("cancelled is NULL", weft_pipeline_cancel(nullptr, 0, nullptr));
    CHECK_REFUSED("pipeline is NULL", weft_pipeline_report(nullptr, nullptr));
    weft_buffer* buffer = nullptr;
    CHECK_REFUSED("backend is NULL", weft_buffer_create(backend, WEFT_DEVICE_MEMORY, 4, nullptr, &buffer));
    weft_registration* registration = nullptr;
    CHECK_REFUSED("memory.data is NULL", weft_registration_create(backend, nothing, &registration));
    weft_stream* made = nullptr;
    CHECK_REFUSED("backend is NULL", weft_stream_create(backend, nullptr, &made));
    CHECK_REFUSED("stream is NULL", weft_stream_upload(stream, none, view));
    CHECK_REFUSED("stream is NULL", weft_stream_download(stream, view, nothing));
    CHECK_REFUSED("stream is NULL", weft_stream_fill(stream, view, 0));
    CHECK_REFUSED("stream is NULL", weft_stream_copy(stream, view, view));
    CHECK_REFUSED("stream is NULL", weft_stream_dispatch(stream, nullptr, nullptr, 0, 0, none));
    CHECK_REFUSED("stream is NULL", weft_stream_submit(stream, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_wait(stream, 0));
    CHECK_REFUSED("stream is NULL", weft_stream_wait_for(stream, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_record(stream, nullptr, nullptr, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_replay(stream, nullptr, nullptr));
    CHECK_REFUSED("event is NULL", weft_event_wait(nullptr, 0));
    CHECK_REFUSED("sequence is NULL", weft_sequence_describe(nullptr, nullptr));
    CHECK_REFUSED("field is NULL", weft_field_find("bn254-fp", nullptr));
    weft_field field = 0;
    CHECK_REFUSED("name is NULL", weft_field_find(nullptr, &field));
    CHECK_REFUSED("backend is NULL",
                  weft_field_apply(backend, 0, 0, none, none, none, nothing, nullptr, nullptr));
    CHECK_REFUSED("backend is NULL", weft_field_batch(backend, 0, 0, nullptr, 0, nullptr, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_field_apply(stream, 0, 0, view, view, none, view, nullptr));
    CHECK_REFUSED("backend is NULL", weft_field_program(backend, 0, 0, nullptr, &program));
    CHECK_REFUSED("backend is NULL", weft_ntt(backend, 7, 0, none, nothing, {}, nullptr, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_ntt(stream, 7, 0, view, view, {}, nullptr));
    CHECK_REFUSED("backend is NULL", weft_ntt_extend(backend, 7, none, nothing, {}, 2, nullptr, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_ntt_extend(stream, 7, view, view, {}, 2, nullptr));
    CHECK_REFUSED("backend is NULL", weft_ntt_product(backend, 7, none, none, nothing, nullptr, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_ntt_product(stream, 7, view, view, view, nullptr));
    CHECK_REFUSED("root is NULL", weft_ntt_root(7, 1, nullptr));
    CHECK_REFUSED("features is NULL", weft_encode_features(0, 1, nullptr));
    CHECK_REFUSED("backend is NULL", weft_encode(backend, 0, 1, none, 3, nothing, 1, 1, nullptr, nullptr));
    CHECK_REFUSED("backend is NULL", weft_encode_batch(backend, 0, 1, 3, nullptr, 0, 1, nullptr, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_encode(stream, 0, 1, view, 3, view, 1, 1, nullptr, nullptr));
    CHECK_REFUSED("stream is NULL", weft_encode_outcome_check(nullptr, stream));
    weft_estimate estimate{};
    CHECK_REFUSED("backend is NULL", weft_estimate_encode(backend, 0, 1, 3, 1, 1, 0, &estimate));
    CHECK_REFUSED("backend is NULL",
                  weft_estimate_kernel_matrix(backend, nullptr, {1, 0, 1, 0}, 1, nullptr, &estimate));
    CHECK_REFUSED("backend is NULL", weft_kernel_matrix(backend, nullptr, 1, none, none, 1, nothing,
                                                        {1, 0, 1, 0}, nullptr, nullptr));
    CHECK_REFUSED("backend is NULL", weft_kernel_matrix_of_states(backend, 3, none, none, 1, nothing,
                                                                  {1, 0, 1, 0}, nullptr, nullptr));
    CHECK_REFUSED("stream is NULL",
                  weft_stream_kernel_matrix(stream, nullptr, 1, view, view, 1, view, {1, 0, 1, 0}, nullptr));
    CHECK_REFUSED("stream is NULL",
                  weft_stream_kernel_matrix_of_states(stream, 3, view, view, 1, view, {1, 0, 1, 0}, nullptr));
    weft_kernel_operator* k = nullptr;
    CHECK_REFUSED("backend is NULL",
                  weft_kernel_operator_create(backend, nullptr, 1, none, none, {1, 0, 1, 0}, nullptr, &k));
    CHECK_REFUSED("the pointer for the result is NULL",
                  weft_kernel_operator_create(backend, nullptr, 1, none, none, {}, nullptr, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_kernel_operator_create(stream, nullptr, 1, view, view,
                                                                       {1, 0, 1, 0}, nullptr, &k));
    CHECK_REFUSED("backend is NULL",
                  weft_estimate_kernel_operator(backend, nullptr, {1, 0, 1, 0}, 1, nullptr, &estimate));
    CHECK_REFUSED("backend is NULL", weft_kernel_apply(backend, k, none, nothing, nullptr, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_kernel_apply(stream, k, view, view, nullptr));
    CHECK_REFUSED("backend is NULL", weft_kernel_rows(backend, k, nullptr, 0, nothing, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_kernel_rows(stream, k, nullptr, 0, view));
    CHECK_REFUSED("backend is NULL", weft_kernel_diagonal(backend, k, nothing, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_kernel_diagonal(stream, k, view));
    CHECK_REFUSED("backend is NULL", weft_kernel_solve(backend, k, none, nothing, nullptr, nullptr));
    CHECK_REFUSED("backend is NULL", weft_kernel_eigen(backend, k, nothing, nothing, nullptr, nullptr));
    CHECK_REFUSED("backend is NULL", weft_kernel_predict(backend, nullptr, 1, none, none, 1, none, nothing,
                                                         {1, 1, 1, 0}, nullptr, nullptr));
    weft_kernel_store* store = nullptr;
    CHECK_REFUSED("store is NULL", weft_kernel_store_create("k.npy", {1, 0, 1, 0}, 1, 0, nullptr));
    CHECK_REFUSED("file is NULL", weft_kernel_store_create(nullptr, {1, 0, 1, 0}, 1, 0, &store));
    CHECK_REFUSED("weft_kernel_store_create: no file (got an empty path, need one)",
                  weft_kernel_store_create("", {1, 0, 1, 0}, WEFT_FLOAT32, 0, &store));
    CHECK_REFUSED("backend is NULL",
                  weft_kernel_store_fill(store, backend, nullptr, 1, none, none, nullptr, nullptr));
    CHECK_REFUSED("store is NULL", weft_kernel_store_describe(store, nullptr));
    CHECK_REFUSED("store is NULL", weft_kernel_store_finish(store));
    CHECK_REFUSED("alignment is NULL", weft_kernel_alignment(WEFT_FLOAT32, none, nullptr, 0, 1, nullptr));
    CHECK_REFUSED("polarity is NULL", weft_kernel_polarity(WEFT_FLOAT32, none, nullptr, 0, 1, nullptr));
    CHECK_REFUSED("backend is NULL",
                  weft_lattice_encode(backend, nullptr, none, nothing, nothing, nullptr, nullptr));
    CHECK_REFUSED("backend is NULL",
                  weft_lattice_decode(backend, nullptr, none, none, nothing, nullptr, nullptr));
    CHECK_REFUSED("backend is NULL",
                  weft_lattice_quantize(backend, nullptr, none, nothing, nothing, nullptr, nullptr));
    CHECK_REFUSED("backend is NULL",
                  weft_lattice_inner(backend, nullptr, nullptr, none, none, nothing, nullptr, nullptr));
    CHECK_REFUSED("backend is NULL",
                  weft_lattice_search_beta(backend, nullptr, none, nullptr, nullptr, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_lattice_encode(stream, nullptr, view, view, view, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_lattice_decode(stream, nullptr, view, view, view, nullptr));
    CHECK_REFUSED("stream is NULL", weft_stream_lattice_quantize(stream, nullptr, view, view, view, nullptr));
    CHECK_REFUSED("stream is NULL",
                  weft_stream_lattice_inner(stream, nullptr, nullptr, view, view, view, nullptr));
    weft_profile* profile = nullptr;
    CHECK_REFUSED("backend is NULL", weft_profile_create(backend, 0, &profile));
    CHECK_REFUSED("profile is NULL", weft_profile_describe(nullptr, nullptr));
    CHECK_REFUSED("profile is NULL", weft_profile_print(nullptr, 0, &text));
    CHECK_REFUSED("profile is NULL", weft_profile_write_trace(nullptr, "x"));
}

TEST_CASE("c: NULL is refused behind a backend too") {
    on_device([](weft_backend* backend) {
        const weft_const_span none{};
        const weft_span nothing{};
        Stream stream;
        CHECK_OK(weft_stream_create(backend, nullptr, &stream));
        CHECK_REFUSED("weft_kernel_apply: k is NULL",
                      weft_kernel_apply(backend, nullptr, none, nothing, nullptr, nullptr));
        CHECK_REFUSED("k is NULL", weft_stream_kernel_apply(stream, nullptr, {}, {}, nullptr));
        CHECK_REFUSED("k is NULL", weft_kernel_rows(backend, nullptr, nullptr, 0, nothing, nullptr));
        CHECK_REFUSED("k is NULL", weft_stream_kernel_rows(stream, nullptr, nullptr, 0, {}));
        CHECK_REFUSED("k is NULL", weft_kernel_diagonal(backend, nullptr, nothing, nullptr));
        CHECK_REFUSED("k is NULL", weft_stream_kernel_diagonal(stream, nullptr, {}));
        CHECK_REFUSED("k is NULL", weft_kernel_solve(backend, nullptr, none, nothing, nullptr, nullptr));
        CHECK_REFUSED("k is NULL", weft_kernel_eigen(backend, nullptr, nothing, nothing, nullptr, nullptr));
        CHECK_REFUSED("store is NULL", weft_kernel_store_fill(nullptr, backend, nullptr, WEFT_FLOAT32, none,
                                                              none, nullptr, nullptr));
        const std::vector<float> x(4, 0.5f);
        KernelOperator k;
        CHECK_OK(weft_kernel_operator_create(backend, nullptr, WEFT_FLOAT32, in(x), none, {2, 0, 2, 0},
                                             nullptr, &k));
        CHECK_REFUSED("weft_kernel_rows: rows is NULL",
                      weft_kernel_rows(backend, k, nullptr, 2, nothing, nullptr));
    });
}

TEST_CASE("c: numbers that no enumeration has are refused by name") {
    weft_backend* made = nullptr;
    weft_backend_options options{};
    options.size = sizeof(options);
    const auto refused = [&](const char* part) { CHECK_REFUSED(part, weft_backend_create(&options, &made)); };
    options.path = 5, refused("weft_backend_options.path: no such value (got 5, need 0 to 4)"),
    options.path = 0;
    options.queues = 3, refused("weft_backend_options.queues"), options.queues = 0;
    options.host_allocator = 3, refused("weft_backend_options.host_allocator"), options.host_allocator = 0;
    options.validation = 4, refused("weft_backend_options.validation"), options.validation = 0;
    options.log_level = 6, refused("weft_backend_options.log_level"), options.log_level = 0;
    options.cache = 3, refused("weft_backend_options.cache"), options.cache = 0;
    options.vulkan_1_2_only = 2, refused("weft_backend_options.vulkan_1_2_only"), options.vulkan_1_2_only = 0;
    options.ring_slots = 17, refused("ring_slots"), options.ring_slots = 0;
    options.reserved = 1, refused("weft_backend_options.reserved is 1 (need 0)");
    uint64_t features = 0;
    CHECK_REFUSED("method: no such value (got 6, need 0 to 5)", weft_encode_features(6, 2, &features));
    CHECK_REFUSED("no such field", weft_field_describe(11, nullptr));
    weft_lattice_table* table = nullptr;
    CHECK_REFUSED("lattice: no such value", weft_lattice_table_create(3, 4, &table));
    float k[1] = {1};
    CHECK_REFUSED("k_type is neither", weft_kernel_center(WEFT_COMPLEX64, {k, sizeof(k)}, 1));
}
