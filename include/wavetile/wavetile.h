/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wavetile/wavetile.h - Wavetile's C API: all that another program or language needs.
 *
 *   device = wavetile_device_open("auto")             where
 *   problem = wavetile_problem_parse("fwd bf16 ...")  what (or wavetile_problem_create from a struct)
 *   plan = wavetile_plan_create(device, problem)      how: chosen, compiled and bound here
 *   wavetile_plan_execute(plan, stream, tensors, workspace)
 *
 * Rules that hold everywhere
 *
 * Status. A function that can fail returns wavetile_status. Anything but WAVETILE_OK leaves a text for people in
 *   wavetile_last_error(), with the values and a remedy, and leaves the outputs as they were, except where a function
 *   says otherwise. A null handle or pointer is a WAVETILE_BAD_INPUT, never a crash. No exception leaves the library.
 *
 * Ownership. What a *_create, *_open, *_parse or *_allocate function gives belongs to the caller, who ends it with the
 *   matching *_destroy, *_close or *_free function; ending NULL does nothing. Handles may be ended in any order: a plan
 *   keeps what it needs of its device and problem. Device memory and streams are ended before their device is closed.
 *   A `const char*` that a function returns belongs to the handle it came from and lives as long. A `char**` result
 *   belongs to the caller and is ended with wavetile_string_free. Strings are UTF-8 and end in a zero byte.
 *
 * Threads. Every function may be called from any thread at any time. Devices, problems and plans never change after
 *   creation, so one handle may be used by many threads at once; only ending a handle needs care: no other call may be
 *   using it. A registry may be changed by one thread while others make plans with it: each plan sees it as it was
 *   when wavetile_plan_create was called. One event belongs to one thread at a time. The last-error text is kept for
 * each thread.
 *
 * Structs. A struct that may grow starts with struct_size, which the caller sets to sizeof (the *_init functions do).
 *   A program built against an older header therefore keeps working with a newer library. Enumerators keep their
 *   numbers for ever.
 *
 * This header needs C99 or C++11 and includes no GPU header.
 */
#ifndef WAVETILE_WAVETILE_H_
#define WAVETILE_WAVETILE_H_

#include <stddef.h>
#include <stdint.h>

#define WAVETILE_VERSION_MAJOR 0
#define WAVETILE_VERSION_MINOR 2
#define WAVETILE_VERSION_PATCH 0
/* 10000 * major + 100 * minor + patch */
#define WAVETILE_VERSION (WAVETILE_VERSION_MAJOR * 10000 + WAVETILE_VERSION_MINOR * 100 + WAVETILE_VERSION_PATCH)

#if defined(__GNUC__)
#define WAVETILE_API __attribute__((visibility("default")))
#else
#define WAVETILE_API
#endif

/* In C++ every int is a value of the enumerations too, so that a wrong one is refused and not undefined. */
#ifdef __cplusplus
#define WAVETILE_AN_INT : int
#else
#define WAVETILE_AN_INT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Status and version. */

/* The first five are also the exit codes of the wavetile command. */
typedef enum wavetile_status WAVETILE_AN_INT {
  WAVETILE_OK = 0,
  WAVETILE_VERIFICATION_FAILED = 1, /* a result is wrong */
  WAVETILE_BAD_INPUT = 2,           /* the caller's text, value, pointer or file */
  WAVETILE_UNSUPPORTED = 3,         /* valid, but nothing here can do it */
  WAVETILE_DEVICE_ERROR = 4,        /* a driver, a device or its memory */
  WAVETILE_COMPILE_ERROR = 5,       /* a kernel compiler refused or is absent */
  WAVETILE_IO_ERROR = 6,            /* a file or folder */
  WAVETILE_OUT_OF_MEMORY = 7,       /* of the host */
  WAVETILE_INTERNAL_ERROR = 8       /* a fault of the library; please report it with the text */
} wavetile_status;

/* "ok", "verification failed", "bad input", ...; "unknown status" for a number that is none. Never NULL. */
WAVETILE_API const char* wavetile_status_name(wavetile_status status);

/* The text of the last call that failed on this thread; "" when none has. Calls that succeed leave it alone. The
 * pointer is the same in every call of a thread and stays good until the thread ends, so it may be asked for in the
 * argument list of the call that fails; the text changes when the next call on this thread fails. Never NULL. */
WAVETILE_API const char* wavetile_last_error(void);

/* Forgets this thread's text. */
WAVETILE_API void wavetile_clear_error(void);

/* The version of the library at run time, as WAVETILE_VERSION and as "0.2.0". */
WAVETILE_API int32_t wavetile_version(void);
WAVETILE_API const char* wavetile_version_string(void);

/* Ends a string that was returned through a char**. */
WAVETILE_API void wavetile_string_free(char* text);

/* What this machine can do. */

typedef enum wavetile_capability WAVETILE_AN_INT {
  WAVETILE_CAPABILITY_CUDA_DRIVER = 0,   /* an NVIDIA driver with at least one GPU */
  WAVETILE_CAPABILITY_NVRTC = 1,         /* compile kernels for NVIDIA GPUs */
  WAVETILE_CAPABILITY_HOST_COMPILER = 2, /* compile kernels for the simulator */
  WAVETILE_CAPABILITY_CLANG_AMD = 3,     /* compile kernels for AMD GPUs */
  WAVETILE_CAPABILITY_ONEDNN = 4,        /* the oneDNN provider for the CPU */
  WAVETILE_CAPABILITY_HIP = 5            /* ROCm's HIP with at least one AMD GPU */
} wavetile_capability;

/* Sets *available to 1 or 0. Where `detail` is not NULL, *detail becomes a new string (wavetile_string_free): the name
 * and version of what was found, or what is missing and how to get it. "Not available" is an answer, not a failure. */
WAVETILE_API wavetile_status wavetile_capability_query(wavetile_capability capability, int32_t* available,
                                                       char** detail);

/* Devices. */

typedef struct wavetile_device wavetile_device;

typedef enum wavetile_device_kind WAVETILE_AN_INT {
  WAVETILE_DEVICE_CPU = 0,
  WAVETILE_DEVICE_GPU = 1, /* NVIDIA, through CUDA */
  WAVETILE_DEVICE_SIMULATOR = 2,
  WAVETILE_DEVICE_HIP = 3 /* AMD, through HIP */
} wavetile_device_kind;

typedef struct wavetile_device_info {
  size_t struct_size;
  int32_t kind;    /* wavetile_device_kind */
  char id[64];     /* what wavetile_device_open takes: "cpu", "gpu:0", "hip:0", "sim:sm_90a" */
  char name[256];  /* as the maker calls it */
  char target[32]; /* what kernels are compiled for, e.g. "sm_90a"; "" for the CPU */
  int32_t multiprocessors;
  int32_t driver_version; /* 13000 for CUDA 13.0, 6040 for HIP 6.4; 0: no driver */
  int64_t shared_bytes_per_block;
  int64_t l2_bytes;
  int64_t memory_bytes;
} wavetile_device_info;

/* Opens a device: "auto" (the first GPU, else the CPU), "cpu", "gpu" (the first of NVIDIA), "gpu:1", "hip" (the
 * first of AMD), "hip:1", "sim:sm_90a". NULL means "auto". Opening the same device twice gives two handles to it. */
WAVETILE_API wavetile_status wavetile_device_open(const char* id, wavetile_device** device);
WAVETILE_API void wavetile_device_close(wavetile_device* device);

/* Every device that could be opened here. *count becomes how many there are; the first `capacity` of them are written
 * to `infos`, whose elements must have struct_size set. infos may be NULL when capacity is 0 (to learn the count). */
WAVETILE_API wavetile_status wavetile_device_list(wavetile_device_info* infos, size_t capacity, size_t* count);

/* Fills *info, whose struct_size must be set. */
WAVETILE_API wavetile_status wavetile_device_get_info(const wavetile_device* device, wavetile_device_info* info);

/* Memory on the device, at least 256-byte aligned. bytes may be 0 (then *memory may be NULL). On the CPU and in the
 * simulator it is host memory. A plan takes any pointer that the device can reach, not only these. */
WAVETILE_API wavetile_status wavetile_device_allocate(wavetile_device* device, size_t bytes, void** memory);
WAVETILE_API wavetile_status wavetile_device_free(wavetile_device* device, void* memory);

/* Copies between host and device; both return when the data has arrived. Work in flight on a stream must be waited
 * for first (wavetile_stream_synchronize). */
WAVETILE_API wavetile_status wavetile_device_copy_in(wavetile_device* device, void* device_memory, const void* host,
                                                     size_t bytes);
WAVETILE_API wavetile_status wavetile_device_copy_out(wavetile_device* device, void* host, const void* device_memory,
                                                      size_t bytes);

/* Streams and events. */

/* A CUstream on an NVIDIA GPU and a hipStream_t on an AMD GPU, so an existing one can be passed as it is; NULL is the
 * default stream. On the CPU and in the simulator calls are synchronous and the stream is ignored. */
typedef void* wavetile_stream;

WAVETILE_API wavetile_status wavetile_stream_create(wavetile_device* device, wavetile_stream* stream);
WAVETILE_API wavetile_status wavetile_stream_destroy(wavetile_device* device, wavetile_stream stream);
/* Waits for everything that was sent to the stream. */
WAVETILE_API wavetile_status wavetile_stream_synchronize(wavetile_device* device, wavetile_stream stream);

/* What is sent to the stream from now on starts when the event has been reached; the host does not wait. */
typedef struct wavetile_event wavetile_event;
WAVETILE_API wavetile_status wavetile_stream_wait(wavetile_device* device, wavetile_stream stream,
                                                  wavetile_event* event);

/* Copies in the order of the stream, which return before the data has arrived: the host's memory must stay as it is
 * until the stream has got there. From or to pageable memory a driver may wait; pinned memory is the caller's to get.
 */
WAVETILE_API wavetile_status wavetile_device_copy_in_async(wavetile_device* device, void* device_memory,
                                                           const void* host, size_t bytes, wavetile_stream stream);
WAVETILE_API wavetile_status wavetile_device_copy_out_async(wavetile_device* device, void* host,
                                                            const void* device_memory, size_t bytes,
                                                            wavetile_stream stream);

/* Sets every byte of a piece of device memory, in the order of the stream. */
WAVETILE_API wavetile_status wavetile_device_fill(wavetile_device* device, void* device_memory, uint8_t value,
                                                  size_t bytes, wavetile_stream stream);

/* An event is a point in a stream, for waiting and for timing what lies between two of them. */

WAVETILE_API wavetile_status wavetile_event_create(wavetile_device* device, wavetile_event** event);
WAVETILE_API void wavetile_event_destroy(wavetile_event* event);
WAVETILE_API wavetile_status wavetile_event_record(wavetile_event* event, wavetile_stream stream);
/* Blocks the calling thread until the point has been reached. */
WAVETILE_API wavetile_status wavetile_event_wait(wavetile_event* event);
/* Microseconds between two recorded events of one device; waits for the later one. */
WAVETILE_API wavetile_status wavetile_event_elapsed(wavetile_event* start, wavetile_event* stop, double* microseconds);

/* Problems. */

typedef enum wavetile_direction WAVETILE_AN_INT {
  WAVETILE_FORWARD = 0,        /* x, w -> y */
  WAVETILE_BACKWARD_DATA = 1,  /* dy, w -> dx: the gradients stand in the places of y and x */
  WAVETILE_BACKWARD_WEIGHT = 2 /* x, dy -> dw */
} wavetile_direction;

typedef enum wavetile_type WAVETILE_AN_INT {
  WAVETILE_F32 = 0,
  WAVETILE_TF32 = 1, /* stored as fp32, multiplied as tf32 */
  WAVETILE_F16 = 2,
  WAVETILE_BF16 = 3,
  WAVETILE_E4M3 = 4, /* OCP fp8: no infinities, saturates at 448 */
  WAVETILE_E5M2 = 5, /* OCP fp8: infinities, saturates at 57344 */
  WAVETILE_E2M1 = 6, /* OCP fp4, with scales of blocks; two in a byte, the first in its low half */
  WAVETILE_INT8 = 7, /* forward alone, summed in int32; zero points are the problem's, scales its scale tensor */
  /* Of scale tensors alone, a byte each: */
  WAVETILE_UE8M0 = 8, /* 2^(byte - 127); 255 is NaN */
  WAVETILE_UE4M3 = 9  /* e4m3 without sign */
} wavetile_type;

/* Scales of blocks of numbers that lie along channels: of x and of w, forward and channels last. */
typedef enum wavetile_scales WAVETILE_AN_INT {
  WAVETILE_SCALES_NONE = 0,
  WAVETILE_SCALES_MX = 1, /* a UE8M0 for 32 e4m3, e5m2 or e2m1 */
  WAVETILE_SCALES_NV = 2  /* a UE4M3 for 16 e2m1 */
} wavetile_scales;

typedef enum wavetile_layout WAVETILE_AN_INT {
  WAVETILE_CHANNELS_LAST = 0, /* NWC, NHWC, NDHWC; filters K(DH)WC */
  WAVETILE_CHANNELS_FIRST = 1 /* NCW, NCHW, NCDHW; filters KC(DH)W */
} wavetile_layout;

typedef enum wavetile_activation WAVETILE_AN_INT {
  WAVETILE_ACTIVATION_NONE = 0,
  WAVETILE_ACTIVATION_RELU = 1,
  WAVETILE_ACTIVATION_LEAKY_RELU = 2, /* slope */
  WAVETILE_ACTIVATION_CLAMP = 3,      /* low, high */
  WAVETILE_ACTIVATION_SILU = 4,
  WAVETILE_ACTIVATION_GELU = 5, /* x/2 (1 + erf(x / sqrt 2)) */
  WAVETILE_ACTIVATION_SIGMOID = 6,
  WAVETILE_ACTIVATION_TANH = 7,
  WAVETILE_ACTIVATION_HARDSWISH = 8,
  WAVETILE_ACTIVATION_HARDSIGMOID = 9,
  WAVETILE_ACTIVATION_ELU = 10, /* x, and e^x - 1 below zero */
  WAVETILE_ACTIVATION_SOFTPLUS = 11,
  WAVETILE_ACTIVATION_MISH = 12,
  WAVETILE_ACTIVATION_GELU_TANH = 13 /* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
} wavetile_activation;

/* The gradient of a bias that a weight gradient gives beside dw: sums over images and pixels, fp32. */
typedef enum wavetile_bias_gradient_of WAVETILE_AN_INT {
  WAVETILE_BIAS_GRADIENT_NONE = 0,
  WAVETILE_BIAS_GRADIENT_OF_Y = 1, /* of dy, one value for each of the k channels */
  WAVETILE_BIAS_GRADIENT_OF_X = 2  /* of x, over c: where x is the output gradient of a transposed convolution */
} wavetile_bias_gradient_of;

typedef enum wavetile_padding WAVETILE_AN_INT {
  WAVETILE_PADDING_EXPLICIT = 0, /* pad_lower and pad_upper as given */
  WAVETILE_PADDING_SAME = 1,     /* output = ceil(input / stride); the odd element goes to the upper side */
  WAVETILE_PADDING_VALID = 2,    /* none */
  WAVETILE_PADDING_CAUSAL = 3    /* all below the outermost dimension, "same" in the others */
} wavetile_padding;

/* In pad_upper: the same as in pad_lower. */
#define WAVETILE_PAD_AS_LOWER (-1)

/* One convolution. Channel counts are totals over the groups. The spatial arrays hold `dims` values, outermost first:
 * {w} in one dimension, {h, w} in two, {d, h, w} in three; the values beyond are ignored.
 *
 * The epilogue is applied to the fp32 accumulator before its one rounding to the output's type, in this order:
 *   v = alpha * acc;  v = v * scale[channel] + bias[channel];  v += beta * residual;  v += betas[i] * aux[i];
 *   v = activation(v), or v *= the derivative of `gradient` at the saved tensor;  v = f(v);  amax = max |v|;  store
 * scale and bias run over the channels of the output: k for y, c for dx, k for dw. Auxiliary tensors have the output's
 * shape and type. There are at most four, numbered in this order: `added` ones, the saved one where there is a
 * gradient, `inputs` that only the expression reads, `outputs` that only the store writes. */
typedef struct wavetile_problem_desc {
  size_t struct_size;
  int32_t direction; /* wavetile_direction */
  int32_t dims;      /* 1, 2 or 3 */
  int32_t layout;    /* wavetile_layout */
  int32_t x_type;    /* wavetile_type of x and dx */
  int32_t w_type;    /* of w and dw */
  int32_t y_type;    /* of y and dy */
  int32_t acc_type;  /* of the sums: fp32; those of int8 are int32 */
  int32_t padding;   /* wavetile_padding; wavetile_problem_get_desc always gives EXPLICIT */
  int64_t n;         /* batch; 0 is an empty problem */
  int64_t g;         /* groups */
  int64_t c;         /* input channels */
  int64_t k;         /* output channels */
  int64_t in[3];     /* size of x */
  int64_t filter[3];
  int64_t stride[3];
  int64_t dilation[3];
  int64_t pad_lower[3];
  int64_t pad_upper[3]; /* WAVETILE_PAD_AS_LOWER (default): as much as pad_lower */
  float alpha;
  float beta;         /* read where residual is set */
  int32_t scale;      /* 1: there is a scale tensor */
  int32_t bias;       /* 1: there is a bias tensor */
  int32_t residual;   /* 1: there is a residual tensor; it may be the output itself (accumulation) */
  int32_t amax;       /* 1: max |v| is written */
  int32_t activation; /* wavetile_activation */
  float slope;        /* leaky relu */
  float low;          /* clamp */
  float high;
  int32_t bias_gradient; /* wavetile_bias_gradient_of; of WAVETILE_BACKWARD_WEIGHT */
  int32_t history;       /* 1: rows before x come from the history tensor; backward data writes their gradient */
  int32_t new_history;   /* 1: the last rows of both are written; backward data reads their gradient */
  int32_t reserved;      /* 0 */
  int32_t added;         /* tensors that are added beside the residual, each with its factor in betas */
  int32_t gradient;      /* wavetile_activation that a gradient passes; its input in the forward pass is saved */
  int32_t inputs;        /* auxiliary tensors of the expression */
  int32_t outputs;       /* auxiliary tensors of the store */
  int32_t scalar_count;  /* numbers in scalars */
  int32_t reserved2;     /* 0 */
  float betas[4];
  float scalars[8];
  /* The user's own C++, compiled into the kernel (docs/user-epilogue.md); NULL: none. The library keeps a copy.
   * expression: "float f(float acc, Coord at, Inputs in) {..}", or its value alone: "acc * in.aux[0]".
   * store: "void store(float value, Coord at, Outputs out) {..}", which writes in the kernel's place. */
  const char* expression;
  const char* store;
  int32_t scale_type; /* wavetile_type of the scale tensor: fp32, fp16 or bf16 */
  int32_t bias_type;  /* of the bias tensor */
  int32_t scales;     /* wavetile_scales; channels of a group are a multiple of their block */
  int32_t reserved3;  /* 0 */
  int32_t x_zero;     /* zero point of an int8 x, -128 to 127: q stands for q - x_zero, and padding is x_zero */
  int32_t y_zero;     /* of an int8 y: it is rounded to nearest even, moved by y_zero and held within int8 */
} wavetile_problem_desc;

/* Sets struct_size and the defaults: forward, two dimensions, channels last, bf16, fp32 sums, all sizes 1, stride and
 * dilation 1, no padding (and above as below), no epilogue, alpha and beta 1, slope 0.01, clamp to [0, 6]. */
WAVETILE_API void wavetile_problem_desc_init(wavetile_problem_desc* desc);

typedef struct wavetile_problem wavetile_problem;

/* A problem is checked when it is made; a fault is a WAVETILE_BAD_INPUT with one message that holds the values. */
WAVETILE_API wavetile_status wavetile_problem_create(const wavetile_problem_desc* desc, wavetile_problem** problem);
/* From its text, such as "fwd bf16 n16 c256 k256 i100x100 f3x3 p1 +bias+relu" (docs/problem-text.md). */
WAVETILE_API wavetile_status wavetile_problem_parse(const char* text, wavetile_problem** problem);
WAVETILE_API void wavetile_problem_destroy(wavetile_problem* problem);

/* A transposed convolution: each input pixel is spread over the output through the filter. `desc` is read in its own
 * terms: x_type, c and in are those of its input, y_type and k of its output, direction is its own pass (forward;
 * backward data: the gradient of its input; backward weight: of its filter), and padding is explicit or valid. The
 * output has (in - 1) * stride - pad_lower - pad_upper + dilation * (filter - 1) + 1 + output_padding pixels;
 * output_padding holds `dims` values and may be NULL, for zeros. It chooses among the output sizes that share an input
 * size: at most stride - 1, and more only where pad_upper has as much to give.
 *
 * What is made is the problem that computes it, another direction of a convolution: the transposed convolution's input
 * is the tensor of role Y and its output that of role X, whatever the pass (WAVETILE_ROLE_TRANSPOSED_INPUT and _OUTPUT
 * name them), and the filter (input channels, output channels per group, taps) that of role W. scale and bias run over
 * the channels of the pass's output; a bias gradient (WAVETILE_BIAS_GRADIENT_OF_Y) sums the output's gradient. */
WAVETILE_API wavetile_status wavetile_problem_create_transposed(const wavetile_problem_desc* desc,
                                                                const int64_t output_padding[3],
                                                                wavetile_problem** problem);

/* The spatial size of a transposed convolution's output: `dims` values, the rest of the three 1. */
WAVETILE_API wavetile_status wavetile_transposed_output_size(const wavetile_problem_desc* desc,
                                                             const int64_t output_padding[3], int64_t size[3]);

/* How the matrices of a product D = A B lie, each row after row. */
typedef enum wavetile_gemm_form WAVETILE_AN_INT {
  WAVETILE_GEMM_NT = 0, /* A is m x k, B is n x k */
  WAVETILE_GEMM_NN = 1, /* A is m x k, B is k x n */
  WAVETILE_GEMM_TN = 2  /* A is k x m, B is k x n */
} wavetile_gemm_form;

/* Matrix products, one or a batch. D is m x n. Stacked batches: each matrix follows the whole one before it.
 * Interleaved: a row of a matrix holds that row of every batch, but B of nt and nn, and D of tn, are stacked. */
typedef struct wavetile_gemm_desc {
  size_t struct_size;
  int32_t form;        /* wavetile_gemm_form */
  int32_t a_type;      /* wavetile_type */
  int32_t b_type;      /* wavetile_type */
  int32_t d_type;      /* wavetile_type; sums are fp32 */
  int32_t interleaved; /* 1: batches lie in the rows; 0: stacked. The same for a batch of 1 */
  int32_t reserved;    /* 0 */
  int64_t m;
  int64_t n;
  int64_t k;
  int64_t batch;
} wavetile_gemm_desc;

/* Sets struct_size and the defaults: nt, bf16, sizes 1, one product. */
WAVETILE_API void wavetile_gemm_desc_init(wavetile_gemm_desc* desc);

/* The problem that computes a product: a convolution by a filter of one tap, whose groups are the batches. Of
 * `epilogue`, which may be NULL, only the fields of the epilogue are read: residual and `added` tensors have the shape
 * and order of D; scale and bias run over its columns, in every batch, for nt and nn of one product or interleaved
 * batches, and are refused elsewhere. */
WAVETILE_API wavetile_status wavetile_problem_create_gemm(const wavetile_gemm_desc* desc,
                                                          const wavetile_problem_desc* epilogue,
                                                          wavetile_problem** problem);

/* Checks without making a problem. */
WAVETILE_API wavetile_status wavetile_problem_validate(const wavetile_problem_desc* desc);

/* Fills *desc, whose struct_size must be set. */
WAVETILE_API wavetile_status wavetile_problem_get_desc(const wavetile_problem* problem, wavetile_problem_desc* desc);

/* The short text, which parses back to the same problem, and the one that spells out every default. NULL for NULL. */
WAVETILE_API const char* wavetile_problem_text(const wavetile_problem* problem);
WAVETILE_API const char* wavetile_problem_canonical_text(const wavetile_problem* problem);

/* The spatial size of y: `dims` values, the rest of the three 1. */
WAVETILE_API wavetile_status wavetile_problem_output_size(const wavetile_problem* problem, int64_t size[3]);

/* Two operations a multiply-add of the direct algorithm, padding counted as work; 0 for NULL. */
WAVETILE_API double wavetile_problem_flops(const wavetile_problem* problem);

/* The tensors of a problem by their role. */
typedef enum wavetile_role WAVETILE_AN_INT {
  WAVETILE_ROLE_X = 0,             /* x, or dx */
  WAVETILE_ROLE_W = 1,             /* w, or dw */
  WAVETILE_ROLE_Y = 2,             /* y, or dy */
  WAVETILE_ROLE_SCALE = 3,         /* one value per output channel, of the problem's scale_type */
  WAVETILE_ROLE_BIAS = 4,          /* one value per output channel, of the problem's bias_type */
  WAVETILE_ROLE_RESIDUAL = 5,      /* shape and type of the output */
  WAVETILE_ROLE_AMAX = 6,          /* one fp32 value, written */
  WAVETILE_ROLE_BIAS_GRADIENT = 7, /* fp32, one value per channel, written */
  WAVETILE_ROLE_HISTORY = 8,       /* dilation * (filter - 1) rows of the outermost dimension, layout and type of x;
                                      backward data writes its gradient there */
  WAVETILE_ROLE_NEW_HISTORY = 9,   /* the same, written; may be the history itself. Backward data reads its gradient */
  WAVETILE_ROLE_AUX0 = 10,         /* auxiliary tensors: shape and type of the output */
  WAVETILE_ROLE_AUX1 = 11,
  WAVETILE_ROLE_AUX2 = 12,
  WAVETILE_ROLE_AUX3 = 13,
  WAVETILE_ROLE_X_SCALES = 14, /* of blocks: the shape of x with c/32 or c/16 channels, a byte each */
  WAVETILE_ROLE_W_SCALES = 15, /* the shape of w with (c/g)/32 or (c/g)/16 channels */
  WAVETILE_ROLE_TRANSPOSED_INPUT = WAVETILE_ROLE_Y, /* of wavetile_problem_create_transposed, or its gradient */
  WAVETILE_ROLE_TRANSPOSED_OUTPUT = WAVETILE_ROLE_X
} wavetile_role;

typedef enum wavetile_use WAVETILE_AN_INT {
  WAVETILE_UNUSED = 0, /* the problem has no such tensor */
  WAVETILE_READ = 1,
  WAVETILE_WRITTEN = 2
} wavetile_use;

typedef struct wavetile_tensor_info {
  size_t struct_size;
  int32_t use;      /* wavetile_use; where unused, all that follows is 0 */
  int32_t type;     /* wavetile_type */
  int32_t rank;     /* 1 to 5 */
  int32_t reserved; /* 0 */
  int64_t shape[5]; /* in memory order: the last one is contiguous, and there are no gaps; E2M1 counts bytes of two */
  int64_t elements;
  int64_t bytes;
} wavetile_tensor_info;

/* Fills *info, whose struct_size must be set. A role that the problem does not use is WAVETILE_OK with use 0. */
WAVETILE_API wavetile_status wavetile_problem_tensor(const wavetile_problem* problem, wavetile_role role,
                                                     wavetile_tensor_info* info);

/* The roles of A, B and D of a problem that is a product of matrices, however it was made: X, W and Y in some order. */
WAVETILE_API wavetile_status wavetile_problem_gemm_roles(const wavetile_problem* problem, wavetile_role* a,
                                                         wavetile_role* b, wavetile_role* d);

/* Bytes of one tensor; 0 where the problem does not use it, and for NULL. */
WAVETILE_API int64_t wavetile_problem_tensor_bytes(const wavetile_problem* problem, wavetile_role role);

/* The role that the direction writes: Y, X or W; X for NULL. */
WAVETILE_API wavetile_role wavetile_problem_output_role(const wavetile_problem* problem);

/* Numbers. */

/* Bytes of one number of a type, of E2M1 of two; 0 for a number that is no type. */
WAVETILE_API int32_t wavetile_type_size(wavetile_type type);
/* Rounds floats to a type, to nearest even, and back. Host memory. fp8 and E2M1 saturate (docs/api.md); E2M1 needs an
 * even count. Not of scales. */
WAVETILE_API wavetile_status wavetile_from_float(wavetile_type type, const float* values, size_t count, void* out);
WAVETILE_API wavetile_status wavetile_to_float(wavetile_type type, const void* values, size_t count, float* out);

/* Plans. */

typedef struct wavetile_plan wavetile_plan;

typedef enum wavetile_tuning WAVETILE_AN_INT {
  WAVETILE_TUNING_OFF = 0,      /* the cost model alone */
  WAVETILE_TUNING_CACHED = 1,   /* earlier measurements where there are any, else the cost model */
  WAVETILE_TUNING_FIRST_USE = 2 /* where there are none, measure the candidates now, verify them, remember the best */
} wavetile_tuning;

/* Kernels of the caller's own, for plans that are made with them (wavetile_plan_options.registry). */
typedef struct wavetile_registry wavetile_registry;

typedef enum wavetile_priority WAVETILE_AN_INT {
  WAVETILE_PRIORITY_LOW = 0,    /* taken where no other kernel accepts the problem */
  WAVETILE_PRIORITY_NORMAL = 1, /* taken where its predicted time is the least */
  WAVETILE_PRIORITY_HIGH = 2    /* taken before every other kernel, tuned ones too */
} wavetile_priority;

/* A kernel that accepts a problem, as a selection function sees it. */
typedef struct wavetile_candidate {
  size_t struct_size;
  const char* kernel;  /* its name */
  const char* config;  /* as JSON, for wavetile_plan_options.config */
  double predicted_us; /* by the cost model */
  double measured_us;  /* by tuning on this kind of GPU; 0: never */
  int32_t registered;  /* 1: from the registry */
  int32_t priority;    /* wavetile_priority; normal where it is not from the registry */
} wavetile_candidate;

/* Chooses one of the candidates, which come in the order of preference: its index, or -1 for the usual choice. Called
 * on the thread that makes the plan. A problem that is divided or transposed asks for each of its parts. */
typedef int64_t (*wavetile_select)(void* user, const char* problem, const wavetile_candidate* const* candidates,
                                   size_t count);

typedef struct wavetile_plan_options {
  size_t struct_size;
  int32_t deterministic;    /* 1 (default): the same inputs give the same bits every time */
  int32_t strict_nonfinite; /* 1: an infinity or NaN in an input reaches only the outputs that depend on it */
  int32_t tuning;           /* wavetile_tuning; default cached */
  int32_t reserved;         /* 0 */
  int64_t workspace_limit;  /* bytes; -1 (default): none */
  const char* kernel;       /* run this one, by name; NULL (default): choose */
  double tuning_seconds;    /* limit of tuning on first use; default 10 */
  wavetile_stream stream; /* where the plan will run: tuning on first use is refused while it captures; default NULL */
  int32_t fallback;       /* 1: where the chosen kernel cannot be compiled or loaded, take the next, and say so */
  int32_t reserved2;      /* 0 */
  int32_t splits;         /* into how many parts kernels that divide their sums do so, 1 to 128, as far as they can; 0
                             (default): as many as have the least predicted time; -1: as many as fill the GPU by the
                             compiled kernel's registers and shared memory */
  int32_t reserved3;      /* 0 */
  const char* config;     /* run the kernel of this JSON, whether it is listed or not; NULL (default): see kernel */
  const wavetile_registry* registry; /* kernels to choose from beside the library's; NULL (default): none */
  wavetile_select select;            /* NULL (default): the usual choice */
  void* select_user;
  int32_t batch_invariant; /* 1: an image's result has the same bits whatever else is in the batch, wherever in it */
  int32_t reserved4;       /* 0 */
} wavetile_plan_options;

WAVETILE_API void wavetile_plan_options_init(wavetile_plan_options* options);

/* Chooses, compiles (or finds in the cache) and binds a kernel. The first call is slow. The device handle remembers its
 * plans: the same problem with the same options comes back in under a microsecond, and shares what was made before.
 * options may be NULL: the defaults. */
WAVETILE_API wavetile_status wavetile_plan_create(wavetile_device* device, const wavetile_problem* problem,
                                                  const wavetile_plan_options* options, wavetile_plan** plan);
WAVETILE_API void wavetile_plan_destroy(wavetile_plan* plan);

/* Bytes of scratch memory that execute needs; 0 for NULL. */
WAVETILE_API int64_t wavetile_plan_workspace_bytes(const wavetile_plan* plan);

/* Pointers by role, to memory that the plan's device can reach. Those that the problem does not use are ignored; NULL
 * is fine there. All are 16-byte aligned, amax 4-byte. The output must not be an input, except the residual; nor may a
 * new history be an input, except the history. */
typedef struct wavetile_tensors {
  size_t struct_size;
  void* x;
  void* w;
  void* y;
  const void* scale;
  const void* bias;
  const void* residual; /* where it is the output, execute writes it as that */
  void* amax;
  void* bias_gradient;
  const void* history; /* backward data writes it */
  void* new_history;
  void* aux[4];
  /* One bit for each role (1u << WAVETILE_ROLE_X, ...) whose memory may not be written: execute refuses a direction
   * that would. For callers whose constants lost their const in the pointers above. Default 0: none. */
  uint64_t read_only;
  const void* x_scales;
  const void* w_scales;
} wavetile_tensors;

/* Sets struct_size, and NULL everywhere else. */
WAVETILE_API void wavetile_tensors_init(wavetile_tensors* tensors);

/* Computes: sends the work to the stream and returns. Allocates nothing on the device, waits for nothing and compiles
 * nothing, so it may be captured into a CUDA graph. On the CPU and in the simulator it returns when the work is done.
 * workspace is device memory, 256-byte aligned, of at least wavetile_plan_workspace_bytes; NULL where that is 0. One
 * that is not NULL, with 0 bytes, is refused: it is mostly a stream in the wrong place. Two
 * calls that may overlap in time need two workspaces. */
WAVETILE_API wavetile_status wavetile_plan_execute(const wavetile_plan* plan, wavetile_stream stream,
                                                   const wavetile_tensors* tensors, void* workspace,
                                                   size_t workspace_bytes);

/* The gradient of a bias alone: sums of one tensor of a problem over images and pixels, fp32, one per channel, always
 * in the same order. `role` is WAVETILE_ROLE_Y (dy, k channels) or WAVETILE_ROLE_X (c channels; the output gradient of
 * a transposed convolution); the problem's direction does not matter. */
typedef struct wavetile_bias_gradient wavetile_bias_gradient;

WAVETILE_API wavetile_status wavetile_bias_gradient_create(wavetile_device* device, const wavetile_problem* problem,
                                                           wavetile_role role, wavetile_bias_gradient** gradient);
WAVETILE_API void wavetile_bias_gradient_destroy(wavetile_bias_gradient* gradient);
WAVETILE_API int64_t wavetile_bias_gradient_workspace_bytes(const wavetile_bias_gradient* gradient);
/* The rules of wavetile_plan_execute hold: `tensor` and `out` are 16-byte aligned, the workspace 256-byte. */
WAVETILE_API wavetile_status wavetile_bias_gradient_execute(const wavetile_bias_gradient* gradient,
                                                            wavetile_stream stream, const void* tensor, float* out,
                                                            void* workspace, size_t workspace_bytes);

/* How long one execute takes: `runs` of them one after the other, after a few that do not count, or as many as make the
 * time steady where runs is 0. On a GPU the L2 cache is cold before each, and the call waits for all of them. Refused
 * for a simulator, whose time says nothing of a GPU. The other arguments are those of wavetile_plan_execute. */
typedef struct wavetile_timing {
  size_t struct_size;
  double median_us;
  double low_us; /* half of all runs lie between these */
  double high_us;
  double minimum_us;
  int32_t runs;
  int32_t reserved; /* 0 */
} wavetile_timing;

WAVETILE_API wavetile_status wavetile_plan_time(const wavetile_plan* plan, const wavetile_tensors* tensors,
                                                void* workspace, size_t workspace_bytes, int32_t runs,
                                                wavetile_timing* timing);

typedef enum wavetile_format WAVETILE_AN_INT {
  WAVETILE_FORMAT_TEXT = 0, /* for people */
  WAVETILE_FORMAT_JSON = 1
} wavetile_format;

/* A registry is for the devices of one target. */
WAVETILE_API wavetile_status wavetile_registry_create(wavetile_device* device, wavetile_registry** registry);
WAVETILE_API void wavetile_registry_destroy(wavetile_registry* registry);

/* Adds what `from` names: the JSON of a config, or of several as `wavetile generate --list --format json` prints them;
 * a .json file of that; the folder of an exported tree, or one of .json files; a pack (.wtpack); the shared library of
 * an exported tree (.so). A kernel that is there already takes the new priority and code. All are added, or none.
 * *added, which may be NULL, becomes how many there were. Packs and libraries are code: only files of trusted users are
 * read. */
WAVETILE_API wavetile_status wavetile_registry_add(wavetile_registry* registry, const char* from,
                                                   wavetile_priority priority, size_t* added);
/* A kernel by its name; one that is not there is a WAVETILE_BAD_INPUT. */
WAVETILE_API wavetile_status wavetile_registry_set_priority(wavetile_registry* registry, const char* kernel,
                                                            wavetile_priority priority);
WAVETILE_API wavetile_status wavetile_registry_remove(wavetile_registry* registry, const char* kernel);
/* How many kernels there are; 0 for NULL. */
WAVETILE_API size_t wavetile_registry_size(const wavetile_registry* registry);
/* All of them with priority, origin and config, as JSON, or one line each. *report becomes a new string. */
WAVETILE_API wavetile_status wavetile_registry_list(const wavetile_registry* registry, wavetile_format format,
                                                    char** report);

/* Whether the one kernel that options->kernel or options->config names can run the problem on the device within the
 * options' limits: *supported becomes 1 or 0, and *reason, where it is not NULL, a new string: the reasons why it
 * cannot, or its predicted time. Compiles nothing. */
WAVETILE_API wavetile_status wavetile_kernel_supported(wavetile_device* device, const wavetile_problem* problem,
                                                       const wavetile_plan_options* options, int32_t* supported,
                                                       char** reason);

/* What a plan will run and why. The strings belong to the plan. */
typedef struct wavetile_plan_info {
  size_t struct_size;
  const char* kernel; /* its name, or the path on the CPU */
  const char* reason; /* why this one */
  int32_t registers;  /* a thread; 0: unknown */
  int32_t spill_bytes;
  int32_t launches;   /* of one execute */
  int32_t from_cache; /* 1: no compiler ran */
  double compile_seconds;
  int64_t workspace_bytes;
  double predicted_us; /* by the cost model; 0: not asked */
  double measured_us;  /* by tuning on this kind of GPU; 0: never */
} wavetile_plan_info;

/* Fills *info, whose struct_size must be set. */
WAVETILE_API wavetile_status wavetile_plan_get_info(const wavetile_plan* plan, wavetile_plan_info* info);

/* The same, with problem and device, as one JSON object. It belongs to the plan; NULL for NULL. */
WAVETILE_API const char* wavetile_plan_json(const wavetile_plan* plan);

/* What a plan would run for the problem on the device and why, which kernels could, in the order of preference, and why
 * each of the others cannot: those that a choice picks from, as `wavetile explain` lists them. options may be NULL. The
 * text names the first 20 kernels that accept and the first reason of the others, each with how many it keeps out; JSON
 * has all. *report becomes a new string (wavetile_string_free). Compiles nothing. */
WAVETILE_API wavetile_status wavetile_explain(wavetile_device* device, const wavetile_problem* problem,
                                              const wavetile_plan_options* options, wavetile_format format,
                                              char** report);

/* The same with at most `kernels` that accept and as many that decline, in text and JSON; -1: all of them. */
WAVETILE_API wavetile_status wavetile_explain_kernels(wavetile_device* device, const wavetile_problem* problem,
                                                      const wavetile_plan_options* options, wavetile_format format,
                                                      int32_t kernels, char** report);

/* The tuning database (WAVETILE_TUNING_DB) as JSON, as `wavetile tuning export --measurements` writes it: *json becomes
 * a new string (wavetile_string_free). */
WAVETILE_API wavetile_status wavetile_tuning_export(char** json);
/* Takes over what such a text has and the database has not, or has older; taken: how many rows, or NULL. A text with a
 * fault is refused whole. Plans that are made afterwards use it. */
WAVETILE_API wavetile_status wavetile_tuning_import(const char* json, int64_t* taken);

/* Plans as bytes, in the background, and what the library borrows from its caller. */

/* What a plan chose, as bytes that another process can make the same plan of, on a device of the same target, without
 * choosing or measuring again: problem, options, kernel and its reason. Compiled code stays in the cache and in packs
 * (docs/packs.md). *bytes becomes new memory (wavetile_string_free). A problem with the user's own C++ is
 * WAVETILE_UNSUPPORTED: bytes of strangers must not hold programs. */
WAVETILE_API wavetile_status wavetile_plan_save(const wavetile_plan* plan, char** bytes, size_t* size);
WAVETILE_API wavetile_status wavetile_plan_load(wavetile_device* device, const void* bytes, size_t size,
                                                wavetile_plan** plan);

/* wavetile_plan_create on a thread of the library. The device handle may be closed meanwhile. `wait` gives the plan, or
 * the status and text of its failure, once for each call; `ready` sets *ready to 1 when `wait` would not block. Ending
 * a future waits for its thread. */
typedef struct wavetile_plan_future wavetile_plan_future;
WAVETILE_API wavetile_status wavetile_plan_create_async(wavetile_device* device, const wavetile_problem* problem,
                                                        const wavetile_plan_options* options,
                                                        wavetile_plan_future** future);
WAVETILE_API wavetile_status wavetile_plan_future_ready(const wavetile_plan_future* future, int32_t* ready);
WAVETILE_API wavetile_status wavetile_plan_future_wait(wavetile_plan_future* future, wavetile_plan** plan);
WAVETILE_API void wavetile_plan_future_destroy(wavetile_plan_future* future);

typedef enum wavetile_log_level WAVETILE_AN_INT {
  WAVETILE_LOG_TRACE = 0,
  WAVETILE_LOG_DEBUG = 1, /* executions with their times, which makes each of them wait */
  WAVETILE_LOG_INFO = 2,  /* every plan, and every execution as a command that repeats it */
  WAVETILE_LOG_WARN = 3,
  WAVETILE_LOG_ERROR = 4,
  WAVETILE_LOG_OFF = 5
} wavetile_log_level;

/* Gives every line of the log, from `level` on, to `receive` instead of standard error or WAVETILE_LOG_FILE; NULL: as
 * the variables say again. Calls come from any thread, one at a time; `receive` must not call the library. */
typedef void (*wavetile_log_receiver)(void* user, wavetile_log_level level, const char* line);
WAVETILE_API wavetile_status wavetile_set_log(wavetile_log_receiver receive, void* user, wavetile_log_level level);

/* Gives the memory that this handle's device allocates from now on (wavetile_device_allocate, tuning, verification): at
 * least 256-byte aligned and reachable by the device; NULL is a refusal. NULL for the struct: the device's own again.
 * Not in the simulator, which watches its memory. */
typedef void* (*wavetile_allocate_call)(void* user, size_t bytes);
typedef void (*wavetile_free_call)(void* user, void* memory);
typedef struct wavetile_allocator {
  size_t struct_size;
  void* user;
  wavetile_allocate_call allocate;
  wavetile_free_call free;
} wavetile_allocator;
WAVETILE_API wavetile_status wavetile_device_set_allocator(wavetile_device* device,
                                                           const wavetile_allocator* allocator);

/* Runs the library's loops over cores on the caller's threads: `run` calls body(context, i) once for each i below
 * count, on any threads, and returns when all calls have. NULL for the struct: the library's own again. Convolutions on
 * the CPU through oneDNN keep OpenMP's threads; those by the built-in paths, the reference and the simulator use `run`.
 */
typedef void (*wavetile_loop_body)(void* context, int64_t index);
typedef void (*wavetile_run_call)(void* user, int64_t count, wavetile_loop_body body, void* context);
typedef struct wavetile_thread_pool {
  size_t struct_size;
  void* user;
  wavetile_run_call run;
} wavetile_thread_pool;
WAVETILE_API wavetile_status wavetile_set_thread_pool(const wavetile_thread_pool* pool);

/* Verification. */

typedef enum wavetile_fill WAVETILE_AN_INT {
  WAVETILE_FILL_RANDOM = 0, /* signed reals whose results have a magnitude of about one */
  WAVETILE_FILL_EXACT = 1,  /* small integers: every sum is exact, in whichever order it is made */
  WAVETILE_FILL_ZERO = 2
} wavetile_fill;

/* Fills tensors in host memory (those that are const in the struct too, but for read_only ones): inputs as asked,
 * outputs with a poison that wavetile_verify recognises. Those that are NULL, or that the problem does not use, are
 * left out. The same problem, fill and seed give the same bytes on every machine. */
WAVETILE_API wavetile_status wavetile_fill_tensors(const wavetile_problem* problem, wavetile_fill fill, uint64_t seed,
                                                   const wavetile_tensors* host);

typedef struct wavetile_verify_options {
  size_t struct_size;
  int32_t exact;      /* 1: the inputs are WAVETILE_FILL_EXACT, so no rounding of sums is allowed for; default 0 */
  int32_t exhaustive; /* 0 (default): a sample where the output is large; 1: every element */
  int32_t splits;     /* parts in which the sums were made (split-K); default 1 */
  int32_t reserved;   /* 0 */
  uint64_t seed;      /* of the sample; default 1 */
} wavetile_verify_options;

WAVETILE_API void wavetile_verify_options_init(wavetile_verify_options* options);

typedef struct wavetile_verify_report {
  size_t struct_size;
  int64_t elements;   /* of the output */
  int64_t compared;   /* with the reference: all of them, or a sample of corners, borders and random ones */
  int64_t wrong;      /* among those compared */
  int64_t unwritten;  /* still poisoned, among all */
  int64_t nan;        /* among all */
  int32_t amax_wrong; /* 1: amax is not the largest magnitude of the output */
  int32_t reserved;   /* 0 */
  double worst;       /* largest error as a part of what is allowed: 1 is the edge */
  int64_t index;      /* of the first wrong element, in memory order; -1: none */
  double expected;
  double got;
  double bound;                /* on |got - expected|, before rounding to the output's type */
  int32_t bias_gradient_wrong; /* 1: a sum of the bias gradient is */
  int32_t new_history_wrong;   /* 1: a pixel of the new history is */
  int32_t store_wrong;         /* 1: an auxiliary tensor that a user's store writes is, or the problem is too large */
  int32_t reserved2;           /* 0 */
  /* Elements that are right but not the reference's own rounding, among those compared: with 16-bit outputs a sum close
   * to the middle between two numbers may go either way. */
  int64_t rounded_otherwise;
  int32_t history_gradient_wrong; /* 1: an element of the gradient of the history is */
  int32_t reserved3;              /* 0 */
} wavetile_verify_report;

/* Compares an output with the reference (plain loops, sums in double), all in host memory. `host` holds the inputs and
 * the output; with a residual that was overwritten by the output, residual is a copy of what it was. Where a user's
 * store writes, what it leaves alone must hold bytes of 0xff, as wavetile_fill_tensors leaves them. The bounds follow
 * from the types and the length of the sums. options and report may be NULL. A wrong result is
 * WAVETILE_VERIFICATION_FAILED with the first few wrong elements in the text; *report is filled then too. */
WAVETILE_API wavetile_status wavetile_verify(const wavetile_problem* problem, const wavetile_tensors* host,
                                             const wavetile_verify_options* options, wavetile_verify_report* report);

/* The same for tensors in memory of `device`: on a GPU plain kernels compute the reference there, in double, which
 * share nothing with those that they judge. A history, a bias gradient and a user's store are copied to the host and
 * compared there. The tensors must be complete: wait for the stream that writes them first. */
WAVETILE_API wavetile_status wavetile_verify_on_device(wavetile_device* device, const wavetile_problem* problem,
                                                       const wavetile_tensors* tensors,
                                                       const wavetile_verify_options* options,
                                                       wavetile_verify_report* report);

/* The whole check for one plan: fills tensors, executes once on the plan's device, copies back and compares. The data
 * are exact where options->exact is set, else random. Device memory is allocated for the time of the call. options and
 * report may be NULL. */
WAVETILE_API wavetile_status wavetile_plan_verify(const wavetile_plan* plan, uint64_t data_seed,
                                                  const wavetile_verify_options* options,
                                                  wavetile_verify_report* report);

#ifdef __cplusplus
}
#endif

#endif /* WAVETILE_WAVETILE_H_ */
