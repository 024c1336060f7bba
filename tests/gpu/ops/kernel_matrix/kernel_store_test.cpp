// SPDX-License-Identifier: Apache-2.0
// Kernel matrices into a store: the bits of one call, whatever ended the calls before and wherever they ran.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/device_pair.hpp"
#include "support/gpu_fixture.hpp"
#include "support/scratch_folder.hpp"

using weft::Errc;
using weft::KernelMatrixStore;
using weft_test::check_error;
using weft_test::on_device;
using weft_test::read_whole;
using weft_test::ScratchFolder;

namespace {

std::vector<float> features(std::size_t count, double step) {
    std::vector<float> made(count);
    for (std::size_t i = 0; i < count; ++i)
        made[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
    return made;
}

constexpr std::uint32_t kQubits = 3;
const std::vector<float> kX = features(330 * kQubits, 0.7), kY = features(200 * kQubits, 1.3);
const std::vector<double> kWeights{0.3, 0.7, -0.1, -0.2, 0.4, 0.9};

std::vector<weft::c32> states(std::size_t rows) {
    const std::vector<float> parts = features(rows * 16, 0.37);
    std::vector<weft::c32> made(rows * 8);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = {parts[2 * i] / 2, parts[2 * i + 1] / 2};
    return made;
}

/// One kind of call; `k` is host memory or a store.
struct Kind {
    const char* name;
    weft::KernelMatrixShape shape;
    weft::ElementType type;
    std::size_t tiles;  // of 64 rows
    weft::KernelMatrixHostOptions options = {};
    bool reupload = false, given = false;

    template <class Where, class Matrix>
    weft::OpReport run(Where& where, Matrix&& k, const weft::BatchOptions& batch = {}) const {
        weft::KernelMatrixHostOptions all = options;
        all.batch = batch;
        if (given) {
            const std::vector<weft::c32> x = states(shape.samples), y = states(shape.others);
            if (shape.square()) return weft::kernel_matrix(where, x, k, shape, all);
            return weft::kernel_matrix(where, x, y, k, shape, all);
        }
        const weft::KernelMatrixCircuit circuit{.weights = kWeights, .reupload = reupload};
        const std::span<const float> x(kX.data(), shape.samples * kQubits),
            y(kY.data(), shape.others * kQubits);
        if (shape.square()) return weft::kernel_matrix(where, circuit, x, k, shape, all);
        return weft::kernel_matrix(where, circuit, x, y, k, shape, all);
    }
    /// The bytes of K from one call.
    template <class Where>
    std::string whole(Where& where) const {
        std::string bytes(shape.values() * type.bytes(), '\0');
        run(where, weft::HostArray(bytes.data(), shape.values(), type));
        return bytes;
    }
};

std::vector<Kind> kinds(const weft::Backend& backend) {
    std::vector<Kind> all{
        {"closed form", {330, 0, kQubits}, weft::kFloat32, 6},
        {"closed form with Y", {330, 200, kQubits}, weft::kFloat32, 6},
        {"re-upload", {330, 0, kQubits}, weft::kFloat32, 21, {}, true},
        {"re-upload with Y", {330, 200, kQubits}, weft::kFloat32, 24, {.normalize = true}, true},
        {"re-upload in tiles",
         {330, 0, kQubits},
         weft::kFloat32,
         21,
         {.state_tile = 128, .bulk_states = weft::Choice::off, .normalize = true, .jitter = 0.25},
         true},
        {"states", {150, 0, kQubits}, weft::kFloat32, 6, {}, false, true},
        {"states with Y", {150, 70, kQubits}, weft::kFloat32, 6, {}, false, true},
    };
    if (backend.device().shader_float64)
        all.push_back({"float64", {200, 0, kQubits}, weft::kFloat64, 10, {}, true});
    return all;
}

std::string values_of(const std::filesystem::path& npy) {
    const std::string file = read_whole(npy);
    return file.substr(128);
}

/// Ends a call when this part of its work is done.
struct Stop {};
weft::BatchOptions stop_after(std::uint64_t part) {
    return {.progress = [part](const weft::Progress& p) {
        if (p.done >= p.total / part && p.done < p.total) throw Stop();
    }};
}

}  // namespace

TEST_CASE("K of a store has the bits of one call, also after calls that ended early") {
    on_device([](weft::Backend& backend) {
        for (const Kind& kind : kinds(backend)) {
            CAPTURE(std::string(kind.name));
            const ScratchFolder folder;
            const std::filesystem::path file = folder.path() / "k.npy";
            const std::string want = kind.whole(backend);
            std::uint64_t kept = 0;
            for (const std::uint64_t part : {4, 2}) {
                // What a store has settled is kept, whatever later calls ask for.
                KernelMatrixStore k(file, kind.shape, kind.type, {.tile_bytes = part == 4 ? 1u : 99999u});
                CHECK_THROWS_AS(kind.run(backend, k, stop_after(part)), Stop);
                CHECK(k.tiles() == kind.tiles);
                CHECK((part == 4 || k.kept() > kept));
                CHECK(k.kept() < kind.tiles);
                kept = k.kept();
                check_error(Errc::invalid_argument, "missing tiles", [&] { k.finish(); });
                check_error(Errc::invalid_argument, "has been used already", [&] { kind.run(backend, k); });
                CHECK_FALSE(std::filesystem::exists(file));
            }
            KernelMatrixStore k(file, kind.shape, kind.type);
            const weft::OpReport report = kind.run(backend, k);
            CHECK(k.kept() > kept);
            CHECK(k.damaged() == 0);
            CHECK(report.items < kind.shape.pairs());
            CHECK(report.method == (kind.reupload || kind.given ? "states" : "product"));
            const weft::HostArray values = k.values();
            CHECK(std::string_view(static_cast<const char*>(values.data), values.bytes()) == want);
            CHECK_FALSE(std::filesystem::exists(file));
            k.finish();
            CHECK(k.values().data == nullptr);
            CHECK(values_of(file) == want);
            CHECK(folder.files().size() == 1);
        }
    });
}

TEST_CASE("damaged tiles of a store are made again") {
    on_device([](weft::Backend& backend) {
        const Kind kind = kinds(backend)[2];
        const ScratchFolder folder;
        const std::filesystem::path file = folder.path() / "k.npy";
        {
            KernelMatrixStore k(file, kind.shape, kind.type, {.tile_bytes = 1});
            kind.run(backend, k);
        }
        {
            std::fstream part(file.string() + ".part", std::ios::in | std::ios::out | std::ios::binary);
            part.seekp(128 + 4 * (100 * 330 + 299));
            part.put('\x55');
        }
        KernelMatrixStore k(file, kind.shape, kind.type);
        const weft::OpReport report = kind.run(backend, k);
        CHECK(k.damaged() == 1);
        CHECK(k.kept() == kind.tiles - 1);
        CHECK(report.items == 64 * 64);
        k.finish();
        CHECK(values_of(file) == kind.whole(backend));
    });
}

TEST_CASE("a store refuses every other call by name and stays usable") {
    on_device([](weft::Backend& backend) {
        const ScratchFolder folder;
        const std::filesystem::path file = folder.path() / "k.npy";
        const weft::KernelMatrixShape shape{150, 0, kQubits};
        std::vector<float> x(kX.begin(), kX.begin() + 450), other = x;
        other[449] += 0.5f;
        {
            KernelMatrixStore k(file, shape, weft::kFloat32, {.tile_bytes = 1});
            weft::kernel_matrix(backend, {}, x, k, shape);
        }
        const auto refuse = [&](const char* part, const weft::KernelMatrixCircuit& circuit,
                                const std::vector<float>& rows,
                                const weft::KernelMatrixHostOptions& options = {}) {
            KernelMatrixStore k(file, shape);
            check_error(Errc::invalid_argument, part,
                        [&] { weft::kernel_matrix(backend, circuit, rows, k, shape, options); });
        };
        refuse("another X (the store has float32 ", {}, other);
        refuse("another map (the store has ryrz, the call has ry); remove ", {.map = weft::FeatureMap::ry},
               x);
        refuse("another scale (the store has 1, the call has 2)", {.scale = 2}, x);
        refuse("another weights", {.weights = kWeights}, x);
        refuse("another normalize (the store has off, the call has on)", {}, x, {.normalize = true});
        refuse("BatchOptions::stage_times", {}, x, {.batch = {.stage_times = weft::Choice::on}});
        check_error(Errc::invalid_argument, "another samples", [&] {
            KernelMatrixStore(file, {151, 0, kQubits});
        });
        check_error(Errc::invalid_argument, "another type",
                    [&] { KernelMatrixStore(file, shape, weft::kFloat64); });
        check_error(Errc::invalid_argument, "K is of type",
                    [&] { KernelMatrixStore(file, shape, weft::kUint8); });
        check_error(Errc::invalid_argument, "no samples", [&] { KernelMatrixStore(file, {0, 0, 1}); });
        KernelMatrixStore k(file, shape);
        check_error(Errc::io, "another KernelMatrixStore, of this process or another, has this K",
                    [&] { KernelMatrixStore(file, shape); });
        weft::kernel_matrix(backend, {}, x, k, shape);
        CHECK(k.kept() == k.tiles());
        k.finish();
    });
}

TEST_CASE("a store that was moved from is refused") {
    weft_test::on_device([](weft::Backend& backend) {
        const ScratchFolder folder;
        const std::vector<float> x(20 * 2, 0.5f);
        const weft::KernelMatrixShape shape{20, 0, 2};
        KernelMatrixStore from(folder.path() / "k.npy", shape);
        KernelMatrixStore to(std::move(from));
        check_error(Errc::invalid_argument, "KernelMatrixStore: moved from",
                    [&] { weft::kernel_matrix(backend, {}, x, from, shape); });
        weft::kernel_matrix(backend, {}, x, to, shape);
        to.finish();
    });
}

TEST_CASE("a store may be continued by several devices of a kind, and by one of them") {
    weft_test::on_devices(4096, [](weft::Devices& devices) {
        for (const Kind& kind : kinds(devices[0])) {
            CAPTURE(std::string(kind.name));
            const ScratchFolder folder;
            const std::filesystem::path file = folder.path() / "k.npy";
            for (const std::uint64_t part : {8, 4}) {
                KernelMatrixStore k(file, kind.shape, kind.type, {.tile_bytes = 1});
                if (part == 8)
                    CHECK_THROWS_AS(kind.run(devices[0], k, stop_after(part)), Stop);
                else
                    CHECK_THROWS_AS(kind.run(devices, k, stop_after(part)), Stop);
            }
            {  // tiles that are larger than the blocks of several devices
                const std::filesystem::path large = folder.path() / "large.npy";
                KernelMatrixStore one(large, kind.shape, kind.type);
                const weft::BatchOptions never{.progress = [](const weft::Progress&) { throw Stop(); }};
                CHECK_THROWS_AS(kind.run(devices[0], one, never), Stop);
                one = KernelMatrixStore(folder.path() / "unused.npy", kind.shape, kind.type);
                KernelMatrixStore all(large, kind.shape, kind.type);
                kind.run(devices, all);
                all.finish();
                CHECK(values_of(large) == kind.whole(devices[0]));
            }
            KernelMatrixStore k(file, kind.shape, kind.type);
            const weft::OpReport report = kind.run(devices, k);
            CHECK(k.kept() > 0);
            CHECK(report.devices.size() == devices.size());
            k.finish();
            CHECK(values_of(file) == kind.whole(devices[0]));
        }
    });
}
