// SPDX-License-Identifier: Apache-2.0
// Whether a shader takes its index from both axes of a dispatch, so that workgroups beyond the limit of the x
// axis may continue in further rows.
#pragma once

#include <cstdint>
#include <set>
#include <span>

namespace weft::core {

/// true if, in `functions` (the ids of those that an entry point reaches), the y component of WorkgroupId or
/// GlobalInvocationId is multiplied by the x component of NumWorkgroups, as in
///   (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * invocations + gl_LocalInvocationIndex
/// Reading them is not enough: a shader that strides along x by the total number of invocations and uses y
/// for something else would process its elements once for each row. Values are followed through variables,
/// vectors, integer arithmetic and calls. A value that cannot be followed counts as "no", which may cost a
/// refusal but never gives a wrong result.
///
/// `words` is a valid module. The time is linear in its length.
bool folds_rows(std::span<const std::uint32_t> words, const std::set<std::uint32_t>& functions);

}  // namespace weft::core
