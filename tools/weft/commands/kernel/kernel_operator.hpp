// SPDX-License-Identifier: Apache-2.0
// The arguments of `weft kernel apply|solve|predict|eigen`, and the files that they name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "arrays/array_input.hpp"
#include "commands/kernel/kernel_call.hpp"
#include "device/cuda_calls.hpp"
#include "device/device_options.hpp"

namespace weft::tool {

struct OperatorArguments {
    std::string x, y, v, out;  ///< y: columns of K; v: what is multiplied or solved for
    const char *x_role = "X", *y_role = "--y", *v_role = "V";  ///< what the help of the command calls them
    std::string dtype, checkpoint;
    CircuitArguments circuit;
    bool normalize = false, transpose = false, explain = false, json = false, resume = false, mpi = false;
    int ranks = 0;  ///< over which the command runs; 0: none
    double jitter = 0, lambda = 0, tolerance = 1e-4;
    std::uint32_t rank = 200, max_iterations = 200, max_products = 100, values = 10;
    std::optional<std::uint32_t> every;
    std::uint64_t seed = 1;
    DeviceOptions device;
};

/// The inputs of a command in memory, of the type of the arithmetic.
class OperatorCall {
  public:
    /// Errors: Failure with Exit::usage - options that contradict each other, inputs that cannot be read or
    /// have another type or shape.
    /// `arguments` must outlive it.
    explicit OperatorCall(const OperatorArguments& arguments);

    /// Null: states are given.
    const KernelMatrixCircuit* circuit() const noexcept { return inputs_.circuit_or_null(); }
    ElementType state_type() const { return inputs_.x->type(); }
    const KernelMatrixShape& shape() const noexcept { return inputs_.shape; }
    const KernelOperatorOptions& options() const noexcept { return options_; }
    std::uint32_t columns() const noexcept { return columns_; }  ///< of V
    /// The shape of a result with `rows` rows and as many columns as V.
    Shape result_shape(std::uint64_t rows) const;
    std::vector<NamedFile> files() const;

    ConstHostArray x() { return inputs_.x->array(); }
    ConstHostArray y() { return inputs_.y->array(); }
    /// Errors: Failure with Exit::usage - values that are not finite in the type of the arithmetic.
    ConstHostArray v();
    OperatorInputs inputs() {
        return {circuit(), x(), inputs_.y ? y() : ConstHostArray(), shape(), options_};
    }
    /// Returns call(); its errors name the files of X and Y. A checkpoint that cannot be continued is an
    /// input.
    template <class Call>
    auto naming_files(const Call& call) const {
        try {
            return call();
        } catch (const Error& error) {
            refuse_by_file(error);
            throw;
        }
    }
    void require_unchanged() const;

  private:
    void read_v();
    template <class T>
    void require_finite(const T* values, std::size_t size) const;
    void refuse_by_file(const Error& error) const;

    const OperatorArguments& arguments_;
    CircuitInputs inputs_;
    std::unique_ptr<ArrayInput> v_;
    KernelOperatorOptions options_;
    std::uint32_t columns_ = 1;
    std::vector<float> floats_;  // V, if its file has another type
    std::vector<double> doubles_;
};

}  // namespace weft::tool
