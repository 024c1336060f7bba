// SPDX-License-Identifier: Apache-2.0
// Lets a dispatch be made in parts. vkCmdDispatchBase gives the workgroups of a part their numbers in the
// whole, but NumWorkgroups is the number of the part alone, and a shader that strides by it or takes its
// index from two axes would compute something else. So the parts run a module that reads the number of all
// workgroups from push constants instead, and every workgroup finds what it would find in one dispatch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft::core {

struct GridModule {
    std::vector<std::uint32_t> words;
    /// Where the numbers of workgroups along x, y and z lie in the push constants, three words; nothing if
    /// the module does not read them and was left as it was.
    std::optional<std::uint32_t> grid_offset;
};

/// `block_bytes`: of the push-constant block, 0 without one; `most_bytes`: that the device allows. Nothing if
/// the words behind the block do not fit, or if the module uses NumWorkgroups or its block in a way that is
/// not followed here, such as a pointer that is passed to a function.
///
/// `words` is a valid module. The time is linear in its length.
std::optional<GridModule> with_pushed_grid(std::span<const std::uint32_t> words, std::uint32_t block_bytes,
                                           std::uint32_t most_bytes);

}  // namespace weft::core
