// SPDX-License-Identifier: Apache-2.0
#include "commands/kernel/kernel_post.hpp"

#include <span>

#include <weft/ops/kernel_post.hpp>

#include "arrays/array_input.hpp"
#include "cli/figures.hpp"

namespace weft::tool {
namespace {

template <class T>
void convert(const ConstHostArray& from, std::vector<double>& to) {
    for (const T value : std::span(static_cast<const T*>(from.data), from.size))
        to.push_back(static_cast<double>(value));
}

template <class T>
KernelPostResult apply_to(std::span<T> k, const KernelPost& post, const KernelLabels& labels,
                          std::uint64_t rows) {
    KernelPostResult result;
    if (post.center) center_kernel_matrix(k, rows);
    if (post.clip) result.negative = clip_kernel_matrix(k, rows);
    const std::span<const T> all = k;
    if (!post.alignment.empty()) result.alignment = kernel_alignment(all, labels.alignment());
    if (!post.polarity.empty()) result.polarity = kernel_polarity(all, labels.polarity());
    return result;
}

}  // namespace

void KernelPost::add_to(CLI::App& kernel) {
    kernel.add_flag("--center", center,
                    "Subtract means, so that rows and columns of K sum to 0; after --normalize");
    kernel.add_flag(
        "--clip", clip,
        "The nearest positive semidefinite matrix: negative eigenvalues become 0; after --center; "
        "time of samples^3 on the host");
    kernel
        .add_option(
            "--alignment", alignment,
            "Print the alignment of the K that is written with labels of 1 and -1, one a sample; labels "
            "are divided by the size of their class")
        ->type_name("LABELS");
    kernel.add_option("--polarity", polarity, "Print the polarity of the K that is written with such labels")
        ->type_name("LABELS");
}

KernelLabels::KernelLabels(const KernelPost& post, std::uint64_t rows)
    : alignment_(read("--alignment", post.alignment, rows)),
      polarity_(read("--polarity", post.polarity, rows)) {}

std::vector<double> KernelLabels::read(const char* role, const std::string& path, std::uint64_t rows) {
    static constexpr ElementType kTypes[] = {kFloat64, kFloat32, kInt64, kInt32};
    std::vector<double> labels;
    if (path.empty()) return labels;
    ArrayInput input(path, kTypes);
    for (NamedFile& file : input.source().files(role)) files_.push_back(std::move(file));
    const Shape& shape = input.shape();
    const bool column = shape.size() == 2 && (shape[0] == 1 || shape[1] == 1);
    const std::string text =
        "wrong shape (got " + to_string(shape) + ", need (" + std::to_string(rows) + ",): a label a sample)";
    if (input.source().values() != rows) input.refuse(text);
    if (shape.size() != 1 && !column) input.refuse(text, ".reshape(-1)");
    const ConstHostArray values = input.array();
    if (values.type == kFloat64) convert<double>(values, labels);
    if (values.type == kFloat32) convert<float>(values, labels);
    if (values.type == kInt64) convert<std::int64_t>(values, labels);
    if (values.type == kInt32) convert<std::int32_t>(values, labels);
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i] != 1 && labels[i] != -1)
            input.refuse("row " + std::to_string(i) + " is no label (got " + nine_digits(labels[i]) +
                         ", need 1 or -1); of classes 0 and 1 they are: 2 * x - 1");
    input.require_unchanged();
    return labels;
}

std::string KernelPostResult::text() const {
    std::string all;
    const auto add = [&](const std::string& what) { all += (all.empty() ? "" : ", ") + what; };
    if (negative) add(std::to_string(*negative) + " negative eigenvalues clipped");
    if (alignment) add("alignment " + nine_digits(*alignment));
    if (polarity) add("polarity " + nine_digits(*polarity));
    return all;
}

void KernelPostResult::add_to(Json& json) const {
    if (negative) json["negative_eigenvalues"] = *negative;
    if (alignment) json["alignment"] = *alignment;
    if (polarity) json["polarity"] = *polarity;
}

KernelPostResult apply(const KernelPost& post, const KernelLabels& labels, const HostArray& k,
                       std::uint64_t rows) {
    if (k.type == kFloat64)
        return apply_to(std::span(static_cast<double*>(k.data), k.size), post, labels, rows);
    return apply_to(std::span(static_cast<float*>(k.data), k.size), post, labels, rows);
}

}  // namespace weft::tool
