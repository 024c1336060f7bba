// SPDX-License-Identifier: Apache-2.0
// Support for tests on the fault loader: its control, a watchdog, and checks that no object is left.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include <weft/weft.hpp>

#include "fault/control.hpp"
#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

namespace weft_test {

/// The copy of the loader that weft uses, named by WEFT_VULKAN_LIBRARY.
inline weft_fault::Control& control() {
    static weft_fault::Control* found = [] {
        const char* path = std::getenv("WEFT_VULKAN_LIBRARY");
        void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
        void* entry = library == nullptr ? nullptr : dlsym(library, weft_fault::kControlEntry);
        if (entry == nullptr) {
            std::fprintf(stderr, "these tests need WEFT_VULKAN_LIBRARY=.../libweft_fault_loader.so\n");
            std::abort();
        }
        return reinterpret_cast<weft_fault::ControlEntry>(entry)();
    }();
    return *found;
}

/// Ends the process and prints the name of the case, if the case takes so long that it must hang.
class Watchdog {
  public:
    explicit Watchdog(std::string what, std::chrono::seconds limit = std::chrono::seconds(60))
        : what_(std::move(what)), thread_([this, limit] {
              std::unique_lock lock(mutex_);
              if (over_.wait_for(lock, limit, [this] { return done_; })) return;
              std::fprintf(stderr, "hung: %s (failed function: %s)\n", what_.c_str(),
                           control().failed().c_str());
              std::abort();
          }) {}
    ~Watchdog() {
        {
            const std::lock_guard lock(mutex_);
            done_ = true;
        }
        over_.notify_all();
        thread_.join();
    }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    std::string what_;
    std::mutex mutex_;
    std::condition_variable over_;
    bool done_ = false;
    std::thread thread_;
};

/// A configuration without a cache on disk, so that every run makes the same calls.
inline weft::Config fault_config() {
    weft::Config config = weft::Config::from_env();
    config.cache = false;
    config.log_level = weft::LogLevel::off;
    return config;
}

/// Checks that every Vulkan object is destroyed, and that no use violated the device as described.
inline void check_nothing_left() {
    for (const weft_fault::Live& live : control().live())
        FAIL_CHECK("alive: " << live.count << " of type " << live.type);
    CHECK(control().live_bytes() == 0);
    for (const std::string& violation : control().violations()) FAIL_CHECK("violation: " << violation);
}

}  // namespace weft_test
