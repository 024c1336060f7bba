/* SPDX-License-Identifier: Apache-2.0 */
/* weft for C: everything that runs on a device, over memory of the caller. The library is libweft.so.0. */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
/* clang-format off */

/** # Rules
 * Calls return a weft_status; results go to the pointers at the end of the arguments. After a failure these
 * are NULL or unchanged, and weft_last_error() has the text.
 *
 * A handle is counted: what creates it returns one use, *_retain adds one, *_release takes one away. Both
 * accept NULL. A use that is released twice is undefined. A call has a use of its handles until it returns,
 * so a callback may release its own. Handles may be released in any order: what is made of a backend keeps
 * the device open, and recorded or submitted work keeps its buffers and programs. Handles may be used from
 * many threads, streams, profiles, stores and outcomes by one at a time; all but outcomes refuse another one.
 *
 * Options and reports are structs that begin with `size`: set it to sizeof(the struct) and everything else
 * to 0, which means the defaults; then set what matters. NULL instead of options means the defaults, and
 * NULL instead of a report that none is wanted. A size of 0, or one that ends inside a member, is refused.
 * A program that was compiled with another version of this header works: a shorter struct is extended by
 * zeros, and a longer one is refused only if what the library does not know is not 0. Members named
 * `reserved` are 0. What a call cannot honour is refused: `batch` and `check_values` on streams.
 *
 * Calls copy options with their texts and lists. In host memory, an output may be exactly an input of its
 * job in batches (not a broadcast one), operations on each element of a field, weft_ntt and
 * weft_lattice_quantize. No other overlap with an output is allowed.
 *
 * Sizes are bytes. Text is UTF-8 and ends with 0; a text, words or memory that a call returns live as long
 * as the handle that they come from. Numbers of an enumeration have an integer type of a fixed size. Flags
 * are 0 or 1. Times are seconds, except timeouts, which are nanoseconds. Callbacks must return normally: no
 * jump, no exception. One that gets out of progress or steps all the same ends its call: WEFT_INTERNAL. */

/** # Versions and errors */
/** Rises whenever something is added. A library serves every program whose header has the same number or a
 * smaller one. A change that would break programs gets another name of the library. */
#define WEFT_ABI_VERSION 2u
typedef int32_t weft_status;
enum {
    WEFT_OK = 0,
    WEFT_INVALID_ARGUMENT = 1, /**< a mistake of the caller; outputs are as they were, but see weft_encode */
    WEFT_INVALID_SHADER = 2, /**< damaged SPIR-V, or GLSL with errors: the text has the compiler's messages */
    WEFT_NO_LOADER = 3, /**< the Vulkan loader is not installed */
    WEFT_NO_DEVICE = 4, /**< no device can be used; the text has the reasons */
    WEFT_UNSUPPORTED = 5, /**< the device or this build lacks what the call needs */
    WEFT_OUT_OF_MEMORY = 6, /**< of device or host; the backend stays usable */
    WEFT_DEVICE_LOST = 7, /**< every later call of the backend reports it too */
    WEFT_CANCELLED = 8, /**< by a callback that returned other than 0, or by weft_pipeline_cancel */
    WEFT_IO = 9, /**< a file could not be read or written */
    WEFT_DRIVER = 10, /**< another failure of the driver */
    WEFT_TIMEOUT = 11, /**< the time was up; nothing is lost: wait again */
    WEFT_INTERNAL = 12 /**< a defect of weft, or an exception that a callback let out */
};
/** WEFT_ABI_VERSION of the library, and its version: "0.2.0". */
uint32_t weft_abi_version(void); const char* weft_version(void);
/** "out_of_memory" and the like. Never NULL. */
const char* weft_status_name(weft_status status);
/** Text of this thread's last call that did not return WEFT_OK: `function: what is wrong (got X, need Y)`.
 * Never NULL; empty before the first. Valid until the next such call of the thread. */
const char* weft_last_error(void);
/** VkResult of that failure, or errno for WEFT_IO; 0 if there is none. */
int32_t weft_last_native_code(void);
typedef uint32_t weft_value_fault; enum { WEFT_FAULT_ZERO_NORM = 1, WEFT_FAULT_NOT_A_NUMBER = 2,
       WEFT_FAULT_INFINITE = 3, WEFT_FAULT_NEGATIVE = 4, WEFT_FAULT_FRACTIONAL = 5,
       WEFT_FAULT_OUT_OF_RANGE = 6, WEFT_FAULT_INEXACT = 7 };
/** A sample, row or vector that an op could not take. */
typedef struct weft_failure {
    uint64_t sample, position, job; /**< position: of the first value at fault in the sample */
    weft_value_fault fault; uint32_t reserved;
} weft_failure;
/** The samples at fault of that failure, if it is about values; of fields, the text alone names one. Writes
 * at most `capacity`; returns how many there are. */
uint64_t weft_last_failures(weft_failure* failures, uint64_t capacity);

/** # Handles, memory and types */
typedef struct weft_device_list weft_device_list; typedef struct weft_backend weft_backend;
typedef struct weft_spirv weft_spirv; typedef struct weft_program weft_program;
typedef struct weft_buffer weft_buffer; typedef struct weft_registration weft_registration;
typedef struct weft_stream weft_stream; typedef struct weft_event weft_event;
typedef struct weft_sequence weft_sequence; typedef struct weft_pipeline weft_pipeline;
typedef struct weft_encode_outcome weft_encode_outcome; typedef struct weft_lattice_table weft_lattice_table;
typedef struct weft_kernel_operator weft_kernel_operator; typedef struct weft_kernel_store weft_kernel_store;
typedef struct weft_profile weft_profile; typedef struct weft_text weft_text;
/** Host memory that a call reads, or writes; aligned to its elements. Empty: {NULL, 0}. */
typedef struct weft_const_span { const void* data; uint64_t bytes; } weft_const_span;
typedef struct weft_span { void* data; uint64_t bytes; } weft_span;
/** A part of a buffer, for steps of a stream. offset: a multiple of the element's size. Empty: all 0. */
typedef struct weft_view { weft_buffer* buffer; uint64_t offset, bytes; } weft_view;
/** Complex numbers are two of half as many bits, real part first. */
typedef uint32_t weft_type;
enum { WEFT_FLOAT32 = 1, WEFT_FLOAT64 = 2, WEFT_COMPLEX64 = 3, WEFT_COMPLEX128 = 4, WEFT_INT64 = 5 };
typedef uint32_t weft_choice; enum { WEFT_AUTOMATIC = 0, WEFT_OFF = 1, WEFT_ON = 2 };
/** A text that a call made. */
const char* weft_text_data(const weft_text* text);
void weft_text_retain(weft_text* text); void weft_text_release(weft_text* text);

/** # Devices and backends */
/** How the bytes of a job reach its kernel: docs/architecture.md. */
typedef uint32_t weft_path; enum { WEFT_PATH_AUTOMATIC = 0, WEFT_PATH_STAGED = 1, WEFT_PATH_DIRECT = 2,
       WEFT_PATH_IMPORTED = 3, WEFT_PATH_HOST = 4 };
typedef uint32_t weft_queue_mode;
enum { WEFT_QUEUES_AUTOMATIC = 0, WEFT_QUEUES_SINGLE = 1, WEFT_QUEUES_SPLIT = 2 };
/** What allocates page-locked memory. */
typedef uint32_t weft_host_allocator;
enum { WEFT_ALLOCATOR_AUTOMATIC = 0, WEFT_ALLOCATOR_VULKAN = 1, WEFT_ALLOCATOR_CUDA = 2 };
typedef uint32_t weft_validation; enum { WEFT_VALIDATION_DEFAULT = 0, WEFT_VALIDATION_OFF = 1,
       WEFT_VALIDATION_ON = 2, WEFT_VALIDATION_SYNC = 3 };
typedef uint32_t weft_log_level; enum { WEFT_LOG_DEFAULT = 0, WEFT_LOG_OFF = 1, WEFT_LOG_ERROR = 2,
       WEFT_LOG_WARNING = 3, WEFT_LOG_INFO = 4, WEFT_LOG_DEBUG = 5 };
/** Gets one line without a line feed, from any thread, one at a time. Must not call weft. */
typedef void (*weft_log_fn)(void* user, weft_log_level level, const char* line);
/** Settings of a backend. What is 0 or NULL is as the environment says (WEFT_DEVICE and the other variables
 * of docs/configuration.md), or with ignore_environment as weft chooses. */
typedef struct weft_backend_options {
    uint32_t size, ignore_environment;
    const char* device; /**< index, start of the UUID, part of the name, "cpu", "all", or a list: "0,2" */
    uint64_t chunk_elements, memory_limit; /**< memory_limit: bytes taken from the device at most */
    uint32_t ring_slots, copy_threads, dispatch_ms; /**< dispatch_ms: longest time of one dispatch */
    weft_choice device_local; weft_path path; weft_queue_mode queues; weft_host_allocator host_allocator;
    weft_validation validation; weft_log_level log_level; weft_choice cache; /**< cache: pipelines on disk */
    uint32_t vulkan_1_2_only, reserved;
    weft_log_fn log; void* log_user; /**< NULL: stderr. Called as long as what is made of the backend lives */
    const char *trace, *cache_dir; /**< trace: a file, written when the backend ends */
    const char* vulkan_library; /**< the loader to open */
} weft_backend_options;
typedef uint32_t weft_device_type;
enum { WEFT_DISCRETE = 0, WEFT_INTEGRATED = 1, WEFT_VIRTUAL = 2, WEFT_CPU = 3, WEFT_OTHER_DEVICE = 4 };
/** One physical device as its driver reports it. */
typedef struct weft_device_info {
    uint32_t size, index; /**< index: for weft_backend_options.device */
    const char *name, *driver, *uuid; /**< driver: its name and version; uuid: 32 hexadecimal digits */
    const char* refused; /**< why weft cannot use it, a line for each reason; empty: it can */
    weft_device_type type; uint32_t chosen; /**< chosen: the best that these options name */
    uint32_t vendor_id, device_id, api_major, api_minor; /**< api: version of Vulkan */
    uint64_t memory_bytes, max_buffer_bytes;
    uint32_t unified_memory, int64, float64; /**< the host can map all device memory; what shaders can use */
    uint32_t subgroup_size, view_alignment, reserved; /**< view_alignment: of views in a dispatch */
} weft_device_info;
/** Every device that the loader reports, also those that cannot be used. */
weft_status weft_list_devices(const weft_backend_options* options, weft_device_list** list);
void weft_device_list_retain(weft_device_list* list); void weft_device_list_release(weft_device_list* list);
uint64_t weft_device_list_count(const weft_device_list* list);
weft_status weft_device_list_get(const weft_device_list* list, uint64_t at, weft_device_info* info);

/** Opens a device, or every device that the setting names. Calls on host memory share their work among
 * several devices (docs/devices.md); programs, pipelines, host buffers and registrations are for them all.
 * What belongs to one device (streams, device memory, profiles, estimates, and what describes a device)
 * refuses such a backend and takes one of weft_backend_at. The last release of a backend waits for its work.
 * A driver does not survive a fork: in a child of a process that had opened or listed devices, this and every
 * call with a device is WEFT_UNSUPPORTED, so fork before, or use exec. Such a child ends by _exit or exec. */
weft_status weft_backend_create(const weft_backend_options* options, weft_backend** backend);
void weft_backend_retain(weft_backend* backend); void weft_backend_release(weft_backend* backend);
/** Devices of a backend; 0 for NULL. */
uint64_t weft_backend_count(const weft_backend* backend);
/** A backend of one of them alone, as a handle of its own; of one device, the backend itself. It keeps all of
 * them open. What is made for it is not for the others. */
weft_status weft_backend_at(weft_backend* backend, uint64_t at, weft_backend** one);
/** Name of the device, or names with " + " between; empty for NULL. */
const char* weft_backend_name(const weft_backend* backend);
weft_status weft_backend_device(const weft_backend* backend, weft_device_info* info);
/** What was chosen for the device, a line with the reason for each choice. */
weft_status weft_backend_plan(const weft_backend* backend, weft_text** text);
weft_status weft_backend_wait_idle(weft_backend* backend);
/** Frees staging memory and scratch that no call uses at the moment. */
weft_status weft_backend_trim(weft_backend* backend);
/** Writes the pipeline cache now. `saved`, which may be NULL, gets 0 if it is off or cannot be written. */
weft_status weft_backend_save_pipeline_cache(weft_backend* backend, uint32_t* saved);
/** Running totals of a backend. */
typedef struct weft_counters {
    uint32_t size, reserved; uint64_t objects_created, memory_allocations, descriptor_updates, recordings;
    uint64_t submissions, imports, validation_messages, pipelines_created, pipelines_reused;
} weft_counters;
weft_status weft_backend_counters(const weft_backend* backend, weft_counters* counters);
typedef struct weft_memory {
    uint32_t size, reserved; uint64_t live_bytes, peak_bytes, live_buffers; /**< of buffers */
    uint64_t block_bytes, blocks, limit; double fragmentation; /**< of what was taken from the driver */
} weft_memory;
weft_status weft_backend_memory(const weft_backend* backend, weft_memory* memory);
/** Seconds of the parts of the start of a backend. */
typedef struct weft_startup {
    uint32_t size, reserved; double loader_s, instance_s, devices_s, device_s, caches_s, first_pipeline_s;
    double first_dispatch_s, first_result_s;
} weft_startup;
weft_status weft_backend_startup(const weft_backend* backend, weft_startup* startup);

/** # Programs */
/** `#define name value`; value may be NULL. */
typedef struct weft_glsl_macro { const char* name; const char* value; } weft_glsl_macro;
typedef uint32_t weft_optimization;
enum { WEFT_OPTIMIZE_PERFORMANCE = 0, WEFT_OPTIMIZE_SIZE = 1, WEFT_OPTIMIZE_NONE = 2 };
/** A compute shader in GLSL: exactly one of `file` and `text`. */
typedef struct weft_glsl_source {
    uint32_t size; weft_optimization optimization;
    const char *file, *text, *name; /**< name: of `text` in messages */
    const char* const* include_dirs; const weft_glsl_macro* macros;
    uint32_t include_dir_count, macro_count, debug_info, warnings_as_errors;
    weft_choice cache; uint32_t reserved; const char* cache_dir; /**< cache: results on disk */
} weft_glsl_source;
/** WEFT_UNSUPPORTED: this library was built without the compiler. */
weft_status weft_compile_glsl(const weft_glsl_source* source, weft_spirv** spirv);
void weft_spirv_retain(weft_spirv* spirv); void weft_spirv_release(weft_spirv* spirv);
weft_const_span weft_spirv_words(const weft_spirv* spirv);
/** Warnings of the compiler, usually empty. */
const char* weft_spirv_warnings(const weft_spirv* spirv);
/** Value of a specialization constant of 32 bits; `floating` for a float. */
typedef struct weft_constant { uint32_t id, bits, floating, reserved; } weft_constant;
typedef struct weft_program_options {
    uint32_t size, require_full_subgroups; const char *name, *entry; /**< entry NULL: "main" */
    const weft_constant* constants;
    const uint32_t* written_first; /**< bindings that are read only after they were written */
    uint32_t constant_count, written_first_count, local_size[3]; /**< local_size 0: as in the shader */
    uint32_t elements_per_workgroup, max_workgroups, workgroups_per_element, subgroup_size, reserved;
    double operations_per_element; /**< about; 0: unknown */
} weft_program_options;
/** A compute pipeline of SPIR-V words, which are copied. The rules of shaders are in docs/shaders.md. */
weft_status weft_program_create(weft_backend* backend, weft_const_span words,
    const weft_program_options* options, weft_program** program);
void weft_program_retain(weft_program* program); void weft_program_release(weft_program* program);
typedef struct weft_program_info {
    uint32_t size, bindings; const char* name; /**< bindings: how many there are */
    uint32_t push_constant_bytes, local_size[3], subgroup_size, folds; double create_s;
} weft_program_info;
weft_status weft_program_describe(const weft_program* program, weft_program_info* info);
typedef uint32_t weft_access; enum { WEFT_READ = 0, WEFT_WRITE = 1, WEFT_READ_WRITE = 2 };
/** A storage buffer that the shader uses. */
typedef struct weft_binding {
    uint32_t size, binding; /**< binding: its number in set 0 */
    const char* name; /**< empty if the SPIR-V has none */
    weft_access access; uint32_t reserved; uint64_t least_bytes;
} weft_binding;
/** Bindings have ascending numbers; `at` counts from 0. */
weft_status weft_program_binding(const weft_program* program, uint64_t at, weft_binding* binding);

/** # Batches: many jobs in host memory through one program */
typedef struct weft_progress { uint64_t done, total; double elapsed_s, per_s, remaining_s; } weft_progress;
/** Called whenever more is done, on the thread of the call. weft_run_batch and pipelines count jobs, all
 * others what weft_report.items counts, and weft_lattice_search_beta betas, whose total may grow. Other
 * than 0 ends the call: WEFT_CANCELLED, outputs undefined. */
typedef int (*weft_progress_fn)(void* user, const weft_progress* progress);
typedef uint32_t weft_batch_mode; enum { WEFT_PIPELINED = 0, WEFT_SEQUENTIAL = 1 };
/** Of every call on host memory. What a call cannot honour is refused. */
typedef struct weft_batch_options {
    uint32_t size; weft_batch_mode mode; weft_path path; weft_queue_mode queues;
    uint64_t chunk_elements; uint32_t ring_slots; weft_choice stage_times; /**< 0: as configured */
    weft_progress_fn progress; void* user;
} weft_batch_options;
enum { WEFT_STAGE_UPLOAD = 0, WEFT_STAGE_KERNEL = 1, WEFT_STAGE_DOWNLOAD = 2, WEFT_STAGE_COPY_IN = 3,
       WEFT_STAGE_COPY_OUT = 4 };
/** What a call on host memory did, measured or counted in that call. */
typedef struct weft_report {
    uint32_t size; weft_path path; uint32_t mixed_paths, split_queues, ring_slots, reserved;
    uint64_t items; /**< elements, transforms, samples of encodes, pairs of rows, vectors of lattice codes */
    uint64_t jobs, elements, chunks, bundles, chunk_elements, bytes_in, bytes_out;
    uint64_t waits; /**< times the host waited for the device */
    uint64_t retried, unresolved; /**< vectors of lattice codes with a retry; with a wrong code */
    double wall_s, wait_s, copy_in_s, copy_out_s;
    double stage_s[5]; /**< busy time of each stage; 0 without stage times, as states_s and product_s */
    double device_s, overlap; /**< time in which at least one stage ran; share of it with two or more */
    double gb_per_s, items_per_s, states_s, product_s; /**< the last two: of kernel matrices */
    char op[32], method[32], host_memory[16], queues[128];
    uint64_t devices; /**< rows of weft_last_report_device; 0: the backend has one device */
} weft_report;
/** What one device of several did in a call. */
typedef struct weft_device_report {
    uint32_t size, device; /**< device: its place in the backend */
    const char *name, *note; /**< note: the error if it failed; why it took no share, or no more; or empty */
    uint64_t shares, jobs; /**< a job that several devices did counts for each */
    uint64_t items; /**< as in weft_report; of weft_run_batch and pipelines, elements */
    uint64_t bytes_in, bytes_out;
    double busy_s, idle_end_s; /**< in its shares; from the end of the last one to the end of the call */
    uint32_t lost, reserved; /**< lost: in this call or before */
} weft_device_report;
/** Row `at` of the last weft_report that this thread got. Texts live until it gets the next one. */
weft_status weft_last_report_device(uint64_t at, weft_device_report* row);
/** One unit of work, at most 8 inputs and 8 outputs, in the order of the program's bindings. Bit i of
 * `broadcast`: input i is whole for every chunk. Parameters, a multiple of 4 and at most 248 bytes, follow
 * `count` and `first` in the push constants. */
typedef struct weft_job {
    const weft_const_span* inputs; const weft_span* outputs;
    uint32_t input_count, output_count, broadcast, reserved;
    uint64_t elements; weft_const_span parameters;
    const char* name; /**< may be NULL */
} weft_job;
/** Runs all jobs and returns when every output is in place. */
weft_status weft_run_batch(weft_backend* backend, const weft_program* program, const weft_job* jobs,
    uint64_t count, const weft_batch_options* options, weft_report* report);
/** A batch that takes jobs one by one. The callback for progress runs on a thread of the pipeline; it may
 * submit, and must not wait or release. Other than 0 fails the jobs that are not done: their state is
 * WEFT_JOB_FAILED, and waits for them and every later submit return WEFT_CANCELLED. The last release cancels
 * queued jobs and waits for running ones. */
weft_status weft_pipeline_create(weft_backend* backend, const weft_program* program,
    const weft_batch_options* options, weft_pipeline** pipeline);
void weft_pipeline_retain(weft_pipeline* pipeline); void weft_pipeline_release(weft_pipeline* pipeline);
/** Never waits. Copies the job with its lists and parameters. The memory of its spans belongs to the pipeline
 * until a wait for the token has returned anything but WEFT_TIMEOUT. */
weft_status weft_pipeline_submit(weft_pipeline* pipeline, const weft_job* job, uint64_t* token);
#define WEFT_FOREVER UINT64_MAX
/** WEFT_TIMEOUT: the job still runs. Otherwise WEFT_OK, or the job's own failure. */
weft_status weft_pipeline_wait(weft_pipeline* pipeline, uint64_t token, uint64_t timeout_ns);
/** Waits for every job; returns the first failure of a job that no wait has reported, and that
 * weft_pipeline_cancel did not cancel. */
weft_status weft_pipeline_wait_all(weft_pipeline* pipeline);
typedef uint32_t weft_job_state; enum { WEFT_JOB_QUEUED = 0, WEFT_JOB_RUNNING = 1, WEFT_JOB_DONE = 2,
       WEFT_JOB_FAILED = 3, WEFT_JOB_CANCELLED = 4 };
weft_status weft_pipeline_state(const weft_pipeline* pipeline, uint64_t token, weft_job_state* state);
/** Sets `cancelled` to 1 if the job will never run, to 0 if it is too late. */
weft_status weft_pipeline_cancel(weft_pipeline* pipeline, uint64_t token, uint32_t* cancelled);
/** Totals of the jobs done so far. */
weft_status weft_pipeline_report(const weft_pipeline* pipeline, weft_report* report);

/** # Buffers and streams: data that stays on the device */
/** Host memory is page-locked: jobs and streams use it without a staging copy. */
typedef uint32_t weft_memory_kind; enum { WEFT_DEVICE_MEMORY = 0, WEFT_HOST_MEMORY = 1 };
/** `name`, which may be NULL, appears in reports. */
weft_status weft_buffer_create(weft_backend* backend, weft_memory_kind kind, uint64_t bytes, const char* name,
    weft_buffer** buffer);
void weft_buffer_retain(weft_buffer* buffer); void weft_buffer_release(weft_buffer* buffer);
uint64_t weft_buffer_bytes(const weft_buffer* buffer);
/** The memory of a host buffer; NULL for device memory. */
void* weft_buffer_data(const weft_buffer* buffer);
/** All of a buffer. */
weft_view weft_buffer_view(weft_buffer* buffer);
/** Page-locks memory of the caller until it is released: jobs whose spans lie in it skip the staging copy. */
weft_status weft_registration_create(weft_backend* backend, weft_span memory,
    weft_registration** registration);
void weft_registration_retain(weft_registration*); void weft_registration_release(weft_registration*);
typedef uint32_t weft_stream_queue;
enum { WEFT_QUEUE_COMPUTE = 0, WEFT_QUEUE_UPLOAD = 1, WEFT_QUEUE_DOWNLOAD = 2 };
typedef struct weft_stream_options {
    uint32_t size; weft_stream_queue queue; const char* name; /**< the last two take all but dispatches */
} weft_stream_options;
/** Ordered work: each step sees the results of those before it. The last release waits for submitted work and
 * drops what was not submitted. */
weft_status weft_stream_create(weft_backend* backend, const weft_stream_options* options,
    weft_stream** stream);
void weft_stream_retain(weft_stream* stream); void weft_stream_release(weft_stream* stream);
/** Copies the source before it returns. */
weft_status weft_stream_upload(weft_stream* stream, weft_const_span source, weft_view target);
/** Submits, waits, and copies to host memory. */
weft_status weft_stream_download(weft_stream* stream, weft_view source, weft_span target);
weft_status weft_stream_fill(weft_stream* stream, weft_view target, uint32_t word);
weft_status weft_stream_copy(weft_stream* stream, weft_view source, weft_view target);
/** Runs a program over `elements`: one view a binding, in ascending numbers. */
weft_status weft_stream_dispatch(weft_stream* stream, const weft_program* program, const weft_view* views,
    uint64_t count, uint64_t elements, weft_const_span parameters);
/** Hands what was recorded to the device. `event` may be NULL. */
weft_status weft_stream_submit(weft_stream* stream, weft_event** event);
/** Submits, then waits. */
weft_status weft_stream_wait(weft_stream* stream, uint64_t timeout_ns);
/** Work that is recorded from now on runs after `event` of any stream of the backend. */
weft_status weft_stream_wait_for(weft_stream* stream, const weft_event* event);
/** Records steps on the stream that it gets. Other than 0 drops them. */
typedef int (*weft_record_fn)(void* user, weft_stream* stream);
/** Records the steps that the callback makes, without running them. */
weft_status weft_stream_record(weft_stream* stream, weft_record_fn steps, void* user,
    weft_sequence** sequence);
/** Submits what is pending, then the sequence. `event` may be NULL. */
weft_status weft_stream_replay(weft_stream* stream, const weft_sequence* sequence, weft_event** event);
void weft_event_retain(weft_event* event); void weft_event_release(weft_event* event);
/** From any thread; 0 asks whether it was reached. */
weft_status weft_event_wait(const weft_event* event, uint64_t timeout_ns);
typedef struct weft_sequence_info {
    uint32_t size, reserved; uint64_t steps, dispatches, barriers;
} weft_sequence_info;
weft_status weft_sequence_describe(const weft_sequence* sequence, weft_sequence_info* info);
void weft_sequence_retain(weft_sequence* sequence); void weft_sequence_release(weft_sequence* sequence);

/** # Fields: vectors over eleven prime fields (docs/field.md) */
typedef uint32_t weft_field; enum { WEFT_BLS12_381_FP = 0, WEFT_BLS12_381_FR = 1, WEFT_BN254_FP = 2,
       WEFT_BN254_FR = 3, WEFT_BLS12_377_FP = 4, WEFT_BLS12_377_FR = 5, WEFT_STARK252 = 6,
       WEFT_GOLDILOCKS = 7, WEFT_BABYBEAR = 8, WEFT_KOALABEAR = 9, WEFT_MERSENNE31 = 10 };
typedef struct weft_field_info {
    uint32_t size, bits, limbs, limb_bytes, element_bytes, reserved;
    const char* name;
    uint64_t modulus[6]; /**< least significant first, as the next one: of the multiplicative group */
    uint64_t generator[6];
    uint32_t two_adicity, ntt_max_log_size; /**< of p - 1; of weft_ntt. 0: no transforms in this field */
} weft_field_info;
weft_status weft_field_describe(weft_field field, weft_field_info* info);
/** The field of a name like "bls12-381-fr". */
weft_status weft_field_find(const char* name, weft_field* field);
/** axpy: scalar * a + b. */
typedef uint32_t weft_field_op;
enum { WEFT_FIELD_ADD = 0, WEFT_FIELD_SUB = 1, WEFT_FIELD_NEG = 2, WEFT_FIELD_MUL = 3, WEFT_FIELD_SQUARE = 4,
       WEFT_FIELD_INVERSE = 5, WEFT_FIELD_TO_MONTGOMERY = 6, WEFT_FIELD_FROM_MONTGOMERY = 7,
       WEFT_FIELD_AXPY = 8, WEFT_FIELD_SUM = 9, WEFT_FIELD_INNER_PRODUCT = 10 };
typedef uint32_t weft_field_form; enum { WEFT_PLAIN = 0, WEFT_MONTGOMERY = 1 };
typedef uint32_t weft_field_shader;
enum { WEFT_SHADER_AUTOMATIC = 0, WEFT_SHADER_LIMBS32 = 1, WEFT_SHADER_LIMBS64 = 2 };
typedef struct weft_field_options {
    uint32_t size; weft_field_form form; weft_field_shader shader; /**< form: of a, b, scalar and out */
    uint32_t check_values; /**< refuses values of p or more before anything runs */
    uint32_t workgroup_size, block_elements; /**< streams and programs alone; 0: planned */
    const weft_batch_options* batch;
} weft_field_options;
/** Arrays of limbs, least significant first: uint64_t, or uint32_t for fields of 31 bits. `out` may be
 * exactly `a` or `b`. `b` and `scalar` are empty for operations that take none. A sum or inner product is one
 * element. */
weft_status weft_field_apply(weft_backend* backend, weft_field field, weft_field_op op, weft_const_span a,
    weft_const_span b, weft_const_span scalar, weft_span out, const weft_field_options* options,
    weft_report* report);
typedef struct weft_field_job { weft_const_span a, b, scalar; weft_span out; } weft_field_job;
weft_status weft_field_batch(weft_backend* backend, weft_field field, weft_field_op op,
    const weft_field_job* jobs, uint64_t count, const weft_field_options* options, weft_report* report);
/** The same as a step of a stream. The scalar is read during the call. */
weft_status weft_stream_field_apply(weft_stream* stream, weft_field field, weft_field_op op, weft_view a,
    weft_view b, weft_const_span scalar, weft_view out, const weft_field_options* options);
/** The program of an operation on each element, for batches, pipelines and dispatches: bindings a, b, out. */
weft_status weft_field_program(weft_backend* backend, weft_field field, weft_field_op op,
    const weft_field_options* options, weft_program** program);

/** # Transforms of polynomials over these fields (docs/ntt.md) */
typedef uint32_t weft_ntt_direction; enum { WEFT_NTT_FORWARD = 0, WEFT_NTT_INVERSE = 1 };
/** Order of input and output: natural (N) or bit-reversed (R). NR and RN need no pass that only reorders. */
typedef uint32_t weft_ntt_order; enum { WEFT_NTT_NN = 0, WEFT_NTT_NR = 1, WEFT_NTT_RN = 2 };
/** [batch, N]: each transform contiguous; [N, batch]: element i of all transforms, then i + 1. */
typedef uint32_t weft_ntt_layout; enum { WEFT_NTT_ROWS = 0, WEFT_NTT_COLUMNS = 1 };
typedef struct weft_ntt_shape {
    uint32_t log_size; weft_ntt_layout layout; /**< N = 2^log_size, 1 to weft_field_info.ntt_max_log_size */
    uint64_t batch; /**< number of transforms */
    uint64_t inputs; /**< forward, NN or NR: elements of each input, the others count as 0; 0: N */
} weft_ntt_shape;
typedef struct weft_ntt_options {
    uint32_t size; weft_ntt_order order;
    weft_field_form form; weft_field_shader shader; /**< form: of coset and root */
    uint32_t check_values, tile_bits, pass_bits, reserved; /**< tile_bits, pass_bits: streams; 0: planned */
    weft_const_span coset, root; /**< an element each, g and w below; empty: 1 and weft_ntt_root */
    const weft_batch_options* batch;
} weft_ntt_options;
/** forward: X[j] = sum of x[i] (g w^j)^i, the values of a polynomial; inverse: the coefficients x of values.
 * Limbs as in weft_field_apply. `out` may be exactly `in` if shape.inputs is 0. */
weft_status weft_ntt(weft_backend* backend, weft_field field, weft_ntt_direction direction,
    weft_const_span in, weft_span out, weft_ntt_shape shape, const weft_ntt_options* options,
    weft_report* report);
weft_status weft_stream_ntt(weft_stream* stream, weft_field field, weft_ntt_direction direction, weft_view in,
    weft_view out, weft_ntt_shape shape, const weft_ntt_options* options);
/** Low-degree extension: values at the N powers of w^blowup become values at g w^j, N * blowup of them, where
 * w has the order N * blowup. blowup: 2, 4, 8 or 16. shape: of `in`, with inputs 0. */
weft_status weft_ntt_extend(weft_backend* backend, weft_field field, weft_const_span in, weft_span out,
    weft_ntt_shape shape, uint32_t blowup, const weft_ntt_options* options, weft_report* report);
weft_status weft_stream_ntt_extend(weft_stream* stream, weft_field field, weft_view in, weft_view out,
    weft_ntt_shape shape, uint32_t blowup, const weft_ntt_options* options);
/** Products of polynomials: a has m coefficients, b n, out m + n - 1. */
weft_status weft_ntt_product(weft_backend* backend, weft_field field, weft_const_span a, weft_const_span b,
    weft_span out, const weft_field_options* options, weft_report* report);
weft_status weft_stream_ntt_product(weft_stream* stream, weft_field field, weft_view a, weft_view b,
    weft_view out, const weft_field_options* options);
/** The root of order 2^log_size, plain, least significant limb first. */
weft_status weft_ntt_root(weft_field field, uint32_t log_size, uint64_t root[6]);

/** # Encoders: values into quantum states (docs/encode.md) */
typedef uint32_t weft_encode_method; enum { WEFT_ENCODE_AMPLITUDE = 0, WEFT_ENCODE_ANGLE = 1,
       WEFT_ENCODE_BASIS = 2, WEFT_ENCODE_PHASE = 3, WEFT_ENCODE_IQP = 4, WEFT_ENCODE_IQP_Z = 5 };
typedef struct weft_encode_options {
    uint32_t size, check_values; /**< on streams too; refuses a batch before a state is written */
    const weft_batch_options* batch;
} weft_encode_options;
/** Values of a sample; of an amplitude encode, the most. */
weft_status weft_encode_features(weft_encode_method method, uint32_t qubits, uint64_t* features);
/** values: [samples, features] of float32 or float64, for basis also int64; states: [samples, 2^qubits] of
 * complex64 or complex128. Without check_values, samples that cannot be encoded become zeros, all others are
 * right, and the call returns WEFT_INVALID_ARGUMENT, whose weft_last_failures names them. */
weft_status weft_encode(weft_backend* backend, weft_encode_method method, weft_type values_type,
    weft_const_span values, weft_type states_type, weft_span states, uint64_t samples, uint32_t qubits,
    const weft_encode_options* options, weft_report* report);
typedef struct weft_encode_job {
    weft_const_span values; weft_span states; uint64_t samples;
} weft_encode_job;
weft_status weft_encode_batch(weft_backend* backend, weft_encode_method method, weft_type values_type,
    weft_type states_type, const weft_encode_job* jobs, uint64_t count, uint32_t qubits,
    const weft_encode_options* options, weft_report* report);
/** As a step of a stream. `outcome`, which may be NULL, knows later which samples failed. */
weft_status weft_stream_encode(weft_stream* stream, weft_encode_method method, weft_type values_type,
    weft_view values, weft_type states_type, weft_view states, uint64_t samples, uint32_t qubits,
    const weft_encode_options* options, weft_encode_outcome** outcome);
/** Submits the stream, waits, and fails if a sample could not be encoded. */
weft_status weft_encode_outcome_check(const weft_encode_outcome* outcome, weft_stream* stream);
void weft_encode_outcome_retain(weft_encode_outcome*); void weft_encode_outcome_release(weft_encode_outcome*);

/** # Kernel matrices: K[i, j] = |<psi(y_j)|psi(x_i)>|^2 (docs/kernel_matrix.md) */
typedef uint32_t weft_feature_map; enum { WEFT_MAP_RYRZ = 0, WEFT_MAP_RY = 1 };
typedef struct weft_kernel_circuit {
    uint32_t size; weft_feature_map map;
    weft_const_span weights; /**< [layers, qubits]; empty: no layers */
    weft_type weights_type; uint32_t reupload; double scale; /**< weights: float32 or float64; scale 0: 1 */
} weft_kernel_circuit;
/** Rows of X and Y, which have `qubits` columns; others 0: Y is X. K is [samples, others], or square. */
typedef struct weft_kernel_shape { uint64_t samples, others; uint32_t qubits, reserved; } weft_kernel_shape;
typedef struct weft_kernel_options {
    uint32_t size, normalize; weft_choice autotune, bulk_states;
    uint64_t state_tile; /**< states built at a time; 0: planned */
    double vram_fraction; /**< part of the memory budget that may be used; 0: 0.85 */
    double jitter; /**< added to the diagonal before `normalize` divides by it */
    const weft_batch_options* batch;
    weft_type type; /**< of an operator, its vectors and its arithmetic; 0: float32 */
    weft_choice symmetric, low_rank; uint32_t reserved; /**< of operators */
} weft_kernel_options;
/** x, y: features of one type, float32 or float64; y is empty for a square K. k: float32 or float64. A
 * circuit of NULL is the map ryrz alone. */
weft_status weft_kernel_matrix(weft_backend* backend, const weft_kernel_circuit* circuit, weft_type x_type,
    weft_const_span x, weft_const_span y, weft_type k_type, weft_span k, weft_kernel_shape shape,
    const weft_kernel_options* options, weft_report* report);
/** The same of states, [rows, 2^qubits] of complex64 or complex128. */
weft_status weft_kernel_matrix_of_states(weft_backend* backend, weft_type states_type, weft_const_span states,
    weft_const_span others, weft_type k_type, weft_span k, weft_kernel_shape shape,
    const weft_kernel_options* options, weft_report* report);
weft_status weft_stream_kernel_matrix(weft_stream* stream, const weft_kernel_circuit* circuit,
    weft_type x_type, weft_view x, weft_view y, weft_type k_type, weft_view k, weft_kernel_shape shape,
    const weft_kernel_options* options);
weft_status weft_stream_kernel_matrix_of_states(weft_stream* stream, weft_type states_type, weft_view states,
    weft_view others, weft_type k_type, weft_view k, weft_kernel_shape shape,
    const weft_kernel_options* options);

/** K in a file that survives the process. FILE.part and FILE.tiles have the finished tiles; the same calls of
 * a later process make the missing ones alone. WEFT_IO: another one has FILE open. type: float32 or float64;
 * tile_bytes 0: 128 MiB. */
weft_status weft_kernel_store_create(const char* file, weft_kernel_shape shape, weft_type type,
    uint64_t tile_bytes, weft_kernel_store** store);
void weft_kernel_store_retain(weft_kernel_store*); void weft_kernel_store_release(weft_kernel_store*);
/** weft_kernel_matrix into a store, once; of states if x_type is complex, and then `circuit` is NULL. */
weft_status weft_kernel_store_fill(weft_kernel_store* store, weft_backend* backend,
    const weft_kernel_circuit* circuit, weft_type x_type, weft_const_span x, weft_const_span y,
    const weft_kernel_options* options, weft_report* report);
typedef struct weft_kernel_store_info {
    uint32_t size, reserved; uint64_t tiles, kept, damaged; /**< of K; that fill found whole; and damaged */
    weft_const_span values; /**< K, until finish or the last release; empty before it is filled */
} weft_kernel_store_info;
weft_status weft_kernel_store_describe(weft_kernel_store* store, weft_kernel_store_info* info);
/** K, which must be whole, becomes FILE, a .npy. */
weft_status weft_kernel_store_finish(weft_kernel_store* store);

/** What follows a matrix in host memory. K is [rows, rows] of float32 or float64; labels are 1 and -1. */
weft_status weft_kernel_alignment(weft_type k_type, weft_const_span k, const double* labels, uint64_t rows,
    uint32_t rescale_labels, double* alignment);
weft_status weft_kernel_polarity(weft_type k_type, weft_const_span k, const double* labels, uint64_t rows,
    uint32_t rescale_labels, double* polarity);
weft_status weft_kernel_center(weft_type k_type, weft_span k, uint64_t rows);
/** Reads the lower triangle alone. `negative`, which may be NULL, gets how many eigenvalues were below 0. */
weft_status weft_kernel_clip(weft_type k_type, weft_span k, uint64_t rows, uint64_t* negative);
weft_status weft_kernel_normalize(weft_type k_type, weft_span k, uint64_t rows, double jitter);
/** What a call takes, before anything is allocated. */
typedef struct weft_estimate {
    uint32_t size, resident_fits, streamed_fits, reserved;
    uint64_t resident_bytes; /**< device memory of a call on a stream in addition to its arrays */
    uint64_t streamed_bytes, available_bytes; /**< of a call on host memory; that there is */
    uint64_t state_tile; /**< of kernel matrices, as the next three; 0: no states are built */
    double error, state_flops, pair_flops; /**< error: bound on errors of K */
    char method[32], reason[256]; /**< reason: why something does not fit, or the last decision */
    uint64_t held_bytes, pairs, passes; /**< of operators, as the rest; pairs: values of K in a pass */
    uint32_t symmetric, columns_together; double instructions;
} weft_estimate;
/** features: of an amplitude encode; 0: 2^qubits. */
weft_status weft_estimate_encode(const weft_backend* backend, weft_encode_method method,
    weft_type values_type, weft_type states_type, uint64_t samples, uint32_t qubits, uint64_t features,
    weft_estimate* estimate);
weft_status weft_estimate_kernel_matrix(const weft_backend* backend, const weft_kernel_circuit* circuit,
    weft_kernel_shape shape, weft_type k_type, const weft_kernel_options* options, weft_estimate* estimate);

/** # Kernel operators: products with K, which is never stored (docs/kernel_operator.md) */
/** Of features as in weft_kernel_matrix, copied to the device; of states if x_type is complex, and then
 * `circuit` is NULL. One that a stream makes is for this stream, and for others after its event. */
weft_status weft_kernel_operator_create(weft_backend* backend, const weft_kernel_circuit* circuit,
    weft_type x_type, weft_const_span x, weft_const_span y, weft_kernel_shape shape,
    const weft_kernel_options* options, weft_kernel_operator** k);
weft_status weft_stream_kernel_operator_create(weft_stream* stream, const weft_kernel_circuit* circuit,
    weft_type x_type, weft_view x, weft_view y, weft_kernel_shape shape, const weft_kernel_options* options,
    weft_kernel_operator** k);
void weft_kernel_operator_retain(weft_kernel_operator*);
void weft_kernel_operator_release(weft_kernel_operator*);
/** Before it is made, for products with 1 to 64 columns. errors: at most estimate.error * sum of |v|. */
weft_status weft_estimate_kernel_operator(const weft_backend* backend, const weft_kernel_circuit* circuit,
    weft_kernel_shape shape, uint32_t columns, const weft_kernel_options* options, weft_estimate* estimate);
typedef struct weft_kernel_apply_options {
    uint32_t size, transpose; double a, b, lambda; /**< transpose: of K; a 0: 1 */
    const weft_batch_options* batch; /**< progress alone */
} weft_kernel_apply_options;
/** out = a (K + lambda I) v + b out. v: [columns of K, n], out: [rows of K, n] of k's type; n: 1 to 64. */
weft_status weft_kernel_apply(weft_backend* backend, const weft_kernel_operator* k, weft_const_span v,
    weft_span out, const weft_kernel_apply_options* options, weft_report* report);
weft_status weft_stream_kernel_apply(weft_stream* stream, const weft_kernel_operator* k, weft_view v,
    weft_view out, const weft_kernel_apply_options* options);
/** out: [count, columns of K], rows in any order, also repeated. */
weft_status weft_kernel_rows(weft_backend* backend, const weft_kernel_operator* k, const uint32_t* rows,
    uint64_t count, weft_span out, weft_report* report);
weft_status weft_stream_kernel_rows(weft_stream* stream, const weft_kernel_operator* k, const uint32_t* rows,
    uint64_t count, weft_view out);
/** out: [samples], of a square K. */
weft_status weft_kernel_diagonal(weft_backend* backend, const weft_kernel_operator* k, weft_span out,
    weft_report* report);
weft_status weft_stream_kernel_diagonal(weft_stream* stream, const weft_kernel_operator* k, weft_view out);
typedef uint32_t weft_kernel_pivots; enum { WEFT_PIVOTS_RESIDUAL = 0, WEFT_PIVOTS_RANDOM = 1 };
typedef struct weft_kernel_solve_options {
    uint32_t size, max_iterations; /**< products with K; 0: 200, of eigenvalues 100 */
    double tolerance; uint64_t seed; /**< tolerance: of residuals below, 0: 1e-4; seed 0: 1 */
    double lambda; /**< 0: 1e-3. Of weft_kernel_solve alone, as all below but batch */
    weft_choice preconditioner; weft_kernel_pivots pivots; uint32_t rank, resume; /**< rank 0: 200 */
    const weft_batch_options* batch; /**< progress alone, which counts iterations */
    const char* checkpoint; uint32_t checkpoint_every, reserved; /**< file of a solve; 0: 10 iterations */
} weft_kernel_solve_options;
typedef struct weft_kernel_solve_report {
    uint32_t size, converged, iterations, rank, resumed, reserved; /**< resumed: of the checkpoint */
    double preconditioner_s, product_s, wall_s, residual; /**< the largest of */
    double residuals[64]; /**< |y - (K + lambda I) alpha| / |y| of each column; |K v - value v| / value[0] */
} weft_kernel_solve_report;
/** alpha with (K + lambda I) alpha = y. y, alpha: [samples, n] of the type of k; n from 1 to 64. One that did
 * not converge is WEFT_OK, with its residuals. */
weft_status weft_kernel_solve(weft_backend* backend, const weft_kernel_operator* k, weft_const_span y,
    weft_span alpha, const weft_kernel_solve_options* options, weft_kernel_solve_report* report);
/** The largest eigenvalues of K, descending: values [n], vectors [samples, n] of norm 1; n from 1 to 48. */
weft_status weft_kernel_eigen(weft_backend* backend, const weft_kernel_operator* k, weft_span values,
    weft_span vectors, const weft_kernel_solve_options* options, weft_kernel_solve_report* report);
/** out = K(x_new, x) alpha; x_type as above. alpha: [others, n], out: [samples, n] of a_type; n: 1 to 64. */
weft_status weft_kernel_predict(weft_backend* backend, const weft_kernel_circuit* circuit, weft_type x_type,
    weft_const_span x_new, weft_const_span x, weft_type a_type, weft_const_span alpha, weft_span out,
    weft_kernel_shape shape, const weft_batch_options* batch, weft_report* report);

/** # Lattice codes: vectors of floats in a few bits each (docs/lattice.md) */
typedef uint32_t weft_lattice; enum { WEFT_LATTICE_D4 = 0, WEFT_LATTICE_Z2 = 1, WEFT_LATTICE_E8 = 2 };
typedef struct weft_lattice_code {
    uint32_t size; weft_lattice lattice;
    uint32_t q, levels; /**< 3 to 16; 0: 4. 1 to 4; 0: 2 */
    float beta, alpha; /**< 0: 1 */
    uint32_t max_retries, packed; /**< packed: digits of as few bits as q needs */
    uint32_t dither, reserved; /**< dither 1: dither_seed and dither_first apply */
    uint64_t dither_seed, dither_first;
} weft_lattice_code;
typedef struct weft_lattice_options {
    uint32_t size, check_values; uint64_t width; /**< width: values of a row; 0: vector after vector */
    uint32_t depth, reserved; /**< depth: decoding alone: levels, coarse ones first; 0: all */
    const weft_batch_options* batch;
} weft_lattice_options;
/** Sizes for vectors: bytes of codes and of statuses in host memory; in a buffer, rounded up to 4. */
weft_status weft_lattice_sizes(const weft_lattice_code* code, uint64_t vectors, uint64_t* code_bytes,
    uint64_t* status_bytes);
/** x: [rows, width] float32. status: a byte a vector, or empty. */
weft_status weft_lattice_encode(weft_backend* backend, const weft_lattice_code* code, weft_const_span x,
    weft_span codes, weft_span status, const weft_lattice_options* options, weft_report* report);
weft_status weft_lattice_decode(weft_backend* backend, const weft_lattice_code* code, weft_const_span codes,
    weft_const_span status, weft_span x, const weft_lattice_options* options, weft_report* report);
weft_status weft_lattice_quantize(weft_backend* backend, const weft_lattice_code* code, weft_const_span x,
    weft_span y, weft_span status, const weft_lattice_options* options, weft_report* report);
weft_status weft_stream_lattice_encode(weft_stream* stream, const weft_lattice_code* code, weft_view x,
    weft_view codes, weft_view status, const weft_lattice_options* options);
weft_status weft_stream_lattice_decode(weft_stream* stream, const weft_lattice_code* code, weft_view codes,
    weft_view status, weft_view x, const weft_lattice_options* options);
weft_status weft_stream_lattice_quantize(weft_stream* stream, const weft_lattice_code* code, weft_view x,
    weft_view y, weft_view status, const weft_lattice_options* options);
/** Inner products of the levels of a code, q^(2d) entries. */
weft_status weft_lattice_table_create(weft_lattice lattice, uint32_t q, weft_lattice_table** table);
void weft_lattice_table_retain(weft_lattice_table*); void weft_lattice_table_release(weft_lattice_table*);
/** out: [rows] float32, inner products of the rows of x and y; y may be one row. */
weft_status weft_lattice_inner(weft_backend* backend, const weft_lattice_table* table,
    const weft_lattice_code* code, weft_const_span x, weft_const_span y, weft_span out,
    const weft_lattice_options* options, weft_report* report);
weft_status weft_stream_lattice_inner(weft_stream* stream, const weft_lattice_table* table,
    const weft_lattice_code* code, weft_view x, weft_view y, weft_view out,
    const weft_lattice_options* options);
typedef struct weft_lattice_search_options {
    uint32_t size, steps; uint64_t width; /**< steps: betas tried; 0: 40 */
    float low, high; /**< 0: from the sample */
    const weft_batch_options* batch;
} weft_lattice_search_options;
typedef struct weft_lattice_trial {
    float beta; uint32_t reserved; double mean_squared_error, retried, unresolved;
} weft_lattice_trial;
/** The beta with the least error on a sample, [rows, width] float32; code.beta is ignored. */
weft_status weft_lattice_search_beta(weft_backend* backend, const weft_lattice_code* code,
    weft_const_span sample, const weft_lattice_search_options* options, weft_lattice_trial* best,
    weft_report* report);

/** # Profiles: what a backend does while one lives (docs/profiling.md) */
/** max_events 0: 2^20. */
weft_status weft_profile_create(weft_backend* backend, uint64_t max_events, weft_profile** profile);
void weft_profile_retain(weft_profile* profile); void weft_profile_release(weft_profile* profile);
typedef struct weft_profile_report {
    uint32_t size, reserved; double wall_s, busy_s, device_s, stage_s[5]; /**< stage_s: busy time of each */
    double overlap, copy_hidden, host_copy_hidden, idle; /**< shares */
    uint64_t dropped_events;
} weft_profile_report;
weft_status weft_profile_describe(weft_profile* profile, weft_profile_report* report);
typedef uint32_t weft_profile_format;
enum { WEFT_PROFILE_TABLE = 0, WEFT_PROFILE_JSON = 1, WEFT_PROFILE_CSV = 2 };
weft_status weft_profile_print(weft_profile* profile, weft_profile_format format, weft_text** text);
/** For chrome://tracing and ui.perfetto.dev; the file appears whole or not at all. */
weft_status weft_profile_write_trace(weft_profile* profile, const char* path);

/* clang-format on */
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
