// SPDX-License-Identifier: Apache-2.0
// The interface of a kernel that a report measures. Another kernel is one more file that implements it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <weft/weft.hpp>

#include "measure/report_result.hpp"

namespace weft::tool {

class Target;

/// The devices that work runs on; a null member is not measured.
struct ReportTargets {
    Backend* backend = nullptr;                 ///< that of `vulkan`
    Target *vulkan = nullptr, *cuda = nullptr;  ///< the same device
    Target& of(ReportPath path) const { return path == ReportPath::cuda ? *cuda : *vulkan; }
};

/// A result that differs from the CPU's.
class WrongResult : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The arrays of one size. The arrays of a path live from prepare() to release(); one path at a time.
class ReportWork {
  public:
    virtual ~ReportWork() = default;
    ReportWork(const ReportWork&) = delete;
    ReportWork& operator=(const ReportWork&) = delete;
    virtual std::uint64_t bytes_in(std::size_t process) const = 0;
    virtual std::uint64_t bytes_out(std::size_t process) const = 0;
    /// Bytes that resident arrays must move through device memory.
    virtual std::uint64_t bytes_resident(std::size_t process) const {
        return bytes_in(process) + bytes_out(process);
    }
    /// This factor times the time of record_products() is the least time that the process's multiplications
    /// take; 0: unknown.
    virtual double products(std::size_t /*process*/) const { return 0; }
    virtual void record_products(Stream& /*stream*/) {}
    /// Runs the baseline and keeps its results for verify().
    virtual void run_cpu(std::size_t process) = 0;
    /// The same for only these items, in ascending order; verify() then compares no others. A process that
    /// reduces its items has one result, which depends on all of them, so it is computed from all.
    virtual void run_cpu_of(std::size_t process, std::span<const std::uint64_t> items) = 0;
    virtual void prepare(ReportPath path) = 0;
    virtual void release() = 0;
    /// Makes one call between arrays in host memory, for ordinary, page-locked and cuda.
    virtual void run(std::size_t process) = 0;
    /// Records the same call on resident arrays.
    virtual void record(std::size_t process, Stream& stream) = 0;
    /// Compares the result of the prepared path with that of the CPU, and destroys it, so that the next run
    /// must produce it again. `stream` downloads resident arrays; otherwise it is null. Errors: WrongResult.
    virtual void verify(std::size_t process, Stream* stream) = 0;
    /// The number of threads that run_cpu() may use from now on.
    void use_threads(unsigned threads) { threads_ = threads; }

  protected:
    explicit ReportWork(unsigned threads = 1) : threads_(threads) {}
    unsigned threads_;
};

class ReportKernel {
  public:
    virtual ~ReportKernel() = default;
    virtual std::string name() const = 0;
    virtual std::string unit() const = 0;  ///< what a batch counts, in the plural
    virtual std::vector<std::pair<std::string, std::string>> configuration() const = 0;
    virtual std::vector<std::string> processes() const = 0;
    /// Bytes of values over bytes of code, for a batch that read and wrote that many bytes; 0: has no meaning
    /// here.
    virtual double compression(std::size_t, std::uint64_t /*bytes_in*/, std::uint64_t /*bytes_out*/) const {
        return 0;
    }
    virtual std::string rate_unit(std::size_t) const { return unit(); }  ///< what rates count
    virtual double items(std::size_t, std::uint64_t batch) const {       ///< number of these in a batch
        return static_cast<double>(batch);
    }
    virtual double growth(std::size_t) const { return 1; }  ///< time grows with this power of the batch
    /// The number of sampled items, if the CPU would take too long for all items.
    virtual std::uint64_t sample_size() const { return 4096; }
    /// The most bytes of host memory that a size takes on any path.
    virtual double host_bytes(std::uint64_t batch) const = 0;
    virtual std::unique_ptr<ReportWork> make(const ReportTargets& targets, std::uint64_t batch,
                                             unsigned threads) const = 0;
};

/// An array in ordinary memory or, for ReportPath::page_locked, in `backend`'s page-locked memory; empty
/// until it is made.
template <class T>
class PathArray {
  public:
    void make(Backend* backend, std::size_t size, ReportPath path) {
        if (path == ReportPath::page_locked)
            memory_.template emplace<HostBuffer<T>>(*backend, size);
        else
            memory_.template emplace<std::vector<T>>(size);
    }
    void clear() { memory_.template emplace<std::monostate>(); }
    std::span<T> span() {
        if (auto* vector = std::get_if<std::vector<T>>(&memory_)) return *vector;
        if (auto* buffer = std::get_if<HostBuffer<T>>(&memory_)) return buffer->span();
        return {};
    }
    /// For page-locked memory only.
    BufferView<T> view(std::size_t first, std::size_t count) const {
        return std::get<HostBuffer<T>>(memory_).view(first, count);
    }

  private:
    std::variant<std::monostate, std::vector<T>, HostBuffer<T>> memory_;
};

struct FieldChoice {
    Field field = Field::bls12_381_fp;
    std::vector<FieldOp> ops{FieldOp::add, FieldOp::mul};
    FieldOptions options{};  ///< workgroups and blocks apply to resident arrays
};

struct NttChoice {
    Field field = Field::goldilocks;
    std::uint32_t log_size = 12;
    std::vector<NttOrder> orders{NttOrder::nr, NttOrder::nn};
};

struct EncodeChoice {
    std::vector<EncodeMethod> methods{EncodeMethod::amplitude, EncodeMethod::angle, EncodeMethod::iqp};
    std::uint32_t qubits = 8;
    bool float64 = false;      ///< type of the values; otherwise float32
    bool keep_states = false;  ///< on the device: only values come from host memory, 64 samples at a time
};

struct KernelMatrixChoice {
    FeatureMap map = FeatureMap::ryrz;
    std::uint32_t qubits = 8;
    std::uint32_t layers = 2;  ///< of the circuits with re-upload; 2 or more, because a single layer cancels
};

std::unique_ptr<ReportKernel> report_field(FieldChoice choice);
std::unique_ptr<ReportKernel> report_ntt(NttChoice choice);
std::unique_ptr<ReportKernel> report_encode(EncodeChoice choice);
std::unique_ptr<ReportKernel> report_kernel_matrix(const KernelMatrixChoice& choice);
std::unique_ptr<ReportKernel> report_lattice(const LatticeCode& code);

}  // namespace weft::tool
