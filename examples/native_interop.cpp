// SPDX-License-Identifier: Apache-2.0
// An application with its own Vulkan instance, device and queue lets weft work on them, and uses weft's
// buffer in a command buffer of its own.
#include <weft/native.hpp>
#include <weft/weft.hpp>

#include <cstdio>
#include <vector>

namespace {

void require(VkResult result) {
    if (result != VK_SUCCESS) throw weft::Error(weft::Errc::driver, "the application's own Vulkan", result);
}

}  // namespace

int main() try {
    // The application's own Vulkan objects, made without weft.
    VkApplicationInfo about{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    about.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo instance_info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    instance_info.pApplicationInfo = &about;
    weft::native::AdoptedDevice mine{.api_version = about.apiVersion};
    require(vkCreateInstance(&instance_info, nullptr, &mine.instance));
    std::uint32_t one = 1;
    if (vkEnumeratePhysicalDevices(mine.instance, &one, &mine.physical_device) < 0 || one == 0) return 1;
    // Family 0 can compute on all common devices; a real application checks this. weft needs one feature:
    VkPhysicalDeviceVulkan12Features v12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    v12.timelineSemaphore = VK_TRUE;
    const VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &v12, {}};
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, 0, 1, &priority};
    VkDeviceCreateInfo device_info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features, 0, 1, &queue};
    require(vkCreateDevice(mine.physical_device, &device_info, nullptr, &mine.device));
    vkGetDeviceQueue(mine.device, 0, 0, &mine.compute.queue);
    mine.features = &features;

    std::uint32_t last = 0;
    {
        weft::Backend backend = weft::native::adopt(mine);
        std::vector<std::uint64_t> a{1, 0, 0, 0, 0, 0}, b{41, 0, 0, 0, 0, 0}, sum(6);
        weft::field_add(backend, weft::Field::bls12_381_fp, a, b, sum);  // all of weft works
        std::printf("%s: 1 + 41 = %llu\n", backend.name().c_str(), static_cast<unsigned long long>(sum[0]));

        weft::Buffer<std::uint32_t> buffer(backend, 1024, "shared with the application");
        weft::Stream stream(backend);
        VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
        VkCommandPool pool = VK_NULL_HANDLE;
        require(vkCreateCommandPool(mine.device, &pool_info, nullptr, &pool));
        VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool,
                                             VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
        VkCommandBuffer commands = VK_NULL_HANDLE;
        require(vkAllocateCommandBuffers(mine.device, &allocate, &commands));
        const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        require(vkBeginCommandBuffer(commands, &begin));
        const weft::native::BufferRange raw = weft::native::buffer(buffer);
        vkCmdFillBuffer(commands, raw.buffer, raw.offset, raw.bytes, 7);
        require(vkEndCommandBuffer(commands));
        VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
        submit.commandBufferCount = 1;
        submit.pCommandBuffers = &commands;
        {
            const weft::native::QueueLock lock(backend, weft::native::Role::compute);
            require(vkQueueSubmit(lock.queue(), 1, &submit, VK_NULL_HANDLE));
        }
        last = stream.download(buffer).back();  // on the same queue, so after the fill
        vkDestroyCommandPool(mine.device, pool, nullptr);
    }  // weft is destroyed; device and instance still belong to the application
    vkDestroyDevice(mine.device, nullptr);
    vkDestroyInstance(mine.instance, nullptr);
    std::printf("the application's own command filled weft's buffer with %u\n", last);
    return last == 7 ? 0 : 1;
} catch (const weft::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
