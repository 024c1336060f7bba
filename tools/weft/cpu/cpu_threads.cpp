// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_threads.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace weft::tool {
namespace {

std::string read_cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown";
}

}  // namespace

unsigned cpu_threads() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
    return std::max(1u, std::thread::hardware_concurrency());
}

const char* cpu_name() {
    static const std::string name = read_cpu_name();
    return name.c_str();
}

CpuThreads::~CpuThreads() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void CpuThreads::run(std::size_t parts, const std::function<void(std::size_t)>& work) {
    const std::lock_guard one_call(calls_);
    std::unique_lock lock(mutex_);
    work_ = &work;
    parts_ = left_ = parts;
    next_ = 0;
    failure_ = nullptr;
    while (threads_.size() + 1 < parts) threads_.emplace_back([this] { serve(); });
    if (parts > 1) wake_.notify_all();
    while (take(lock)) {  // parts that no other thread has taken yet
    }
    done_.wait(lock, [this] { return left_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
}

void CpuThreads::serve() {
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [this] { return ending_ || next_ < parts_; });
        if (ending_) return;
        take(lock);
    }
}

// Runs the next part, if there is one, while the lock is released.
bool CpuThreads::take(std::unique_lock<std::mutex>& lock) {
    if (next_ >= parts_) return false;
    const std::size_t part = next_++;
    lock.unlock();
    std::exception_ptr failure;
    try {
        (*work_)(part);
    } catch (...) {
        failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    if (--left_ == 0) done_.notify_one();
    return true;
}

void parallel_for(std::size_t count, std::size_t grain, unsigned threads,
                  const std::function<void(std::size_t, std::size_t)>& body) {
    const std::size_t parts =
        std::clamp<std::size_t>(count / std::max<std::size_t>(grain, 1), 1, std::max(1u, threads));
    const auto begin_of = [&](std::size_t part) {
        return count / parts * part + std::min(part, count % parts);
    };
    if (count == 0) return;
    if (parts == 1) return body(0, count);
    static CpuThreads pool;
    pool.run(parts, [&](std::size_t part) { body(begin_of(part), begin_of(part + 1)); });
}

}  // namespace weft::tool
