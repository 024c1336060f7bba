// SPDX-License-Identifier: Apache-2.0
// What the conformance tables do not call: devices, reports of a backend, estimates, what follows a kernel
// matrix, sizes and the search of lattice codes, profiles.
#include <cmath>
#include <cstdio>
#include <fstream>

#include "capi/fixture.hpp"

using namespace weft_test;

TEST_CASE("c: devices are listed, one of them chosen") {
    weft_device_list* list = nullptr;
    CHECK_OK(weft_list_devices(nullptr, &list));
    REQUIRE(list != nullptr);
    std::uint32_t chosen = 0;
    weft_device_info info{};
    info.size = sizeof(info);
    for (std::uint64_t at = 0; at < weft_device_list_count(list); ++at) {
        CHECK_OK(weft_device_list_get(list, at, &info));
        CHECK(info.index == at);
        CHECK(std::string(info.uuid).size() == 32);
        if (info.chosen == 0) continue;
        ++chosen;
        CHECK(std::string(info.refused).empty());
        Backend backend;
        CHECK_OK(weft_backend_create(nullptr, &backend));
        CHECK(std::string(weft_backend_name(backend)) == info.name);
        weft_device_info same{};
        same.size = sizeof(same);
        CHECK_OK(weft_backend_device(backend, &same));
        CHECK(std::string(same.driver) == info.driver);
        CHECK(same.max_buffer_bytes == info.max_buffer_bytes);
    }
    CHECK(chosen == 1);
    CHECK_REFUSED("no such device", weft_device_list_get(list, weft_device_list_count(list), &info));
    weft_device_list_release(list);
}

TEST_CASE("c: a backend is made as its options say, and reports") {
    weft_backend_options options{};
    options.size = sizeof(options);
    options.device = "no such device";
    Backend none;
    CHECK_STATUS(WEFT_INVALID_ARGUMENT, "no such device", weft_backend_create(&options, &none));
    options.device = nullptr;
    options.ring_slots = 2;
    options.chunk_elements = 64;
    options.log_level = WEFT_LOG_DEBUG;
    std::string log;
    options.log = [](void* user, weft_log_level level, const char* line) {
        CHECK(level <= WEFT_LOG_DEBUG);
        *static_cast<std::string*>(user) += std::string(line) + "\n";
    };
    options.log_user = &log;
    Backend backend;
    CHECK_OK(weft_backend_create(&options, &backend));
    Text plan;
    CHECK_OK(weft_backend_plan(backend, &plan));
    CHECK(std::string(weft_text_data(plan)).find('\n') != std::string::npos);
    CHECK(!log.empty());
    Program program;
    make_affine(backend, program);
    AffineJob work(1000);
    weft_report report{};
    report.size = sizeof(report);
    CHECK_OK(weft_run_batch(backend, program, &work.job, 1, nullptr, &report));
    CHECK(report.chunks == 16);
    weft_startup startup{};
    startup.size = sizeof(startup);
    CHECK_OK(weft_backend_startup(backend, &startup));
    CHECK(startup.first_result_s > 0);
    weft_counters counters{};
    counters.size = sizeof(counters);
    CHECK_OK(weft_backend_counters(backend, &counters));
    CHECK(counters.submissions > 0);
    std::uint32_t saved = 7;
    CHECK_OK(weft_backend_save_pipeline_cache(backend, &saved));
    CHECK(saved <= 1);
}

TEST_CASE("c: fields") {
    on_device([](weft_backend* backend) {
        weft_field_options options{};
        options.size = sizeof(options);
        options.form = WEFT_MONTGOMERY;
        Program program;
        CHECK_OK(weft_field_program(backend, WEFT_BABYBEAR, WEFT_FIELD_MUL, &options, &program));
        weft_program_info info{};
        info.size = sizeof(info);
        CHECK_OK(weft_program_describe(program, &info));
        CHECK(info.bindings == 3);
        std::vector<std::uint32_t> a{1, 2, 3}, b{4, 5, 6}, sum(1), first(3), second(3);
        const weft_field_job jobs[] = {{in(a), in(b), {}, out(first)}, {in(b), in(a), {}, out(second)}};
        weft_report report{};
        report.size = sizeof(report);
        CHECK_OK(weft_field_batch(backend, WEFT_MERSENNE31, WEFT_FIELD_MUL, jobs, 2, nullptr, &report));
        CHECK(first == std::vector<std::uint32_t>{4, 10, 18});
        CHECK(second == first);
        CHECK(report.jobs == 2);
        CHECK(report.items == 6);
        CHECK_OK(weft_field_apply(backend, WEFT_KOALABEAR, WEFT_FIELD_INNER_PRODUCT, in(a), in(b), {},
                                  out(sum), nullptr, nullptr));
        CHECK(sum[0] == 32);
        weft_batch_options batch{};
        batch.size = sizeof(batch);
        batch.chunk_elements = 100;
        std::vector<std::uint64_t> done;
        batch.user = &done;
        batch.progress = [](void* user, const weft_progress* now) {
            CHECK(now->total == 1000);
            static_cast<std::vector<std::uint64_t>*>(user)->push_back(now->done);
            return 0;
        };
        options.batch = &batch;
        std::vector<std::uint32_t> many(1000, 1);
        CHECK_OK(weft_field_apply(backend, WEFT_BABYBEAR, WEFT_FIELD_NEG, in(many), {}, {}, out(many),
                                  &options, nullptr));
        CHECK(done.size() > 1);  // one call, in chunks
        CHECK(done.back() == 1000);
        CHECK_REFUSED("a is not a whole number of uint32 elements",
                      weft_field_apply(backend, WEFT_BABYBEAR, WEFT_FIELD_NEG, {a.data(), 6}, {}, {},
                                       out(first), nullptr, nullptr));
        CHECK_REFUSED("a is not aligned to its elements",
                      weft_field_apply(backend, WEFT_BABYBEAR, WEFT_FIELD_NEG,
                                       {reinterpret_cast<const char*>(a.data()) + 1, 8}, {}, {}, out(first),
                                       nullptr, nullptr));
        CHECK_REFUSED("a is NULL (got 8 bytes)",
                      weft_field_apply(backend, WEFT_BABYBEAR, WEFT_FIELD_NEG, {nullptr, 8}, {}, {},
                                       out(first), nullptr, nullptr));
    });
}

TEST_CASE("c: estimates") {
    on_device([](weft_backend* backend) {
        weft_estimate estimate{};
        estimate.size = sizeof(estimate);
        CHECK_OK(weft_estimate_encode(backend, WEFT_ENCODE_IQP, WEFT_FLOAT32, WEFT_COMPLEX64, 10, 4, 0,
                                      &estimate));
        CHECK(estimate.streamed_fits == 1);
        CHECK(std::string(estimate.reason).empty());
        CHECK_OK(weft_estimate_encode(backend, WEFT_ENCODE_ANGLE, WEFT_FLOAT32, WEFT_COMPLEX64,
                                      std::uint64_t{1} << 27, 30, 0, &estimate));
        CHECK(estimate.resident_fits == 0);
        CHECK(!std::string(estimate.reason).empty());
        CHECK_OK(
            weft_estimate_kernel_matrix(backend, nullptr, {100, 0, 6, 0}, WEFT_FLOAT32, nullptr, &estimate));
        CHECK(std::string(estimate.method) == "product");
        CHECK(estimate.error > 0);
        CHECK_REFUSED(
            "weft_kernel_shape.reserved",
            weft_estimate_kernel_matrix(backend, nullptr, {100, 0, 6, 9}, WEFT_FLOAT32, nullptr, &estimate));
    });
}

TEST_CASE("c: what follows a kernel matrix") {
    std::vector<double> k{2, 0, 0, 2}, labels{1, -1};
    double value = 0;
    CHECK_OK(weft_kernel_alignment(WEFT_FLOAT64, in(k), labels.data(), 2, 1, &value));
    CHECK(value == doctest::Approx(std::sqrt(0.5)));
    CHECK_OK(weft_kernel_polarity(WEFT_FLOAT64, in(k), labels.data(), 2, 0, &value));
    CHECK(value == 4);
    CHECK_OK(weft_kernel_center(WEFT_FLOAT64, out(k), 2));
    CHECK(k == std::vector<double>{1, -1, -1, 1});
    std::vector<float> f{1, 2, 2, 1};  // eigenvalues 3 and -1
    std::uint64_t negative = 0;
    CHECK_OK(weft_kernel_clip(WEFT_FLOAT32, out(f), 2, &negative));
    CHECK(negative == 1);
    CHECK(f[0] == doctest::Approx(1.5));
    CHECK_OK(weft_kernel_normalize(WEFT_FLOAT32, out(f), 2, 0));
    CHECK(f[0] == 1);
    CHECK_REFUSED("kernel", weft_kernel_center(WEFT_FLOAT64, out(k), 3));
}

TEST_CASE("c: sizes and the search of lattice codes") {
    on_device([](weft_backend* backend) {
        weft_lattice_code code{};
        code.size = sizeof(code);
        code.lattice = WEFT_LATTICE_E8;
        code.packed = 1;
        std::uint64_t bytes = 0, statuses = 0;
        CHECK_OK(weft_lattice_sizes(&code, 100, &bytes, &statuses));
        CHECK(bytes == 100 * 2 * 8 * 2 / 8);
        CHECK(statuses == 100);
        code.dither_seed = 4;
        CHECK_REFUSED("dither_seed does not apply without dither",
                      weft_lattice_sizes(&code, 1, &bytes, nullptr));
        code.dither_seed = 0;
        std::vector<float> sample(512);
        for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = std::sin(static_cast<float>(i));
        weft_lattice_search_options options{};
        options.size = sizeof(options);
        options.steps = 16;
        weft_lattice_trial best{};
        weft_report report{};
        report.size = sizeof(report);
        CHECK_OK(weft_lattice_search_beta(backend, &code, in(sample), &options, &best, &report));
        CHECK(best.beta > 0);
        CHECK(best.mean_squared_error < 0.1);
        CHECK(report.items >= 16);
        CHECK_REFUSED("the sample is empty",
                      weft_lattice_search_beta(backend, &code, {}, &options, &best, nullptr));
    });
}

TEST_CASE("c: profiles and traces") {
    on_device([](weft_backend* backend) {
        Program program;
        make_affine(backend, program);
        AffineJob work(1000);
        Profile profile;
        CHECK_OK(weft_profile_create(backend, 0, &profile));
        CHECK_OK(weft_run_batch(backend, program, &work.job, 1, nullptr, nullptr));
        weft_profile_report report{};
        report.size = sizeof(report);
        CHECK_OK(weft_profile_describe(profile, &report));
        CHECK(report.wall_s > 0);
        CHECK(report.stage_s[WEFT_STAGE_KERNEL] > 0);
        Text table, json, csv, none;
        CHECK_OK(weft_profile_print(profile, WEFT_PROFILE_TABLE, &table));
        CHECK_OK(weft_profile_print(profile, WEFT_PROFILE_JSON, &json));
        CHECK_OK(weft_profile_print(profile, WEFT_PROFILE_CSV, &csv));
        CHECK(weft_text_data(json)[0] == '{');
        CHECK(std::string(weft_text_data(csv)).find(',') != std::string::npos);
        CHECK(std::string(weft_text_data(table)).find("kernel") != std::string::npos);
        CHECK_REFUSED("format: no such value", weft_profile_print(profile, 3, &none));
        const std::string path =
            "c_trace_" + std::to_string(reinterpret_cast<std::uintptr_t>(&work)) + ".json";
        CHECK_OK(weft_profile_write_trace(profile, path.c_str()));
        CHECK(std::ifstream(path).get() != EOF);
        std::remove(path.c_str());
        CHECK_STATUS(WEFT_IO, "", weft_profile_write_trace(profile, "/there/is/no/folder/trace.json"));
    });
}
