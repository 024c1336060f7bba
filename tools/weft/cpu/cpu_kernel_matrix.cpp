// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_kernel_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/cpu_threads.hpp"

namespace weft::tool {
namespace {

constexpr std::size_t kGrainWork = 200'000;  // multiplications; about as long as starting a thread
constexpr std::size_t kGrainAngles = 4000;   // likewise, sines and cosines

/// Halves of Bloch vectors, [qubit][part][samples].
std::vector<float> bloch_vectors(std::span<const float> x, std::size_t samples, std::uint32_t qubits,
                                 const KernelMatrixCircuit& circuit, unsigned threads) {
    const bool rz = circuit.map == FeatureMap::ryrz;
    const std::uint64_t parts = rz ? 3 : 2;
    std::vector<float> vectors(qubits * parts * samples);
    const auto each = [&](std::size_t q) {
        float* to = vectors.data() + q * parts * samples;
        for (std::uint64_t i = 0; i < samples; ++i) {
            const double angle = circuit.scale * static_cast<double>(x[i * qubits + q]);
            const double c = std::cos(angle), s = std::sin(angle);
            to[i] = static_cast<float>(c);
            to[samples + i] = static_cast<float>(rz ? s * c : s);
            if (rz) to[2 * samples + i] = static_cast<float>(s * s);
        }
    };
    parallel_for(qubits, kGrainAngles / std::max<std::size_t>(samples, 1) + 1, threads,
                 [&](std::size_t first, std::size_t last) {
                     for (std::size_t q = first; q < last; ++q) each(q);
                 });
    return vectors;
}

// Values of `kRows` rows and `kColumns` columns: product over the qubits of (1 + r.s) / 2.
constexpr std::uint64_t kRows = 4, kColumns = 64, kTile = 64;

template <std::uint64_t kParts>
void product_strip(const float* vectors, std::size_t samples, std::uint32_t qubits, std::uint64_t row,
                   std::uint64_t column, std::uint64_t rows, std::uint64_t columns,
                   float (&values)[kRows][kColumns]) {
    for (auto& line : values)
        for (float& value : line) value = 1;
    for (std::uint32_t q = 0; q < qubits; ++q) {
        const float* at = vectors + q * kParts * samples;
        for (std::uint64_t r = 0; r < rows; ++r) {
            float a[kParts];
            for (std::uint64_t part = 0; part < kParts; ++part) a[part] = 0.5f * at[part * samples + row + r];
            for (std::uint64_t c = 0; c < columns; ++c) {
                float fidelity = 0.5f;
                for (std::uint64_t part = 0; part < kParts; ++part)
                    fidelity += a[part] * at[part * samples + column + c];
                values[r][c] *= fidelity;
            }
        }
    }
}

template <std::uint64_t kParts>
void product(std::span<const float> x, std::size_t samples, std::uint32_t qubits,
             const KernelMatrixCircuit& circuit, std::span<float> k, unsigned threads) {
    const std::vector<float> vectors = bloch_vectors(x, samples, qubits, circuit, threads);
    const std::size_t work = (1 + kParts) * qubits * kTile * kTile;
    cpu_tile_pairs((samples + kTile - 1) / kTile, work, threads, [&](std::size_t i, std::size_t j) {
        const std::uint64_t row0 = i * kTile, column = j * kTile;
        const std::uint64_t columns = std::min(kTile, samples - column);
        float values[kRows][kColumns];
        for (std::uint64_t row = row0; row < std::min(samples, row0 + kTile); row += kRows) {
            const std::uint64_t rows = std::min(kRows, samples - row);
            product_strip<kParts>(vectors.data(), samples, qubits, row, column, rows, columns, values);
            for (std::uint64_t r = 0; r < rows; ++r)
                for (std::uint64_t c = 0; c < columns; ++c)
                    k[(row + r) * samples + column + c] = values[r][c];
            for (std::uint64_t c = 0; c < columns; ++c)
                for (std::uint64_t r = 0; r < rows; ++r) k[(column + c) * samples + row + r] = values[r][c];
        }
    });
}

struct Gate {
    c32 m[2][2];
};

Gate after(const Gate& a, const Gate& b) {
    Gate result{};
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) result.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j];
    return result;
}

Gate embedding(double angle, bool rz) {
    const auto c = static_cast<float>(std::cos(angle / 2)), s = static_cast<float>(std::sin(angle / 2));
    const c32 turn = rz ? c32(c, s) : c32(1);  // exp(i angle / 2)
    return {{{std::conj(turn) * c, std::conj(turn) * -s}, {turn * s, turn * c}}};
}

Gate rotation_x(double angle) {
    const auto c = static_cast<float>(std::cos(angle / 2)), s = static_cast<float>(std::sin(angle / 2));
    return {{{c, c32(0, -s)}, {c32(0, -s), c}}};
}

// Acts on bit log2(half) of the index; real and imaginary parts are separate, so that compilers vectorise the
// loop.
void apply(const Gate& gate, float* state, std::uint64_t amplitudes, std::uint64_t half) {
    float m[8];
    for (int i = 0; i < 4; ++i) {
        m[2 * i] = gate.m[i / 2][i % 2].real();
        m[2 * i + 1] = gate.m[i / 2][i % 2].imag();
    }
    float *re = state, *im = state + amplitudes;
    for (std::uint64_t base = 0; base < amplitudes; base += 2 * half)
        for (std::uint64_t i = base; i < base + half; ++i) {
            const float ar = re[i], ai = im[i], br = re[i + half], bi = im[i + half];
            re[i] = m[0] * ar - m[1] * ai + m[2] * br - m[3] * bi;
            im[i] = m[0] * ai + m[1] * ar + m[2] * bi + m[3] * br;
            re[i + half] = m[4] * ar - m[5] * ai + m[6] * br - m[7] * bi;
            im[i + half] = m[4] * ai + m[5] * ar + m[6] * bi + m[7] * br;
        }
}

/// The index that the CNOTs of a ring map each index to.
std::vector<std::uint32_t> ring(std::uint32_t qubits) {
    std::vector<std::uint32_t> to(std::uint64_t{1} << qubits);
    for (std::uint32_t i = 0; i < to.size(); ++i) {
        std::uint32_t at = i;
        for (std::uint32_t q = 0; q < (qubits < 3 ? qubits - 1 : qubits); ++q) {
            const std::uint32_t control = qubits - 1 - q, target = qubits - 1 - (q + 1) % qubits;
            at ^= (at >> control & 1u) << target;
        }
        to[i] = at;
    }
    return to;
}

/// Builds one state after the other; a state is all real parts, then all imaginary ones. Not for several
/// threads.
class StateBuilder {
  public:
    StateBuilder(const KernelMatrixCircuit& circuit, std::uint32_t qubits, std::uint64_t layers)
        : circuit_(circuit),
          qubits_(qubits),
          layers_(layers),
          amplitudes_(std::uint64_t{1} << qubits),
          state_(2 * amplitudes_),
          moved_(2 * amplitudes_),
          embeddings_(qubits) {}
    /// Applies the first `layers` of the circuit, then the embedding. The state is valid until the next call.
    std::span<const float> build(const float* row, std::span<const std::uint32_t> ring) {
        const auto* weights = static_cast<const double*>(circuit_.weights.data);
        std::fill(state_.begin(), state_.end(), 0.0f);
        state_[0] = 1;
        for (std::uint32_t q = 0; q < qubits_; ++q)
            embeddings_[q] =
                embedding(circuit_.scale * static_cast<double>(row[q]), circuit_.map == FeatureMap::ryrz);
        for (std::uint64_t layer = 0; layer <= layers_; ++layer) {
            for (std::uint32_t q = 0; q < qubits_; ++q)
                apply(layer < layers_ ? after(rotation_x(weights[layer * qubits_ + q]), embeddings_[q])
                                      : embeddings_[q],
                      state_.data(), amplitudes_, amplitudes_ >> (q + 1));
            if (layer == layers_) break;
            for (std::uint64_t i = 0; i < amplitudes_; ++i) {
                moved_[ring[i]] = state_[i];
                moved_[amplitudes_ + ring[i]] = state_[amplitudes_ + i];
            }
            state_.swap(moved_);
        }
        return state_;
    }

  private:
    const KernelMatrixCircuit& circuit_;
    std::uint32_t qubits_;
    std::uint64_t layers_, amplitudes_;
    std::vector<float> state_, moved_;
    std::vector<Gate> embeddings_;
};

/// Calls `body(sample, state)` for all samples; states are as StateBuilder makes them.
template <class Body>
void each_state(std::span<const float> x, std::size_t samples, std::uint32_t qubits,
                const KernelMatrixCircuit& circuit, std::uint64_t layers, unsigned threads, Body&& body) {
    const std::vector<std::uint32_t> to = ring(qubits);
    const std::size_t work = (8 * qubits * (layers + 1)) << qubits;
    parallel_for(samples, kGrainWork / work + 1, threads, [&](std::size_t first, std::size_t last) {
        StateBuilder builder(circuit, qubits, layers);
        for (std::size_t sample = first; sample < last; ++sample)
            body(sample, builder.build(&x[sample * qubits], to));
    });
}

std::vector<c32> states(std::span<const float> x, std::size_t samples, std::uint32_t qubits,
                        const KernelMatrixCircuit& circuit, std::uint64_t layers, unsigned threads) {
    const std::uint64_t amplitudes = std::uint64_t{1} << qubits;
    std::vector<c32> all(samples * amplitudes);
    each_state(x, samples, qubits, circuit, layers, threads,
               [&](std::size_t sample, std::span<const float> state) {
                   for (std::uint64_t i = 0; i < amplitudes; ++i)
                       all[sample * amplitudes + i] = {state[i], state[amplitudes + i]};
               });
    return all;
}

/// |<b|a>|^2 of states with separate parts; sums have eight lanes, so that compilers vectorise them.
float overlap(std::span<const float> a, std::span<const float> b) {
    constexpr std::size_t kLanes = 8;
    const std::size_t n = a.size() / 2, whole = n / kLanes * kLanes;
    float re[kLanes] = {}, im[kLanes] = {};
    for (std::size_t i = 0; i < whole; i += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) {
            re[l] += a[i + l] * b[i + l] + a[n + i + l] * b[n + i + l];
            im[l] += a[n + i + l] * b[i + l] - a[i + l] * b[n + i + l];
        }
    double r = 0, m = 0;
    for (std::size_t l = 0; l < kLanes; ++l) {
        r += static_cast<double>(re[l]);
        m += static_cast<double>(im[l]);
    }
    for (std::size_t i = whole; i < n; ++i) {
        r += static_cast<double>(a[i] * b[i] + a[n + i] * b[n + i]);
        m += static_cast<double>(a[n + i] * b[i] - a[i] * b[n + i]);
    }
    return static_cast<float>(r * r + m * m);
}

}  // namespace

void cpu_tile_pairs(std::size_t tiles, std::size_t work, unsigned threads,
                    const std::function<void(std::size_t row, std::size_t column)>& body) {
    parallel_for(tiles * (tiles + 1) / 2, kGrainWork / std::max<std::size_t>(work, 1) + 1, threads,
                 [&](std::size_t first, std::size_t last) {
                     auto row =
                         static_cast<std::size_t>((std::sqrt(8.0 * static_cast<double>(first) + 1) - 1) / 2);
                     while (row * (row + 1) / 2 > first) --row;
                     while ((row + 1) * (row + 2) / 2 <= first) ++row;
                     for (std::size_t column = first - row * (row + 1) / 2; first < last; ++first) {
                         body(row, column);
                         if (++column > row) {
                             ++row;
                             column = 0;
                         }
                     }
                 });
}

void cpu_kernel_of_features(const KernelMatrixCircuit& circuit, std::span<const float> x, std::size_t samples,
                            std::span<float> k, unsigned threads) {
    if (samples == 0) return;
    const auto qubits = static_cast<std::uint32_t>(x.size() / samples);
    const std::uint64_t layers = circuit.weights.size / qubits;
    if (circuit.reupload && layers > 1)
        cpu_kernel_of_states(states(x, samples, qubits, circuit, layers - 1, threads), samples, k, threads);
    else if (circuit.map == FeatureMap::ryrz)
        product<3>(x, samples, qubits, circuit, k, threads);
    else
        product<2>(x, samples, qubits, circuit, k, threads);
}

void cpu_overlaps_of_features(const KernelMatrixCircuit& circuit, std::span<const float> x,
                              std::size_t samples, std::span<const float> y, std::span<float> k,
                              unsigned threads) {
    const auto qubits = static_cast<std::uint32_t>(y.size());
    const std::uint64_t layers = circuit.weights.size / qubits;
    const std::uint64_t built = circuit.reupload && layers > 1 ? layers - 1 : 0;  // the others cancel
    StateBuilder one(circuit, qubits, built);
    const std::span<const float> other = one.build(y.data(), ring(qubits));
    each_state(x, samples, qubits, circuit, built, threads,
               [&](std::size_t sample, std::span<const float> state) { k[sample] = overlap(state, other); });
}

}  // namespace weft::tool
