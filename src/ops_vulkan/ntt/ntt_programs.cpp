// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/ntt/ntt_programs.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <weft/error.hpp>

#include "ops/field/field_plan.hpp"
#include "vulkan/engine/scratch_cache.hpp"

namespace weft::kernels {
namespace {

enum class NttModule { tables, quick, compact, pass };

struct NttModuleWords {
    NttModule module;
    std::uint32_t words;  // of an element
    FieldShader shader;
    std::span<const std::uint32_t> spirv;
};

// kNttModules: shaders/CMakeLists.txt writes this list of the modules that it builds.
#include "shaders/ntt_modules.inc"

std::span<const std::uint32_t> module_of(const NttPlan& plan, NttModule module) {
    const auto found =
        std::find_if(std::begin(kNttModules), std::end(kNttModules), [&](const NttModuleWords& m) {
            return m.module == module && m.words == plan.words && m.shader == plan.shader;
        });
    if (found == std::end(kNttModules))
        throw Error(Errc::unsupported, "ntt: this build has no such shader (got elements of " +
                                           std::to_string(plan.words) +
                                           " words, need one of ntt_modules.inc)");
    return found->spirv;
}

// The ids are those of shaders/field/field_interface.h and shaders/ntt/ntt_pass.comp. Of Goldilocks with
// 64-bit integers, p is part of the code.
std::vector<SpecConstant> field_constants_of(const shared::FieldConstants& f, const NttPlan& plan,
                                             std::uint32_t local_size) {
    std::vector<SpecConstant> constants{{0u, local_size}};
    if (plan.words == 2 && plan.shader == FieldShader::limbs64) return constants;
    for (std::uint32_t i = 0; i < f.words; ++i) constants.emplace_back(1u + i, f.p.word[i]);
    constants.emplace_back(13u, f.n0);
    return constants;
}

// Powers of the root of order 16, as the shader that is not compact multiplies by them.
void add_turns(std::vector<SpecConstant>& constants, Field field, const NttPlan& plan) {
    if (plan.words == 2) {
        FieldWords two{};
        two.word[0] = 2;
        const FieldWords step = ntt_power(field, to_montgomery_words(field, two), 12);
        std::uint32_t turns = 1;
        while (!std::equal(plan.root16.word, plan.root16.word + 2, ntt_power(field, step, turns).word))
            turns += 2;
        constants.emplace_back(44u, turns);
        return;
    }
    FieldWords one{};
    one.word[0] = 1;
    for (std::uint32_t i = 1; i < 8; ++i) {
        const std::uint64_t turn = montgomery_on_host(field, ntt_power(field, plan.root16, i), one).word[0];
        constants.emplace_back(43u + i, static_cast<std::uint32_t>(turn));
        constants.emplace_back(50u + i,
                               static_cast<std::uint32_t>((turn << 32) / field_constants(field).p.word[0]));
    }
}

template <std::size_t kWords>
struct TableParameters {
    std::uint32_t first_entry, row_bits, split;
    std::array<std::uint32_t, kWords> base, scale;
};

template <std::size_t kWords>
Parameters table_parameters_of(const NttTable& table) {
    TableParameters<kWords> p{table.first, table.row_bits, table.split, {}, {}};
    std::copy_n(table.base.word, kWords, p.base.begin());
    std::copy_n(table.scale.word, kWords, p.scale.begin());
    return p;
}
Parameters table_parameters(std::uint32_t words, const NttTable& table) {
    switch (words) {
        case 1:
            return table_parameters_of<1>(table);
        case 2:
            return table_parameters_of<2>(table);
        case 8:
            return table_parameters_of<8>(table);
        default:
            return table_parameters_of<12>(table);
    }
}

// Whatever decides the entries.
core::ScratchCache::Key key_of(Field field, NttModule module, std::uint32_t words,
                               const std::vector<NttTable>& tables) {
    constexpr std::uint64_t kTables = 0x6e7474;  // no key of another family begins with it
    core::ScratchCache::Key key{kTables, static_cast<std::uint64_t>(module),
                                static_cast<std::uint64_t>(field)};
    for (const NttTable& t : tables) {
        key.insert(key.end(), {t.count, t.row_bits, t.split});
        key.insert(key.end(), t.base.word, t.base.word + words);
        key.insert(key.end(), t.scale.word, t.scale.word + words);
    }
    return key;
}

BufferView<const std::uint32_t> made(const Stream& stream, Field field, const NttPlan& plan, NttModule module,
                                     const std::vector<NttTable>& tables, std::uint64_t entry_words) {
    return core::kept_buffer(
        stream, key_of(field, module, plan.words, tables), ntt_entries(tables) * entry_words, "ntt tables",
        [&](Stream& steps, const BufferView<std::uint32_t>& words) {
            const std::uint32_t local_size = 64;
            const Program program(
                steps, module_of(plan, module),
                ProgramOptions{.name = "ntt_tables",
                               .constants = field_constants_of(field_constants(field), plan, local_size),
                               .max_workgroups = std::max(steps.device().limits.max_workgroup_count[0], 1u)});
            for (const NttTable& table : tables)
                steps.dispatch(program, {words}, table.count, table_parameters(plan.words, table));
        });
}

}  // namespace

Program ntt_program(const Stream& stream, Field field, const NttPlan& plan, const NttPass& pass) {
    std::vector<SpecConstant> constants =
        field_constants_of(field_constants(field), plan, plan.local_size(pass));
    constants.emplace_back(40u, pass.tile_bits);
    if (!plan.compact) {
        constants.emplace_back(41u, pass.parameters.pass_bits);
        constants.emplace_back(42u, pass.parameters.zero_bits);
        constants.emplace_back(43u, pass.parameters.flags);
        add_turns(constants, field, plan);
    }
    return {stream, module_of(plan, plan.compact ? NttModule::compact : NttModule::pass),
            ProgramOptions{.name = "ntt",
                           .constants = std::move(constants),
                           .elements_per_workgroup = 1,
                           .max_workgroups = std::max(stream.device().limits.max_workgroup_count[0], 1u)}};
}

BufferView<const std::uint32_t> ntt_table_words(const Stream& stream, Field field, const NttPlan& plan,
                                                const std::vector<NttTable>& tables) {
    return made(stream, field, plan, NttModule::tables, tables, plan.words);
}

BufferView<const std::uint32_t> ntt_quick_words(const Stream& stream, Field field, const NttPlan& plan) {
    return made(stream, field, plan, NttModule::quick, plan.quick, 2);
}

}  // namespace weft::kernels
