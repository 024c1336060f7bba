// SPDX-License-Identifier: Apache-2.0
// All public headers except native.hpp, which needs Vulkan's, and those of weft/cuda.
//
// Example:
//     weft::Backend backend;
//     std::puts(backend.name().c_str());
#pragma once

// clang-format off: in the order in which they build on each other
#include <weft/array.hpp>
#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/buffer.hpp>
#include <weft/config.hpp>
#include <weft/device.hpp>
#include <weft/devices.hpp>
#include <weft/dlpack.hpp>
#include <weft/error.hpp>
#include <weft/event.hpp>
#include <weft/glsl.hpp>
#include <weft/host_buffer.hpp>
#include <weft/job.hpp>
#include <weft/memory_report.hpp>
#include <weft/ops/encode.hpp>
#include <weft/ops/encode_error.hpp>
#include <weft/ops/field.hpp>
#include <weft/ops/field_info.hpp>
#include <weft/ops/kernel_circuit.hpp>
#include <weft/ops/kernel_matrix.hpp>
#include <weft/ops/kernel_operator.hpp>
#include <weft/ops/kernel_post.hpp>
#include <weft/ops/kernel_ranks.hpp>
#include <weft/ops/kernel_solve.hpp>
#include <weft/ops/kernel_store.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/ops/lattice_inner.hpp>
#include <weft/ops/lattice_search.hpp>
#include <weft/ops/ntt.hpp>
#include <weft/profile.hpp>
#include <weft/program.hpp>
#include <weft/sequence.hpp>
#include <weft/stream.hpp>
#include <weft/tune/bandwidth.hpp>
#include <weft/tune/engine.hpp>
#include <weft/tune/kernel_matrix.hpp>
#include <weft/version.hpp>
// clang-format on
