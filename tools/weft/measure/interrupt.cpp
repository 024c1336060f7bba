// SPDX-License-Identifier: Apache-2.0
#include "measure/interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace weft::tool {
namespace {

// A handler may read only lock-free atomics and memory that was complete before it was installed.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);
const char* told = "";
std::size_t told_size = 0;
struct sigaction before {};

void on_first(int) {
    const int error = errno;
    interrupted.store(true);
    sigaction(SIGINT, &before, nullptr);
    const ssize_t written = write(STDERR_FILENO, told, told_size);
    static_cast<void>(written);
    errno = error;
}

}  // namespace

FirstInterrupt::FirstInterrupt(const char* line) {
    told = line;
    told_size = std::strlen(line);
    interrupted.store(false);
    sigaction(SIGINT, nullptr, &before);
    ignored_ = before.sa_handler == SIG_IGN;
    struct sigaction first {};
    sigemptyset(&first.sa_mask);
    first.sa_flags = SA_RESTART;
    first.sa_handler = on_first;
    if (!ignored_) sigaction(SIGINT, &first, nullptr);
}

FirstInterrupt::~FirstInterrupt() {
    if (!ignored_) sigaction(SIGINT, &before, nullptr);
}

bool FirstInterrupt::noted() const {
    return interrupted.load();
}

}  // namespace weft::tool
