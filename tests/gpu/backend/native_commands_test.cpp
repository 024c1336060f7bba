// SPDX-License-Identifier: Apache-2.0
// weft's buffers, programs and steps within the application's own commands.
#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/native_app.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
namespace native = weft::native;
using weft::Backend;
using weft::Buffer;
using weft::Program;
using weft::Stream;
using Words = std::vector<std::uint32_t>;

TEST_CASE("native: handles are the application's own; the application's commands work on weft's buffers") {
    const auto app = make_app();
    if (!app) return;
    Backend backend = native::adopt(app->described());
    const native::Handles h = native::handles(backend);
    CHECK(h.instance == app->instance);
    CHECK(h.physical_device == app->physical);
    CHECK(h.device == app->device);
    for (const native::Queue& queue : {h.upload, h.compute, h.download}) {
        CHECK(queue.queue == app->queue);
        CHECK(queue.family == app->family);
        CHECK(queue.index == 0);
    }
    CHECK(static_cast<bool>(h.get_device_proc_addr(h.device, "vkQueueSubmit")));
    CHECK(static_cast<bool>(h.get_instance_proc_addr(h.instance, "vkCreateDevice")));
    {
        Buffer<std::uint32_t> buffer(backend, 256, "shared");
        weft::HostBuffer<std::uint32_t> host(backend, 16);
        const native::BufferRange part = native::buffer(buffer.view(64, 32));
        CHECK(part.offset == 256);
        CHECK(part.bytes == 128);
        const native::BufferRange page_locked = native::host_buffer(host);
        CHECK(page_locked.bytes == 64);
        Stream stream(backend);
        stream.fill(buffer.view(), 1);
        stream.wait();
        std::fill(host.begin(), host.end(), 9u);
        app->run(&backend, [&](VkCommandBuffer commands) {
            vkCmdFillBuffer(commands, part.buffer, part.offset, part.bytes, 5);
            const VkBufferCopy copy{page_locked.offset, 0, page_locked.bytes};
            vkCmdCopyBuffer(commands, page_locked.buffer, part.buffer, 1, &copy);
        });
        const Words got = stream.download(buffer);
        for (std::size_t i = 0; i < 256; ++i) REQUIRE(got[i] == (i < 16 ? 9u : i >= 64 && i < 96 ? 5u : 1u));
        const Buffer<std::uint32_t> gone = std::move(buffer);
        check_error(weft::Errc::invalid_argument, "moved from", [&] { native::buffer(buffer); });
    }
    check_clean(backend);
}

TEST_CASE("native: a Program dispatched by hand") {
    const auto app = make_app();
    if (!app) return;
    Backend backend = native::adopt(app->described());
    {
        const Program program(backend, kAffine, {.name = "affine"});
        const native::Pipeline pipeline = native::pipeline(program);
        CHECK(pipeline.push_constant_bytes >= 128);
        Buffer<std::uint32_t> in(backend, 64), out(backend, 64);
        Stream stream(backend);
        const Words values = words(64);
        stream.upload(values, in);
        stream.wait();
        const std::uint32_t bindings = backend.device().limits.max_storage_buffers;
        const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, bindings};
        VkDescriptorPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
        pool_info.maxSets = pool_info.poolSizeCount = 1;
        pool_info.pPoolSizes = &size;
        VkDescriptorPool pool = VK_NULL_HANDLE;
        REQUIRE(vkCreateDescriptorPool(app->device, &pool_info, nullptr, &pool) == VK_SUCCESS);
        VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
        allocate.descriptorPool = pool;
        allocate.descriptorSetCount = 1;
        allocate.pSetLayouts = &pipeline.set_layout;
        VkDescriptorSet set = VK_NULL_HANDLE;
        REQUIRE(vkAllocateDescriptorSets(app->device, &allocate, &set) == VK_SUCCESS);
        const native::BufferRange ranges[] = {native::buffer(in), native::buffer(out)};
        const VkDescriptorBufferInfo infos[] = {{ranges[0].buffer, ranges[0].offset, ranges[0].bytes},
                                                {ranges[1].buffer, ranges[1].offset, ranges[1].bytes}};
        VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
        write.dstSet = set;
        write.descriptorCount = 2;
        write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        write.pBufferInfo = infos;
        vkUpdateDescriptorSets(app->device, 1, &write, 0, nullptr);
        app->run(&backend, [&](VkCommandBuffer commands) {
            vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.pipeline);
            vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, 1, &set, 0,
                                    nullptr);
            const std::uint32_t push[] = {64, 0, 7, 11};
            vkCmdPushConstants(commands, pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, push);
            vkCmdDispatch(commands, 1, 1, 1);
        });
        const Words got = stream.download(out);
        for (std::uint32_t i = 0; i < 64; ++i) REQUIRE(got[i] == values[i] * 7 + 11 + i);
        vkDestroyDescriptorPool(app->device, pool, nullptr);
    }
    check_clean(backend);
}

TEST_CASE("native: steps recorded into the application's command buffer run between its own commands") {
    const auto app = make_app();
    if (!app) return;
    Backend backend = native::adopt(app->described());
    {
        const Program program(backend, kAffine, {.name = "affine"});
        Buffer<std::uint32_t> in(backend, 1000), out(backend, 1000);
        const Words values = words(1000);
        std::shared_ptr<void> keep;
        const weft::Profile profile(backend);
        app->run(&backend, [&](VkCommandBuffer commands) {
            const native::BufferRange first = native::buffer(out), second = native::buffer(in);
            vkCmdFillBuffer(commands, first.buffer, first.offset, first.bytes, 1);
            keep = native::record(backend, commands, [&](Stream& stream) {
                stream.upload(values, in);
                stream.dispatch(program, {in, out}, 500, AffineParameters{3, 4});
                check_error(weft::Errc::invalid_argument, "command buffer of the application",
                            [&] { stream.submit(); });
            });
            const VkBufferCopy copy{first.offset, second.offset + 2000, 2000};  // reads the kernel's results
            vkCmdCopyBuffer(commands, first.buffer, second.buffer, 1, &copy);
        });
        keep.reset();
        // They are not timed, because the application may submit them never or often, on any queue.
        const weft::ProfileReport report = profile.report();
        CHECK(report.stage(weft::Stage::copy_in).bytes == 4000);
        for (const auto stage : {weft::Stage::upload, weft::Stage::kernel, weft::Stage::download})
            CHECK(report.stage(stage).count == 0);
        Stream stream(backend);
        const Words got = stream.download(in);
        for (std::uint32_t i = 0; i < 500; ++i) {
            REQUIRE(got[i] == values[i]);
            REQUIRE(got[500 + i] == values[i] * 3 + 4 + i);
        }
        CHECK(stream.download(out)[999] == 1);
        check_error(weft::Errc::invalid_argument, "no commands",
                    [&] { (void)native::record(backend, VK_NULL_HANDLE, [](Stream&) {}); });
        app->run(&backend, [&](VkCommandBuffer commands) {
            check_error(weft::Errc::invalid_argument, "no steps",
                        [&] { (void)native::record(backend, commands, {}); });
            const Buffer<std::uint8_t> bytes(backend, 16);
            check_error(
                weft::Errc::invalid_argument, "shorter than the shader's block (got 3 bytes, need 4)", [&] {
                    (void)native::record(backend, commands, [&](Stream& s) {
                        s.dispatch(Program(s, kAffine), {bytes.view(0, 3), out}, 1, AffineParameters{1, 0});
                    });
                });
            check_error(weft::Errc::invalid_argument, "moved from", [&] {
                (void)native::record(backend, commands, [](Stream& s) { const Stream mine = std::move(s); });
            });
            check_error(weft::Errc::invalid_argument, "moved from or assigned to", [&] {
                (void)native::record(backend, commands, [&](Stream& s) { s = Stream(backend); });
            });
            std::optional<Stream> stolen;
            const auto steal = [&](bool fails) {
                (void)native::record(backend, commands, [&](Stream& s) {
                    stolen.emplace(std::move(s));
                    stolen->fill(in.view(), 1);  // the call still runs
                    if (fails) throw std::runtime_error("of the user");
                });
            };
            check_error(weft::Errc::invalid_argument, "moved from or assigned to", [&] { steal(false); });
            check_error(weft::Errc::invalid_argument, "native::record has returned",
                        [&] { stolen->fill(in.view(), 1); });
            CHECK_THROWS_AS(steal(true), std::runtime_error);
            check_error(weft::Errc::invalid_argument, "native::record has returned", [&] {
                stolen->dispatch(program, {in, out}, 500, AffineParameters{3, 4});
            });
            check_error(weft::Errc::invalid_argument, "command buffer of the application",
                        [&] { stolen->wait(); });
            keep = std::make_shared<std::optional<Stream>>(std::move(stolen));
        });
        const weft::Event event = stream.submit();
        const native::Point point = native::point(event);
        CHECK(point.semaphore == native::last_submission(backend, native::Role::compute).semaphore);
        CHECK(point.value == native::last_submission(backend, native::Role::compute).value);
        CHECK(native::point(weft::Event()).semaphore == VkSemaphore(VK_NULL_HANDLE));
    }
    check_clean(backend);
}
