// SPDX-License-Identifier: Apache-2.0
#include "glsl/large_stack.hpp"

#include <pthread.h>

#include <cstddef>
#include <exception>
#include <system_error>

#include <weft/error.hpp>

namespace weft::glsl {

namespace {

struct Task {
    const std::function<void()>& work;
    std::exception_ptr failure;
};

void* run(void* argument) {
    auto& task = *static_cast<Task*>(argument);
    try {
        task.work();
    } catch (...) {
        task.failure = std::current_exception();
    }
    return nullptr;
}

int start(pthread_t& thread, std::size_t stack_bytes, Task& task) {
    pthread_attr_t attributes;
    if (const int error = pthread_attr_init(&attributes); error != 0) return error;
    int error = pthread_attr_setstacksize(&attributes, stack_bytes);
    if (error == 0) error = pthread_create(&thread, &attributes, run, &task);
    pthread_attr_destroy(&attributes);
    return error;
}

}  // namespace

void run_on_large_stack(const std::function<void()>& work) {
    Task task{work, nullptr};
    pthread_t thread{};
    int error = 0;
    // In a process with a limited address space, shaders without very deep nesting still compile.
    for (const std::size_t megabytes : {512u, 64u, 8u}) {
        error = start(thread, megabytes << 20, task);
        if (error == 0) break;
    }
    if (error != 0)
        throw Error(Errc::out_of_memory,
                    "compile_glsl: cannot start a thread (" + std::generic_category().message(error) + ")",
                    error);
    pthread_join(thread, nullptr);
    if (task.failure) std::rethrow_exception(task.failure);
}

}  // namespace weft::glsl
