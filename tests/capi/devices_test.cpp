// SPDX-License-Identifier: Apache-2.0
// Backends of several devices: calls on host memory share their work, and what belongs to one device says so.
#include <cstring>
#include <thread>

#include "capi/fixture.hpp"

using namespace weft_test;

namespace {

/// Two backends on the device that the environment names, or all devices of its list.
std::string pair_of_devices() {
    Backend one;
    CHECK_OK(weft_backend_create(nullptr, &one));
    if (weft_backend_count(one) > 1) return std::getenv("WEFT_DEVICE");
    weft_device_info info{};
    info.size = sizeof(info);
    CHECK_OK(weft_backend_device(one, &info));
    return std::to_string(info.index) + "," + std::to_string(info.index);
}

/// `list` must live as long as the options.
weft_backend_options several_options(std::string&& list) = delete;
weft_backend_options several_options(const std::string& list) {
    weft_backend_options options{};
    options.size = sizeof(options);
    options.device = list.c_str();
    options.chunk_elements = 512;  // so that small calls are shared too
    return options;
}

/// Runs body(backend of several devices). At the end, no buffer may be alive on any device.
template <class Body>
void on_several(Body&& body) {
    const std::string list = pair_of_devices();
    const weft_backend_options options = several_options(list);
    Backend backend;
    CHECK_OK(weft_backend_create(&options, &backend));
    REQUIRE(weft_backend_count(backend) >= 2);
    body(static_cast<weft_backend*>(backend));
    CHECK_OK(weft_backend_wait_idle(backend));
    CHECK_OK(weft_backend_trim(backend));
    for (std::uint64_t at = 0; at < weft_backend_count(backend); ++at) {
        Backend one;
        CHECK_OK(weft_backend_at(backend, at, &one));
        weft_memory memory{};
        memory.size = sizeof(memory);
        CHECK_OK(weft_backend_memory(one, &memory));
        CHECK(memory.live_buffers == 0);
        weft_counters counters{};
        counters.size = sizeof(counters);
        CHECK_OK(weft_backend_counters(one, &counters));
        CHECK(counters.validation_messages == 0);
    }
}

weft_report empty_report() {
    weft_report report{};
    report.size = sizeof(report);
    return report;
}

/// Checks the rows of the thread's last report: all devices took part, with all items.
void check_rows(weft_backend* backend, const weft_report& report, std::uint64_t items) {
    REQUIRE(report.devices == weft_backend_count(backend));
    std::uint64_t sum = 0;
    for (std::uint64_t at = 0; at < report.devices; ++at) {
        weft_device_report row{};
        row.size = sizeof(row);
        CHECK_OK(weft_last_report_device(at, &row));
        Backend one;
        CHECK_OK(weft_backend_at(backend, at, &one));
        CHECK(std::string(row.name) == weft_backend_name(one));
        CHECK(row.device == at);
        CHECK(row.shares > 0);
        CHECK(row.busy_s > 0);
        CHECK(row.lost == 0);
        sum += row.items;
    }
    CHECK(sum == items);
}

std::vector<std::uint64_t> field_values(std::size_t count) {
    std::vector<std::uint64_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = i * 0x9e3779b97f4a7c15u >> 8;
    return values;
}

}  // namespace

TEST_CASE("c: a list of devices makes a backend of them all, and each can be had alone") {
    const std::string list = pair_of_devices();
    const weft_backend_options options = several_options(list);
    Backend backend;
    CHECK_OK(weft_backend_create(&options, &backend));
    REQUIRE(weft_backend_count(backend) >= 2);
    Backend first, second, none;
    CHECK_OK(weft_backend_at(backend, 0, &first));
    CHECK_OK(weft_backend_at(backend, 1, &second));
    CHECK(weft_backend_count(first) == 1);
    CHECK(std::string(weft_backend_name(backend)).find(" + ") != std::string::npos);
    CHECK(std::string(weft_backend_name(backend)).find(weft_backend_name(second)) != std::string::npos);
    CHECK_REFUSED("weft_backend_at: no such device (got " + std::to_string(weft_backend_count(backend)),
                  weft_backend_at(backend, weft_backend_count(backend), &none));
    CHECK(static_cast<weft_backend*>(none) == nullptr);
    Backend same;
    CHECK_OK(weft_backend_at(first, 0, &same));
    CHECK(static_cast<weft_backend*>(same) == static_cast<weft_backend*>(first));
    CHECK_REFUSED("no such device (got 1, need below 1)", weft_backend_at(first, 1, &none));
    CHECK_REFUSED("backend is NULL", weft_backend_at(nullptr, 0, &none));
    CHECK_REFUSED("the pointer for the result is NULL", weft_backend_at(backend, 0, nullptr));
    CHECK(weft_backend_count(nullptr) == 0);
    std::uint32_t saved = 7;
    CHECK_OK(weft_backend_save_pipeline_cache(backend, &saved));
    CHECK(saved <= 1);
}

TEST_CASE("c: lists that name nothing are refused") {
    for (const char* names : {"0,no such card", ",", "0,,0"}) {
        const std::string list = names;
        const weft_backend_options options = several_options(list);
        Backend none;
        CHECK_REFUSED("weft_backend_create: ", weft_backend_create(&options, &none));
        CHECK(static_cast<weft_backend*>(none) == nullptr);
    }
}

TEST_CASE("c: what belongs to one device refuses several, and says what to do") {
    on_several([](weft_backend* backend) {
        const auto refused = [](weft_status status) {
            CHECK(status == WEFT_INVALID_ARGUMENT);
            const std::string text = weft_last_error();
            CAPTURE(text);
            CHECK(text.find(": works on one device (got a backend of ") != std::string::npos);
            CHECK(text.find("weft_backend_at") != std::string::npos);
        };
        weft_stream* stream = nullptr;
        refused(weft_stream_create(backend, nullptr, &stream));
        weft_buffer* buffer = nullptr;
        refused(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, 4, nullptr, &buffer));
        weft_profile* profile = nullptr;
        refused(weft_profile_create(backend, 0, &profile));
        weft_text* text = nullptr;
        refused(weft_backend_plan(backend, &text));
        weft_device_info info{};
        info.size = sizeof(info);
        refused(weft_backend_device(backend, &info));
        weft_counters counters{};
        counters.size = sizeof(counters);
        refused(weft_backend_counters(backend, &counters));
        weft_memory memory{};
        memory.size = sizeof(memory);
        refused(weft_backend_memory(backend, &memory));
        weft_startup startup{};
        startup.size = sizeof(startup);
        refused(weft_backend_startup(backend, &startup));
        weft_estimate estimate{};
        estimate.size = sizeof(estimate);
        refused(weft_estimate_encode(backend, 1, WEFT_FLOAT32, WEFT_COMPLEX64, 1, 1, 0, &estimate));
        refused(
            weft_estimate_kernel_matrix(backend, nullptr, {2, 0, 2, 0}, WEFT_FLOAT32, nullptr, &estimate));
        CHECK((stream == nullptr && buffer == nullptr && profile == nullptr && text == nullptr));
        Backend one;
        CHECK_OK(weft_backend_at(backend, 1, &one));
        Stream of_one;
        CHECK_OK(weft_stream_create(one, nullptr, &of_one));
        Buffer x;
        CHECK_OK(weft_buffer_create(one, WEFT_DEVICE_MEMORY, 400, nullptr, &x));
        CHECK_OK(weft_stream_fill(of_one, weft_buffer_view(x), 5));
        std::vector<std::uint32_t> values(100);
        CHECK_OK(weft_stream_download(of_one, weft_buffer_view(x), out(values)));
        CHECK(values[99] == 5);
    });
}

TEST_CASE("c: batches and pipelines share their jobs, and reports have a row a device") {
    on_several([](weft_backend* backend) {
        Program program;
        make_affine(backend, program);
        AffineJob large(100000), small(37);
        const weft_job jobs[] = {large.job, small.job};
        weft_report report = empty_report();
        CHECK_OK(weft_run_batch(backend, program, jobs, 2, nullptr, &report));
        CHECK(large.right());
        CHECK(small.right());
        CHECK(report.jobs == 2);
        check_rows(backend, report, 100037);
        weft_device_report row{};
        row.size = sizeof(row);
        CHECK_REFUSED("weft_last_report_device: no such row (got 99", weft_last_report_device(99, &row));
        CHECK_REFUSED("weft_device_report.size", [&] {
            row.size = 3;
            return weft_last_report_device(0, &row);
        }());
        row.size = sizeof(row);
        // Rows belong to the thread, and a call without a report leaves them.
        CHECK_OK(weft_run_batch(backend, program, jobs, 2, nullptr, nullptr));
        CHECK_OK(weft_last_report_device(1, &row));
        std::thread([] {
            weft_device_report other{};
            other.size = sizeof(other);
            CHECK_REFUSED("no such row (got 0, need below 0)", weft_last_report_device(0, &other));
        }).join();

        Pipeline pipeline;
        CHECK_OK(weft_pipeline_create(backend, program, nullptr, &pipeline));
        std::uint64_t tokens[2] = {};
        CHECK_OK(weft_pipeline_submit(pipeline, &large.job, &tokens[0]));
        CHECK_OK(weft_pipeline_submit(pipeline, &small.job, &tokens[1]));
        CHECK_OK(weft_pipeline_wait_all(pipeline));
        CHECK(large.right());
        report = empty_report();
        CHECK_OK(weft_pipeline_report(pipeline, &report));
        CHECK(report.devices == weft_backend_count(backend));

        Backend one;
        CHECK_OK(weft_backend_at(backend, 0, &one));
        CHECK_OK(weft_run_batch(one, program, jobs, 2, nullptr, &report));  // a program of all is one of each
        CHECK(report.devices == 0);
        CHECK_REFUSED("need below 0", weft_last_report_device(0, &row));
        Program of_one;
        make_affine(one, of_one);
        CHECK_REFUSED("weft_run_batch: ", weft_run_batch(backend, of_one, jobs, 2, nullptr, nullptr));
    });
}

TEST_CASE("c: ops on several devices give the bits of one") {
    on_several([](weft_backend* backend) {
        Backend one;
        CHECK_OK(weft_backend_at(backend, 0, &one));
        const std::vector<std::uint64_t> a = field_values(40000), b = field_values(40000);
        std::vector<std::uint64_t> want(40000), got(40000);
        weft_report report = empty_report();
        CHECK_OK(weft_field_apply(one, WEFT_GOLDILOCKS, WEFT_FIELD_MUL, in(a), in(b), {}, out(want), nullptr,
                                  nullptr));
        CHECK_OK(weft_field_apply(backend, WEFT_GOLDILOCKS, WEFT_FIELD_MUL, in(a), in(b), {}, out(got),
                                  nullptr, &report));
        CHECK(got == want);
        check_rows(backend, report, 40000);
        const weft_field_job job{in(a), in(b), {}, out(got)};
        got.assign(40000, 0);
        CHECK_OK(weft_field_batch(backend, WEFT_GOLDILOCKS, WEFT_FIELD_MUL, &job, 1, nullptr, &report));
        CHECK(got == want);
        Program program;
        CHECK_OK(weft_field_program(backend, WEFT_GOLDILOCKS, WEFT_FIELD_NEG, nullptr, &program));

        std::vector<float> angles(3 * 20000), states(16 * 20000), same(16 * 20000);
        for (std::size_t i = 0; i < angles.size(); ++i) angles[i] = static_cast<float>(i % 97) * 0.03f;
        for (const auto& [where, target] :
             {std::pair{static_cast<weft_backend*>(one), &states}, std::pair{backend, &same}})
            CHECK_OK(weft_encode(where, WEFT_ENCODE_ANGLE, WEFT_FLOAT32, in(angles), WEFT_COMPLEX64,
                                 out(*target), 20000, 3, nullptr, &report));
        CHECK(std::memcmp(states.data(), same.data(), states.size() * 4) == 0);
        check_rows(backend, report, 20000);
        const weft_encode_job encode{in(angles), out(same), 20000};
        CHECK_OK(weft_encode_batch(backend, WEFT_ENCODE_ANGLE, WEFT_FLOAT32, WEFT_COMPLEX64, &encode, 1, 3,
                                   nullptr, nullptr));
        angles[30] = std::numeric_limits<float>::quiet_NaN();
        CHECK_REFUSED("weft_encode: ", weft_encode(backend, WEFT_ENCODE_ANGLE, WEFT_FLOAT32, in(angles),
                                                   WEFT_COMPLEX64, out(same), 20000, 3, nullptr, nullptr));
        weft_failure failure{};
        CHECK(weft_last_failures(&failure, 1) == 1);
        CHECK(failure.sample == 10);

        std::vector<float> x(2 * 300), k(300 * 300), k_of_one(300 * 300);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 31) * 0.1f;
        for (const auto& [where, target] :
             {std::pair{static_cast<weft_backend*>(one), &k_of_one}, std::pair{backend, &k}})
            CHECK_OK(weft_kernel_matrix(where, nullptr, WEFT_FLOAT32, in(x), {}, WEFT_FLOAT32, out(*target),
                                        {300, 0, 2, 0}, nullptr, &report));
        CHECK(k == k_of_one);
        CHECK(report.devices == weft_backend_count(backend));
    });
}

TEST_CASE("c: lattice codes on several devices give the bits of one") {
    on_several([](weft_backend* backend) {
        Backend one;
        CHECK_OK(weft_backend_at(backend, 0, &one));
        weft_lattice_code code{};
        code.size = sizeof(code);
        code.beta = 0.5f;
        constexpr std::uint64_t kVectors = 40000;
        std::vector<float> x(4 * kVectors), y(4 * kVectors), y_of_one(4 * kVectors);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 113) * 0.01f - 0.5f;
        std::uint64_t code_bytes = 0;
        CHECK_OK(weft_lattice_sizes(&code, kVectors, &code_bytes, nullptr));
        std::vector<std::uint8_t> codes(code_bytes), codes_of_one(code_bytes), status(kVectors);
        weft_report report = empty_report();
        CHECK_OK(weft_lattice_encode(one, &code, in(x), out(codes_of_one), {}, nullptr, nullptr));
        CHECK_OK(weft_lattice_encode(backend, &code, in(x), out(codes), out(status), nullptr, &report));
        CHECK(codes == codes_of_one);
        check_rows(backend, report, kVectors);
        CHECK_OK(weft_lattice_decode(backend, &code, in(codes), in(status), out(y), nullptr, nullptr));
        CHECK_OK(weft_lattice_quantize(backend, &code, in(x), out(y_of_one), {}, nullptr, nullptr));
        CHECK(y == y_of_one);
        weft_lattice_table* table = nullptr;
        CHECK_OK(weft_lattice_table_create(WEFT_LATTICE_D4, 4, &table));
        std::vector<float> products(kVectors);
        weft_lattice_options options{};
        options.size = sizeof(options);
        options.width = 4;
        CHECK_OK(weft_lattice_inner(backend, table, &code, in(codes), in(codes), out(products), &options,
                                    &report));
        CHECK(report.devices == weft_backend_count(backend));
        weft_lattice_table_release(table);
        weft_lattice_trial best{};
        CHECK_OK(weft_lattice_search_beta(backend, &code, in(x), nullptr, &best, &report));
        CHECK(best.beta > 0);
    });
}

TEST_CASE("c: page-locked memory of several devices is copied on none") {
    on_several([](weft_backend* backend) {
        Program program;
        make_affine(backend, program);
        constexpr std::uint64_t kElements = 100000;
        Buffer x, y;
        CHECK_OK(weft_buffer_create(backend, WEFT_HOST_MEMORY, kElements * 4, "x", &x));
        CHECK_OK(weft_buffer_create(backend, WEFT_HOST_MEMORY, kElements * 4, nullptr, &y));
        auto* values = static_cast<std::uint32_t*>(weft_buffer_data(x));
        REQUIRE(values != nullptr);
        for (std::uint64_t i = 0; i < kElements; ++i) values[i] = static_cast<std::uint32_t>(i * 7);
        AffineJob work(1);
        work.inputs[0] = {values, kElements * 4};
        work.outputs[0] = {weft_buffer_data(y), kElements * 4};
        work.job.elements = kElements;
        weft_report report = empty_report();
        CHECK_OK(weft_run_batch(backend, program, &work.job, 1, nullptr, &report));
        check_rows(backend, report, kElements);
        CHECK(report.copy_in_s == 0);
        CHECK(report.copy_out_s == 0);
        const auto* results = static_cast<const std::uint32_t*>(weft_buffer_data(y));
        for (std::uint64_t i = 0; i < kElements; i += 77)
            CHECK(results[i] == static_cast<std::uint32_t>(i * 7 * 3 + 11 + i));
        std::vector<std::uint32_t> own(kElements);
        weft_registration* registration = nullptr;
        const weft_status status = weft_registration_create(backend, out(own), &registration);
        CHECK((status == WEFT_OK || status == WEFT_UNSUPPORTED));
        weft_registration_release(registration);
    });
}

TEST_CASE("c: what is made of several devices outlives their backend, in any order") {
    const std::string list = pair_of_devices();
    const weft_backend_options options = several_options(list);
    Backend backend, second;
    CHECK_OK(weft_backend_create(&options, &backend));
    CHECK_OK(weft_backend_at(backend, 1, &second));
    Program program;
    make_affine(backend, program);
    Pipeline pipeline;
    CHECK_OK(weft_pipeline_create(backend, program, nullptr, &pipeline));
    Buffer host;
    CHECK_OK(weft_buffer_create(backend, WEFT_HOST_MEMORY, 400, nullptr, &host));
    AffineJob work(5000), later(100);
    std::uint64_t token = 0;
    CHECK_OK(weft_pipeline_submit(pipeline, &work.job, &token));
    backend.reset();
    program.reset();
    CHECK_OK(weft_pipeline_wait(pipeline, token, WEFT_FOREVER));
    CHECK(work.right());
    static_cast<std::uint32_t*>(weft_buffer_data(host))[99] = 3;
    make_affine(second, program);
    CHECK_OK(weft_run_batch(second, program, &later.job, 1, nullptr, nullptr));
    CHECK(later.right());
    second.reset();
    pipeline.reset();
    host.reset();
}

TEST_CASE("c: a callback stops several devices, and may release their backend") {
    const std::string list = pair_of_devices();
    const weft_backend_options options = several_options(list);
    Backend backend;
    CHECK_OK(weft_backend_create(&options, &backend));
    Program program;
    make_affine(backend, program);
    std::vector<std::unique_ptr<AffineJob>> works;
    std::vector<weft_job> jobs;
    for (int i = 0; i < 200; ++i) {
        works.push_back(std::make_unique<AffineJob>(500));
        jobs.push_back(works.back()->job);
    }
    weft_batch_options stopping{};
    stopping.size = sizeof(stopping);
    stopping.progress = [](void*, const weft_progress*) { return 1; };
    CHECK_STATUS(WEFT_CANCELLED, "weft_run_batch: ended by its callback",
                 weft_run_batch(backend, program, jobs.data(), jobs.size(), &stopping, nullptr));
    weft_batch_options releasing{};
    releasing.size = sizeof(releasing);
    releasing.user = &backend;
    releasing.progress = [](void* user, const weft_progress*) {
        static_cast<Backend*>(user)->reset();
        return 0;
    };
    CHECK_OK(weft_run_batch(backend, program, jobs.data(), jobs.size(), &releasing, nullptr));
    for (const auto& work : works) CHECK(work->right());
    CHECK(static_cast<weft_backend*>(backend) == nullptr);
}
