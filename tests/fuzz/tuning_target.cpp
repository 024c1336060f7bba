// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as stored tuning, whole and as the members behind the right identity. What is accepted is
// legal and, written once more, the same.
#include <string>

#include "fuzz/target.hpp"
#include "ops/kernel_matrix/gram_tuning.hpp"
#include "plan/device/tuning_file.hpp"

using namespace weft_fuzz;
using namespace weft::core;
using namespace weft::kernels;

namespace {

const TuningIdentity kEngine{{1, 2, 3}, {4, 5, 6}, 7, "0.0.0"};
const GramTuningIdentity kGram{"010203", "driver", 7, "0.0.0", 99};

void judge_engine(std::string_view text) {
    const DecodedTuning read = decode_tuning(kEngine, text);
    if (!read.refused.empty()) return;
    require(check_tuning(read.tuning).empty(), "accepted tuning is in range");
    const std::string written = encode_tuning(kEngine, read.tuning);
    const DecodedTuning again = decode_tuning(kEngine, written);
    require(again.refused.empty() && encode_tuning(kEngine, again.tuning) == written, "the same once more");
}

void judge_gram(std::string_view text) {
    const DecodedGramTuning read = decode_gram_tuning(kGram, text);
    if (!read.refused.empty()) return;
    for (const auto& [name, tile] : read.tiles)
        require(
            tile.rows <= 1024 && tile.columns <= 1024 && tile.thread_rows != 0 && tile.thread_columns != 0,
            "accepted tiles are in range");
    const DecodedGramTuning again = decode_gram_tuning(kGram, encode_gram_tuning(kGram, read.tiles));
    require(again.refused.empty() && again.tiles == read.tiles, "the same once more");
}

/// The input in place of the end of a file that has no members but the identity.
std::string behind(std::string written, std::string_view input) {
    written.resize(written.size() - 3);  // "\n}\n"
    return written + ", " + std::string(input) + "}";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input = text_of(data, size);
    judge_engine(input);
    judge_engine(behind(encode_tuning(kEngine, {}), input));
    judge_gram(input);
    judge_gram(behind(encode_gram_tuning(kGram, {}), input));
    return 0;
}
