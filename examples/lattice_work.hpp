// SPDX-License-Identifier: Apache-2.0
// What bench_lattice runs: batches of vectors in one kind of memory, and whether they came out right.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
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

/// Numbers that mostly fit the code: up to a third of what it reaches.
inline void fill(std::span<float> x, const weft::LatticeCode& code) {
    const double reach = code.beta * std::pow(code.q, code.levels) / 2;
    const auto scale = static_cast<float>(reach / 3 / (1 << 23));
    std::uint32_t state = 1;
    for (float& v : x) {
        state = state * 1664525u + 1013904223u;
        v = static_cast<float>(static_cast<std::int32_t>(state) >> 8) * scale;
    }
}

[[noreturn]] inline void wrong(const std::string& what) {
    throw weft::Error(weft::Errc::driver, "bench_lattice: " + what);
}

/// The arrays of a batch in one kind of host memory.
struct Arrays {
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
        const std::size_t d = dimension(code.lattice);
        const double radius = code.beta * (code.lattice == weft::Lattice::z2 ? std::sqrt(0.5) : 1.0);
        std::size_t kept = 0;
        for (std::size_t v = 0; v < status.size(); ++v) {
            double squares = 0;
            for (std::size_t i = v * d; i < (v + 1) * d; ++i) {
                if (std::bit_cast<std::uint32_t>(y[i]) != std::bit_cast<std::uint32_t>(z[i]))
                    wrong("decoded and quantized differ at value " + std::to_string(i));
                const double error = static_cast<double>(x[i]) - static_cast<double>(y[i]);
                squares += error * error;
            }
            if (status[v] != 0) continue;
            ++kept;
            if (squares > radius * radius * 1.00001)
                wrong("too large an error at vector " + std::to_string(v));
        }
        if (kept * 2 < status.size()) wrong("most vectors overload");
    }
};

struct Ordinary {
    std::vector<float> x, y, z;
    std::vector<std::uint8_t> codes, status;
    Ordinary(weft::Backend&, const Bytes& b)
        : x(b.values / 4), y(x.size()), z(x.size()), codes(b.codes), status(b.status) {}
    Arrays arrays() { return {x, y, z, codes, status}; }
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
