// SPDX-License-Identifier: Apache-2.0
// All public headers.
#pragma once

#include <weft/backend.hpp>
#include <weft/bandwidth.hpp>
#include <weft/batch.hpp>
#include <weft/buffer.hpp>
#include <weft/config.hpp>
#include <weft/device.hpp>
#include <weft/dlpack.hpp>
#include <weft/encode.hpp>
#include <weft/encode_memory.hpp>
#include <weft/error.hpp>
#include <weft/event.hpp>
#include <weft/field.hpp>
#include <weft/field_stream.hpp>
#include <weft/glsl.hpp>
#include <weft/job.hpp>
#include <weft/kernel_alignment.hpp>
#include <weft/kernel_matrix.hpp>
#include <weft/kernel_matrix_memory.hpp>
#include <weft/lattice.hpp>
#include <weft/lattice_search.hpp>
#include <weft/lattice_table.hpp>
#include <weft/profile.hpp>
#include <weft/program.hpp>
#include <weft/state.hpp>
#include <weft/stream.hpp>
#include <weft/tuning.hpp>
#include <weft/version.hpp>
