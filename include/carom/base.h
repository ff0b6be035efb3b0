/* SPDX-License-Identifier: MIT */
/* base.h: status, context, allocator, threads, progress and random numbers; every other header
 * includes it.
 *
 * Each comment in the headers says first what a function does, then its behaviour, constraints,
 * ownership, cost and thread safety. It leaves out what follows from these rules:
 *
 *   - A call returns carom_status. A failure leaves a message on the context, except for
 *     CAROM_INVALID, whose message goes to the assert handler. CAROM_MORE is not a failure.
 *   - A context serves one thread at a time: a call while another thread is in one is a caller's
 *     bug, which debug and checked builds (CAROM_CHECKS) tell the assert handler; others may crash.
 *     Queries do not change prepared structures: many contexts may query one structure at the same
 *     time.
 *   - Zero means default: every `_def` may be `{0}` or NULL, unless its comment says "never NULL".
 *   - A caller's bug (a NULL where none is allowed, an enum out of range, a result array whose
 *     fields contradict each other) calls the assert handler. If the handler returns, the call does
 *     nothing and returns CAROM_INVALID, 0 or false.
 *   - A call that fails or is cancelled leaks no memory. A failed create has made nothing. A failed
 *     change has changed nothing, unless its comment says otherwise.
 *   - Calls on meshes, shapes, soups, solids, gases and boxes whose work grows with their input
 *     report progress and can be cancelled.
 */
#ifndef CAROM_BASE_H
#define CAROM_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers; carom_build_get has that of the library. */
#define CAROM_VERSION_MAJOR 0
#define CAROM_VERSION_MINOR 2
#define CAROM_VERSION_PATCH 0

/* Incremented whenever a public struct or function changes in a way that compiled callers would
 * notice. */
#define CAROM_ABI 13u

/* Stands before every function of the library. Define it beforehand to replace it. On Windows,
 * define CAROM_SHARED to use the DLL; CAROM_BUILDING is defined while the library is built. */
#ifndef CAROM_API
#if defined(_WIN32) && defined(CAROM_BUILDING)
#define CAROM_API __declspec(dllexport)
#elif defined(_WIN32) && defined(CAROM_SHARED)
#define CAROM_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define CAROM_API __attribute__((visibility("default")))
#else
#define CAROM_API
#endif
#endif

/* Stands before CAROM_API where a function, or what it is given, may still change between minor
 * versions. All others are kept. It expands to nothing, unless you define it beforehand, such as to
 * an attribute that makes the compiler warn of every use. */
#ifndef CAROM_EXPERIMENTAL
#define CAROM_EXPERIMENTAL
#endif

/* ---- Status ---------------------------------------------------------------------------------- */

/* What a call returns. */
typedef enum carom_status {
    CAROM_OK = 0,
    CAROM_MORE,        /* the caller's buffer is full; count holds the true number */
    CAROM_CANCELLED,   /* the progress callback cancelled; results are unspecified but freeable */
    CAROM_INVALID,     /* a caller's bug; the assert handler was called */
    CAROM_BAD_INPUT,   /* NaN, infinity, an unusable mesh, a value out of range */
    CAROM_BAD_FILE,    /* the file was read but its content is malformed */
    CAROM_IO,          /* a file cannot be opened, read or written */
    CAROM_TOO_LARGE,   /* more items than the structure can number, or an input beyond its
                        limit */
    CAROM_NO_MEMORY,   /* the allocator returned NULL */
    CAROM_UNSUPPORTED, /* not compiled in, or not on this machine */
    CAROM_NO_DEVICE,   /* the requested backend is not available */
    CAROM_STATUS_COUNT
} carom_status;

/* Every enum has two such functions; any thread may call them.
 * - _name returns the name of a value, such as "bad file"; never NULL, "unknown" for other values.
 * - _from_name finds the value of a name; false, and *value as it was, when there is none. */
CAROM_API const char *carom_status_name(carom_status status);
CAROM_API bool carom_status_from_name(const char *name, carom_status *status);

/* ---- Assert handler -------------------------------------------------------------------------- */

/* Receives a caller's bug: the function that was called, and what is wrong. */
typedef void carom_assert_fn(const char *function, const char *message);

/* Replaces the handler of callers' bugs for the whole process and returns the previous one. handler
 * may be NULL: the default, which prints to stderr and aborts. Any thread. */
CAROM_API carom_assert_fn *carom_assert_set_handler(carom_assert_fn *handler);

/* ---- Allocator, threads and progress --------------------------------------------------------- */

/* Memory.
 * - `allocate` returns `size` bytes (at least 1) aligned to `alignment` (a power of two, at most
 *   64), or NULL.
 * - `release` takes what `allocate` returned, never NULL.
 * - Both may be called from any thread that uses a context or a structure made with it, and from
 *   Carom's own threads. */
typedef struct carom_allocator {
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*release)(void *user, void *pointer);
    void *user;
} carom_allocator;

/* Threads. Calls task(argument, worker) once for each worker in [0, workers), and returns when all
 * calls have returned. The calls may run concurrently, one after another, or partly so. */
typedef void carom_task_fn(void *argument, uint32_t worker);
typedef void carom_run_fn(void *user, carom_task_fn *task, void *argument, uint32_t workers);

/* Progress of long work, which consists of successive phases. `what` names the phase in a short
 * phrase. `fraction` in [0, 1] is how much of the phase is done, 0 where that is not known; it
 * never decreases. Return true to cancel: the call then returns CAROM_CANCELLED within about a
 * tenth of a second.
 * - Called when a phase begins, with fraction 0, and when it ends, with 1, however short it is; in
 *   between at most some twenty times a second, or as progress_interval of the context says.
 * - Called on the thread that made the call (or on the caller's own thread that runs worker 0).
 * - It must not use the context. */
typedef bool carom_progress_fn(void *user, const char *what, double fraction);

/* ---- Context --------------------------------------------------------------------------------- */

/* Where a context computes. */
typedef enum carom_backend {
    CAROM_BACKEND_CPU = 0,
    CAROM_BACKEND_CUDA = 1,
    CAROM_BACKEND_COUNT
} carom_backend;

/* "cpu", "cuda". */
CAROM_API const char *carom_backend_name(carom_backend backend);
CAROM_API bool carom_backend_from_name(const char *name, carom_backend *backend);

/* Which compiled version of the loops runs. All give identical results, byte for byte. */
typedef enum carom_isa {
    CAROM_ISA_BEST = 0, /* the widest that this machine has */
    CAROM_ISA_BASELINE, /* what every machine of this architecture has: SSE2, NEON */
    CAROM_ISA_AVX2,
    CAROM_ISA_AVX512,
    CAROM_ISA_COUNT
} carom_isa;

/* "best", "baseline", "avx2", "avx512". */
CAROM_API const char *carom_isa_name(carom_isa isa);
CAROM_API bool carom_isa_from_name(const char *name, carom_isa *isa);

/* Returns whether this build and this machine can run `isa`. Any thread. */
CAROM_API bool carom_isa_available(carom_isa isa);

/* 64 GB: more than the largest meshes, and an end for pipes that have none. */
#define CAROM_DEFAULT_INPUT_LIMIT UINT64_C(64000000000)

/* What a context is created with. */
typedef struct carom_context_def {
    uint32_t threads;      /* 0: as many as CAROM_THREADS in the environment says, or where it is
                              not set one per processor this process may use; 1: serial; at most
                              256 */
    carom_backend backend; /* 0: CPU. CAROM_NO_DEVICE when there is none; calls that the backend
                              cannot do return CAROM_UNSUPPORTED */
    carom_isa isa;         /* 0: the best; CAROM_UNSUPPORTED when the machine lacks it */
    carom_allocator allocator; /* all zero: the C library's; on Linux it refuses blocks from 256 MiB
                                  on that exceed the memory available, before the system would end
                                  the process */
    carom_run_fn *run;         /* NULL: Carom's own threads, started when first needed; they block
                                  signals, so that handlers run in the caller's threads */
    void *run_user;
    carom_progress_fn *progress; /* NULL: none */
    void *progress_user;
    double progress_interval; /* least seconds between two calls within a phase; 0: 0.05. Negative:
                                 a call wherever the work could be cancelled, independent of the
                                 clock, so that tests can cancel it at each of these calls */
    uint32_t device;          /* of backend CUDA: its number */
    void *borrowed_stream; /* of backend CUDA: a cudaStream_t of that device that the context works
                              in; NULL: a stream of its own */
    uint64_t input_limit;  /* bytes of one file or pipe that is read, also of what it unpacks to;
                              0: CAROM_DEFAULT_INPUT_LIMIT. CAROM_TOO_LARGE beyond it */
} carom_context_def;

/* What a context has. */
typedef struct carom_context_info {
    uint32_t threads;
    carom_backend backend;
    carom_isa isa;
    uint64_t scratch_bytes; /* held for reuse by later calls, on the host and on the device */
} carom_context_info;

/* Owns threads, scratch memory and the message of the last failure. Serves one thread at a time. */
typedef struct carom_context carom_context;

/* Creates a context; def may be NULL. On failure *context is NULL and carom_context_message(NULL)
 * says why.
 * - CAROM_BAD_INPUT: more than 256 threads; CAROM_THREADS in the environment is no number from 1 to
 *   256, and def names no threads.
 * - CAROM_UNSUPPORTED: the program was compiled with headers of another ABI.
 * - A forked child may create contexts at once. The parent's contexts are a caller's bug there,
 *   except for carom_context_message and carom_context_destroy. */
CAROM_API carom_status carom_context_create(const carom_context_def *def, carom_context **context);

/* The same for a caller that was compiled with the given CAROM_ABI. */
CAROM_API carom_status carom_context_create_abi(uint32_t abi, const carom_context_def *def,
                                                carom_context **context);

/* Returns the CAROM_ABI of the library. For callers that find functions by name: they compare it
 * with the one they were written for. Any thread. */
CAROM_API uint32_t carom_abi(void);

/* Compiled callers say which ABI they were compiled with. */
#define carom_context_create(...) carom_context_create_abi(CAROM_ABI, __VA_ARGS__)

/* Stops the threads and frees the scratch. NULL is allowed. Structures and results made with the
 * context stay valid. In a forked child a context of the parent gives back its memory alone. */
CAROM_API void carom_context_destroy(carom_context *context);

/* Returns the message of the last failed call: what failed, where, and what to do. Empty before any
 * failure; valid until the next call on the context. context may be NULL: the message of this
 * thread's last failed carom_context_create. The result is never NULL. */
CAROM_API const char *carom_context_message(const carom_context *context);

/* Gets what the context has. */
CAROM_API carom_status carom_context_get_info(const carom_context *context,
                                              carom_context_info *info);

/* Counts of the work that the last query on the context did. */
typedef struct carom_work {
    uint64_t visits;     /* nodes or cells visited */
    uint64_t candidates; /* pairs given to the exact test */
    uint64_t undecided;  /* of these, not decided by its floating-point filter */
} carom_work;

/* Gets the work that the last query did. */
CAROM_API carom_status carom_context_get_work(const carom_context *context, carom_work *work);

/* Frees the scratch memory; the next call allocates anew what it needs. */
CAROM_API carom_status carom_context_trim(carom_context *context);

/* ---- Build information ----------------------------------------------------------------------- */

/* How the library was built. */
typedef struct carom_build {
    const char *version;          /* "0.2.0" */
    const char *commit;           /* "1a2b3c4", "1a2b3c4+" with local changes, "unknown" */
    const char *compiler;         /* "gcc 12.2.0" */
    const char *instruction_sets; /* compiled in: "baseline avx2 avx512" */
} carom_build;

/* Returns how the library was built. Never NULL; any thread. */
CAROM_API const carom_build *carom_build_get(void);

/* Describes in one line the CUDA device that this process can use, or why there is none: "none: …".
 * Writes at most `size` bytes including the terminating zero (NULL is allowed where size is 0).
 * Returns whether there is a device. Any thread. */
CAROM_API bool carom_cuda_describe(char *line, size_t size);

/* ---- Random numbers and time ----------------------------------------------------------------- */

/* splitmix64: small, fast and identical on every machine. Start with `{seed}`. */
typedef struct carom_random {
    uint64_t state;
} carom_random;

/* 64 random bits. */
CAROM_API uint64_t carom_random_next(carom_random *random);
/* Uniform in [0, 1), 53 bits. */
CAROM_API double carom_random_uniform(carom_random *random);
/* low + (high - low) u with u uniform in [0, 1); rounding may give high itself. */
CAROM_API double carom_random_between(carom_random *random, double low, double high);
/* Standard normal: sqrt(-2 ln(1 - u1)) cos(2 pi u2), u1 drawn first. */
CAROM_API double carom_random_normal(carom_random *random);

/* Seconds on a monotonic clock; only differences are meaningful. Any thread. */
CAROM_API double carom_time_seconds(void);

#ifdef __cplusplus
}
#endif

#endif
