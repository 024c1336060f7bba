// SPDX-License-Identifier: Apache-2.0
#include "base/file_descriptor.hpp"

#include <unistd.h>

namespace weft::core {

FileDescriptor::~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
}

}  // namespace weft::core
