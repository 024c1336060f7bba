// SPDX-License-Identifier: Apache-2.0
// What ranks do together: they meet within a time limit, agree on errors and on facts, and take numbers from
// a shared counter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/mpi/ranks.hpp>
#include <weft/ops/kernel_ranks.hpp>

#include "ops/kernel_matrix/store_format.hpp"

namespace weft::mpi {

/// Errors: driver - `status` is an error of MPI.
void check(int status, const char* call);

class RanksState {
  public:
    RanksState(MPI_Comm communicator, const RanksOptions& options);
    ~RanksState();
    RanksState(const RanksState&) = delete;
    RanksState& operator=(const RanksState&) = delete;

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }
    int rank_on_node() const noexcept { return rank_on_node_; }
    int ranks_on_node() const noexcept { return ranks_on_node_; }
    /// Whether files are written through mappings.
    bool maps_files() const noexcept { return maps_files_; }
    MPI_Comm communicator() const noexcept { return communicator_; }

    /// Whether a rank is missing, so that no collective call of MPI would return.
    bool broken() const noexcept { return broken_; }

    /// Returns when all ranks are here. Errors: device_lost - some are not within the time limit.
    void meet();
    /// Throws on all ranks if one has an error.
    void agree(const std::exception_ptr& error);
    template <class Step>
    void together(const Step& step) {
        std::exception_ptr error;
        try {
            step();
        } catch (...) {
            error = std::current_exception();
        }
        agree(error);
    }
    /// Errors: invalid_argument - a rank has another value than the first rank.
    void require_same(const char* function, const kernels::StoreFacts& facts);
    /// Those of the first rank.
    kernels::StoreFacts from_first(const kernels::StoreFacts& facts);
    std::uint64_t least(std::uint64_t value);

    /// Adds up numbers of all ranks, element by element; all get the same bits.
    void sum(std::span<double> numbers);
    /// Completes `all`, of which rank r has filled in bytes[r] bytes behind those of the ranks before it.
    void gather(std::span<std::byte> all, std::span<const std::uint64_t> bytes);
    /// sum, gather and together for the calls of <weft/ops/kernel_ranks.hpp>.
    KernelRanks kernel_ranks();

    /// Begins a count at 0, for all ranks.
    void begin_count();
    /// The next `count` numbers begin with the one that is returned.
    std::uint64_t take(std::uint64_t count);
    /// Asks the other ranks to take no more. Never throws.
    void stop_count() noexcept;
    bool count_is_stopped();

  private:
    void make_window();
    /// Begins a call of MPI that all ranks make, and returns when it is done. What begin(request) refers to
    /// must stay if a rank is lost, because that rank may yet come. Errors: device_lost - some ranks have not
    /// come within the time limit.
    template <class Begin>
    void collective(const char* call, const Begin& begin);
    /// From the first rank to all.
    void from_first(void* data, std::size_t bytes);
    /// Words on the first rank: the counter, whether to stop, and the last meeting of each rank. Returns the
    /// word before. Errors: device_lost - the first rank does not answer.
    std::uint64_t exchange(int word, std::uint64_t value, MPI_Op operation, double limit_s);
    /// Errors: driver - a call that began something failed.
    void begun(int status, const char* call);
    bool done_within(MPI_Request& request, double limit_s);
    std::string missing_ranks();
    [[noreturn]] void lose(const std::string& missing);
    void give_up() noexcept;

    MPI_Comm communicator_ = MPI_COMM_NULL;
    MPI_Win window_ = MPI_WIN_NULL;
    std::uint64_t* words_ = nullptr;
    int rank_ = 0, size_ = 1, rank_on_node_ = 0, ranks_on_node_ = 1;
    double timeout_s_;
    std::uint64_t meetings_ = 0;
    bool maps_files_ = false, broken_ = false;
    /// What MPI reads and writes.
    struct UnderWay {
        std::array<std::uint64_t, 2> exchanged{}, least{};  // given, and got
        std::array<std::int64_t, 3> error_head{};           // code, native code, length of the text
        std::string error_text;
        std::uint64_t facts_size = 0;
        std::vector<std::byte> facts, array;
        std::vector<int> counts, places;
    };
    // A rank that is lost may yet come, and MPI writes then. So from there on the memory belongs to nobody.
    std::unique_ptr<UnderWay> owned_ = std::make_unique<UnderWay>();
    UnderWay& under_way_ = *owned_;
};

}  // namespace weft::mpi
