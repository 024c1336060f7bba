// SPDX-License-Identifier: Apache-2.0
#include "commands/kernel/kernel_operator.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace weft::tool {
namespace {

constexpr std::uint64_t kMostColumns = 64;

template <class To>
std::vector<To> converted(const ConstHostArray& from) {
    std::vector<To> to(from.size);
    const auto copy = [&](const auto* values) {
        std::transform(values, values + from.size, to.begin(),
                       [](auto value) { return static_cast<To>(value); });
    };
    if (from.type == kFloat32)
        copy(static_cast<const float*>(from.data));
    else
        copy(static_cast<const double*>(from.data));
    return to;
}

/// The same arguments, once they were found to fit each other.
const OperatorArguments& consistent_operator(const OperatorArguments& arguments) {
    arguments.circuit.require_consistent();
    if (arguments.mpi && arguments.device.backend == "cuda")
        throw Failure(Exit::usage, "--mpi: not with --backend cuda (leave one out)");
    if (arguments.resume && arguments.checkpoint.empty())
        throw Failure(Exit::usage, "--resume: needs the file that --checkpoint names");
    if (arguments.every && arguments.checkpoint.empty())
        throw Failure(Exit::usage, "--every: needs the file that --checkpoint names");
    if (arguments.jitter != 0 && !arguments.normalize)
        throw Failure(Exit::usage, "--jitter: goes with --normalize");
    if (arguments.jitter != 0 && !arguments.y.empty())
        throw Failure(Exit::usage,
                      "--jitter: of the diagonal, which K of X with Y has none of (leave it out)");
    if (arguments.lambda != 0 && !arguments.y.empty())
        throw Failure(Exit::usage,
                      "--lambda: of the diagonal, which K of X with Y has none of (leave it out)");
    return arguments;
}

}  // namespace

OperatorCall::OperatorCall(const OperatorArguments& arguments)
    : arguments_(consistent_operator(arguments)), inputs_(arguments.circuit, arguments.x, arguments.y) {
    options_.normalize = arguments.normalize;
    options_.jitter = arguments.jitter;
    options_.type = arguments.dtype == "float64" ? kFloat64 : kFloat32;
    if (!arguments.v.empty()) read_v();
}

void OperatorCall::read_v() {
    v_ = std::make_unique<ArrayInput>(arguments_.v, kNumbers);
    if (arguments_.dtype.empty()) options_.type = v_->type();
    const Shape& shape = v_->shape();
    const std::uint64_t rows = arguments_.transpose ? inputs_.shape.samples : inputs_.shape.columns();
    if (shape.empty() || shape.size() > 2 || shape[0] != rows) {
        const std::string n = std::to_string(rows);
        v_->refuse("wrong shape (got " + to_string(shape) + ", need (" + n + ",) or (" + n + ", columns))");
    }
    const std::uint64_t columns = shape.size() == 2 ? shape[1] : 1;
    if (columns == 0 || columns > kMostColumns)
        v_->refuse("columns out of range (got " + std::to_string(columns) + ", need 1 to " +
                   std::to_string(kMostColumns) + ")");
    columns_ = static_cast<std::uint32_t>(columns);
}

Shape OperatorCall::result_shape(std::uint64_t rows) const {
    Shape shape = v_->shape();
    shape[0] = rows;
    return shape;
}

std::vector<NamedFile> OperatorCall::files() const {
    std::vector<NamedFile> all;
    for (const auto& [input, role] :
         {std::pair(inputs_.x.get(), arguments_.x_role), std::pair(inputs_.y.get(), arguments_.y_role),
          std::pair(v_.get(), arguments_.v_role), std::pair(inputs_.weights.get(), "--weights")})
        if (input != nullptr)
            for (NamedFile& file : input->source().files(role)) all.push_back(std::move(file));
    return all;
}

ConstHostArray OperatorCall::v() {
    const ConstHostArray values = v_->array();
    if (values.type == options_.type) {
        if (values.type == kFloat32)
            require_finite(static_cast<const float*>(values.data), values.size);
        else
            require_finite(static_cast<const double*>(values.data), values.size);
        return values;
    }
    if (options_.type == kFloat32) {
        floats_ = converted<float>(values);
        require_finite(floats_.data(), floats_.size());
        return floats_;
    }
    doubles_ = converted<double>(values);
    require_finite(doubles_.data(), doubles_.size());
    return doubles_;
}

template <class T>
void OperatorCall::require_finite(const T* values, std::size_t size) const {
    const T* const end = values + size;
    const T* const bad = std::find_if_not(values, end, [](T value) { return std::isfinite(value); });
    if (bad == end) return;
    const auto at = static_cast<std::uint64_t>(bad - values);
    const std::string place =
        "row " + std::to_string(at / columns_) + " column " + std::to_string(at % columns_);
    v_->refuse(place + " is not a finite number of type " + to_string(options_.type) + " (got " +
               std::to_string(*bad) + ", need finite numbers" +
               (v_->type() == kFloat64 && options_.type == kFloat32 ? "; --dtype float64 has a larger range)"
                                                                    : ")"));
}

// The library names its arguments, and the user knows files.
void OperatorCall::refuse_by_file(const Error& error) const {
    const std::string text = error.what();
    const std::string& checkpoint = arguments_.checkpoint;
    // What the file has is wrong, and not that it cannot be written, which has an errno. Over ranks the first
    // one has the file, and the others repeat what it says.
    const std::string of_solve = "kernel_solve: ";
    for (const std::string by : {"", "rank 0: "})
        if (!checkpoint.empty() && error.code() == Errc::io && error.native_code() == 0 &&
            text.starts_with(by + of_solve + checkpoint + ": "))
            throw Failure(Exit::usage, by + text.substr(by.size() + of_solve.size()));
    // Predictions are an operator of new rows with those of the model.
    const bool predicts = text.starts_with("kernel_predict: ");
    for (const auto& [mark, input] :
         {std::pair<std::string_view, const ArrayInput*>(predicts ? ": x_new: " : ": x: ", inputs_.x.get()),
          std::pair<std::string_view, const ArrayInput*>(predicts ? ": x: " : ": y: ", inputs_.y.get()),
          std::pair<std::string_view, const ArrayInput*>(": weights: ", inputs_.weights.get())}) {
        const std::size_t at = text.find(mark);
        // Behind the name of the function, which is one word.
        if (input != nullptr && at != std::string::npos && text.find(' ') > at)
            input->refuse(text.substr(at + mark.size()));
    }
}

void OperatorCall::require_unchanged() const {
    for (const auto* input : {&inputs_.x, &inputs_.y, &v_, &inputs_.weights})
        if (*input) (*input)->require_unchanged();
}

}  // namespace weft::tool
