// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/gram/gram_programs.hpp"

#include <algorithm>
#include <span>

namespace weft::kernels {
namespace {

using Words = std::span<const std::uint32_t>;

constexpr std::uint32_t kTile4m[] = {
#include "shaders/gram_tile_4m.spv.inc"
};
constexpr std::uint32_t kTile3m[] = {
#include "shaders/gram_tile_3m.spv.inc"
};
constexpr std::uint32_t kTile64[] = {
#include "shaders/gram_tile_real64.spv.inc"
};
constexpr std::uint32_t kLanes[] = {
#include "shaders/gram_lanes.spv.inc"
};
constexpr std::uint32_t kPack32[] = {
#include "shaders/gram_pack_real32.spv.inc"
};
constexpr std::uint32_t kPack64[] = {
#include "shaders/gram_pack_real64.spv.inc"
};
constexpr std::uint32_t kPackMatrix[] = {
#include "shaders/gram_pack_matrix.spv.inc"
};
constexpr std::uint32_t kReduce32[] = {
#include "shaders/gram_reduce_real32.spv.inc"
};
constexpr std::uint32_t kReduce64[] = {
#include "shaders/gram_reduce_real64.spv.inc"
};

constexpr std::uint32_t kSplitKhr[] = {
#include "shaders/gram_matrix_split_khr.spv.inc"
};
constexpr std::uint32_t kSplitNv[] = {
#include "shaders/gram_matrix_split_nv.spv.inc"
};
std::uint32_t local_size(const DeviceLimits& limits) {
    constexpr std::uint32_t kWanted = 256;
    return std::min({kWanted, limits.max_workgroup_invocations, limits.max_workgroup_size[0]});
}

template <class Owner>
Program matrix_program(Owner& owner, const GramPlan& plan) {
    const Words words = plan.khr ? Words(kSplitKhr) : Words(kSplitNv);
    const DeviceInfo& device = owner.device();
    ProgramOptions options{.name = "gram_matrix",
                           .constants = {{0u, plan.tile.threads()},
                                         {1u, plan.tile.rows / (4 * plan.tile.thread_rows)},
                                         {2u, plan.tile.columns / (8 * plan.tile.thread_columns)},
                                         {3u, plan.problem.output == GramReal::float64},
                                         {4u, plan.flush / plan.step},
                                         {5u, plan.split},
                                         {6u, plan.tile.stages},
                                         {7u, plan.tile.threads()},
                                         {8u, plan.tile.thread_rows / 4},
                                         {9u, plan.problem.scaled}},
                           .elements_per_workgroup = 1};
    if (device.subgroup_size_control) options.subgroup_size = 32;
    options.require_full_subgroups = device.full_subgroups;
    return {owner, words, options};
}

}  // namespace

std::uint64_t gram_programs_digest() {
    static const std::uint64_t digest = [] {
        std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a over words
        for (const Words words :
             {Words(kTile4m), Words(kLanes), Words(kTile3m), Words(kTile64), Words(kReduce32),
              Words(kReduce64), Words(kSplitKhr), Words(kSplitNv)})
            for (const std::uint32_t word : words) hash = (hash ^ word) * 0x100000001b3u;
        return hash;
    }();
    return digest;
}

template <class Owner>
Program gram_tile_program(Owner& owner, const GramPlan& plan) {
    if (plan.matrix()) return matrix_program(owner, plan);
    const GramTile& tile = plan.tile;
    if (tile.lanes())
        return {owner,
                Words(kLanes),
                {.name = "gram_tile",
                 .constants = {{3u, plan.problem.output == GramReal::float64},
                               {4u, plan.flush / plan.step},
                               {5u, plan.split},
                               {9u, plan.problem.scaled}},
                 .elements_per_workgroup = 1}};
    const Words words = plan.method == GramMethod::fp64      ? Words(kTile64)
                        : plan.method == GramMethod::fp32_3m ? Words(kTile3m)
                                                         : Words(kTile4m);
    return {owner,
            words,
            {.name = "gram_tile",
             .constants = {{0u, tile.threads()},
                           {1u, tile.rows / tile.thread_rows},
                           {2u, tile.columns / tile.thread_columns},
                           {3u, plan.problem.output == GramReal::float64},
                           {4u, plan.flush / plan.step},
                           {5u, plan.split},
                           {6u, tile.stages},
                           {9u, plan.problem.scaled}},
             .elements_per_workgroup = 1}};
}

Program gram_pack_program(const Stream& stream, const GramPlan& plan) {
    const ProgramOptions options{.name = "gram_pack",
                           .constants = {{0u, local_size(stream.device().limits)}},
                           .elements_per_workgroup = 1};
    const Words words = plan.matrix()                 ? Words(kPackMatrix)
                        : plan.method == GramMethod::fp64 ? Words(kPack64)
                                                      : Words(kPack32);
    return {stream, words, options};
}

template <class Owner>
Program gram_reduce_program(Owner& owner, const GramPlan& plan) {
    return {owner,
            plan.method == GramMethod::fp64 ? Words(kReduce64) : Words(kReduce32),
            {.name = "gram_reduce",
             .constants = {{0u, local_size(owner.device().limits)},
                           {1u, plan.tile.rows},
                           {2u, plan.tile.columns},
                           {3u, plan.problem.output == GramReal::float64},
                           {9u, plan.problem.scaled}}}};
}

template Program gram_tile_program<Backend>(Backend&, const GramPlan&);
template Program gram_tile_program<const Stream>(const Stream&, const GramPlan&);
template Program gram_reduce_program<Backend>(Backend&, const GramPlan&);
template Program gram_reduce_program<const Stream>(const Stream&, const GramPlan&);

}  // namespace weft::kernels
