// SPDX-License-Identifier: Apache-2.0
// Transforms, extensions and products on several devices: the bits of one device, a row for each device, the
// same refusals.
#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/devices.hpp>
#include <weft/ops/ntt.hpp>

#include "support/device_pair.hpp"

using namespace weft_test;
using weft::Devices;
using weft::Errc;
using weft::Field;
using weft::NttDirection;
using weft::NttLayout;
using weft::NttOrder;
using weft::OpReport;

namespace {

/// Values below p: the highest limb is below that of p.
template <class Limb>
std::vector<Limb> elements_of(Field field, std::size_t count, std::uint32_t seed) {
    const weft::FieldInfo& info = weft::field_info(field);
    std::vector<Limb> made(count * info.limbs);
    std::uint64_t state = seed;
    for (Limb& limb : made) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        limb = static_cast<Limb>(state ^ state >> 31);
    }
    for (std::size_t i = info.limbs - 1; i < made.size(); i += info.limbs)
        made[i] = static_cast<Limb>(made[i] % static_cast<Limb>(info.modulus[info.limbs - 1]));
    return made;
}

/// Rounds of 3 transforms; the smallest share has 4 of these.
weft::BatchOptions rounds() {
    return {.chunk_elements = 3};
}

template <class Limb>
void check_transforms(Devices& devices, Field field, std::uint32_t log_size, std::uint64_t batch) {
    const auto in = elements_of<Limb>(field, batch << log_size, log_size);
    for (const NttLayout layout : {NttLayout::rows, NttLayout::columns})
        for (const NttOrder order : {NttOrder::nn, NttOrder::nr}) {
            CAPTURE(weft::to_string(field));
            CAPTURE(weft::to_string(layout));
            CAPTURE(weft::to_string(order));
            const weft::NttShape shape{.log_size = log_size, .batch = batch, .layout = layout};
            std::vector<Limb> out(in.size()), one(in.size());
            std::uint64_t last = 0;
            weft::NttHostOptions options{.order = order, .check_values = true, .batch = rounds()};
            weft::ntt(devices[0], field, NttDirection::forward, in, one, shape, options);
            options.batch.progress = [&](const weft::Progress& p) {
                CHECK(p.done > last);
                CHECK(p.total == batch);
                last = p.done;
            };
            const OpReport report = weft::ntt(devices, field, NttDirection::forward, in, out, shape, options);
            CHECK(last == batch);
            const bool same = out == one;
            CHECK(same);
            CHECK(report.op == "ntt");
            CHECK(report.items == batch);
            CHECK(report.bytes_in == in.size() * sizeof(Limb));
            CHECK(report.chunk_elements == 3);
            check_rows(report, devices, batch);
            // And back, in place.
            options.order = order == NttOrder::nr ? NttOrder::rn : NttOrder::nn;
            options.batch.progress = {};
            check_rows(weft::ntt(devices, field, NttDirection::inverse, out, out, shape, options), devices,
                       batch);
            const bool back = out == in;
            CHECK(back);
        }
}

template <class Limb>
void check_extensions(Devices& devices, Field field, std::uint32_t log_size, std::uint64_t batch) {
    const auto in = elements_of<Limb>(field, batch << log_size, log_size);
    const auto coset = elements_of<Limb>(field, 1, 5);
    for (const NttLayout layout : {NttLayout::rows, NttLayout::columns}) {
        CAPTURE(weft::to_string(field));
        CAPTURE(weft::to_string(layout));
        const weft::NttShape shape{.log_size = log_size, .batch = batch, .layout = layout};
        std::vector<Limb> out(4 * in.size()), one(out.size());
        const weft::NttHostOptions options{.coset = coset, .batch = rounds()};
        weft::ntt_extend(devices[0], field, in, one, shape, 4, options);
        const OpReport report = weft::ntt_extend(devices, field, in, out, shape, 4, options);
        const bool same = out == one;
        CHECK(same);
        CHECK(report.op == "ntt_extend");
        CHECK(report.items == batch);
        check_rows(report, devices, batch);
    }
}

/// Calls that are refused or cancelled leave `out` as it was.
template <class Body>
void check_untouched(Errc code, const char* text, std::vector<std::uint64_t>& out, Body&& body) {
    std::fill(out.begin(), out.end(), std::uint64_t{5});
    check_error(code, text, body);
    CHECK(std::count(out.begin(), out.end(), std::uint64_t{5}) == static_cast<std::ptrdiff_t>(out.size()));
}

std::stop_token stopped() {
    std::stop_source source;
    source.request_stop();
    return source.get_token();
}

}  // namespace

TEST_CASE("devices, ntt: transforms in rows and columns") {
    on_devices(64, [](Devices& devices) {
        check_transforms<std::uint32_t>(devices, Field::babybear, 8, 401);
        check_transforms<std::uint64_t>(devices, Field::goldilocks, 7, 401);
        check_transforms<std::uint64_t>(devices, Field::bn254_fr, 5, 201);
        // Without transforms, and with one, there is nothing to share.
        std::vector<std::uint64_t> none, x = elements_of<std::uint64_t>(Field::goldilocks, 256, 1), one(256);
        CHECK(weft::ntt(devices, Field::goldilocks, NttDirection::forward, none, none,
                        {.log_size = 8, .batch = 0})
                  .items == 0);
        weft::ntt(devices[0], Field::goldilocks, NttDirection::forward, x, one, {.log_size = 8});
        const OpReport report =
            weft::ntt(devices, Field::goldilocks, NttDirection::forward, x, x, {.log_size = 8});
        CHECK(x == one);
        REQUIRE(report.devices.size() == devices.size());
        CHECK(report.devices.back().note == "too little work to share");
    });
}

TEST_CASE("devices, ntt: extensions") {
    on_devices(64, [](Devices& devices) {
        check_extensions<std::uint32_t>(devices, Field::koalabear, 7, 301);
        check_extensions<std::uint64_t>(devices, Field::goldilocks, 6, 301);
    });
}

TEST_CASE("devices, ntt: a product is made by one device") {
    on_devices(64, [](Devices& devices) {
        for (const Field field : {Field::goldilocks, Field::bls12_381_fr}) {
            const auto a = elements_of<std::uint64_t>(field, 300, 1),
                       b = elements_of<std::uint64_t>(field, 77, 2);
            std::vector<std::uint64_t> out(376 * weft::field_info(field).limbs), one(out.size());
            weft::ntt_product(devices[0], field, a, b, one);
            std::uint64_t calls = 0;
            const OpReport report =
                weft::ntt_product(devices, field, a, b, out,
                                  {.check_values = true, .batch = {.progress = [&](const weft::Progress& p) {
                                                             ++calls;
                                                             CHECK(p.done == 1);
                                                             CHECK(p.total == 1);
                                                         }}});
            const bool same = out == one;
            CHECK(same);
            CHECK(calls == 1);
            CHECK(report.op == "ntt_product");
            CHECK(report.items == 1);
            CHECK(report.jobs == 1);
            CHECK_FALSE(report.method.empty());
            CHECK(report.bytes_in == (a.size() + b.size()) * 8);
            CHECK(report.bytes_out == out.size() * 8);
            REQUIRE(report.devices.size() == devices.size());
            std::uint64_t products = 0;
            for (const weft::DeviceReport& row : report.devices) {
                products += row.items;
                CHECK((row.items == 1 || row.note == "too little work to share"));
            }
            CHECK(products == 1);
        }
    });
}

TEST_CASE("devices, ntt: refused and cancelled calls leave outputs untouched") {
    on_devices(64, [](Devices& devices) {
        constexpr Field kField = Field::goldilocks;
        const weft::NttShape shape{.log_size = 6, .batch = 100};
        auto in = elements_of<std::uint64_t>(kField, shape.elements(), 1);
        std::vector<std::uint64_t> out(in.size()), large(2 * in.size()), product(in.size() + 9);
        const std::vector<std::uint64_t> zero{0}, factor(10, 3);
        const auto forward = [&](const weft::NttHostOptions& options) {
            return
                [&, options] { weft::ntt(devices, kField, NttDirection::forward, in, out, shape, options); };
        };
        const auto extend = [&](std::uint32_t blowup, const weft::NttHostOptions& options) {
            return [&, blowup, options] {
                weft::ntt_extend(devices, kField, in, large, shape, blowup, options);
            };
        };
        const auto multiply = [&](const weft::FieldHostOptions& options) {
            return [&, options] { weft::ntt_product(devices, kField, in, factor, product, options); };
        };
        const weft::BatchOptions host_path{.path = weft::Path::host}, stop{.cancel = stopped()};
        check_untouched(Errc::invalid_argument, "ntt: coset", out, forward({.coset = zero}));
        check_untouched(Errc::invalid_argument, "ntt: BatchOptions::path", out,
                        forward({.batch = host_path}));
        check_untouched(Errc::cancelled, "ntt: cancelled", out, forward({.batch = stop}));
        check_untouched(Errc::invalid_argument, "ntt_extend: no such blowup", large, extend(3, {}));
        check_untouched(Errc::cancelled, "ntt_extend: cancelled", large, extend(2, {.batch = stop}));
        check_untouched(Errc::invalid_argument, "ntt_product: BatchOptions::path", product,
                        multiply({.batch = host_path}));
        check_untouched(Errc::cancelled, "ntt_product: cancelled", product, multiply({.batch = stop}));
        in[77 * 64 + 3] = ~std::uint64_t{0};
        check_untouched(Errc::invalid_argument, "element 3 of transform 77 of in is not canonical", out,
                        forward({.check_values = true}));
        check_untouched(Errc::invalid_argument, "element 3 of transform 77 of in is not canonical", large,
                        extend(2, {.check_values = true}));
        check_untouched(Errc::invalid_argument, "element 4931 of a is not canonical", product,
                        multiply({.check_values = true}));
    });
}

TEST_CASE("devices, ntt: a call that is cancelled on the way ends on all devices") {
    on_devices(64, [](Devices& devices) {
        const weft::NttShape shape{.log_size = 8, .batch = 600};
        const auto in = elements_of<std::uint64_t>(Field::goldilocks, shape.elements(), 1);
        std::vector<std::uint64_t> out(in.size());
        std::stop_source source;
        weft::NttHostOptions options{.batch = rounds()};
        options.batch.progress = [&](const weft::Progress&) { source.request_stop(); };
        options.batch.cancel = source.get_token();
        check_error(Errc::cancelled, "ntt: cancelled", [&] {
            weft::ntt(devices, Field::goldilocks, NttDirection::forward, in, out, shape, options);
        });
    });
}
