// SPDX-License-Identifier: Apache-2.0
#include "commands/kernel/kernel_output.hpp"

namespace weft::tool {

KernelOutput::KernelOutput(const KernelArguments& arguments, const KernelCall& call) {
    const KernelMatrixShape& shape = call.shape();
    if (arguments.resume) {
        store_.emplace(destination(arguments.out), shape, call.type());
        return;
    }
    file_.emplace(arguments.out, call.type(), Shape{shape.samples, shape.columns()});
    whole_ = {file_->elements<std::byte>().data(), shape.values(), call.type()};
}

OpReport KernelOutput::make(KernelCall& call, Target& target) {
    return store_ ? call.run(target, *store_) : call.run(target, whole_);
}

HostArray KernelOutput::values() const {
    return store_ ? store_->values() : whole_;
}

void KernelOutput::commit() {
    if (store_)
        store_->finish();
    else
        file_->commit();
}

std::string KernelOutput::text() const {
    if (!store_) return {};
    std::string text =
        std::to_string(store_->kept()) + " of " + std::to_string(store_->tiles()) + " tiles were there";
    if (store_->damaged() != 0) text += ", damaged: " + std::to_string(store_->damaged());
    return text;
}

void KernelOutput::add_to(Json& json) const {
    if (!store_) return;
    json["tiles"] = store_->tiles();
    json["tiles_kept"] = store_->kept();
    json["tiles_damaged"] = store_->damaged();
}

}  // namespace weft::tool
