// SPDX-License-Identifier: Apache-2.0
#include "commands/encode/encode_shape.hpp"

namespace weft::tool {
namespace {

bool fits(EncodeMethod method, std::uint32_t qubits, std::uint64_t features) {
    const std::uint64_t most = encode_features(method, qubits);
    return method == EncodeMethod::amplitude ? features >= 1 && features <= most : features == most;
}

}  // namespace

std::string change_to_rows(const Shape& shape, EncodeMethod method, std::uint32_t qubits) {
    const std::uint64_t most = encode_features(method, qubits);
    std::uint64_t values = 1;
    for (const std::uint64_t length : shape) values *= length;
    if (values == 0) return {};
    if (shape.size() > 1 && fits(method, qubits, values / shape[0]))
        return ".reshape(" + std::to_string(shape[0]) + ", -1)";
    if (fits(method, qubits, values)) return ".reshape(1, -1)";
    if (shape.size() > 1 && fits(method, qubits, shape.back()))
        return ".reshape(-1, " + std::to_string(shape.back()) + ")";
    return values % most == 0 ? ".reshape(-1, " + std::to_string(most) + ")" : "";
}

std::uint32_t qubits_for(EncodeMethod method, std::uint64_t features) {
    for (std::uint32_t qubits = 1; qubits <= 30; ++qubits)
        if (fits(method, qubits, features)) return qubits;
    return 0;
}

std::string wrong_columns(EncodeMethod method, std::uint32_t qubits, std::uint64_t features) {
    if (fits(method, qubits, features)) return {};
    const bool any_length = method == EncodeMethod::amplitude;
    return "wrong number of columns (got " + std::to_string(features) + ", need " +
           (any_length ? "1 to " : "") + std::to_string(encode_features(method, qubits)) + " for " +
           std::to_string(qubits) + " qubits)";
}

void require_encodable(const ArraySource& source, EncodeMethod method, std::uint32_t qubits) {
    const Shape& shape = source.shape();
    const std::string got = tool::to_string(shape);
    if (shape.size() != 2) {
        const std::string text = "wrong shape (got " + got + ", need (samples, features))";
        const std::string change = change_to_rows(shape, method, qubits);
        if (!change.empty()) source.refuse(text, change);
        source.refuse(text);
    }
    if (source.values() == 0)
        source.refuse("no values (got " + got + ", need at least one row of one value)");
    if (const std::string wrong = wrong_columns(method, qubits, shape[1]); !wrong.empty()) {
        if (method != EncodeMethod::amplitude && fits(method, qubits, shape[0])) source.refuse(wrong, ".T");
        const std::uint32_t better = qubits_for(method, shape[1]);
        source.refuse(better == 0 ? wrong : wrong + "; what fits: --qubits " + std::to_string(better));
    }
    // The bytes of all states are a product of these two numbers.
    if (source.rows() > std::uint64_t{1} << 58 >> qubits)
        source.refuse("too many rows (got " + std::to_string(source.rows()) + " for " +
                      std::to_string(qubits) + " qubits, need at most 2^58 amplitudes)");
}

}  // namespace weft::tool
