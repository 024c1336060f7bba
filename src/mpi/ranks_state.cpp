// SPDX-License-Identifier: Apache-2.0
#include "mpi/ranks_state.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <numeric>
#include <thread>

#include <weft/error.hpp>

#include "ops/kernel_matrix/store_tiles.hpp"

namespace weft::mpi {
namespace {

constexpr int kCounter = 0, kStop = 1, kMeetings = 2;  // words
constexpr int kHolder = 0;                             // the rank whose memory has them

/// An error as it is sent to the other ranks.
struct SentError {
    Errc code = Errc::driver;
    std::string text;
    int native_code = 0;
};

SentError sent(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const Error& e) {
        return {e.code(), e.what(), e.native_code()};
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
    // The same for all, also if they are unevenly spread.
    const bool one_machine =
        least(static_cast<std::uint64_t>(ranks_on_node_)) == static_cast<std::uint64_t>(size_);
    maps_files_ = options.map_files == Choice::automatic ? one_machine : options.map_files == Choice::on;
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
    try {
        meet();  // the calls below wait for all ranks
    } catch (const Error&) {
        return;
    }
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
    MPI_Comm_free(&communicator_);
}

std::uint64_t RanksState::exchange(int word, std::uint64_t value, MPI_Op operation, double limit_s) {
    if (broken_) throw Error(Errc::device_lost, "Ranks: a rank was lost before (call MPI_Abort)");
    under_way_.exchanged = {value, 0};
    MPI_Request request = MPI_REQUEST_NULL;
    begun(MPI_Rget_accumulate(&under_way_.exchanged[0], 1, MPI_UINT64_T, &under_way_.exchanged[1], 1,
                              MPI_UINT64_T, kHolder, word, 1, MPI_UINT64_T, operation, window_, &request),
          "MPI_Rget_accumulate");
    if (!done_within(request, limit_s)) lose(std::to_string(kHolder));
    return under_way_.exchanged[1];
}

std::string RanksState::missing_ranks() {
    // The first rank answers while it waits as well. If it does not, it is the one that is missing.
    constexpr double kAnswer_s = 5;
    std::string missing;
    for (int rank = 0; rank < size_; ++rank)
        if (exchange(kMeetings + rank, 0, MPI_NO_OP, std::min(kAnswer_s, timeout_s_)) < meetings_)
            missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    // A rank may have come, and died before the call of MPI was done.
    return missing.empty() ? "other than " + std::to_string(rank_) : missing;
}

void RanksState::give_up() noexcept {
    broken_ = true;
    static_cast<void>(owned_.release());
}

void RanksState::lose(const std::string& missing) {
    give_up();
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g", timeout_s_);
    throw Error(Errc::device_lost, "Ranks: rank " + missing + " of " + std::to_string(size_) +
                                       " has not come within " + limit +
                                       " s (call MPI_Abort; see RanksOptions::timeout_s)");
}

void RanksState::begun(int status, const char* call) {
    if (status == MPI_SUCCESS) return;
    give_up();  // no rank knows what the others have done
    check(status, call);
}

bool RanksState::done_within(MPI_Request& request, double limit_s) {
    const auto begin = std::chrono::steady_clock::now();
    for (int done = 0;;) {
        begun(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0) return true;
        const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (waited > limit_s) return false;
        // Ranks usually come together; one that waits for long must not take a core from the others.
        if (waited > 1e-3) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

template <class Begin>
void RanksState::collective(const char* call, const Begin& begin) {
    if (broken_) throw Error(Errc::device_lost, "Ranks: a rank was lost before (call MPI_Abort)");
    ++meetings_;
    exchange(kMeetings + rank_, meetings_, MPI_REPLACE, timeout_s_);
    MPI_Request request = MPI_REQUEST_NULL;
    begun(begin(&request), call);
    if (!done_within(request, timeout_s_)) lose(missing_ranks());
}

void RanksState::meet() {
    collective("MPI_Ibarrier", [&](MPI_Request* request) { return MPI_Ibarrier(communicator_, request); });
}

void RanksState::from_first(void* data, std::size_t bytes) {
    constexpr std::size_t kMost = std::size_t{1} << 30;
    auto* const to = static_cast<std::byte*>(data);
    for (std::size_t first = 0; first < bytes; first += kMost) {
        const std::size_t count = std::min(kMost, bytes - first);
        under_way_.array.assign(to + first, to + first + count);
        collective("MPI_Ibcast", [&](MPI_Request* request) {
            return MPI_Ibcast(under_way_.array.data(), static_cast<int>(count), MPI_BYTE, 0, communicator_,
                              request);
        });
        if (rank_ != 0) std::copy(under_way_.array.begin(), under_way_.array.end(), to + first);
    }
}

void RanksState::sum(std::span<double> numbers) {
    // MPI_Allreduce may add up in another order on every rank; ranks that decide by the sums need the bits of
    // one of them.
    constexpr std::size_t kMost = std::size_t{1} << 27;
    for (std::size_t first = 0; first < numbers.size(); first += kMost) {
        const std::span<double> part = numbers.subspan(first, std::min(kMost, numbers.size() - first));
        under_way_.array.resize(part.size_bytes());
        std::memcpy(under_way_.array.data(), part.data(), part.size_bytes());
        collective("MPI_Ireduce", [&](MPI_Request* request) {
            return MPI_Ireduce(rank_ == 0 ? MPI_IN_PLACE : under_way_.array.data(),
                               rank_ == 0 ? under_way_.array.data() : nullptr, static_cast<int>(part.size()),
                               MPI_DOUBLE, MPI_SUM, 0, communicator_, request);
        });
        if (rank_ == 0) std::memcpy(part.data(), under_way_.array.data(), part.size_bytes());
    }
    from_first(numbers.data(), numbers.size_bytes());
}

void RanksState::gather(std::span<std::byte> all, std::span<const std::uint64_t> bytes) {
    // Counts are int: they are in units of the largest number of bytes that divides all parts.
    std::uint64_t unit = 0;
    for (const std::uint64_t part : bytes) unit = std::gcd(unit, part);
    if (unit == 0) return;
    // The unit is an int, too.
    constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
    std::uint64_t cuts = (unit + kMost - 1) / kMost;
    while (unit % cuts != 0) ++cuts;
    unit /= cuts;
    under_way_.counts.clear();
    under_way_.places.clear();
    std::uint64_t place = 0;
    for (const std::uint64_t part : bytes) {
        under_way_.counts.push_back(static_cast<int>(part / unit));
        under_way_.places.push_back(static_cast<int>(place / unit));
        place += part;
    }
    under_way_.array.assign(all.begin(), all.end());
    MPI_Datatype row = MPI_DATATYPE_NULL;
    check(MPI_Type_contiguous(static_cast<int>(unit), MPI_BYTE, &row), "MPI_Type_contiguous");
    check(MPI_Type_commit(&row), "MPI_Type_commit");
    collective("MPI_Iallgatherv", [&](MPI_Request* request) {
        const int status =
            MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, under_way_.array.data(),
                            under_way_.counts.data(), under_way_.places.data(), row, communicator_, request);
        MPI_Type_free(&row);  // goes when the transfer is done
        return status;
    });
    std::copy(under_way_.array.begin(), under_way_.array.end(), all.begin());
}

KernelRanks RanksState::kernel_ranks() {
    return {static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(size_),
            [this](std::span<double> numbers) { sum(numbers); },
            [this](std::span<std::byte> all, std::span<const std::uint64_t> bytes) { gather(all, bytes); },
            [this](const std::function<void()>& step) { together(step); }};
}

void RanksState::agree(const std::exception_ptr& error) {
    if (broken_ && error) std::rethrow_exception(error);  // the others would be waited for in vain
    const auto all = static_cast<std::uint64_t>(size_);
    const std::uint64_t failed = least(error ? static_cast<std::uint64_t>(rank_) : all);
    if (failed == all) return;
    const SentError own = error ? sent(error) : SentError{};
    const int first = static_cast<int>(failed);
    const auto send = [&](void* data, std::size_t bytes) {
        collective("MPI_Ibcast", [&](MPI_Request* request) {
            return MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, first, communicator_, request);
        });
    };
    under_way_.error_head = {static_cast<std::int64_t>(own.code), own.native_code,
                             static_cast<std::int64_t>(own.text.size())};
    send(under_way_.error_head.data(), sizeof under_way_.error_head);
    under_way_.error_text = own.text;
    under_way_.error_text.resize(static_cast<std::size_t>(under_way_.error_head[2]));
    send(under_way_.error_text.data(), under_way_.error_text.size());
    if (error) std::rethrow_exception(error);
    throw Error(static_cast<Errc>(under_way_.error_head[0]),
                "rank " + std::to_string(first) + ": " + under_way_.error_text,
                static_cast<int>(under_way_.error_head[1]));
}

kernels::StoreFacts RanksState::from_first(const kernels::StoreFacts& facts) {
    std::vector<std::byte>& bytes = under_way_.facts;
    bytes = kernels::encode_store({facts, 0});
    bytes.resize(kernels::store_bytes(bytes.size(), 0));
    under_way_.facts_size = bytes.size();
    from_first(&under_way_.facts_size, sizeof under_way_.facts_size);
    bytes.resize(under_way_.facts_size);
    from_first(bytes.data(), bytes.size());
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
    under_way_.least = {value, 0};
    collective("MPI_Iallreduce", [&](MPI_Request* request) {
        return MPI_Iallreduce(&under_way_.least[0], &under_way_.least[1], 1, MPI_UINT64_T, MPI_MIN,
                              communicator_, request);
    });
    return under_way_.least[1];
}

void RanksState::begin_count() {
    meet();  // nobody takes numbers of the count before any more
    if (rank_ == 0) {
        exchange(kCounter, 0, MPI_REPLACE, timeout_s_);
        exchange(kStop, 0, MPI_REPLACE, timeout_s_);
    }
    meet();
}

std::uint64_t RanksState::take(std::uint64_t count) {
    return exchange(kCounter, count, MPI_SUM, timeout_s_);
}

void RanksState::stop_count() noexcept {
    try {
        exchange(kStop, 1, MPI_REPLACE, timeout_s_);
    } catch (const Error&) {
        // The others learn of the error when all have finished.
    }
}

bool RanksState::count_is_stopped() {
    return exchange(kStop, 0, MPI_NO_OP, timeout_s_) != 0;
}

}  // namespace weft::mpi
