// SPDX-License-Identifier: Apache-2.0
// A whole array of a file in memory, in C order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrays/array_source.hpp"

namespace weft::tool {

/// The files that have rows, for help texts.
inline constexpr const char* kTableFiles = ".npy, .npz, FILE.h5:/PATH, or a table named .csv, .tsv or .txt";

class ArrayInput {
  public:
    /// Errors: as open_array.
    ArrayInput(const std::string& path, Types types) : source_(open_array(path, types)) {}

    const ArraySource& source() const noexcept { return *source_; }
    const std::string& path() const noexcept { return source_->path(); }
    const Shape& shape() const noexcept { return source_->shape(); }
    ElementType type() const noexcept { return source_->type(); }
    /// The mapping, if the file has the elements in C order; otherwise the first call reads them. Errors: as
    /// ArraySource::read.
    ConstHostArray array();
    /// The same for a type that was the only one requested.
    template <class T>
    std::span<const T> elements() {
        const ConstHostArray all = array();
        return {static_cast<const T*>(all.data), all.size};
    }
    /// Call it after the last use of the values. Errors: as ArraySource::require_unchanged.
    void require_unchanged() const { source_->require_unchanged(); }
    template <class... Text>
    [[noreturn]] void refuse(const Text&... text) const {
        source_->refuse(text...);
    }

  private:
    std::unique_ptr<ArraySource> source_;
    std::vector<std::uint64_t> copy_;  // also if the length of the header misaligns the data
};

}  // namespace weft::tool
