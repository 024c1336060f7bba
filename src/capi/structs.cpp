// SPDX-License-Identifier: Apache-2.0
#include "capi/structs.hpp"

namespace weft::capi {

namespace {

/// No struct will ever be longer, so a longer one is one that was not set.
constexpr std::uint32_t kMostBytes = 4096;

std::uint32_t size_of(const char* function, const char* name, const void* object) {
    std::uint32_t size = 0;
    std::memcpy(&size, object, sizeof(size));
    if ((size != 0 && size < sizeof(size)) || size > kMostBytes || size % 4 != 0)
        refuse(std::string(function) + ": " + name + ".size is wrong (got " + std::to_string(size) +
               ", need sizeof(" + name + "))");
    return size;
}

bool all_zero(const unsigned char* bytes, std::size_t count) {
    return std::all_of(bytes, bytes + count, [](unsigned char byte) { return byte == 0; });
}

}  // namespace

void read_struct(const char* function, const char* name, const void* source, void* target,
                 std::size_t known) {
    const auto* bytes = static_cast<const unsigned char*>(source);
    const std::uint32_t size = size_of(function, name, source);
    if (size == 0) {
        if (!all_zero(bytes, known))
            refuse(std::string(function) + ": " + name +
                   ".size is 0, and other members are not (need sizeof(" + name + "))");
        return;
    }
    if (size > known && !all_zero(bytes + known, size - known))
        refuse(std::string(function) + ": " + name +
               " has members that are set and that this library does not know (got " + std::to_string(size) +
               " bytes, need zeros from byte " + std::to_string(known) + " on); use a newer libweft");
    std::memcpy(target, source, std::min<std::size_t>(size, known));
}

void write_struct(const char* function, const char* name, const void* source, void* target,
                  std::size_t known) {
    check_size(function, name, target);
    const std::uint32_t size = size_of(function, name, target);
    const std::size_t common = std::min<std::size_t>(size, known);
    auto* bytes = static_cast<unsigned char*>(target);
    std::memcpy(bytes + sizeof(size), static_cast<const unsigned char*>(source) + sizeof(size),
                common - sizeof(size));
    std::memset(bytes + common, 0, size - common);
}

void check_size(const char* function, const char* name, const void* target) {
    if (target != nullptr && size_of(function, name, target) == 0)
        refuse(std::string(function) + ": " + name + ".size is 0 (need sizeof(" + name + "))");
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
