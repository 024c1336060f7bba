// SPDX-License-Identifier: Apache-2.0
// Measured tiles of the Gram product: what is written, what is refused, and how a plan uses them.
#include <doctest/doctest.h>

#include <string>

#include "ops/kernel_matrix/gram_tuning.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"

using namespace weft::kernels;

namespace {

GramTuningIdentity identity() {
    return {"0123456789abcdef0123456789abcdef", "NVIDIA \"580\"", 77, "0.1.0", 0xfeedu};
}

GramTiles some_tiles() {
    return {{"fp32_3m 4096 of 65536", {64, 64, 8, 4, 2}}, {"matrix_split khr 64 of 16", {128, 64, 8, 4, 1}}};
}

GramDevice device_of(std::uint32_t shared_bytes = 49152) {
    GramDevice device;
    device.limits.max_storage_buffer_range = 0xffffffffu;
    device.limits.storage_buffer_offset_alignment = 16;
    device.limits.max_shared_memory_bytes = shared_bytes;
    device.limits.max_workgroup_invocations = device.limits.max_workgroup_size[0] = 1024;
    return device;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("measured tiles are read back unchanged") {
    for (const GramTiles& tiles : {some_tiles(), GramTiles{}}) {
        const DecodedGramTuning decoded =
            decode_gram_tuning(identity(), encode_gram_tuning(identity(), tiles));
        CHECK(decoded.refused == "");
        CHECK(decoded.tiles == tiles);
    }
    CHECK(gram_tuning_file_name(identity()) == "gram-0123456789abcdef0123456789abcdef.json");
}

TEST_CASE("tiles of any other device, driver, version or shaders are a miss") {
    const std::string text = encode_gram_tuning(identity(), some_tiles());
    struct Other {
        const char* part;
        GramTuningIdentity identity;
    };
    GramTuningIdentity device = identity(), driver = identity(), number = identity(), weft = identity(),
                       kernels = identity();
    device.device[3] = 'f';
    driver.driver = "NVIDIA 581";
    number.driver_version = 78;
    weft.weft = "0.2.0";
    kernels.kernels = 0xbeef;
    for (const Other& other :
         {Other{"another device", device}, Other{"another driver", driver}, Other{"another driver", number},
          Other{"another version", weft}, Other{"other shaders", kernels}}) {
        const DecodedGramTuning decoded = decode_gram_tuning(other.identity, text);
        CHECK(decoded.tiles.empty());
        CHECK_MESSAGE(decoded.refused.find(other.part) != std::string::npos, decoded.refused);
    }
    const DecodedGramTuning schema =
        decode_gram_tuning(identity(), replaced(text, "\"schema\": 1", "\"schema\": 2"));
    CHECK(schema.refused == "of another schema");
}

TEST_CASE("damaged tiles are refused whole") {
    const std::string text = encode_gram_tuning(identity(), some_tiles());
    for (const std::string& damaged :
         {std::string(), std::string("{"), text.substr(0, text.size() / 2), text + "x", text + text,
          replaced(text, "64x64/8x4/2", "64x64/8x4"), replaced(text, "64x64/8x4/2", "64x64/8x4/2/1"),
          replaced(text, "64x64/8x4/2", "0x64/8x4/2"), replaced(text, "64x64/8x4/2", "-4x64/8x4/2"),
          replaced(text, "64x64/8x4/2", "99999999999x64/8x4/2"), replaced(text, "\"64x64/8x4/2\"", "64"),
          replaced(text, "matrix_split khr 64 of 16", "fp32_3m 4096 of 65536"), std::string(40000, ' ')}) {
        const DecodedGramTuning decoded = decode_gram_tuning(identity(), damaged);
        CHECK(decoded.tiles.empty());
        CHECK(!decoded.refused.empty());
    }
}

TEST_CASE("a plan takes the tile measured for its class, if the device can run it") {
    GramDevice device = device_of();
    const GramProblem problem{5000, 5000, 65536, true};
    const GramPlan before = plan_gram(problem, device);
    CHECK_FALSE(before.tile_measured);
    CHECK(gram_class(before) == "fp32_3m 4096 of 65536");
    device.tiles = {{"fp32_3m 4096 of 65536", {64, 64, 8, 4, 2}}};
    REQUIRE(before.tile != device.tiles.begin()->second);
    const GramPlan after = plan_gram(problem, device);
    CHECK(after.tile == GramTile{64, 64, 8, 4, 2});
    CHECK(after.tile_measured);
    CHECK(after.reasons.back().find("measured on this device") != std::string::npos);
    // Another class, a requested tile, and a tile that no longer fits.
    CHECK_FALSE(plan_gram({900, 900, 65536, true}, device).tile_measured);
    CHECK(plan_gram(problem, device, {.tile = before.tile}).tile == before.tile);
    device.tiles.begin()->second = {128, 128, 8, 4, 2};
    CHECK(plan_gram(problem, device).tile == before.tile);
}

TEST_CASE("different methods and sizes have different classes") {
    GramPlan plan;
    plan.problem.rows = 100;
    plan.problem.columns = 5000;
    plan.problem.amplitudes = 1 << 20;
    plan.method = GramMethod::matrix_split;
    CHECK(gram_class(plan) == "matrix_split nv 128 of 65536");
    plan.khr = true;
    CHECK(gram_class(plan) == "matrix_split khr 128 of 65536");
    plan.problem.rows = 1;
    plan.problem.amplitudes = 2;
    plan.method = GramMethod::fp64;
    CHECK(gram_class(plan) == "fp64 64 of 2");
}

TEST_CASE("only long jobs are measured, and measuring takes a small part of them") {
    GramDevice device = device_of();
    CHECK_FALSE(tuning_pays(device, 1e13));
    CHECK(tuning_pays(device, 1.1e14));
    device.software = true;
    CHECK(tuning_pays(device, 1.1e12));
    GramPlan plan = plan_gram({20000, 20000, 65536, true}, device_of());
    for (const double flops : {1e9, 1e11, 1e13}) {
        const GramProblem trial = gram_trial(plan, flops);
        CHECK(8.0 * static_cast<double>(trial.rows * trial.columns) * static_cast<double>(trial.amplitudes) <=
              std::max(flops, 8.0 * 256 * 256 * 2048));
        CHECK(trial.rows >= 256);
        CHECK(trial.amplitudes >= 2048);
        CHECK_FALSE(trial.symmetric);
    }
    const GramProblem whole = gram_trial(plan, 0);
    CHECK((whole.rows == 4096 && whole.amplitudes == 65536));
    plan = plan_gram({10, 3, 4, false}, device_of());
    const GramProblem tiny = gram_trial(plan, 1);
    CHECK((tiny.rows == 10 && tiny.columns == 3 && tiny.amplitudes == 4));
}
