// SPDX-License-Identifier: Apache-2.0
// Tiles of the inner products of kernel matrices, measured on a device and kept for it.
//
// Example:
//     weft::Backend backend;
//     for (const weft::tune::TileReport& report :
//          weft::tune::kernel_matrix_tiles(backend, {.samples = 4096, .qubits = 12}, {.keep = false}))
//         std::printf("%s: %s\n", report.products.c_str(), report.trials[report.best].tile.c_str());
#pragma once

#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/ops/kernel_matrix.hpp>

namespace weft::tune {

/// A tile, and how long the device took with it.
struct TileTrial {
    std::string tile;  ///< "64x64/8x4/1": outputs of a workgroup, of an invocation, stages in shared memory
    double median_s = 0;   ///< of a product, over the repeats; by device timestamps where there are any
    double scatter_s = 0;  ///< half the distance between the quartiles of its times
    bool right = true;     ///< it could be made and gave the values of the first tile; else it is never kept
};

/// The trials for products of one class.
struct TileReport {
    std::string products;           ///< "matrix_split khr 4096 of 65536": method, states, amplitudes
    std::vector<TileTrial> trials;  ///< the planned tile first
    /// Index of the best trial. It is not the first only if it gains more than 3 % and more than the scatter
    /// of both.
    std::size_t best = 0;
    double gain() const;         ///< 1 - median of the best / median of the first
    std::filesystem::path file;  ///< where the tile is kept; empty: in this process alone, or not at all
};

struct TileOptions {
    ElementType type = kFloat32;  ///< of K and of the arithmetic: float32 or float64
    bool given_states = false;    ///< for states that are given, which may have any norm
    bool keep = true;  ///< for later calls of this process and, through the cache folder, of others
    int repeats = 5;   ///< 1 or more; 3 or more to keep a tile
    double flops = 0;  ///< the most operations of a product; 0: the planned size
    ProgressCallback progress = {};  ///< counts runs of tiles
    std::stop_token cancel = {};     ///< checked between runs
};

/// Measures the tiles that the device can run for the products that kernel_matrix would make for `shape` from
/// states, on host memory and resident; one report for each class among them. A kept tile is used by calls of
/// the same class unless KernelMatrixOptions::autotune is off, whatever their other options; values of K stay
/// within the same bounds. kernel_matrix on host memory measures by itself before jobs that are long enough.
///
/// Tiles are kept in the cache folder in one file a device, for this driver, version of weft and its shaders;
/// a file that is damaged or foreign is ignored and replaced. Errors: invalid_argument - shape, type,
/// repeats or flops; unsupported, out_of_memory - as kernel_matrix; cancelled, or what `progress` throws:
/// tiles of classes that were done before are kept.
std::vector<TileReport> kernel_matrix_tiles(Backend& backend, const KernelMatrixShape& shape,
                                            const TileOptions& options = {});

/// A kept tile, and the class of products that it is for.
struct KeptTile {
    std::string products, tile;  ///< as in TileReport and TileTrial
};

/// What is kept for the device of a backend, by class.
std::vector<KeptTile> kept_tiles(const Backend& backend);

/// The state of what is kept for the device of a backend: "used", "absent", "off" (no cache folder), or why
/// the file is not used.
std::string tiles_state(const Backend& backend);

/// Forgets what is kept for the device. Errors: io.
void forget_tiles(const Backend& backend);

}  // namespace weft::tune
