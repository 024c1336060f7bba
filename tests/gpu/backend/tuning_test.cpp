// SPDX-License-Identifier: Apache-2.0
// A Backend and a stored tuning.
#include <filesystem>
#include <fstream>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/scratch_folder.hpp"

using namespace weft_test;

namespace {

weft::Config in(const std::filesystem::path& folder) {
    weft::Config config = weft::Config::from_env();
    config.cache = true;
    config.cache_dir = folder;
    config.ring_slots.reset();
    config.chunk_elements.reset();
    return config;
}

}  // namespace

TEST_CASE("a stored tuning is used by the next backend, and removed by an empty one") {
    const ScratchFolder folder;
    const weft::Config config = in(folder.path());
    constexpr std::size_t kElements = 1000;
    on_device(
        [&](weft::Backend& backend) {
            CHECK(backend.plan().tuning.state == "absent");
            weft::tune::store_engine(backend, {.chunk_bytes = 144 * 100, .ring_slots = 5});
            CHECK(backend.plan().ring_slots != 5);  // it applies to backends that are made later
        },
        config);
    on_device(
        [&](weft::Backend& backend) {
            CHECK(backend.plan().tuning.state == "used");
            CHECK(backend.plan().ring_slots == 5);
            std::vector<std::uint64_t> a(kElements * weft::kBls12381FpLimbs, 1), b(a), out(a.size());
            const std::vector<weft::FieldJob> jobs{{.a = a, .b = b, .out = out}};
            const weft::BatchReport report =
                weft::field_batch(backend, weft::Field::bls12_381_fp, weft::FieldOp::add, jobs);
            CHECK(report.ring_slots == 5);
            CHECK(report.chunk_elements == 100);
            CHECK(out == std::vector<std::uint64_t>(a.size(), 2));
        },
        config);
    weft::Config asked = config;
    asked.ring_slots = 2;
    on_device([](weft::Backend& backend) { CHECK(backend.plan().ring_slots == 2); }, asked);
    weft::Config off = config;
    off.cache = false;
    on_device(
        [](weft::Backend& backend) {
            CHECK(backend.plan().tuning.state == "off");
            CHECK(backend.plan().ring_slots != 5);
            check_error(weft::Errc::unsupported, "the cache is off",
                        [&] { weft::tune::store_engine(backend, {}); });
        },
        off);
    on_device(
        [](weft::Backend& backend) {
            check_error(weft::Errc::invalid_argument, "ring_slots is out of range (got 17",
                        [&] { weft::tune::store_engine(backend, {.ring_slots = 17}); });
            weft::tune::store_engine(backend, {});
            CHECK_FALSE(std::filesystem::exists(backend.plan().tuning.file));
            weft::tune::store_engine(backend, {});  // nothing to remove is no error
        },
        config);
}

TEST_CASE("a stored tile of transforms is used, with the same results, and a call may ask for another") {
    const ScratchFolder folder;
    const weft::Config config = in(folder.path());
    constexpr weft::NttShape kShape{.log_size = 9, .batch = 2};
    std::vector<std::uint64_t> in(kShape.elements()), want(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = i * i + 7;
    const auto transform = [&](weft::Backend& backend, std::vector<std::uint64_t>& out) {
        return weft::ntt(backend, weft::Field::goldilocks, weft::NttDirection::forward, in, out, kShape)
            .method;
    };
    std::string planned;
    on_device(
        [&](weft::Backend& backend) {
            planned = transform(backend, want);
            weft::tune::store_engine(backend, {.ntt_tile_bytes = 1024});
            check_error(weft::Errc::invalid_argument, "ntt_tile_bytes is out of range (got 1023",
                        [&] { weft::tune::store_engine(backend, {.ntt_tile_bytes = 1023}); });
        },
        config);
    on_device(
        [&](weft::Backend& backend) {
            CHECK(backend.plan().tuning.values.ntt_tile_bytes == 1024);
            std::vector<std::uint64_t> out(in.size());
            CHECK(planned == "9");
            CHECK(transform(backend, out) == "3+3+3");  // tiles of 2^7 elements
            CHECK(out == want);
            weft::Stream stream(backend);
            const weft::Buffer<std::uint64_t> resident(backend, in.size());
            const auto dispatches = [&](const weft::NttOptions& options) {
                return stream
                    .record([&](weft::Stream& steps) {
                        weft::ntt(steps, weft::Field::goldilocks, weft::NttDirection::forward, resident,
                                  resident, kShape, options);
                    })
                    .dispatches();
            };
            CHECK(dispatches({.order = weft::NttOrder::nr}) == 2);
            CHECK(dispatches({.order = weft::NttOrder::nr, .tile_bits = 10}) == 1);
        },
        config);
}

TEST_CASE("a damaged tuning is ignored and reported") {
    const ScratchFolder folder;
    const weft::Config config = in(folder.path());
    std::filesystem::path file;
    on_device(
        [&](weft::Backend& backend) {
            weft::tune::store_engine(backend, {.ring_slots = 5});
            file = backend.plan().tuning.file;
        },
        config);
    std::ofstream(file) << "{\"schema\": 1";
    on_device(
        [](weft::Backend& backend) {
            CHECK(backend.plan().tuning.state == "damaged: not what weft writes");
            CHECK(backend.plan().ring_slots != 5);
            CHECK(backend.plan().tuning.values.empty());
        },
        config);
}
