// SPDX-License-Identifier: Apache-2.0
#include "base/file_io.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

namespace weft::core {

namespace fs = std::filesystem;

namespace {

/// Where a process has closed stdin, stdout or stderr, a new file gets that number, and all that is printed
/// lands in it.
FileDescriptor above_standard(int file) {
    if (file < 0 || file > STDERR_FILENO) return FileDescriptor(file);
    const FileDescriptor low(file);
    return FileDescriptor(::fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/// The name by which the kernel knows an open file.
std::string link_of(int file) {
    return "/proc/self/fd/" + std::to_string(file);
}

/// No two threads or processes write the same new file, and no other user can foresee its name.
std::string random_name(const fs::path& target) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    std::string name = target.string() + ".";
    std::array<unsigned char, kRandomLetters> random{};
    if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) return {};
    for (const unsigned char letter : random) name += kLetters[letter % kLetters.size()];
    return name;
}

/// Calls `make` with random names until one is free. Returns the name, or an empty one and errno.
template <class Make>
std::string make_named(const fs::path& target, const Make& make) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        const std::string name = random_name(target);
        if (name.empty()) return {};
        if (make(name.c_str())) return name;
        if (errno != EEXIST) return {};
    }
    return {};
}

/// Symbolic links stay; the file that they name is replaced.
fs::path resolved(const fs::path& path) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    return error ? path : real;
}

FileRead system_error(int error) {
    return {{}, std::generic_category().message(error), error, false};
}

std::string too_large(std::uint64_t bytes, std::uint64_t max_bytes) {
    return "too large (got " + std::to_string(bytes) + " bytes, need at most " + std::to_string(max_bytes) +
           ")";
}

}  // namespace

NoWriteSignals::NoWriteSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGPIPE);
    sigaddset(&signals_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    // One that was waiting already is not from a write of ours.
    for (const int signal : {SIGPIPE, SIGXFSZ})
        if (sigismember(&pending, signal) != 0) sigdelset(&signals_, signal);
    blocked_ = pthread_sigmask(SIG_BLOCK, &signals_, &before_) == 0;
}

NoWriteSignals::~NoWriteSignals() {
    if (!blocked_) return;
    const int error = errno;
    constexpr timespec kNow{};
    while (sigtimedwait(&signals_, nullptr, &kNow) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
}

int try_lock(const FileDescriptor& file, const fs::path& path) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return errno;
    // Another process may have replaced or removed the file between the two calls.
    struct stat own {
    }, named{};
    const bool same = ::fstat(file.get(), &own) == 0 && ::stat(path.c_str(), &named) == 0 &&
                      own.st_dev == named.st_dev && own.st_ino == named.st_ino;
    return same ? 0 : ESTALE;
}

bool FileRead::absent() const {
    return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
}

FileRead read_file(const std::filesystem::path& file, std::uint64_t max_bytes) {
    const FileDescriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (in.get() < 0) return system_error(errno);
    struct stat status {};
    if (::fstat(in.get(), &status) != 0) return system_error(errno);
    if (S_ISDIR(status.st_mode)) return {{}, "a folder, not a file", EISDIR, false};
    if (!S_ISREG(status.st_mode)) return {{}, "not an ordinary file", EINVAL, false};
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > max_bytes) return {{}, too_large(size, max_bytes), 0, false};
    FileRead result;
    result.trusted = (status.st_uid == ::geteuid() || status.st_uid == 0) && (status.st_mode & 022) == 0;
    // One byte more than the size, so that a file that grows meanwhile is noticed.
    result.bytes.resize(static_cast<std::size_t>(size) + 1);
    std::size_t filled = 0;
    while (filled < result.bytes.size()) {
        const ssize_t got = ::read(in.get(), result.bytes.data() + filled, result.bytes.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error(errno);
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    if (filled > size) return {{}, "changed while it was read", EAGAIN, false};
    result.bytes.resize(filled);
    return result;
}

NewFile::NewFile(const fs::path& target, unsigned mode, bool into_special) : target_(resolved(target)) {
    struct stat status {};
    const bool there = ::stat(target_.c_str(), &status) == 0;
    special_ = into_special && there && !S_ISREG(status.st_mode);
    if (there && S_ISDIR(status.st_mode))
        fail("cannot write", EISDIR);
    else if (special_)
        open_special();
    else
        open_new(mode);
}

NewFile::~NewFile() {
    if (!name_.empty()) ::unlink(name_.c_str());
}

void NewFile::open_special() {
    // Opening a pipe that no program reads from would wait for one.
    file_ = above_standard(::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file_.get() < 0) return fail("cannot open", errno);
    const int flags = ::fcntl(file_.get(), F_GETFL);
    if (flags >= 0) ::fcntl(file_.get(), F_SETFL, flags & ~O_NONBLOCK);
}

void NewFile::open_new(unsigned mode) {
    const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
    file_ = above_standard(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
    // Without /proc such a file could get no name.
    if (file_.get() >= 0 && ::access(link_of(file_.get()).c_str(), F_OK) == 0) return;
    name_ = make_named(target_, [&](const char* name) {
        file_ = above_standard(::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
        return file_.get() >= 0;
    });
    if (name_.empty()) fail("cannot create a file beside", errno);
}

void NewFile::write(std::string_view text) {
    const NoWriteSignals quiet;
    while (!text.empty() && failure_.empty()) {
        const ssize_t written = ::write(file_.get(), text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return fail("cannot write", errno);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

FileDescriptor NewFile::locked() const {
    FileDescriptor same(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 3));
    // Nobody else knows the file yet, so this fails only where the file system has no locks.
    if (same.get() >= 0) static_cast<void>(::flock(same.get(), LOCK_EX | LOCK_NB));
    return same;
}

std::string NewFile::replace() {
    if (failure_.empty() && !special_ && name_.empty()) {
        // rename() replaces a file, which linkat() does not.
        const std::string link = link_of(file_.get());
        name_ = make_named(target_, [&](const char* name) {
            return ::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
        });
        if (name_.empty()) fail("cannot name a file beside", errno);
    }
    if (const int file = file_.release(); file >= 0 && ::close(file) != 0 && failure_.empty())
        fail("cannot write", errno);
    if (failure_.empty() && !special_ && std::rename(name_.c_str(), target_.c_str()) != 0)
        fail("cannot rename to", errno);
    if (failure_.empty()) name_.clear();
    return failure_;
}

void NewFile::fail(const char* what, int error) {
    error_ = error;
    failure_ =
        std::string(what) + " " + target_.string() + " (" + std::generic_category().message(error) + ")";
    if (special_ && error == ENXIO)
        failure_ = "cannot open " + target_.string() + " (no program reads from it)";
}

}  // namespace weft::core
