// SPDX-License-Identifier: Apache-2.0
// How a transform is cut into passes, and which tables they read. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/device.hpp>
#include <weft/ops/ntt.hpp>

#include "ops/ntt/ntt_constants.hpp"
#include "shaders/ntt/ntt_parameters.h"

namespace weft::kernels {

/// Bits of the index that an invocation transforms in registers; as kRadixBits of the shaders.
constexpr std::uint32_t ntt_radix_bits(std::uint32_t words, bool compact) {
    return compact ? 2 : words <= 2 ? 4 : 3;
}

/// Most bits that a pass of the shader that is not compact transforms: kMostSteps steps.
constexpr std::uint32_t ntt_most_pass_bits(std::uint32_t words) {
    return 3 * ntt_radix_bits(words, false);
}

/// A transform whose arguments were checked. `inputs` and `outputs` are of each transform, at most N.
struct NttRequest {
    Field field{};
    NttDirection direction{};
    NttOrder order{};
    NttLayout layout{};
    std::uint32_t log_size = 0;
    std::uint64_t batch = 1, inputs = 0, outputs = 0;
    NttScalars scalars;
    std::uint32_t tile_bits = 0, pass_bits = 0;  ///< as in NttOptions
    FieldShader shader = FieldShader::automatic;
};

enum class NttMemory { in, scratch, out };

struct NttPass {
    std::uint32_t tile_bits = 0;  ///< the columns have tile_bits - pass_bits
    NttMemory from = NttMemory::in, to = NttMemory::out;
    /// Of the whole batch; a call that takes transforms in groups sets `batch` for each.
    shared::NttParameters parameters{};
};

/// Entries [first, first + count) of a table: scale * base^exponent. The exponent is the number of the entry
/// if row_bits is 0. Else row_bits bits of the number from bit `split` on, reversed, are multiplied by the
/// number that its other bits make.
struct NttTable {
    std::uint32_t first = 0, count = 0, row_bits = 0, split = 0;
    FieldWords base{}, scale{};
};

struct NttPlan {
    FieldShader shader = FieldShader::limbs32;  ///< never automatic
    /// The shader with smaller code: for elements of many words, whose products take many instructions, and
    /// on a CPU, which compiles as long as it computes, unless the caller chose a shader.
    bool compact = false;
    std::uint32_t words = 0;  ///< of an element
    /// Of order 16; of shorter transforms, a root of their root.
    FieldWords root16{};
    std::vector<NttPass> passes;
    std::vector<NttTable> tables;  ///< of roots
    std::vector<NttTable> scales;  ///< of powers of the coset; empty: none
    /// Of roots, in the form whose products are faster: for elements of 4 bytes, unless `compact`. Entries
    /// have two words, the factor and 2^32 / p times it.
    std::vector<NttTable> quick;
    bool scratch = false;  ///< as large as the output
    std::string method;    ///< "8+8+8"

    std::uint32_t local_size(const NttPass& pass) const {
        return 1u << (pass.tile_bits - ntt_radix_bits(words, compact));
    }
};

/// `tile_bytes`: of the elements of a tile, as measured on the device, for requests without tile_bits; as far
/// as the device can have such tiles. 0: not measured. Errors: invalid_argument - tile_bits or pass_bits that
/// the device cannot have; unsupported - limbs64 on a device without shaderInt64.
NttPlan plan_ntt(const DeviceInfo& device, const NttRequest& request, std::uint64_t tile_bytes = 0);

/// Workgroups of a pass over `batch` transforms.
std::uint64_t ntt_tiles(const NttPass& pass, std::uint64_t batch);

/// Entries of tables together.
std::uint64_t ntt_entries(const std::vector<NttTable>& tables);

/// The most transforms that one set of dispatches takes: their elements fit a binding and 32-bit indices, and
/// the scratch memory stays below `scratch_bytes`. At least one; rows begin where the device can bind.
std::uint64_t ntt_group(const DeviceInfo& device, const NttRequest& request, const NttPlan& plan,
                        std::uint64_t scratch_bytes);

}  // namespace weft::kernels
