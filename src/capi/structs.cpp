// SPDX-License-Identifier: Apache-2.0
#include "capi/structs.hpp"

namespace weft::capi {

namespace {

/// No struct will ever be longer, so a longer one is one that was not set.
constexpr std::uint32_t kMostBytes = 4096;

bool can_be(std::size_t size, const Layout& layout) {
    const auto cut = [&](const Whole& whole) {
        return size > whole.first && size < whole.first + whole.bytes;
    };
    return size >= sizeof(std::uint32_t) && size <= kMostBytes && size % layout.alignment == 0 &&
           std::none_of(layout.wholes.begin(), layout.wholes.end(), cut);
}

/// Reads no more than the member `size`, because nothing else need be there.
std::uint32_t size_of(const char* function, const char* name, const void* object, const Layout& layout) {
    std::uint32_t size = 0;
    std::memcpy(&size, object, sizeof(size));
    if (size == 0) refuse(std::string(function) + ": " + name + ".size is 0 (need sizeof(" + name + "))");
    if (!can_be(size, layout))
        refuse(std::string(function) + ": " + name + ".size is wrong (got " + std::to_string(size) +
               ", need sizeof(" + name + "))");
    return size;
}

bool all_zero(const unsigned char* bytes, std::size_t count) {
    return std::all_of(bytes, bytes + count, [](unsigned char byte) { return byte == 0; });
}

}  // namespace

#define WEFT_WHOLE(type, member)                     \
    Whole {                                          \
        offsetof(type, member), sizeof(type::member) \
    }
template <>
std::span<const Whole> wholes_of<weft_program_options>() {
    static constexpr Whole kAll[] = {WEFT_WHOLE(weft_program_options, local_size)};
    return kAll;
}
template <>
std::span<const Whole> wholes_of<weft_program_info>() {
    static constexpr Whole kAll[] = {WEFT_WHOLE(weft_program_info, local_size)};
    return kAll;
}
template <>
std::span<const Whole> wholes_of<weft_report>() {
    static constexpr Whole kAll[] = {WEFT_WHOLE(weft_report, stage_s), WEFT_WHOLE(weft_report, op),
                                     WEFT_WHOLE(weft_report, method), WEFT_WHOLE(weft_report, host_memory),
                                     WEFT_WHOLE(weft_report, queues)};
    return kAll;
}
template <>
std::span<const Whole> wholes_of<weft_field_info>() {
    static constexpr Whole kAll[] = {WEFT_WHOLE(weft_field_info, modulus),
                                     WEFT_WHOLE(weft_field_info, generator)};
    return kAll;
}
template <>
std::span<const Whole> wholes_of<weft_ntt_options>() {
    static constexpr Whole kAll[] = {WEFT_WHOLE(weft_ntt_options, coset), WEFT_WHOLE(weft_ntt_options, root)};
    return kAll;
}
template <>
std::span<const Whole> wholes_of<weft_kernel_circuit>() {
    static constexpr Whole kAll[] = {WEFT_WHOLE(weft_kernel_circuit, weights)};
    return kAll;
}
template <>
std::span<const Whole> wholes_of<weft_kernel_store_info>() {
    static constexpr Whole kAll[] = {WEFT_WHOLE(weft_kernel_store_info, values)};
    return kAll;
}
template <>
std::span<const Whole> wholes_of<weft_kernel_solve_report>() {
    static constexpr Whole kAll[] = {WEFT_WHOLE(weft_kernel_solve_report, residuals)};
    return kAll;
}
template <>
std::span<const Whole> wholes_of<weft_estimate>() {
    static constexpr Whole kAll[] = {WEFT_WHOLE(weft_estimate, method), WEFT_WHOLE(weft_estimate, reason)};
    return kAll;
}
template <>
std::span<const Whole> wholes_of<weft_profile_report>() {
    static constexpr Whole kAll[] = {WEFT_WHOLE(weft_profile_report, stage_s)};
    return kAll;
}
#undef WEFT_WHOLE

void read_struct(const char* function, const char* name, const void* source, void* target,
                 const Layout& layout) {
    const auto* bytes = static_cast<const unsigned char*>(source);
    const std::uint32_t size = size_of(function, name, source, layout);
    const std::size_t known = layout.known;
    if (size > known && !all_zero(bytes + known, size - known))
        refuse(std::string(function) + ": " + name +
               " has members that are set and that this library does not know (got " + std::to_string(size) +
               " bytes, need zeros from byte " + std::to_string(known) + " on); use a newer libweft");
    std::memcpy(target, source, std::min<std::size_t>(size, known));
}

void write_struct(const char* function, const char* name, const void* source, void* target,
                  const Layout& layout) {
    const std::uint32_t size = size_of(function, name, target, layout);
    const std::size_t common = std::min<std::size_t>(size, layout.known);
    auto* bytes = static_cast<unsigned char*>(target);
    std::memcpy(bytes + sizeof(size), static_cast<const unsigned char*>(source) + sizeof(size),
                common - sizeof(size));
    std::memset(bytes + common, 0, size - common);
}

void check_struct(const char* function, const char* name, const void* target, const Layout& layout) {
    if (target != nullptr) size_of(function, name, target, layout);
}

void require_reserved(const char* function, const char* name, std::uint32_t reserved) {
    if (reserved != 0)
        refuse(std::string(function) + ": " + name + ".reserved is " + std::to_string(reserved) +
               " (need 0)");
}

bool flag_of(const char* function, const char* name, std::uint32_t value) {
    return enum_of<std::uint32_t>(function, name, value, 2) == 1;
}

}  // namespace weft::capi
