// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cli/failure.hpp"

namespace weft::tool {
namespace {

// Signals that users, batch systems and schedulers send, and faults of a driver.
constexpr std::array kTerminating{SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGXCPU, SIGALRM,
                                  SIGUSR1, SIGUSR2, SIGPIPE, SIGABRT, SIGSEGV};

struct Watched {
    std::atomic<std::uintptr_t> begin{0};
    std::atomic<std::uintptr_t> end{0};  // 0: free
    std::atomic<Mapping> kind{Mapping::input};
};

// Handlers may read only lock-free atomics and memory that was complete before the flag was set.
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<Mapping>::is_always_lock_free);
char temporary[PATH_MAX];
std::atomic<bool> temporary_exists{false};
std::array<Watched, 16> watched;
std::atomic<bool> ending{false}, terminated{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void remove_temporary() {
    if (temporary_exists.load()) unlink(temporary);
}

void end_as(int signal) {
    std::signal(signal, SIG_DFL);
    raise(signal);  // delivered when the handler returns
}

void on_terminate(int signal) {
    terminated.store(true);
    remove_temporary();
    end_as(signal);
}

[[noreturn]] void end_with(std::string_view line, Exit exit) {
    while (ending.exchange(true))
        pause();  // several threads may reach the end of a file; only one reports it
    remove_temporary();
    const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
    static_cast<void>(written);
    _exit(static_cast<int>(exit));
}

void on_bus_error(int signal, siginfo_t* info, void*) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    for (const Watched& w : watched) {
        if (address < w.begin.load() || address >= w.end.load()) continue;
        if (w.kind.load() == Mapping::output)
            end_with("weft: the output cannot be written: its disk failed or is full\n", Exit::failed);
        end_with("weft: an input file shrank or became unreadable while it was read\n", Exit::usage);
    }
    remove_temporary();
    end_as(signal);
}

}  // namespace

// Drivers block every signal in the threads that they start, and a fault whose signal is blocked ends the
// process without calling its handler. A software device reads mapped files on such threads.
extern "C" [[gnu::visibility("default")]] int pthread_sigmask(int how, const sigset_t* set,
                                                              sigset_t* before) noexcept {
    using Function = int (*)(int, const sigset_t*, sigset_t*);
    static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_sigmask"));
    if (next == nullptr) return ENOSYS;
    if (set == nullptr || how == SIG_UNBLOCK) return next(how, set, before);
    sigset_t kept = *set;
    sigdelset(&kept, SIGBUS);
    return next(how, &kept, before);
}

void open_standard_descriptors() {
    for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor)
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY));
}

void install_signal_handlers() {
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    for (const int signal : kTerminating) {
        struct sigaction inherited {};
        sigaction(signal, nullptr, &inherited);
        if (inherited.sa_handler == SIG_IGN) continue;  // an ignored signal stays ignored, as nohup needs
        action.sa_handler = on_terminate;
        sigaction(signal, &action, nullptr);
    }
    struct sigaction bus {};
    sigemptyset(&bus.sa_mask);
    bus.sa_flags = SA_SIGINFO;
    bus.sa_sigaction = on_bus_error;
    sigaction(SIGBUS, &bus, nullptr);
    std::signal(SIGXFSZ, SIG_IGN);
}

int make_temporary(std::string& name, const std::function<int(const char* name)>& create) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    constexpr std::size_t kRandom = 6;
    if (name.size() >= sizeof temporary) {
        errno = ENAMETOOLONG;
        return -1;
    }
    // The name is stored before the file exists. A signal may arrive on any thread, and a file that is
    // created before its name is stored would remain.
    for (int attempt = 0; attempt < 100; ++attempt) {
        std::array<unsigned char, kRandom> random{};
        if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(kRandom)) return -1;
        for (std::size_t i = 0; i < kRandom; ++i)
            name[name.size() - kRandom + i] = kLetters[random[i] % kLetters.size()];
        std::memcpy(temporary, name.c_str(), name.size() + 1);
        temporary_exists.store(true);
        const int file = create(name.c_str());
        const int error = errno;
        if (terminated.load()) remove_temporary();  // created after the handler ran
        if (file < 0) temporary_exists.store(false);
        errno = error;
        if (file >= 0 || error != EEXIST) return file;
    }
    return -1;
}

void forget_temporary() {
    temporary_exists.store(false);
}

void watch_mapping(Mapping kind, std::span<const std::byte> memory) {
    for (Watched& w : watched) {
        if (w.end.load() != 0) continue;
        const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
        w.kind.store(kind);
        w.begin.store(begin);
        w.end.store(begin + memory.size());
        return;
    }
}

void unwatch_mapping(std::span<const std::byte> memory) {
    for (Watched& w : watched)
        if (w.begin.load() == reinterpret_cast<std::uintptr_t>(memory.data())) w.end.store(0);
}

}  // namespace weft::tool
