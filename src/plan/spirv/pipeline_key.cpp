// SPDX-License-Identifier: Apache-2.0
#include "plan/spirv/pipeline_key.hpp"

#include <algorithm>
#include <cstring>

namespace weft::core {
namespace {

/// Two digests of two lanes each. The multiplications of the lanes overlap, which matters because a program
/// that is made anew for every call is looked up this way. Accidental collisions are practically impossible.
struct Digest {
    std::array<std::uint64_t, 4> lanes{0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u,
                                       0x27d4eb2f165667c5u};
    void add(std::uint64_t v, std::uint64_t w) {
        lanes[0] = mix(lanes[0] ^ v, 0xff51afd7ed558ccdu);
        lanes[1] = mix(lanes[1] + v, 0xc4ceb9fe1a85ec53u);
        lanes[2] = mix(lanes[2] ^ w, 0x94d049bb133111ebu);
        lanes[3] = mix(lanes[3] + w, 0xbf58476d1ce4e5b9u);
    }
    PipelineKey key() const {
        return {mix(lanes[0] + lanes[2], 0xff51afd7ed558ccdu), mix(lanes[1] + lanes[3], 0xc4ceb9fe1a85ec53u)};
    }
    static std::uint64_t mix(std::uint64_t v, std::uint64_t by) {
        v *= by;
        return v ^ (v >> 32);
    }
};

}  // namespace

PipelineKey pipeline_key(std::span<const std::uint32_t> words, const ProgramOptions& options) {
    Digest digest;
    digest.add(words.size(), options.entry.size());
    std::size_t at = 0;
    for (; at + 4 <= words.size(); at += 4) {
        std::array<std::uint64_t, 2> pair{};
        std::memcpy(pair.data(), &words[at], sizeof(pair));
        digest.add(pair[0], pair[1]);
    }
    for (; at < words.size(); ++at) digest.add(words[at], at);
    for (const char c : options.entry) digest.add(static_cast<unsigned char>(c), 1);
    auto constants = options.constants;
    std::sort(constants.begin(), constants.end(), [](const auto& x, const auto& y) { return x.id < y.id; });
    for (const SpecConstant& c : constants)
        digest.add(c.id | (c.floating ? std::uint64_t{1} << 32 : 0), c.bits);
    digest.add(options.local_size[0], options.local_size[1]);
    digest.add(options.local_size[2], options.subgroup_size);
    for (const std::uint32_t binding : options.written_first) digest.add(binding, 2);
    digest.add(options.require_full_subgroups ? 1 : 0, constants.size());
    return digest.key();
}

}  // namespace weft::core
