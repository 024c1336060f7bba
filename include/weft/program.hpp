// SPDX-License-Identifier: Apache-2.0
// A compute shader ready to run.
//
// Example:
//     weft::Backend backend;
//     std::vector<std::uint32_t> words;  // SPIR-V, of glslc or of weft::compile_glsl
//     const weft::Program program(backend, words, {.name = "saxpy"});
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/backend.hpp>
#include <weft/error.hpp>

namespace weft {

namespace core {
struct ProgramObject;
}
class Stream;

/// What a shader does with a storage buffer, from its qualifiers `readonly` and `writeonly`; without them,
/// both.
enum class Access { read, write, read_write };
const char* to_string(Access access) noexcept;

/// One storage buffer of a shader, reflected from its SPIR-V. Buffers that are declared but never used are
/// left out, whether a compiler has removed them already (`glslc -O`) or not.
struct Binding {
    std::uint32_t binding = 0;  ///< number in set 0
    Access access = Access::read_write;
    std::string name;  ///< empty if the SPIR-V has no names
    /// Bytes that a bound range must have at least: the fixed part of the block and one element of its array
    /// of unknown length, with the chosen constants. If several blocks share the binding, the largest fixed
    /// part and the smallest element count, because a shader may choose one view for a range.
    std::uint64_t least_bytes = 0;
};

/// Value of a specialization constant. 32-bit scalars only (bool, int, uint, float). A float is refused for a
/// constant of another type, and another value for a constant that is a float: bits are not converted.
struct SpecConstant {
    SpecConstant(std::uint32_t constant_id, std::uint32_t v) : id(constant_id), bits(v) {}
    SpecConstant(std::uint32_t constant_id, std::int32_t v)
        : id(constant_id), bits(static_cast<std::uint32_t>(v)) {}
    SpecConstant(std::uint32_t constant_id, bool v) : id(constant_id), bits(v ? 1u : 0u) {}
    SpecConstant(std::uint32_t constant_id, float v)
        : id(constant_id), bits(std::bit_cast<std::uint32_t>(v)), floating(true) {}
    std::uint32_t id;
    std::uint32_t bits;
    bool floating = false;
};

/// Type of a specialization constant; a Program sets the first four.
enum class SpecType { boolean, int32, uint32, float32, other };
const char* to_string(SpecType type) noexcept;

/// One specialization constant that a shader declares.
struct SpecConstantInfo {
    std::uint32_t id = 0;
    std::string name;  ///< empty if the SPIR-V has no names, as after `glslc -O`
    SpecType type = SpecType::other;
    std::uint64_t default_bits = 0;  ///< as in SpecConstant::bits; more than 32 for 64-bit types
};

struct ProgramOptions {
    std::string name{};  ///< appears in reports and error texts; empty: the entry point
    std::string entry = "main";
    std::vector<SpecConstant> constants{};  ///< ids the shader does not declare are refused
    /// Workgroup size along x, y and z; 0: as in the shader. Sets the specialization constants of
    /// local_size_x_id, local_size_y_id and local_size_z_id. If the shader fixes a size, only that size is
    /// accepted.
    std::array<std::uint32_t, 3> local_size{};
    /// Elements that one workgroup handles; 0: its invocations (x * y * z).
    std::uint32_t elements_per_workgroup = 0;
    /// Upper bound on the workgroups of a dispatch, for shaders that loop over their elements by the total
    /// number of invocations; 0: one workgroup for every `elements_per_workgroup` elements.
    std::uint32_t max_workgroups = 0;
    /// Workgroups that share elements_per_workgroup elements, for shaders that cut an element up; 0: one.
    std::uint32_t workgroups_per_element = 0;
    /// Operations that an element takes, about; 0: unknown, and the time of a dispatch is expected to grow
    /// with the bytes that it binds. Only the ratio between dispatches of one program matters. It helps to
    /// cut dispatches that take longer than Config::dispatch_ms where inputs are read many times.
    double operations_per_element = 0;
    /// Bindings that the shader reads only after it has written them, so that their contents before a
    /// dispatch do not matter. They count as written.
    std::vector<std::uint32_t> written_first{};
    /// Invocations of a subgroup, a power of two from DeviceLimits::min_subgroup_size to max_subgroup_size;
    /// 0: the driver chooses. Refused if DeviceInfo::subgroup_size_control is false.
    std::uint32_t subgroup_size = 0;
    /// Every subgroup has all its invocations. Needs DeviceInfo::full_subgroups and a workgroup that is a
    /// multiple of the subgroup along x.
    bool require_full_subgroups = false;
};

/// A compute pipeline with its reflected interface. Cheap to copy: all Programs of a backend with the same
/// SPIR-V, entry point and constants share one pipeline.
///
/// What a shader may use: storage buffers in set 0 (numbers below DeviceLimits::max_storage_buffers) and one
/// push-constant block. weft fills the first 4 bytes of the block with the number of elements of the dispatch
/// (`uint count`) and bytes 4..7, if the block is that long, with the index of the first of them in its job
/// (`uint first`), whatever members the shader has there. Parameters of the caller follow from byte 8 on. A
/// shader without a block finds its bounds with `.length()`, because bound ranges are exact. A range that is
/// shorter than Binding::least_bytes is refused. If a longer range ends inside an element of the shader's
/// array, the shader does not see that element, and its part of an output is undefined.
///
/// Workgroups lie along x. A dispatch that needs more of them than DeviceLimits::max_workgroup_count[0]
/// continues in further rows along y if the shader takes its index from both axes (folds()), as weft_index()
/// of weft.glsl does:
///   (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * invocations + gl_LocalInvocationIndex
/// The last row is padded, so such a shader must compare with `count` or `.length()`. For other shaders
/// Stream::dispatch refuses that many workgroups, and run_batch cuts their jobs into chunks.
class Program {
  public:
    /// spirv   words of a SPIR-V 1.0 - 1.5 module, copied
    ///
    /// Errors: invalid_shader - damaged words, words that are not valid with the chosen constants, no such
    /// entry point, not a compute shader, other resources than those above, more push constants or a larger
    /// workgroup than the device allows; unsupported - the shader needs a feature that the device lacks
    /// (named), a subgroup size where none can be chosen; invalid_argument - unknown specialization constant,
    /// a local_size that the shader fixes otherwise, a subgroup_size or full subgroups that device or
    /// workgroup do not allow; out_of_memory.
    Program(Backend& backend, std::span<const std::uint32_t> spirv, const ProgramOptions& options = {});
    /// For every device of `devices`, from one SPIR-V. Errors: of any of them.
    Program(Devices& devices, std::span<const std::uint32_t> spirv, const ProgramOptions& options = {});
    /// The same on the device that `stream` records for.
    Program(const Stream& stream, std::span<const std::uint32_t> spirv, const ProgramOptions& options = {});

    const std::string& name() const;
    std::span<const Binding> bindings() const;  ///< ascending binding numbers
    /// The binding of that name. Errors: invalid_argument - no binding has it; the text lists all bindings.
    const Binding& binding(std::string_view name) const;
    std::span<const SpecConstantInfo> spec_constants() const;  ///< ascending ids
    std::uint32_t push_constant_bytes() const;                 ///< size of the block, 0 without one
    std::array<std::uint32_t, 3> local_size() const;           ///< workgroup size, specialization applied
    std::uint32_t subgroup_size() const;                       ///< as asked for; 0: the driver chose
    bool folds() const;                                        ///< a dispatch may continue in rows along y
    double create_s() const;                                   ///< time the driver took for the pipeline

  private:
    friend struct detail::Access;
    using Objects = std::vector<std::shared_ptr<const core::ProgramObject>>;
    Program(std::shared_ptr<const core::ProgramObject> object, std::shared_ptr<const Objects> others)
        : object_(std::move(object)), others_(std::move(others)) {}
    const std::shared_ptr<const core::ProgramObject>& object() const {
        if (!object_) throw Error(Errc::invalid_argument, "Program: used after it was moved from");
        return object_;
    }
    const std::shared_ptr<const Objects>& list() const noexcept { return others_; }

    std::shared_ptr<const core::ProgramObject> object_;
    /// Of the other devices of a Devices; null: there are none.
    std::shared_ptr<const Objects> others_;
};

}  // namespace weft
