// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <array>
#include <cstdio>

#include "errors.hpp"

namespace weft::python {

namespace {

template <class Value>
Value named(const char* what, const std::string& name,
            std::initializer_list<std::pair<const char*, Value>> all) {
    std::string legal;
    for (const auto& [text, value] : all) {
        if (name == text) return value;
        legal += (legal.empty() ? "'" : ", '") + std::string(text) + "'";
    }
    refuse(std::string(what) + ": unknown value (got '" + name + "', need one of " + legal + ")");
}

}  // namespace

std::string short_number(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g", value);
    return text.data();
}

Stage stage_named(const std::string& name) {
    return named<Stage>("stage", name,
                        {{"upload", Stage::upload},
                         {"kernel", Stage::kernel},
                         {"download", Stage::download},
                         {"copy-in", Stage::copy_in},
                         {"copy-out", Stage::copy_out}});
}

Path path_named(const std::string& name) {
    return named<Path>("path", name,
                       {{"auto", Path::automatic},
                        {"staged", Path::staged},
                        {"direct", Path::direct},
                        {"imported", Path::imported},
                        {"host", Path::host}});
}

QueueMode queues_named(const std::string& name) {
    return named<QueueMode>(
        "queues", name,
        {{"auto", QueueMode::automatic}, {"single", QueueMode::single}, {"split", QueueMode::split}});
}

HostAllocator host_allocator_named(const std::string& name) {
    return named<HostAllocator>("host_allocator", name,
                                {{"auto", HostAllocator::automatic},
                                 {"vulkan", HostAllocator::vulkan},
                                 {"cuda", HostAllocator::cuda}});
}

Validation validation_named(const std::string& name) {
    return named<Validation>("validation", name,
                             {{"off", Validation::off}, {"on", Validation::on}, {"sync", Validation::sync}});
}

LogLevel log_level_named(const std::string& name) {
    return named<LogLevel>("log_level", name,
                           {{"off", LogLevel::off},
                            {"error", LogLevel::error},
                            {"warning", LogLevel::warning},
                            {"info", LogLevel::info},
                            {"debug", LogLevel::debug}});
}

}  // namespace weft::python
