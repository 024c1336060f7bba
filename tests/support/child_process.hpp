// SPDX-License-Identifier: Apache-2.0
// Runs a test case of this program in a separate process, in which the environment may be changed, and in
// which a hang or a crash can be detected.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weft_test {

inline constexpr int kHung = -1000;

/// The exit code of `child`, the negative number of the signal that ended it, or kHung after it was killed.
inline int await_exit(pid_t child, std::chrono::seconds limit = std::chrono::seconds(60)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > end) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return kHung;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

constexpr const char* kChildVariable = "WEFT_TEST_CHILD";

/// Whether this process was started by start_case.
inline bool is_child() {
    return std::getenv(kChildVariable) != nullptr;
}

/// Starts this program again for one case, named "child: ...", with changed environment variables.
inline pid_t start_case(const std::string& name,
                        const std::vector<std::pair<std::string, std::string>>& variables = {}) {
    std::vector<std::string> arguments{"/proc/self/exe", "--test-case=" + name, "--minimal"};
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::vector<std::string> environment;
    const auto changed = [&](const std::string& entry) {
        for (const auto& [key, value] : variables)
            if (entry.starts_with(key + "=")) return true;
        return false;
    };
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (!changed(*entry)) environment.emplace_back(*entry);
    for (const auto& [key, value] : variables) environment.push_back(key + "=" + value);
    environment.push_back(std::string(kChildVariable) + "=1");
    std::vector<char*> envp;
    for (std::string& entry : environment) envp.push_back(entry.data());
    envp.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        execve(argv[0], argv.data(), envp.data());
        _exit(127);
    }
    return child;
}

inline int run_case(const std::string& name,
                    const std::vector<std::pair<std::string, std::string>>& variables = {}) {
    return await_exit(start_case(name, variables));
}

}  // namespace weft_test
