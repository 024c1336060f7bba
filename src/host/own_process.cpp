// SPDX-License-Identifier: Apache-2.0
#include "host/own_process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace weft::core {
namespace {

/// Of this process and of those that it was forked from.
std::atomic<std::uint64_t> forks{0};

bool counts_forks() noexcept {
    static const bool counts =
        pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0;
    return counts;
}

}  // namespace

OwnProcess::OwnProcess() noexcept
    : forks_(counts_forks() ? forks.load(std::memory_order_relaxed) : 0), id_(getpid()) {}

bool OwnProcess::here() const noexcept {
    return counts_forks() ? forks.load(std::memory_order_relaxed) == forks_ : getpid() == id_;
}

}  // namespace weft::core
