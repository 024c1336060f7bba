// SPDX-License-Identifier: Apache-2.0
#include "host/own_process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

using weft::core::OwnProcess;

TEST_CASE("a forked child is another process, and so is its own child") {
    const OwnProcess parent;
    CHECK(parent.here());
    CHECK(parent.id() == getpid());
    const pid_t child = fork();
    if (child == 0) {
        const OwnProcess own;
        const bool right = !parent.here() && own.here() && own.id() == getpid();
        const pid_t grandchild = fork();
        if (grandchild == 0) _exit(right && !parent.here() && !own.here() ? 0 : 1);
        int status = 1;
        waitpid(grandchild, &status, 0);
        _exit(right && own.here() && status == 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(parent.here());
}
