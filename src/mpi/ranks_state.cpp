// SPDX-License-Identifier: Apache-2.0
#include "mpi/ranks_state.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <numeric>
#include <thread>

#include <weft/error.hpp>

#include "ops/kernel_matrix/store_tiles.hpp"

namespace weft::mpi {
namespace {

constexpr int kCounter = 0, kStop = 1, kMeetings = 2;

/// An error as it is sent to the other ranks.
struct SentError {
    Errc code = Errc::driver;
    std::string text;
};

SentError sent(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const Error& e) {
        return {e.code(), e.what()};
    } catch (const std::bad_alloc&) {
        return {Errc::out_of_memory, "host memory is exhausted"};
    } catch (const std::exception& e) {
        return {Errc::driver, e.what()};
    } catch (...) {
        return {Errc::driver, "an exception of the caller"};
    }
}

}  // namespace

void check(int status, const char* call) {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(status, text, &length);
    throw Error(Errc::driver, std::string(call) + ": " + std::string(text, static_cast<std::size_t>(length)),
                status);
}

RanksState::RanksState(MPI_Comm communicator, const RanksOptions& options) : timeout_s_(options.timeout_s) {
    if (!(options.timeout_s > 0))
        throw Error(Errc::invalid_argument, "Ranks: timeout_s is out of range (got " +
                                                std::to_string(options.timeout_s) + ", need more than 0)");
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (initialized == 0 || finalized != 0)
        throw Error(Errc::invalid_argument, "Ranks: MPI is not initialized (call MPI_Init first)");
    check(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
    MPI_Comm node = MPI_COMM_NULL;
    check(MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node),
          "MPI_Comm_split_type");
    MPI_Comm_rank(node, &rank_on_node_);
    MPI_Comm_size(node, &ranks_on_node_);
    MPI_Comm_free(&node);
    make_window();
}

void RanksState::make_window() {
    // Memory that MPI allocates can be shared memory or known to the network, so that the first rank need not
    // help others to reach it.
    const auto words = static_cast<std::size_t>(rank_ == 0 ? kMeetings + size_ : 0);
    check(MPI_Win_allocate(static_cast<MPI_Aint>(words * sizeof(std::uint64_t)), sizeof(std::uint64_t),
                           MPI_INFO_NULL, communicator_, &words_, &window_),
          "MPI_Win_allocate");
    check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    std::fill_n(words_, words, std::uint64_t{0});
    check(MPI_Win_sync(window_), "MPI_Win_sync");
    check(MPI_Barrier(communicator_), "MPI_Barrier");
}

RanksState::~RanksState() {
    if (broken_) return;  // the calls below wait for all ranks
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
    MPI_Comm_free(&communicator_);
}

std::uint64_t RanksState::exchange(int word, std::uint64_t value, MPI_Op operation) {
    std::uint64_t before = 0;
    check(MPI_Fetch_and_op(&value, &before, MPI_UINT64_T, 0, word, operation, window_), "MPI_Fetch_and_op");
    check(MPI_Win_flush(0, window_), "MPI_Win_flush");
    return before;
}

std::string RanksState::missing_ranks() {
    std::string missing;
    for (int rank = 0; rank < size_; ++rank)
        if (exchange(kMeetings + rank, 0, MPI_NO_OP) < meetings_)
            missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    return missing;
}

void RanksState::note_meeting() {
    ++meetings_;
    exchange(kMeetings + rank_, meetings_, MPI_REPLACE);
}

void RanksState::finish(MPI_Request request) {
    const auto begin = std::chrono::steady_clock::now();
    const auto waited_s = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    for (int done = 0;;) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0) return;
        const double waited = waited_s();
        if (waited > timeout_s_) break;
        // Ranks usually come together; one that waits for long must not take a core from the others.
        if (waited > 1e-3) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    broken_ = true;
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g", timeout_s_);
    throw Error(Errc::device_lost, "Ranks: rank " + missing_ranks() + " of " + std::to_string(size_) +
                                       " has not come within " + limit +
                                       " s (call MPI_Abort; see RanksOptions::timeout_s)");
}

void RanksState::meet() {
    note_meeting();
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(communicator_, &request), "MPI_Ibarrier");
    finish(request);
}

void RanksState::sum(std::span<double> numbers) {
    note_meeting();
    // MPI_Allreduce may add up in another order on every rank; ranks that decide by the sums need the bits of
    // one of them.
    constexpr std::size_t kMost = std::size_t{1} << 28;
    for (std::size_t first = 0; first < numbers.size(); first += kMost) {
        double* const part = numbers.data() + first;
        const int count = static_cast<int>(std::min(kMost, numbers.size() - first));
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Ireduce(rank_ == 0 ? MPI_IN_PLACE : part, rank_ == 0 ? part : nullptr, count, MPI_DOUBLE,
                          MPI_SUM, 0, communicator_, &request),
              "MPI_Ireduce");
        finish(request);
        check(MPI_Ibcast(part, count, MPI_DOUBLE, 0, communicator_, &request), "MPI_Ibcast");
        finish(request);
    }
}

void RanksState::gather(std::span<std::byte> all, std::span<const std::uint64_t> bytes) {
    note_meeting();
    // Counts are int: they are in units of the largest number of bytes that divides all parts.
    std::uint64_t unit = 0;
    for (const std::uint64_t part : bytes) unit = std::gcd(unit, part);
    if (unit == 0) return;
    std::vector<int> counts, places;
    std::uint64_t place = 0;
    for (const std::uint64_t part : bytes) {
        counts.push_back(static_cast<int>(part / unit));
        places.push_back(static_cast<int>(place / unit));
        place += part;
    }
    MPI_Datatype row = MPI_DATATYPE_NULL;
    check(MPI_Type_contiguous(static_cast<int>(unit), MPI_BYTE, &row), "MPI_Type_contiguous");
    check(MPI_Type_commit(&row), "MPI_Type_commit");
    MPI_Request request = MPI_REQUEST_NULL;
    const int begun = MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), counts.data(),
                                      places.data(), row, communicator_, &request);
    MPI_Type_free(&row);  // goes when the transfer is done
    check(begun, "MPI_Iallgatherv");
    finish(request);
}

KernelRanks RanksState::kernel_ranks() {
    return {static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(size_),
            [this](std::span<double> numbers) { sum(numbers); },
            [this](std::span<std::byte> all, std::span<const std::uint64_t> bytes) { gather(all, bytes); },
            [this](const std::function<void()>& step) { together(step); }};
}

void RanksState::agree(const std::exception_ptr& error) {
    meet();
    int mine = error ? rank_ : size_, first = size_;
    check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, communicator_), "MPI_Allreduce");
    if (first == size_) return;
    const SentError own = error ? sent(error) : SentError{};
    unsigned long long head[2] = {static_cast<unsigned long long>(own.code), own.text.size()};
    check(MPI_Bcast(head, 2, MPI_UNSIGNED_LONG_LONG, first, communicator_), "MPI_Bcast");
    std::string text = rank_ == first ? own.text : std::string(head[1], ' ');
    check(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, first, communicator_), "MPI_Bcast");
    if (error) std::rethrow_exception(error);
    throw Error(static_cast<Errc>(head[0]), "rank " + std::to_string(first) + ": " + text);
}

kernels::StoreFacts RanksState::from_first(const kernels::StoreFacts& facts) {
    std::vector<std::byte> bytes = kernels::encode_store({facts, 0});
    bytes.resize(kernels::store_bytes(bytes.size(), 0));
    unsigned long long size = bytes.size();
    meet();
    check(MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG_LONG, 0, communicator_), "MPI_Bcast");
    bytes.resize(size);
    check(MPI_Bcast(bytes.data(), static_cast<int>(size), MPI_BYTE, 0, communicator_), "MPI_Bcast");
    return kernels::decode_store(bytes).header.facts;
}

void RanksState::require_same(const char* function, const kernels::StoreFacts& facts) {
    const kernels::StoreFacts first = from_first(facts);
    const std::string what = kernels::facts_differ(first, facts, "rank 0", "this rank");
    std::exception_ptr error;
    if (!what.empty())
        error = std::make_exception_ptr(Error(
            Errc::invalid_argument, std::string(function) + ": the ranks must agree, but differ in " + what));
    agree(error);
}

std::uint64_t RanksState::least(std::uint64_t value) {
    meet();
    std::uint64_t least = 0;
    check(MPI_Allreduce(&value, &least, 1, MPI_UINT64_T, MPI_MIN, communicator_), "MPI_Allreduce");
    return least;
}

void RanksState::begin_count() {
    meet();  // nobody takes numbers of the count before any more
    if (rank_ == 0) {
        exchange(kCounter, 0, MPI_REPLACE);
        exchange(kStop, 0, MPI_REPLACE);
    }
    meet();
}

std::uint64_t RanksState::take(std::uint64_t count) {
    return exchange(kCounter, count, MPI_SUM);
}

void RanksState::stop_count() noexcept {
    try {
        exchange(kStop, 1, MPI_REPLACE);
    } catch (const Error&) {
        // The others learn of the error when all have finished.
    }
}

bool RanksState::count_is_stopped() {
    return exchange(kStop, 0, MPI_NO_OP) != 0;
}

}  // namespace weft::mpi
