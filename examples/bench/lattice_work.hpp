// SPDX-License-Identifier: Apache-2.0
// What bench_lattice runs: batches of vectors in one kind of memory, and whether they came out right.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

namespace bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

enum class Op { encode, decode, quantize };
inline constexpr Op kOps[] = {Op::encode, Op::decode, Op::quantize};
inline constexpr const char* kNames[] = {"encode", "decode", "quantize"};

/// Bytes of a batch of `n` vectors. Statuses count: encoders write them, decoders need them.
struct Bytes {
    std::size_t values, codes, status;

    Bytes(const weft::LatticeCode& code, std::size_t n)
        : values(n * dimension(code.lattice) * sizeof(float)), codes(weft::code_bytes(code, n)), status(n) {}
    std::size_t in(Op op) const { return op == Op::decode ? codes + status : values; }
    std::size_t out(Op op) const {
        return op == Op::encode ? codes + status : op == Op::decode ? values : values + status;
    }
};

/// Calls work(first, last) for parts of [0, count), each on a thread of its own. `work` must not throw.
template <class Work>
void in_parts(std::size_t count, const Work& work) {
    const std::size_t each = count / std::max(1u, std::thread::hardware_concurrency()) + 1;
    std::vector<std::jthread> threads;
    for (std::size_t first = 0; first < count; first += each)
        threads.emplace_back([&work, first, last = std::min(count, first + each)] { work(first, last); });
}

/// Numbers that mostly fit the code: up to a third of what it reaches.
inline void fill(std::span<float> x, const weft::LatticeCode& code) {
    constexpr std::size_t kBlock = 1 << 16;  // has a seed, so that threads change nothing
    const double reach = code.beta * std::pow(code.q, code.levels) / 2;
    const auto scale = static_cast<float>(reach / 3 / (1 << 23));
    in_parts((x.size() + kBlock - 1) / kBlock, [&](std::size_t first, std::size_t last) {
        for (std::size_t block = first; block < last; ++block) {
            auto state = static_cast<std::uint32_t>(block * 2654435761u + 1);
            for (float& v : x.subspan(block * kBlock, std::min(kBlock, x.size() - block * kBlock))) {
                state = state * 1664525u + 1013904223u;
                v = static_cast<float>(static_cast<std::int32_t>(state) >> 8) * scale;
            }
        }
    });
}

[[noreturn]] inline void wrong(const std::string& what) {
    throw weft::Error(weft::Errc::driver, "bench_lattice: " + what);
}

/// The arrays of a batch in one kind of host memory.
class Arrays {
  public:
    std::span<float> x, y, z;  // values, decoded, quantized
    std::span<std::uint8_t> codes, status;

    void run(weft::Backend& backend, const weft::LatticeCode& code, Op op) const {
        if (op == Op::encode) weft::lattice_encode(backend, code, x, codes, status);
        if (op == Op::decode) weft::lattice_decode(backend, code, codes, status, y);
        if (op == Op::quantize) weft::lattice_quantize(backend, code, x, z, status);
    }
    double seconds(weft::Backend& backend, const weft::LatticeCode& code, Op op) const {
        const auto start = Clock::now();
        run(backend, code, op);
        return seconds_since(start);
    }
    /// Decoding the code is quantizing, and without overload no vector moves further than the lattice allows.
    void require_right(const weft::LatticeCode& code) const {
        std::atomic<std::size_t> kept = 0, bad = status.size();
        in_parts(status.size(), [&](std::size_t first, std::size_t last) {
            std::size_t fit = 0;
            for (std::size_t v = first; v < last; ++v) {
                fit += status[v] == 0 ? 1 : 0;
                if (is_right(code, v)) continue;
                bad = v;
                break;
            }
            kept += fit;
        });
        if (bad != status.size())
            wrong("too large an error, or not what quantizing gives, at vector " + std::to_string(bad));
        if (kept * 2 < status.size()) wrong("most vectors overload");
    }

  private:
    bool is_right(const weft::LatticeCode& code, std::size_t vector) const {
        const std::size_t d = dimension(code.lattice), first = vector * d;
        if (std::memcmp(&y[first], &z[first], d * sizeof(float)) != 0) return false;
        if (status[vector] != 0) return true;
        const double radius = code.beta * (code.lattice == weft::Lattice::z2 ? std::sqrt(0.5) : 1.0);
        double squares = 0;
        for (std::size_t i = first; i < first + d; ++i) {
            const double error = static_cast<double>(x[i]) - static_cast<double>(y[i]);
            squares += error * error;
        }
        return squares <= radius * radius * 1.00001;
    }
};

/// Memory that has never been written.
template <class T>
struct Raw {
    explicit Raw(std::size_t n) : memory(std::make_unique_for_overwrite<T[]>(n)), size(n) {}
    std::span<T> span() { return {memory.get(), size}; }
    std::unique_ptr<T[]> memory;
    std::size_t size;
};

struct Ordinary {
    Raw<float> x, y, z;
    Raw<std::uint8_t> codes, status;
    Ordinary(weft::Backend&, const Bytes& b)
        : x(b.values / 4), y(x.size), z(x.size), codes(b.codes), status(b.status) {}
    Arrays arrays() { return {x.span(), y.span(), z.span(), codes.span(), status.span()}; }
};

struct PageLocked {
    weft::HostBuffer<float> x, y, z;
    weft::HostBuffer<std::uint8_t> codes, status;
    PageLocked(weft::Backend& b, const Bytes& n)
        : x(b, n.values / 4), y(b, x.size()), z(b, x.size()), codes(b, n.codes), status(b, n.status) {}
    Arrays arrays() { return {x.span(), y.span(), z.span(), codes.span(), status.span()}; }
};

/// A batch in buffers of the device.
class Resident {
  public:
    Resident(weft::Backend& backend, const weft::LatticeCode& code, std::span<const float> x)
        : code_(code),
          n_(x.size() / dimension(code.lattice)),
          dispatches_(backend.device().type == weft::DeviceType::cpu ? 1 : 8),
          x_(backend, x.size()),
          y_(backend, x.size()),
          codes_(backend, weft::code_words(code_, n_)),
          status_(backend, weft::status_words(n_)),
          stream_(backend) {
        stream_.upload(x, x_.view());
        stream_.wait();
    }
    /// Of one dispatch; a submission has several where one is too short to time.
    double seconds(Op op) {
        for (int i = 0; i < dispatches_; ++i) record(op);
        const auto start = Clock::now();
        stream_.wait();
        return seconds_since(start) / dispatches_;
    }
    /// The same bits as in host memory.
    void require_right(const Arrays& host) {
        record(Op::encode);
        const std::vector<std::uint32_t> codes = stream_.download(codes_);
        if (std::memcmp(codes.data(), host.codes.data(), host.codes.size()) != 0)
            wrong("resident codes differ");
        record(Op::decode);
        require_values(host.y, "resident values differ");
        stream_.fill(y_.view(), 0);
        record(Op::quantize);
        require_values(host.y, "resident quantized values differ");
    }

  private:
    void record(Op op) {
        if (op == Op::encode) weft::lattice_encode(stream_, code_, x_, codes_, status_);
        if (op == Op::decode) weft::lattice_decode(stream_, code_, codes_, status_.view(), y_);
        if (op == Op::quantize) weft::lattice_quantize(stream_, code_, x_, y_, status_);
    }
    void require_values(std::span<const float> want, const char* otherwise) {
        const std::vector<float> got = stream_.download(y_);
        if (std::memcmp(got.data(), want.data(), want.size_bytes()) != 0) wrong(otherwise);
    }

    weft::LatticeCode code_;
    std::size_t n_;
    int dispatches_;
    weft::Buffer<float> x_, y_;
    weft::Buffer<std::uint32_t> codes_, status_;
    weft::Stream stream_;
};

}  // namespace bench
