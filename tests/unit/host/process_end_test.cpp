// SPDX-License-Identifier: Apache-2.0
// What exit() does while threads use a driver: in child processes, in which a handler of exit() that was
// registered first stands for the driver, which is gone when that handler runs.
#include "host/process_end.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <doctest/doctest.h>

namespace {

using std::chrono::milliseconds;
using weft::core::BusyAtEnd;
using weft::core::DriverCall;

std::atomic<int> in_driver{0};
std::atomic<bool> work_done{false};

constexpr int kClean = 7, kInside = 8, kUnfinished = 9;

/// Runs `body` in a child that ends by exit(). Returns what the driver saw.
template <class Body>
int status_of(const Body& body) {
    const pid_t child = fork();
    if (child == 0) {
        std::atexit([] { _exit(in_driver != 0 ? kInside : !work_done ? kUnfinished : kClean); });
        body();
        std::exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void use_driver(milliseconds duration) {
    const DriverCall call;
    ++in_driver;
    std::this_thread::sleep_for(duration);
    --in_driver;
}

}  // namespace

TEST_CASE("process end: no thread is inside a driver, and none enters it") {
    for (int round = 0; round < 5; ++round)
        CHECK(status_of([] {
                  work_done = true;
                  const auto* const object = new BusyAtEnd([] { return false; });
                  for (int i = 0; i < 3; ++i)
                      std::thread([] {
                          for (;;) use_driver(milliseconds(1));
                      }).detach();
                  std::thread([] { use_driver(milliseconds(60)); }).detach();
                  while (in_driver == 0) std::this_thread::yield();
                  CHECK(object != nullptr);
              }) == kClean);
}

TEST_CASE(
    "process end: work under way is waited for, and the thread that ends the process may ask the driver") {
    CHECK(status_of([] {
              new BusyAtEnd([] {  // NOLINT: left, as by a program that leaks its backend
                  const DriverCall call;
                  return !work_done;
              });
              std::thread([] {
                  std::this_thread::sleep_for(milliseconds(40));
                  work_done = true;
              }).detach();
          }) == kClean);
}

TEST_CASE("process end: exit inside a call, and without any object") {
    CHECK(status_of([] {
              work_done = true;
              new BusyAtEnd([] { return false; });  // NOLINT: left
              const DriverCall call;
              std::exit(1);
          }) == kClean);
    CHECK(status_of([] { const BusyAtEnd ended([] { return true; }); }) == kUnfinished);
    CHECK(status_of([] { work_done = true; }) == kClean);
    CHECK_FALSE(weft::core::ends_process());
}

TEST_CASE("process end: a forked child does not wait for the work of its parent") {
    CHECK(status_of([] {
              new BusyAtEnd([] { return true; });  // NOLINT: left
              const auto begin = std::chrono::steady_clock::now();
              if (const pid_t child = fork(); child != 0) {
                  int status = 0;
                  waitpid(child, &status, 0);
                  work_done = WIFEXITED(status) && WEXITSTATUS(status) == kUnfinished &&
                              std::chrono::steady_clock::now() - begin < std::chrono::seconds(2);
                  _exit(work_done ? kClean : 2);
              }
          }) == kClean);
}
