// SPDX-License-Identifier: Apache-2.0
// The lock of a queue: it is shared by all that use the queue, and joined with the lock of the application.
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "host/queue_mutex.hpp"

using weft::core::QueueMutex;

namespace {

/// Whether another thread would get the lock immediately.
bool is_free(QueueMutex& mutex) {
    bool entered = false;
    std::thread thread([&] {
        mutex.lock();
        entered = true;
        mutex.unlock();
    });
    thread.join();
    return entered;
}

}  // namespace

TEST_CASE("queue mutex: two for one queue exclude each other; those of different queues do not") {
    int queue_a = 0, queue_b = 0;
    QueueMutex first(&queue_a), second(&queue_a), other(&queue_b);
    int value = 0;
    const auto work = [&](QueueMutex& mutex) {
        for (int i = 0; i < 20000; ++i) {
            const std::lock_guard lock(mutex);
            value = value + 1;
        }
    };
    std::thread a([&] { work(first); }), b([&] { work(second); });
    a.join();
    b.join();
    CHECK(value == 40000);
    const std::lock_guard lock(first);
    CHECK(is_free(other));
}

TEST_CASE("queue mutex: the application's lock is taken inside it, once each time") {
    int queue = 0, locks = 0, unlocks = 0;
    QueueMutex mutex(&queue, {[&] { ++locks; }, [&] { ++unlocks; }});
    {
        const std::lock_guard lock(mutex);
        CHECK(locks == 1);
        CHECK(unlocks == 0);
    }
    CHECK(unlocks == 1);
}

TEST_CASE("queue mutex: an application's lock that throws gives an Error and leaves the queue free") {
    int queue = 0, kind = 0;
    QueueMutex mutex(&queue, {[&] {
                                  if (kind == 0) throw std::runtime_error("busy");
                                  if (kind == 1) throw 5;
                              },
                              [] { throw std::runtime_error("dropped"); }});
    for (kind = 0; kind < 2; ++kind) {
        try {
            mutex.lock();
            FAIL_CHECK("nothing was thrown");
        } catch (const weft::Error& e) {
            CHECK(e.code() == weft::Errc::driver);
            CHECK(std::string(e.what()).find(kind == 0 ? "busy" : "threw") != std::string::npos);
        }
    }
    CHECK(is_free(mutex));  // also after an unlock that throws
    CHECK(is_free(mutex));
}
