// SPDX-License-Identifier: Apache-2.0
// All public headers.
#pragma once

#include <weft/backend.hpp>
#include <weft/tune/bandwidth.hpp>
#include <weft/batch.hpp>
#include <weft/buffer.hpp>
#include <weft/config.hpp>
#include <weft/device.hpp>
#include <weft/dlpack.hpp>
#include <weft/ops/encode.hpp>
#include <weft/error.hpp>
#include <weft/event.hpp>
#include <weft/ops/field.hpp>
#include <weft/ops/field_stream.hpp>
#include <weft/glsl.hpp>
#include <weft/job.hpp>
#include <weft/ops/kernel_post.hpp>
#include <weft/ops/kernel_matrix.hpp>
#include <weft/tune/kernel_matrix.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/ops/lattice_search.hpp>
#include <weft/ops/lattice_inner.hpp>
#include <weft/profile.hpp>
#include <weft/program.hpp>
#include <weft/array.hpp>
#include <weft/stream.hpp>
#include <weft/tune/engine.hpp>
#include <weft/version.hpp>
