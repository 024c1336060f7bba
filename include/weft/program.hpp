// SPDX-License-Identifier: Apache-2.0
// A compute shader ready to run.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <weft/backend.hpp>
#include <weft/error.hpp>

namespace weft {

namespace core {
struct ProgramObject;
}
class Stream;

/// What a shader does with a storage buffer, from its `readonly` and `writeonly` qualifiers; without either,
/// both.
enum class Access { read, write, read_write };
const char* to_string(Access access) noexcept;

/// One storage buffer of a shader, reflected from its SPIR-V. Those declared but never used are not.
struct Binding {
    std::uint32_t binding = 0;  ///< number in set 0
    Access access = Access::read_write;
    std::string name;  ///< empty where the SPIR-V carries no names
};

/// Value of a specialization constant. 32-bit scalars only (bool, int, uint, float).
struct SpecConstant {
    SpecConstant(std::uint32_t constant_id, std::uint32_t v) : id(constant_id), bits(v) {}
    SpecConstant(std::uint32_t constant_id, std::int32_t v)
        : id(constant_id), bits(static_cast<std::uint32_t>(v)) {}
    SpecConstant(std::uint32_t constant_id, bool v) : id(constant_id), bits(v ? 1u : 0u) {}
    SpecConstant(std::uint32_t constant_id, float v)
        : id(constant_id), bits(std::bit_cast<std::uint32_t>(v)) {}
    std::uint32_t id;
    std::uint32_t bits;
};

struct ProgramOptions {
    std::string name{};  ///< appears in reports and error texts; empty: the entry point
    std::string entry = "main";
    std::vector<SpecConstant> constants{};  ///< ids the shader does not declare are refused
    /// Elements that one workgroup handles; 0: its invocations (x * y * z).
    std::uint32_t elements_per_group = 0;
    /// Upper bound on the workgroups of a dispatch, for shaders that loop over their elements by the total
    /// number of invocations; 0: one workgroup for every `elements_per_group` elements.
    std::uint32_t max_groups = 0;
};

/// A compute pipeline with its reflected interface. Cheap to copy; the pipeline itself is made once a backend
/// and shared by every Program with the same SPIR-V, entry point and constants.
///
/// What a shader may use: storage buffers in set 0 (numbers below DeviceLimits::max_storage_buffers) and one
/// push-constant block. Where there is a block, weft fills its first 4 bytes with the number of elements of
/// the dispatch (`uint count`) and bytes 4..7, where the block is that long, with the index of the first of
/// them in its job (`uint first`), whatever members the shader has there; parameters of the caller follow
/// from byte 8 on. A shader without a block finds its bounds with `.length()`: bound ranges are exact. A
/// range that ends within an element of the shader's array hides that element: its part of an output is
/// undefined.
class Program {
  public:
    /// spirv   words of a SPIR-V 1.0 - 1.5 module, copied
    ///
    /// Errors: invalid_shader - damaged words, no such entry point, not a compute shader, other resources
    /// than those above, more push constants or a larger workgroup than the device allows; unsupported -
    /// needs a feature the device lacks (named); invalid_argument - unknown specialization constant;
    /// out_of_memory.
    Program(Backend& backend, std::span<const std::uint32_t> spirv, const ProgramOptions& options = {});
    /// The same on the device that `stream` records for.
    Program(const Stream& stream, std::span<const std::uint32_t> spirv, const ProgramOptions& options = {});

    const std::string& name() const;
    std::span<const Binding> bindings() const;        ///< ascending binding numbers
    std::uint32_t push_constant_bytes() const;        ///< size of the block, 0 without one
    std::array<std::uint32_t, 3> local_size() const;  ///< workgroup size, specialization applied
    double create_ms() const;                         ///< time the driver took for the pipeline

    const std::shared_ptr<const core::ProgramObject>& object() const {
        if (!object_) throw Error(Errc::invalid_argument, "Program: used after it was moved from");
        return object_;
    }

  private:
    std::shared_ptr<const core::ProgramObject> object_;
};

}  // namespace weft
