// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/ntt/ntt_tables.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <utility>

#include "cuda/check.hpp"
#include "ops/field/field_plan.hpp"
#include "ops_cuda/ntt/ntt_launch.hpp"

namespace weft::cuda {
namespace {

constexpr std::uint64_t kKeptBytes = std::uint64_t{1} << 30;

using Key = std::vector<std::uint64_t>;

struct Kept {
    Key key;
    std::shared_ptr<const void> entries;
    std::uint64_t bytes = 0;
};

/// The tables of all devices, those of the latest call first. Never destroyed, because CUDA ends before the
/// static objects of a program.
struct Cache {
    std::mutex mutex;
    std::list<Kept> kept;
    std::uint64_t bytes = 0;

    static Cache& all() {
        static auto* const cache = new Cache;
        return *cache;
    }
};

/// What decides the entries, and where they are.
Key key_of(int device, Field field, std::uint32_t words, const std::vector<kernels::NttTable>& tables) {
    Key key{static_cast<std::uint64_t>(device), static_cast<std::uint64_t>(field)};
    for (const kernels::NttTable& t : tables) {
        key.insert(key.end(), {t.count, t.row_bits, t.split});
        key.insert(key.end(), t.base.word, t.base.word + words);
        key.insert(key.end(), t.scale.word, t.scale.word + words);
    }
    return key;
}

int launch(const NttTableLaunch& l) {
    switch (l.field->words) {
        case 1:
            return launch_ntt_table_1(l);
        case 2:
            return launch_ntt_table_2(l);
        case 8:
            return launch_ntt_table_8(l);
        default:
            return launch_ntt_table_12(l);
    }
}

/// A stream for one call, so that making tables waits for no other work.
struct OwnStream {
    cudaStream_t stream = nullptr;
    explicit OwnStream(const char* function) {
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), function,
              "cudaStreamCreateWithFlags");
    }
    ~OwnStream() { static_cast<void>(cudaStreamDestroy(stream)); }
    OwnStream(const OwnStream&) = delete;
    OwnStream& operator=(const OwnStream&) = delete;
};

std::shared_ptr<const void> made(const shared::FieldConstants& field,
                                 const std::vector<kernels::NttTable>& tables, std::uint64_t bytes,
                                 const char* function) {
    void* data = nullptr;
    const std::string call = "cudaMalloc of " + std::to_string(bytes) + " bytes for tables";
    check(cudaMalloc(&data, bytes), function, call.c_str());
    // cudaFree waits until the device no longer uses the memory.
    std::shared_ptr<const void> entries(data, [](void* memory) { static_cast<void>(cudaFree(memory)); });
    const OwnStream own(function);
    for (const kernels::NttTable& table : tables)
        check_launch(launch({own.stream, &field, &table, data}), function);
    check(cudaStreamSynchronize(own.stream), function, "cudaStreamSynchronize");
    return entries;
}

}  // namespace

std::shared_ptr<const void> ntt_tables(Field field, const std::vector<kernels::NttTable>& tables,
                                       const char* function) {
    int device = 0;
    check(cudaGetDevice(&device), function, "cudaGetDevice");
    const shared::FieldConstants& constants = kernels::field_constants(field);
    Key key = key_of(device, field, constants.words, tables);
    const std::uint64_t bytes = kernels::ntt_entries(tables) * constants.words * 4;
    std::list<Kept> dropped;  // freed after the lock is released
    Cache& cache = Cache::all();
    const std::lock_guard lock(cache.mutex);
    for (auto at = cache.kept.begin(); at != cache.kept.end(); ++at) {
        if (at->key != key) continue;
        cache.kept.splice(cache.kept.begin(), cache.kept, at);
        return at->entries;
    }
    cache.kept.push_front({std::move(key), made(constants, tables, bytes, function), bytes});
    cache.bytes += bytes;
    while (cache.bytes > kKeptBytes && cache.kept.size() > 1) {
        cache.bytes -= cache.kept.back().bytes;
        dropped.splice(dropped.begin(), cache.kept, std::prev(cache.kept.end()));
    }
    return cache.kept.front().entries;
}

}  // namespace weft::cuda
