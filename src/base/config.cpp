// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdlib>
#include <limits>

#include <weft/config.hpp>
#include <weft/error.hpp>

#include "base/config_parse.hpp"
#include "base/enums.hpp"

namespace weft {

namespace {

// The words of settings, each list in the order of its enum.
constexpr const char* kPaths[] = {"auto", "staged", "direct", "imported", "host"};
constexpr const char* kQueueModes[] = {"auto", "single", "split"};
constexpr const char* kHostAllocators[] = {"auto", "vulkan", "cuda"};
constexpr const char* kValidations[] = {"0", "1", "sync"};
constexpr const char* kLogLevels[] = {"off", "error", "warning", "info", "debug"};
constexpr const char* kSwitch[] = {"0", "1"};

}  // namespace

const char* to_string(Path path) noexcept {
    return core::enum_name<Path::host>(path, kPaths);
}

const char* to_string(QueueMode mode) noexcept {
    return core::enum_name<QueueMode::split>(mode, kQueueModes);
}

Config Config::from_env() {
    return core::parse_config([](const char* name) -> std::optional<std::string> {
        const char* value = std::getenv(name);
        if (value == nullptr) return std::nullopt;
        return value;
    });
}

namespace core {
namespace {

constexpr std::uint32_t kMostUint32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kNoUpperBound = std::numeric_limits<std::uint64_t>::max();

[[noreturn]] void refuse(const char* name, const std::string& value, const std::string& legal) {
    throw Error(Errc::invalid_argument,
                std::string("Config::from_env: ") + name + " must be " + legal + " (got \"" + value + "\")");
}

class Variables {
  public:
    explicit Variables(const VariableLookup& lookup) : lookup_(lookup) {}

    std::optional<std::string> text(const char* name) const {
        std::optional<std::string> value = lookup_(name);
        if (value && value->empty()) value.reset();
        return value;
    }

    /// from_chars takes digits only: no blanks, no sign, no prefix, no exponent.
    std::optional<std::uint64_t> number(const char* name, std::uint64_t least, std::uint64_t most) const {
        const auto value = text(name);
        if (!value) return std::nullopt;
        std::uint64_t parsed = 0;
        const char* end = value->data() + value->size();
        const auto [stop, error] = std::from_chars(value->data(), end, parsed, 10);
        if (error == std::errc{} && stop == end && parsed >= least && parsed <= most) return parsed;
        if (error == std::errc::result_out_of_range && stop == end && most == kNoUpperBound)
            refuse(name, *value, "a whole number below 2^64");
        refuse(name, *value,
               most == kNoUpperBound
                   ? "a whole number of at least " + std::to_string(least)
                   : "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }

    std::optional<std::uint32_t> small_number(const char* name, std::uint32_t least,
                                              std::uint32_t most) const {
        const auto value = number(name, least, most);
        if (!value) return std::nullopt;
        return static_cast<std::uint32_t>(*value);
    }

    template <class Value, std::size_t kCount>
    std::optional<Value> word(const char* name, const char* const (&words)[kCount]) const {
        const auto value = text(name);
        if (!value) return std::nullopt;
        std::string legal;
        for (std::size_t i = 0; i < kCount; ++i) {
            if (*value == words[i]) return static_cast<Value>(i);
            legal += (i == 0 ? "" : ", ") + std::string(words[i]);
        }
        refuse(name, *value, "one of: " + legal);
    }

  private:
    const VariableLookup& lookup_;
};

}  // namespace

void check_enums(const Config& config) {
    check_enum("Config", "path", config.path, Path::host);
    check_enum("Config", "queue mode", config.queues, QueueMode::split);
    check_enum("Config", "host allocator", config.host_allocator, HostAllocator::cuda);
    check_enum("Config", "validation", config.validation, Validation::sync);
    check_enum("Config", "log level", config.log_level, LogLevel::debug);
}

Config parse_config(const VariableLookup& lookup) {
    const Variables variables(lookup);
    Config config;
    config.device = variables.text("WEFT_DEVICE").value_or("");
    config.chunk_elements = variables.number("GPU_STREAM_CHUNK_ELEMS", 1, kNoUpperBound);
    config.device_local = variables.word<bool>("GPU_DEVICE_LOCAL", kSwitch);
    config.ring_slots = variables.small_number("WEFT_SLOTS", 1, 16);
    config.path = variables.word<Path>("WEFT_PATH", kPaths).value_or(config.path);
    config.copy_threads = variables.small_number("WEFT_COPY_THREADS", 1, 256);
    config.dispatch_ms =
        variables.small_number("WEFT_DISPATCH_MS", 1, kMostUint32).value_or(config.dispatch_ms);
    config.queues = variables.word<QueueMode>("WEFT_QUEUES", kQueueModes).value_or(config.queues);
    config.host_allocator =
        variables.word<HostAllocator>("WEFT_HOST_ALLOC", kHostAllocators).value_or(config.host_allocator);
    config.validation =
        variables.word<Validation>("WEFT_VALIDATION", kValidations).value_or(config.validation);
    config.log_level = variables.word<LogLevel>("WEFT_LOG", kLogLevels).value_or(config.log_level);
    config.trace = variables.text("WEFT_TRACE").value_or("");
    config.cache = variables.word<bool>("WEFT_CACHE", kSwitch).value_or(config.cache);
    config.cache_dir = variables.text("WEFT_CACHE_DIR").value_or("");
    config.vulkan_library = variables.text("WEFT_VULKAN_LIBRARY").value_or("");
    return config;
}

}  // namespace core
}  // namespace weft
