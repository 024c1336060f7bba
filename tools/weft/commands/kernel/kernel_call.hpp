// SPDX-License-Identifier: Apache-2.0
// The arguments of `weft kernel`, and the call of the library that they select.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "arrays/array_input.hpp"
#include "commands/kernel/kernel_post.hpp"
#include "device/cuda_calls.hpp"
#include "device/device_options.hpp"

namespace weft::tool {

/// What arrays of features, weights and vectors may be.
inline constexpr ElementType kNumbers[] = {kFloat64, kFloat32};

/// What rows are: the options of a circuit, or --states.
struct CircuitArguments {
    std::string map, weights;
    bool reupload = false, states = false;
    double scale = 1;

    void add_to(CLI::App& command);
    /// Errors: Failure with Exit::usage - options that contradict each other.
    void require_consistent() const;
    /// Without the weights.
    KernelMatrixCircuit circuit() const;
};

struct KernelArguments {
    std::string x, y, out;
    std::string dtype = "float32", bulk_states = "auto";
    CircuitArguments circuit;
    bool normalize = false, no_autotune = false, explain = false, json = false, resume = false, mpi = false;
    double jitter = 0, vram_fraction = 0.85;
    std::int64_t tile = -1;
    KernelPost post;
    DeviceOptions device;
};

/// The files that rows and circuit come from.
struct CircuitInputs {
    /// `y` may be empty. Errors: Failure with Exit::usage - files that cannot be read or have another type or
    /// shape.
    CircuitInputs(const CircuitArguments& arguments, const std::string& x, const std::string& y);

    std::unique_ptr<ArrayInput> x, y, weights;  ///< y and weights: null if they are not given
    KernelMatrixShape shape;
    KernelMatrixCircuit circuit;
    bool states;
    /// Null: states are given.
    const KernelMatrixCircuit* circuit_or_null() const noexcept { return states ? nullptr : &circuit; }
};

/// --normalize and --jitter.
void add_normalize(CLI::App& command, bool& normalize, double& jitter);
/// weft kernel apply, solve, predict and eigen.
void add_kernel_operators(CLI::App& kernel);

/// One call; the arguments select the function.
class KernelCall {
  public:
    /// Errors: Failure with Exit::usage - options that contradict each other, inputs that cannot be read or
    /// have another type or shape.
    explicit KernelCall(const KernelArguments& arguments);

    const KernelMatrixShape& shape() const noexcept { return inputs_.shape; }
    ElementType type() const noexcept { return type_; }
    KernelMatrixHostOptions& options() noexcept { return options_; }
    std::vector<NamedFile> files() const;

    KernelMatrixEstimate estimate(const Backend& backend) const { return estimate(backend, shape()); }
    /// The plan for that many samples. If Y is given, K keeps its columns; otherwise K is square.
    KernelMatrixEstimate estimate(const Backend& backend, std::uint64_t samples) const;
    OpReport run(Target& target, const HostArray& k);
    OpReport run(Target& target, KernelMatrixStore& k);
    /// The same by `make`; `circuit` is null if states are given, and `y` without Y.
    using Make = std::function<OpReport(const KernelMatrixCircuit* circuit, const ConstHostArray& x,
                                        const ConstHostArray* y)>;
    OpReport run(const Make& make) const;
    void require_unchanged() const;

  private:
    void require_states_for(const KernelArguments& arguments) const;
    KernelMatrixEstimate estimate(const Backend& backend, const KernelMatrixShape& shape) const;
    /// Returns call(); its errors name the files of X, Y and weights.
    template <class Call>
    auto naming_files(const Call& call) const;
    template <class Matrix>
    OpReport run_into(Target& target, Matrix& k);

    CircuitInputs inputs_;
    KernelMatrixHostOptions options_;
    ElementType type_ = kFloat32;
    bool json_ = false;
};

}  // namespace weft::tool
