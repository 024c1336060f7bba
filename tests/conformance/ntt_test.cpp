// SPDX-License-Identifier: Apache-2.0
// The tables of transforms, extensions and products in every place: the results have the bits of the
// textbook.
#include "conformance/ntt_cases.hpp"

#include <optional>
#include <vector>

#include <weft/weft.hpp>

#include "conformance/places.hpp"
#include "support/gpu_fixture.hpp"
#include "support/ntt_oracle.hpp"

namespace {

using namespace weft_test;
using weft::NttDirection;
using weft::NttLayout;
using weft::NttOrder;

using Vectors = std::vector<std::vector<Big>>;

template <class Body>
void with_limb(const Modulus& m, Body&& body) {
    if (m.info().limb_bytes == 4)
        body(std::uint32_t{});
    else
        body(std::uint64_t{});
}

Vectors random_vectors(const Modulus& m, std::size_t count, std::size_t elements, std::uint64_t seed) {
    std::mt19937_64 source(seed);
    Vectors all(count, std::vector<Big>(elements));
    for (std::vector<Big>& x : all)
        for (Big& value : x) value = m.random(source);
    return all;
}

/// A coset in the form of a call.
template <class Limb>
std::vector<Limb> coset_limbs(const Modulus& m, const Big& g, weft::FieldForm form) {
    if (g == Modulus::one()) return {};
    Big r = g;
    if (form == weft::FieldForm::montgomery)
        for (std::uint32_t i = 0; i < 8 * m.info().element_bytes; ++i) r = m.add(r, r);
    return limbs_of<Limb>(m, r);
}

/// The options of a place: those of host calls check their values.
template <class Place, class Limb>
auto options_of(Place& place, NttOrder order, weft::FieldForm form, const std::vector<Limb>& coset) {
    if constexpr (Place::kHost)
        return weft::NttHostOptions{
            .order = order, .form = form, .coset = coset, .check_values = true, .batch = place.batch()};
    else
        return weft::NttOptions{.order = order, .form = form, .coset = coset};
}

/// A case of one field and size: coefficients, and values on the coset.
struct Transform {
    const NttCase& row;
    const Modulus& m;
    std::uint32_t log_size;
    Big g;
    Vectors x, values;
};

Transform make_transform(const NttCase& row, const Modulus& m, std::uint32_t log_size) {
    const std::size_t n = std::size_t{1} << log_size;
    Transform t{row, m, log_size, Modulus::one(), {}, {}};
    if (row.coset) t.g = random_vectors(m, 1, 1, log_size)[0][0];
    t.x = random_vectors(m, row.batch, row.inputs != 0 ? row.inputs : n, 7 * log_size + row.batch);
    const Big w = big_of(weft::ntt_root(m.info().field, log_size));
    for (const std::vector<Big>& x : t.x) t.values.push_back(forward_transform(m, x, w, t.g, n));
    return t;
}

template <class Limb>
void check_transform(weft::Backend& backend, const Transform& t, NttDirection direction, NttOrder order,
                     NttLayout layout) {
    const bool forward = direction == NttDirection::forward;
    const auto in =
        laid_out<Limb>(t.m, in_order(forward ? t.x : t.values, order == NttOrder::rn, t.log_size), layout);
    const auto want =
        laid_out<Limb>(t.m, in_order(forward ? t.values : t.x, order == NttOrder::nr, t.log_size), layout);
    const auto coset = coset_limbs<Limb>(t.m, t.g, t.row.form);
    const weft::NttShape shape{
        .log_size = t.log_size, .batch = t.row.batch, .layout = layout, .inputs = t.row.inputs};
    on_places(backend, t.row.batch > 1 ? t.row.chunk : 0, [&](auto& place) {
        using Place = std::remove_cvref_t<decltype(place)>;
        auto source = place.input(in);
        auto own = place.template output<Limb>(t.row.in_place ? 0 : want.size());
        const typename Place::Out out = t.row.in_place ? place.write(source, in.size()) : place.write(own);
        const typename Place::In from = place.read(source, in.size());
        const auto options = options_of(place, order, t.row.form, coset);
        if constexpr (Place::kHost) {
            const weft::OpReport report =
                call_ntt(place, t.m.info().field, direction, from, out, shape, options);
            CHECK(report.items == t.row.batch);
            CHECK(report.op == "ntt");
        } else {
            call_ntt(place, t.m.info().field, direction, from, out, shape, options);
        }
        const bool kept = t.row.in_place || place.values(source) == in;
        CHECK(kept);
        const bool equal = (t.row.in_place ? place.values(source) : place.result(own)) == want;
        CHECK(equal);
    });
}

}  // namespace

TEST_CASE("ntt: the table of transforms") {
    on_device([](weft::Backend& backend) {
        for (const NttCase& row : ntt_cases())
            for (const weft::Field field : row.fields)
                for (const std::uint32_t log_size : row.log_sizes) {
                    const Modulus m(field);
                    const Transform t = make_transform(row, m, log_size);
                    for (const NttOrder order : row.orders)
                        for (const NttLayout layout : row.layouts)
                            for (const NttDirection direction :
                                 {NttDirection::forward, NttDirection::inverse}) {
                                if (row.batch == 1 && layout == NttLayout::columns) continue;
                                if (row.inputs != 0 && direction == NttDirection::inverse) continue;
                                INFO(row.name << ", " << weft::to_string(field) << ", 2^" << log_size << ", "
                                              << weft::to_string(order) << ", " << weft::to_string(direction)
                                              << ", " << weft::to_string(layout));
                                with_limb(m, [&]<class Limb>(Limb) {
                                    check_transform<Limb>(backend, t, direction, order, layout);
                                });
                            }
                }
    });
}

TEST_CASE("ntt: extensions have the values of the same polynomials on more points") {
    on_device([](weft::Backend& backend) {
        for (const NttExtendCase& row : ntt_extend_cases()) {
            const Modulus m(row.field);
            const std::size_t n = std::size_t{1} << row.log_size;
            std::uint32_t large = row.log_size;
            while (n * row.blowup != std::size_t{1} << large) ++large;
            const Big g = random_vectors(m, 1, 1, 3)[0][0], w = big_of(weft::ntt_root(row.field, large));
            const Vectors x = random_vectors(m, row.batch, n, row.log_size);
            Vectors values, extended;
            for (const std::vector<Big>& c : x) {
                values.push_back(forward_transform(m, c, m.power(w, row.blowup), Modulus::one(), n));
                extended.push_back(forward_transform(m, c, w, g, n * row.blowup));
            }
            for (const NttOrder order : {NttOrder::nn, NttOrder::nr, NttOrder::rn})
                for (const NttLayout layout : {NttLayout::rows, NttLayout::columns})
                    with_limb(m, [&]<class Limb>(Limb) {
                        INFO(weft::to_string(row.field)
                             << ", 2^" << row.log_size << " by " << row.blowup << ", "
                             << weft::to_string(order) << ", " << weft::to_string(layout));
                        const auto in =
                            laid_out<Limb>(m, in_order(values, order == NttOrder::rn, row.log_size), layout);
                        const auto want =
                            laid_out<Limb>(m, in_order(extended, order == NttOrder::nr, large), layout);
                        const auto coset = coset_limbs<Limb>(m, g, weft::FieldForm::plain);
                        on_places(backend, row.batch > 1 ? 1 : 0, [&](auto& place) {
                            using Place = std::remove_cvref_t<decltype(place)>;
                            auto source = place.input(in);
                            auto own = place.template output<Limb>(want.size());
                            const typename Place::Out out = place.write(own);
                            const typename Place::In from = place.read(source, in.size());
                            call_ntt_extend(
                                place, row.field, from, out,
                                weft::NttShape{
                                    .log_size = row.log_size, .batch = row.batch, .layout = layout},
                                row.blowup, options_of(place, order, weft::FieldForm::plain, coset));
                            const bool equal = place.result(own) == want;
                            CHECK(equal);
                        });
                    });
        }
    });
}

TEST_CASE("ntt: products are those of the schoolbook") {
    on_device([](weft::Backend& backend) {
        const std::pair<std::size_t, std::size_t> kLengths[] = {{1, 1}, {1, 7}, {5, 4}, {33, 32}, {100, 3}};
        for (const weft::Field field : {weft::Field::koalabear, weft::Field::goldilocks,
                                        weft::Field::bls12_381_fr, weft::Field::bls12_377_fp})
            for (const auto& [m_length, n_length] : kLengths) {
                const Modulus m(field);
                const std::vector<Big> a = random_vectors(m, 1, m_length, 1)[0],
                                       b = random_vectors(m, 1, n_length, 2)[0];
                std::vector<Big> product(m_length + n_length - 1);
                for (std::size_t i = 0; i < m_length; ++i)
                    for (std::size_t k = 0; k < n_length; ++k)
                        product[i + k] = m.add(product[i + k], m.mul(a[i], b[k]));
                with_limb(m, [&]<class Limb>(Limb) {
                    INFO(weft::to_string(field) << ", " << m_length << " times " << n_length);
                    const auto left = laid_out<Limb>(m, {a}, NttLayout::rows),
                               right = laid_out<Limb>(m, {b}, NttLayout::rows),
                               want = laid_out<Limb>(m, {product}, NttLayout::rows);
                    on_places(backend, 0, [&](auto& place) {
                        using Place = std::remove_cvref_t<decltype(place)>;
                        auto x = place.input(left), y = place.input(right);
                        auto own = place.template output<Limb>(want.size());
                        const typename Place::In from_x = place.read(x, left.size()),
                                                 from_y = place.read(y, right.size());
                        const typename Place::Out out = place.write(own);
                        if constexpr (Place::kHost)
                            call_ntt_product(place, field, from_x, from_y, out,
                                             weft::FieldHostOptions{.check_values = true});
                        else
                            call_ntt_product(place, field, from_x, from_y, out, weft::FieldOptions{});
                        const bool equal = place.result(own) == want;
                        CHECK(equal);
                    });
                });
            }
    });
}
