// SPDX-License-Identifier: Apache-2.0
// One of several devices is lost at every call that may report it: the others finish, the report names it,
// and later calls leave it out. Or all are lost.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fault/fixture.hpp"

using namespace weft_test;
using weft::Devices;
using weft::Errc;
using weft_fault::Calls;
using weft_fault::LostWaits;

namespace {

/// The devices that WEFT_DEVICE lists, or the one device that it means, twice.
std::string pair_of_devices() {
    const weft::Config config = fault_config();
    if (config.device.find(',') != std::string::npos) return config.device;
    const std::string uuid = weft::Backend(config).device().uuid;
    return uuid + "," + uuid;
}

weft::Config pair_config() {
    static const std::string devices = pair_of_devices();
    weft::Config config = fault_config();
    config.device = devices;
    config.chunk_elements = 1024;
    config.ring_slots = 2;
    return config;
}

std::size_t count_lost(const Devices& devices) {
    std::size_t lost = 0;
    for (std::size_t i = 0; i < devices.size(); ++i) lost += devices.lost(i) ? 1 : 0;
    return lost;
}

void check_rows_name_losses(const weft::BatchReport& report, const Devices& devices) {
    REQUIRE(report.devices.size() == devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) {
        CHECK(report.devices[i].lost == devices.lost(i));
        INFO("note: " << report.devices[i].note);
        if (devices.lost(i)) CHECK(report.devices[i].note.find("lost") != std::string::npos);
    }
}

using Call = std::function<weft::BatchReport(Devices&)>;

/// Loses one device at the `index`-th such call of `call`, which must succeed all the same, now and again.
/// Returns whether there was such a call.
bool survives(std::uint64_t index, LostWaits waits, const Call& call) {
    CAPTURE(index);
    const Watchdog watchdog("devices, lost at call " + std::to_string(index));
    control().reset();
    bool reached = false;
    {
        Devices devices(pair_config());
        control().fail({.calls = Calls::may_lose,
                        .index = index,
                        .result = weft_fault::kDeviceLost,
                        .lost_waits = waits});
        const weft::BatchReport report = call(devices);
        INFO("failed function: " << control().failed());
        reached = !control().failed().empty();
        check_rows_name_losses(report, devices);
        CHECK(count_lost(devices) <= 1);
        const weft::BatchReport again = call(devices);
        check_rows_name_losses(again, devices);
        if (reached) CHECK(count_lost(devices) == 1);
    }
    check_nothing_left();
    return reached;
}

void lose_everywhere(LostWaits waits, const Call& call) {
    std::uint64_t index = 0;
    while (survives(index, waits, call)) ++index;
    MESSAGE(index << " calls");
    CHECK(index > 10);
}

weft::BatchReport batch(Devices& devices) {
    const weft::Program program(devices, kAffine);
    AffineWork work({60000, 10, 20000});
    weft::BatchReport report = weft::run_batch(devices, program, work.jobs);
    CHECK(work.right());
    return report;
}

weft::BatchReport pipeline(Devices& devices) {
    const weft::Program program(devices, kAffine);
    AffineWork work(std::vector<std::size_t>(24, 3000));
    weft::JobPipeline pipeline(devices, program);
    std::vector<weft::JobToken> tokens;
    for (const weft::Job& job : work.jobs) tokens.push_back(pipeline.submit(job));
    for (const weft::JobToken token : tokens) CHECK(pipeline.wait(token));
    pipeline.wait_all();
    CHECK(work.right());
    weft::BatchReport report = pipeline.report();
    CHECK(report.jobs == 24);
    // Rows of a pipeline are those of the devices that it was made for.
    if (report.devices.empty() || report.devices.size() < devices.size()) {
        report.devices.clear();
        for (std::size_t i = 0; i < devices.size(); ++i) {
            report.devices.push_back({.name = devices[i].name(), .device = i, .lost = devices.lost(i)});
            if (devices.lost(i)) report.devices.back().note = "lost";
        }
    }
    return report;
}

weft::BatchReport kernel(Devices& devices) {
    constexpr std::uint64_t kRows = 300;
    std::vector<float> x(kRows * 9, 0.25f), k(kRows * kRows);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += 0.01f * static_cast<float>(i % 97);
    const std::vector<float> weights(2 * 9, 0.5f);
    return weft::kernel_matrix(devices, {.weights = weights, .reupload = true}, x, k, {kRows, 0, 9});
}

}  // namespace

TEST_CASE("devices: one is lost in a batch") {
    for (const LostWaits waits : {LostWaits::say_lost, LostWaits::succeed}) lose_everywhere(waits, batch);
}

TEST_CASE("devices: one is lost in a pipeline") {
    lose_everywhere(LostWaits::say_lost, pipeline);
}

TEST_CASE("devices: one is lost in a kernel matrix") {
    for (std::uint64_t index = 0; index < 60; index += 7) survives(index, LostWaits::say_lost, kernel);
}

TEST_CASE("devices: one is lost in a product with an operator whose pairs are shared") {
    // What a device had finished before it was lost stays, and the rest is made by the other one: no bit
    // differs.
    constexpr std::uint64_t kRows = 5000;
    std::vector<double> x(kRows * 2), v(kRows), right;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.01 * static_cast<double>(i * 37 % 500);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0.1 * static_cast<double>(i * 7 % 19) - 1;
    weft::Config config = pair_config();
    config.chunk_elements = 64;
    std::uint64_t index = 0;
    for (bool reached = true; reached; index += 5) {
        CAPTURE(index);
        const Watchdog watchdog("product, lost at call " + std::to_string(index));
        control().reset();
        {
            Devices devices(config);
            if (!devices[0].device().shader_float64) return;
            const weft::KernelOperator k(
                devices, {}, x, {kRows, 0, 2},
                {.type = weft::kFloat64, .symmetric = weft::Choice::on, .low_rank = weft::Choice::off});
            std::vector<double> out(kRows, 1.0);
            if (right.empty()) {
                weft::kernel_apply(devices, k, v, out);
                right = out;
            }
            control().fail({.calls = Calls::may_lose, .index = index, .result = weft_fault::kDeviceLost});
            const weft::OpReport report = weft::kernel_apply(devices, k, v, out);
            INFO("failed function: " << control().failed());
            reached = !control().failed().empty();
            CHECK(count_lost(devices) <= 1);
            check_rows_name_losses(report, devices);
            CHECK(report.items == kRows * (kRows + 1) / 2);
            CHECK(out == right);
            out.assign(kRows, 1.0);
            weft::kernel_apply(devices, k, v, out);  // on the other device alone
            CHECK(out == right);
            CHECK(count_lost(devices) == (control().failed().empty() ? 0 : 1));
        }
        check_nothing_left();
    }
    MESSAGE(index << " calls");
    CHECK(index > 10);
}

TEST_CASE("devices: work in place is not repeated, and the call says so") {
    const Watchdog watchdog("in place");
    control().reset();
    {
        Devices devices(pair_config());
        const weft::Program program(devices, kInPlace);
        std::vector<std::uint32_t> values(60000, 3);
        const weft::Job job{{values}, {values}, values.size()};
        control().fail({.calls = Calls::named,
                        .function = "vkQueueSubmit2",
                        .index = 3,
                        .result = weft_fault::kDeviceLost});
        check_error(Errc::device_lost, ":", [&] { weft::run_batch(devices, program, {&job, 1}); });
        CHECK(count_lost(devices) == 1);
        CHECK(batch(devices).jobs == 3);
    }
    check_nothing_left();
}

TEST_CASE("devices: all are lost") {
    const Watchdog watchdog("all lost");
    control().reset();
    {
        Devices devices(pair_config());
        const weft::Program program(devices, kAffine);
        AffineWork work({60000});
        control().fail({.calls = Calls::may_lose, .result = weft_fault::kDeviceLost, .for_ever = true});
        check_error(Errc::device_lost, ":", [&] { weft::run_batch(devices, program, work.jobs); });
        CHECK(count_lost(devices) == 2);
        control().fail_no_more();
        const std::vector<std::function<void()>> calls = {
            [&] { weft::run_batch(devices, program, work.jobs); },
            [&] { weft::JobPipeline pipeline(devices, program); },
            [&] { const weft::Program other(devices, kInPlace); },
            [&] { devices.wait_idle(); },
            [&] {
                std::vector<std::uint64_t> a(400, 1);
                weft::field_add(devices, weft::Field::bn254_fr, a, a, a);
            },
        };
        for (const auto& call : calls) check_error(Errc::device_lost, "every device is lost", call);
    }
    check_nothing_left();
    control().reset();
    {
        Devices devices(pair_config());
        const weft::Program program(devices, kAffine);
        AffineWork work(std::vector<std::size_t>(60, 3000));
        weft::JobPipeline pipeline(devices, program);
        control().fail({.calls = Calls::may_lose, .result = weft_fault::kDeviceLost, .for_ever = true});
        std::size_t failed = 0;
        std::vector<weft::JobToken> tokens;
        for (const weft::Job& job : work.jobs) try {
                tokens.push_back(pipeline.submit(job));
            } catch (const weft::Error& error) {
                CHECK(error.code() == Errc::device_lost);
                ++failed;
            }
        for (const weft::JobToken token : tokens) try {
                pipeline.wait(token);
            } catch (const weft::Error& error) {
                CHECK(error.code() == Errc::device_lost);
                ++failed;
            }
        CHECK(failed != 0);
        check_error(Errc::device_lost, ":", [&] { pipeline.submit(work.jobs[0]); });
    }
    check_nothing_left();
}

TEST_CASE("devices: memory that runs out on one device leaves the work to the other") {
    for (std::uint64_t index = 0; index < 12; ++index) {
        const Watchdog watchdog("out of memory at call " + std::to_string(index));
        CAPTURE(index);
        control().reset();
        {
            Devices devices(pair_config());
            const weft::Program program(devices, kAffine);
            AffineWork work({60000});
            control().fail({.calls = Calls::may_allocate, .index = index});
            const weft::BatchReport report = weft::run_batch(devices, program, work.jobs);
            CHECK(work.right());
            CHECK(count_lost(devices) == 0);
            control().fail_no_more();
            work.clear();
            for (const weft::DeviceReport& row : weft::run_batch(devices, program, work.jobs).devices)
                CHECK(row.shares != 0);
            CHECK(work.right());
            static_cast<void>(report);
        }
        check_nothing_left();
    }
}
