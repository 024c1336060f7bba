// SPDX-License-Identifier: Apache-2.0
// Measured tiles of kernel matrices in calls: kept, used, damaged, switched off.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/kernel_oracle.hpp"
#include "support/kernel_routes.hpp"
#include "support/scratch_folder.hpp"

using namespace weft_test;

namespace {

constexpr weft::KernelMatrixShape kShape{100, 0, 4};

weft::Config in(const std::filesystem::path& folder) {
    weft::Config config = weft::Config::from_env();
    config.cache = true;
    config.cache_dir = folder;
    return config;
}

OracleCircuit circuit() {
    return {"ryrz", {{0.3, 0.7, -0.1, 1.1}, {-0.2, 0.4, 0.6, -0.8}}, true, 1, {}};
}

weft::KernelMatrixEstimate estimate(const weft::Backend& backend, bool autotune = true) {
    const CircuitArguments arguments = circuit_arguments(circuit());
    return weft::estimate_kernel_matrix(backend, arguments.circuit, kShape, weft::kFloat32,
                                        {.autotune = autotune ? weft::Choice::automatic : weft::Choice::off});
}

std::string text_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

/// Replaces all tiles of all classes by `tile`.
void rewrite(const std::filesystem::path& file, const std::string& tile) {
    std::istringstream lines(text_of(file));
    std::string out;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t at = line.find(" of ");
        if (at != std::string::npos && line.find("/") != std::string::npos) {
            const bool more = line.back() == ',';
            line = line.substr(0, line.find("\": ") + 3) + '"' + tile + '"' + (more ? "," : "");
        }
        out += line + '\n';
    }
    std::ofstream(file, std::ios::trunc) << out;
}

}  // namespace

TEST_CASE("tiles are measured, kept, used by the next backend, and forgotten") {
    const ScratchFolder folder;
    std::filesystem::path file;
    on_device(
        [&](weft::Backend& backend) {
            CHECK(weft::tune::tiles_state(backend) == "absent");
            CHECK(estimate(backend).tile_choice == "planned");
            const auto dry = weft::tune::kernel_matrix_tiles(backend, kShape, {.keep = false, .repeats = 1});
            CHECK(weft::tune::tiles_state(backend) == "absent");
            const auto reports = weft::tune::kernel_matrix_tiles(backend, kShape, {.repeats = 3});
            REQUIRE(!reports.empty());
            CHECK(reports.size() == dry.size());
            for (const weft::tune::TileReport& report : reports) {
                REQUIRE(report.best < report.trials.size());
                CHECK(report.trials.size() > 1);
                for (const weft::tune::TileTrial& trial : report.trials) {
                    CHECK(trial.median_s > 0);
                    CHECK_MESSAGE(trial.right, trial.tile);
                }
                file = report.file;
            }
            CHECK(std::filesystem::exists(file));
            CHECK(estimate(backend).tile_choice == "measured");
            CHECK(estimate(backend).tile == reports[0].trials[reports[0].best].tile);
            CHECK(estimate(backend, false).tile_choice == "planned");
        },
        in(folder.path()));
    on_device(
        [&](weft::Backend& backend) {
            CHECK(weft::tune::tiles_state(backend) == "used");
            CHECK(estimate(backend).tile_choice == "measured");
            weft::tune::forget_tiles(backend);
            CHECK_FALSE(std::filesystem::exists(file));
            CHECK(weft::tune::tiles_state(backend) == "absent");
            CHECK(estimate(backend).tile_choice == "planned");
            weft::tune::forget_tiles(backend);  // nothing to forget is no error
        },
        in(folder.path()));
}

TEST_CASE("damaged tiles and those of another device are ignored and replaced") {
    const ScratchFolder folder;
    on_device(
        [&](weft::Backend& backend) {
            const auto file = weft::tune::kernel_matrix_tiles(backend, kShape, {.repeats = 3}).front().file;
            const std::string good = text_of(file);
            const Table x = wave_rows(20, 4);
            const auto check = [&](const std::string& text, const std::string& state) {
                std::ofstream(file, std::ios::trunc) << text;
                CHECK(weft::tune::tiles_state(backend) == state);
                CHECK(estimate(backend).tile_choice == "planned");
                check_close(kernel_by(backend, {false, true, false}, x, {}, circuit()),
                            oracle_kernel(x, circuit()), 2e-6);
            };
            check("{\"schema\": 1", "damaged: not what weft writes");
            check("", "damaged: not what weft writes");
            const std::size_t at = good.find("\"driver_version\": ") + 18;
            check(good.substr(0, at) + "9" + good.substr(at), "belongs to another driver");
            weft::tune::kernel_matrix_tiles(backend, kShape, {.repeats = 3});
            CHECK(weft::tune::tiles_state(backend) == "used");
            CHECK(estimate(backend).tile_choice == "measured");
        },
        in(folder.path()));
}

TEST_CASE("whatever tile is kept, values stay within the bounds and the matrix symmetric") {
    const ScratchFolder folder;
    on_device(
        [&](weft::Backend& backend) {
            const auto reports = weft::tune::kernel_matrix_tiles(backend, kShape, {.repeats = 3});
            const Table x = wave_rows(100, 4);
            const std::vector<double> want = oracle_kernel(x, circuit());
            for (const weft::tune::TileTrial& trial : reports.front().trials) {
                rewrite(reports.front().file, trial.tile);
                REQUIRE(estimate(backend).tile == trial.tile);
                for (const bool resident : {false, true}) {
                    INFO(trial.tile << (resident ? " resident" : " streamed"));
                    const std::vector<double> k =
                        kernel_by(backend, {resident, true, false}, x, {}, circuit());
                    check_close(k, want, 2e-6);
                    check_symmetric(k, 100, 2e-6);
                }
            }
            rewrite(reports.front().file, "512x512/8x4/1");  // which no device has
            CHECK(estimate(backend).tile_choice == "planned");
        },
        in(folder.path()));
}

TEST_CASE("without a cache folder tiles are kept in the process") {
    weft::Config off = weft::Config::from_env();
    off.cache = false;
    on_device(
        [](weft::Backend& backend) {
            CHECK(weft::tune::tiles_state(backend) == "off");
            const auto reports = weft::tune::kernel_matrix_tiles(backend, kShape, {.repeats = 3});
            CHECK(reports.front().file.empty());
            CHECK(estimate(backend).tile_choice == "measured");
            weft::tune::forget_tiles(backend);
            CHECK(estimate(backend).tile_choice == "planned");
            check_error(weft::Errc::invalid_argument, "too few repeats to keep a tile (got 2, need 3 or more",
                        [&] { weft::tune::kernel_matrix_tiles(backend, kShape, {.repeats = 2}); });
            check_error(weft::Errc::invalid_argument, "repeats out of range (got 0",
                        [&] { weft::tune::kernel_matrix_tiles(backend, kShape, {.repeats = 0}); });
            check_error(weft::Errc::out_of_memory, "does not fit", [&] {
                weft::tune::kernel_matrix_tiles(backend, {2, 0, 30}, {.repeats = 3});
            });
        },
        off);
}

TEST_CASE("measuring tiles counts its runs, and ends when it is cancelled or its callback throws") {
    const ScratchFolder folder;
    on_device([&](weft::Backend& backend) {
        std::uint64_t last = 0, total = 0;
        weft::tune::TileOptions options{.keep = false, .repeats = 1};
        options.progress = [&](const weft::Progress& p) {
            CHECK(p.done > last);
            last = p.done;
            total = p.total;
        };
        weft::tune::kernel_matrix_tiles(backend, kShape, options);
        CHECK(total > 2);
        CHECK(last == total);
        std::stop_source stop;
        options.cancel = stop.get_token();
        options.progress = [&](const weft::Progress& p) {
            CHECK(p.done <= 2);
            if (p.done == 2) stop.request_stop();
        };
        check_error(weft::Errc::cancelled, "tune::kernel_matrix_tiles: cancelled by its stop token (2 of",
                    [&] { weft::tune::kernel_matrix_tiles(backend, kShape, options); });
        options.cancel = {};
        options.progress = [](const weft::Progress&) { throw 7; };
        CHECK_THROWS_AS(weft::tune::kernel_matrix_tiles(backend, kShape, options), int);
    });
}
