// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_solve/solve_checkpoint.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "ops/kernel_solve/solve_scales.hpp"
#include "support/error_text.hpp"
#include "support/scratch_folder.hpp"

using namespace weft;
using namespace weft::kernels;
using weft_test::check_error;

namespace {

namespace fs = std::filesystem;

const StoreFacts kFacts{{"map", "ryrz"}, {"lambda", "0.1"}, {"y", "float32 00"}};
const SolveState kState{7, true, 0.25, {1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, -0.0}, {13, 1e-300}};

std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("a checkpoint is read as it was written") {
    const weft_test::ScratchFolder folder;
    const fs::path file = folder.path() / "solve";
    {
        SolveCheckpoint made(file, true, kFacts);
        CHECK_FALSE(made.found());
        CHECK(made.pinned("threads", 3) == 3);
        CHECK(fs::file_size(file) == 0);
        made.save(kState);
    }
    {
        SolveCheckpoint again(file, true, kFacts);
        REQUIRE(again.found());
        CHECK(again.found()->iterations == 7);
        CHECK(again.found()->is_true);
        CHECK(again.found()->last_true == 0.25);
        CHECK(again.found()->solution == kState.solution);
        CHECK(again.found()->residual == kState.residual);
        CHECK(std::signbit(again.found()->direction[3]));
        CHECK(again.found()->product == kState.product);
        CHECK(again.pinned("threads", 8) == 3);
        CHECK(folder.files().size() == 1);
    }
    CHECK_FALSE(SolveCheckpoint(file, false, kFacts).found());
}

TEST_CASE("a checkpoint of another solve is refused by name") {
    const weft_test::ScratchFolder folder;
    const fs::path file = folder.path() / "solve";
    SolveCheckpoint(file, false, kFacts).save(kState);
    const std::string before = content(file);
    for (std::size_t i = 0; i < kFacts.size(); ++i) {
        StoreFacts facts = kFacts;
        facts[i].value = "other";
        check_error(
            Errc::invalid_argument,
            "another " + facts[i].name + " (the checkpoint has " + kFacts[i].value + ", the call has other)",
            [&] { SolveCheckpoint(file, true, facts); });
    }
    CHECK(content(file) == before);
    SolveCheckpoint(file, false, {{"map", "ry"}}).save(kState);  // begins anew
    CHECK(content(file) != before);
}

TEST_CASE("damaged checkpoints are found, and files of other programs are left alone") {
    const weft_test::ScratchFolder folder;
    const fs::path file = folder.path() / "solve";
    SolveCheckpoint(file, false, kFacts).save(kState);
    const std::string whole = content(file);
    for (std::size_t i = 8; i < whole.size(); ++i) {
        std::string bytes = whole;
        bytes[i] = static_cast<char>(bytes[i] ^ 4);
        put(file, bytes);
        CHECK_THROWS_AS(SolveCheckpoint(file, true, kFacts), Error);
    }
    for (const std::size_t size : {std::size_t{8}, std::size_t{20}, whole.size() / 2, whole.size() - 1}) {
        put(file, whole.substr(0, size));
        check_error(Errc::io, "is damaged", [&] { SolveCheckpoint(file, true, kFacts); });
    }
    put(file, whole + "more");
    check_error(Errc::io, "is damaged", [&] { SolveCheckpoint(file, true, kFacts); });
    put(file, "my notes, longer than a checkpoint's first bytes");
    for (const bool resume : {false, true})
        check_error(Errc::io, "it is no checkpoint of a solve",
                    [&] { SolveCheckpoint(file, resume, kFacts); });
    for (const fs::path& nowhere : {folder.path(), folder.path() / "none" / "solve"})
        check_error(Errc::io, "kernel_solve: " + nowhere.string() + ": cannot be written",
                    [&] { SolveCheckpoint(nowhere, true, kFacts); });
}

TEST_CASE("of two solves with one checkpoint the second is refused") {
    const weft_test::ScratchFolder folder;
    const fs::path file = folder.path() / "solve";
    const auto refuse_second = [&] {
        for (const bool resume : {false, true})
            check_error(
                Errc::io,
                "solve: another solve, of this process or another, has this checkpoint (need one at a "
                "time)",
                [&] { SolveCheckpoint(file, resume, kFacts); });
    };
    {
        SolveCheckpoint first(file, true, kFacts);
        refuse_second();
        for (int i = 0; i < 2; ++i) {  // each time a new file takes the name
            first.save(kState);
            const std::string kept = content(file);
            refuse_second();
            CHECK(content(file) == kept);
        }
    }
    CHECK(SolveCheckpoint(file, true, kFacts).found());
    fs::remove(file);
    { SolveCheckpoint unused(file, true, kFacts); }
    put(file, "my notes");
    check_error(Errc::io, "it is no checkpoint", [&] { SolveCheckpoint(file, true, kFacts); });
    CHECK(content(file) == "my notes");
    fs::remove(file);
    CHECK(folder.files().empty());
}

TEST_CASE("columns of any size are scaled by powers of two, without a rounding") {
    const double large = std::ldexp(0.75, 1020), small = std::ldexp(0.625, -1040);
    std::vector<double> values{large, small, 3, 0, -large / 2, small / 4, 5, 0};
    const std::vector<double> before = values;
    const std::vector<int> exponents = exponents_of(column_maxima(values, 4));
    CHECK(exponents == std::vector<int>{1020, -1040, 0, 0});
    scale_columns(values, exponents, -1);
    CHECK(values == std::vector<double>{0.75, 0.625, 3, 0, -0.375, 0.15625, 5, 0});
    scale_columns(values, exponents, 1);
    CHECK(values == before);
    CHECK(exponents_of(std::vector<double>{1e9, 1e-9}) == std::vector<int>{0, 0});
    CHECK(exponents_of(std::vector<double>{std::numeric_limits<double>::infinity()})[0] == 0);
}
