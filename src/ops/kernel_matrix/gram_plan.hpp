// SPDX-License-Identifier: Apache-2.0
// Which shader multiplies states, in which tiles, and what memory that takes. Pure functions.
//
// K[i, j] = |<y_j|x_i>|^2 for rows x_i of X and y_j of Y. States are first packed into planes (see
// shaders/gram/gram_layout.h), by a pass of their own or as they are built.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weft/device.hpp>

#include "base/whole_numbers.hpp"
#include "shaders/gram/gram_interface.h"

namespace weft::kernels {

enum class GramMethod {
    automatic,
    fp32_4m,       ///< four real products
    fp32_3m,       ///< three, after Gauss: a quarter less arithmetic
    fp64,          ///< needs shaderFloat64
    matrix_split,  ///< matrix units, float16 high and low parts, three products: as exact as float32
};
const char* to_string(GramMethod method) noexcept;

enum class GramReal { float32, float64 };

struct GramProblem {
    std::uint64_t rows = 0, columns = 0;     ///< of K: states of X and of Y
    std::uint64_t amplitudes = 0;            ///< of a state
    bool symmetric = false;                  ///< Y is X: half of the work, and K is symmetric to the bit
    GramReal precision = GramReal::float32;  ///< float32: complex64 states; float64: complex128
    bool widened = false;                    ///< float64 of complex64 states: packing widens them
    GramReal output = GramReal::float32;     ///< elements of K
    std::uint64_t leading = 0;               ///< elements between rows of K; 0: columns
    /// Every row has norm 1 up to rounding. Otherwise matrix units are not used, because they hold float16.
    bool unit_rows = false;
    /// Values of K are multiplied by a factor of their row and one of their column.
    bool scaled = false;
};

/// Outputs of a workgroup and of each of its invocations.
struct GramTile {
    std::uint32_t rows = 64, columns = 64;
    std::uint32_t thread_rows = 8, thread_columns = 4;
    std::uint32_t stages = 2;
    std::uint32_t threads() const noexcept { return rows / thread_rows * (columns / thread_columns); }
    /// Whether fp32_4m computes it with gram_lanes.comp, whose invocations share nothing.
    bool lanes() const noexcept { return thread_rows == 8 && thread_columns == 8; }
    bool operator==(const GramTile&) const = default;
};

/// Measured tiles by gram_class().
using GramTiles = std::map<std::string, GramTile>;

/// What the plan may know of a device.
struct GramDevice {
    DeviceLimits limits;
    bool software = false;  ///< runs on the cores of the host
    bool float64 = false;
    bool matrix_khr = false, matrix_nv = false;  ///< 16 x 16 x 16, float16 to float32, by that extension
    bool matrix_exact = false;                   ///< they passed the accuracy probe
    std::string matrix_reason{};                 ///< why they are not used
    GramTiles tiles{};                           ///< measured on this device; they precede the plan's choice
};

struct GramOptions {
    GramMethod method = GramMethod::automatic;
    std::optional<GramTile> tile{};        ///< one of gram_tiles()
    std::optional<std::uint32_t> flush{};  ///< amplitudes, a multiple of the step
    std::optional<std::uint32_t> split{};  ///< parts that a sum over amplitudes is cut into
};

struct GramPlan {
    GramProblem problem;  ///< with its leading dimension
    GramMethod method = GramMethod::fp32_3m;
    bool khr = false;  ///< of matrix_split: by VK_KHR_cooperative_matrix
    GramTile tile;
    bool tile_measured = false;          ///< GramDevice::tiles had it
    std::uint32_t step = 8;              ///< amplitudes of a packed block
    std::uint32_t planes = 2;            ///< of a packed block
    std::uint32_t element_bytes = 4;     ///< of a packed number
    std::uint32_t flush = 256;           ///< amplitudes between two additions to the outer sum
    std::uint32_t split = 1;             ///< parts of the sum, added up by a pass of their own
    std::uint64_t blocks = 0;            ///< packed blocks of a row: amplitudes / step, rounded up
    std::uint64_t row_bytes = 0;         ///< packed
    std::uint64_t panel_rows = 0;        ///< packed rows that one binding spans, a multiple of 64
    std::uint64_t output_rows = 0;       ///< rows of K that one binding spans, a multiple of 64
    std::uint64_t scratch_bytes = 0;     ///< of the parts of the sums
    std::vector<std::string> reasons{};  ///< one line for each choice

    bool matrix() const noexcept { return method == GramMethod::matrix_split; }
    /// Bytes of packed planes; rows are padded to a multiple of 64.
    std::uint64_t packed_bytes(std::uint64_t rows) const noexcept {
        return (rows + 63) / 64 * 64 * row_bytes;
    }
    std::uint64_t complex_bytes() const noexcept { return method == GramMethod::fp64 ? 16 : 8; }
    /// Of an amplitude that is packed.
    std::uint64_t source_bytes() const noexcept { return problem.widened ? 8 : complex_bytes(); }
    std::uint64_t output_bytes() const noexcept { return problem.output == GramReal::float64 ? 8 : 4; }
};

/// Errors: invalid_argument - zero sizes, a leading dimension below the columns, symmetric with rows other
/// than columns, a tile or flush the method does not have; unsupported - a method or precision that the
/// device lacks, 64 packed rows or 64 rows of K that no binding spans.
GramPlan plan_gram(const GramProblem& problem, const GramDevice& device, const GramOptions& options = {});

/// A block of K that one dispatch computes, in rows and columns of the whole.
struct GramBlock {
    std::uint64_t row = 0, rows = 0, column = 0, columns = 0;
    bool operator==(const GramBlock&) const = default;
};

/// The blocks that the bindings of a plan cut K into: panels of nearly equal height in whole tiles. Blocks
/// that follow each other share neither rows nor columns for as long as possible, so that none waits for
/// another and the first tiles of a block fill the device beside the last tiles of the block before.
class GramBlocks {
  public:
    /// Blocks of `rows` by `columns`. `square`: those on and below the diagonal of K(X, X), which are
    /// mirrored.
    GramBlocks(const GramPlan& plan, std::uint64_t rows, std::uint64_t columns, bool square);
    /// false: there are no more blocks.
    bool next(GramBlock& block);

  private:
    std::uint64_t rows_, columns_, high_, wide_, down_,
        across_;  // blocks are high_ by wide_, the last smaller
    bool square_;
    std::uint64_t turn_ = 0, panel_ = 0;
};

/// Where a block of K goes: element (i, j) of the block is element origin + i * leading + j of the memory of
/// K. With `mirror` it is also written to element mirror_origin + j * leading + i.
struct GramPlace {
    std::uint64_t leading = 0, origin = 0;
    bool mirror = false;
    std::uint64_t mirror_origin = 0;
};

/// The dispatch that computes a block.
struct GramDispatch {
    std::uint64_t tiles = 0, parts = 1;           ///< of the block, and of each sum
    std::uint64_t origin = 0, mirror_origin = 0;  ///< first elements written in the memory of K
    /// Outputs begin at element 0 of what is bound, and factors at `factor_row` and `factor_column`.
    shared::GramReduceParameters parameters{};
};
/// `square`: X is Y, so the block is mirrored, and only half of it is computed on the diagonal.
GramDispatch gram_dispatch(const GramPlan& plan, const GramBlock& block, const GramPlace& place, bool square,
                           std::uint64_t factor_row, std::uint64_t factor_column);

/// Tiles of this method that the device can run, the default first.
std::vector<GramTile> gram_tiles(const GramDevice& device, GramMethod method);

/// Larger sizes belong to the same class.
inline constexpr std::uint64_t kMostClassRows = 4096, kMostClassAmplitudes = 1 << 16;

/// The name of products that share a tile: method, extension of the matrix units, and the smaller side of K
/// and the amplitudes, both rounded up to a power of two and limited as above.
std::string gram_class(const GramPlan& plan);

/// "128x64/8x4/1": outputs of a workgroup, outputs of an invocation, stages.
std::string to_string(const GramTile& tile);

}  // namespace weft::kernels
