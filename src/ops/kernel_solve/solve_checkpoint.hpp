// SPDX-License-Identifier: Apache-2.0
// The file that a solve continues from: what the solve is of, and the state of its recurrence.
//
// Layout, little-endian: 8 bytes "weftcg\r\n", u32 version, u32 facts, a name and a value for each fact, u32
// iterations, u8 whether the residual is the true one, f64 the last true residual, u64 values of y, u64
// columns; then solution, residual, direction and products as doubles, and a u64 checksum of everything.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/ops/kernel_operator.hpp>

#include "base/file_io.hpp"
#include "ops/kernel_matrix/store_format.hpp"

namespace weft::kernels {

/// Conjugate gradients between two iterations. Matrices are row by row.
struct SolveState {
    std::uint32_t iterations = 0;
    bool is_true = false;  ///< the residual was recomputed from the solution
    double last_true = 1;
    std::vector<double> solution, residual, direction, product;
};

/// The facts of an operator that do not depend on its samples; `circuit` is null if states are given.
StoreFacts operator_facts(const KernelMatrixCircuit* circuit, const KernelMatrixShape& shape,
                          const KernelOperatorOptions& options);

class SolveCheckpoint {
  public:
    /// Makes the file, or takes the one that is there, and keeps it from all others while this object lives.
    /// With `resume` it reads what is there. Errors: invalid_argument - a checkpoint of other facts, which
    /// the text names; io - it is damaged, cannot be read or made, another object of any process has it, or
    /// it is a file of another kind, which is refused without `resume` too.
    SolveCheckpoint(std::filesystem::path file, bool resume, StoreFacts facts);
    SolveCheckpoint(const SolveCheckpoint&) = delete;
    SolveCheckpoint& operator=(const SolveCheckpoint&) = delete;

    /// What the file had.
    const std::optional<SolveState>& found() const noexcept { return found_; }
    /// The same, which is no longer kept here. There must be one.
    SolveState take_found() { return *std::exchange(found_, std::nullopt); }
    /// A fact that only the file settles, or its value for a new file.
    std::uint64_t pinned(const char* name, std::uint64_t value);
    /// Its value in files from now on.
    void pin(const char* name, std::uint64_t value);
    /// Takes the place of the file before. Errors: io.
    void save(const SolveState& state);

  private:
    /// The name of a file that this object made, until it has a state.
    class Claim {
      public:
        void made(const std::filesystem::path& file) { file_ = file; }
        void keep() noexcept { file_.clear(); }
        ~Claim();

      private:
        std::filesystem::path file_;
    };

    void claim();
    void read(const std::string& bytes, const StoreFacts& wanted, bool resume);
    [[noreturn]] void refuse(const std::string& what) const;

    std::filesystem::path file_;
    core::FileDescriptor lock_;  // open on the file
    Claim claim_;
    StoreFacts facts_;
    std::optional<SolveState> found_;
};

}  // namespace weft::kernels
