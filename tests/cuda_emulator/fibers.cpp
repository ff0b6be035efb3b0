/* SPDX-License-Identifier: MIT */
/* Blocks of threads on the CPU. Every thread is a fiber that runs until it waits for others: for
 * the lanes of a warp that its mask names, or for its block. Which fiber goes on then, and which
 * block comes next, is the order of their numbers, or one that CAROM_EMULATED_SEED chooses: answers
 * must not depend on it. With a seed, fibers also make room for others at atomic operations.
 *
 * A thread that waits for what never comes is an error that names the kernel, the block and all who
 * wait. An address that nothing has makes the device lost, as on a GPU. */
#include "emulator.h"

#include <csetjmp>
#include <csignal>
#include <sys/mman.h>
#include <unistd.h>

#ifndef __x86_64__
#include <ucontext.h>
#endif

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#define STACK_BYTES (1024u * 1024u) /* its frames are larger */
#else
#define STACK_BYTES (256u * 1024u) /* ten times the largest frames of exact items */
#endif

#define LANES        32u
#define MOST_THREADS 1024u /* of a block, as on a GPU */
#define MOST_WARPS   (MOST_THREADS / LANES)
#define PAGE_BYTES   4096u
#define SIGNAL_BYTES 65536u /* of the stack on which bad addresses are handled */
#define SHARED_FILL  0xB6   /* what shared memory has at first */
#define PAUSE_ONE_IN 4u     /* atomic operations that let another fiber run, with a seed */
#define NOT_NUMBERED ~0u

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

/* ---- Switching ------------------------------------------------------------------------------- */

/* A stack with what runs on it, when that does not run. */
struct fiber {
    char *memory; /* the lowest page is out of bounds */
#ifdef __x86_64__
    void *at;
#else
    ucontext_t context;
#endif
    void *fake; /* of the address sanitizer */
};

static void fiber_main();

#ifdef __x86_64__
/* Callee-saved registers are pushed, the rest is saved by who calls. */
extern "C" void carom_emulated_switch(void **from, void *to);
__asm__(".text\n"
        ".type carom_emulated_switch, @function\n"
        ".hidden carom_emulated_switch\n"
        ".globl carom_emulated_switch\n"
        "carom_emulated_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size carom_emulated_switch, . - carom_emulated_switch\n");
#define SAVED_REGISTERS 6

static void fiber_prepare(fiber *f) {
    void **top = (void **)(f->memory + PAGE_BYTES + STACK_BYTES);
    *--top = nullptr; /* calls have the stack 8 bytes off a multiple of 16 */
    *--top = (void *)fiber_main;
    for (int i = 0; i < SAVED_REGISTERS; ++i) *--top = nullptr;
    f->at = top;
}

static void fiber_jump(fiber *from, fiber *to) {
    carom_emulated_switch(&from->at, to->at);
}
#else
static void fiber_prepare(fiber *f) {
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->memory + PAGE_BYTES;
    f->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&f->context, fiber_main, 0);
}

static void fiber_jump(fiber *from, fiber *to) {
    swapcontext(&from->context, &to->context);
}
#endif

static fiber host; /* what has started the kernel */
static const void *host_stack;
static size_t host_stack_bytes;

/* Runs `to`; `from` goes on when something switches back, or never, if it `ends`. */
static void fiber_switch(fiber *from, fiber *to, bool ends) {
#ifdef __SANITIZE_ADDRESS__
    bool is_host = to == &host;
    __sanitizer_start_switch_fiber(ends ? nullptr : &from->fake,
                                   is_host ? host_stack : to->memory + PAGE_BYTES,
                                   is_host ? host_stack_bytes : STACK_BYTES);
    fiber_jump(from, to);
    __sanitizer_finish_switch_fiber(from->fake, nullptr, nullptr);
#else
    (void)ends;
    fiber_jump(from, to);
#endif
}

static std::vector<fiber *> spare; /* stacks that nothing runs on */

static fiber *fiber_take() {
    fiber *f;
    if (spare.empty()) {
        f = new fiber{};
        f->memory = (char *)mmap(nullptr, PAGE_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (f->memory == MAP_FAILED) carom_emulated_stop("no memory for a stack");
        (void)mprotect(f->memory, PAGE_BYTES, PROT_NONE);
    } else {
        f = spare.back();
        spare.pop_back();
    }
    fiber_prepare(f);
    return f;
}

/* ---- The block that runs --------------------------------------------------------------------- */

static const char *const kind_names[CAROM_EMULATED_KINDS] = {
    "__syncwarp",        "__shfl_sync",      "__shfl_up_sync",    "__shfl_down_sync",
    "__shfl_xor_sync",   "__ballot_sync",    "__any_sync",        "__all_sync",
    "__match_any_sync",  "__match_all_sync", "__reduce_add_sync", "__reduce_min_sync",
    "__reduce_max_sync", "__reduce_or_sync",
};

/* What a thread brings to where its warp meets. */
struct lane_state {
    carom_emulated_kind kind;
    unsigned mask, bytes;
    int argument;
    uint64_t value, result;
};

static struct block_state {
    const void *kernel;
    const std::function<void()> *body;
    unsigned threads, live;  /* that have not ended */
    unsigned now;            /* the thread that runs */
    fiber *runs;             /* on this stack */
    fiber *of[MOST_THREADS]; /* NULL: not begun */
    uint32_t ready_warps;    /* bits of those with threads that can go on */
    uint32_t ready[MOST_WARPS], alive[MOST_WARPS], waiting[MOST_WARPS], at_barrier[MOST_WARPS];
    uint32_t set[MOST_WARPS]; /* of those who wait, the lanes whose value is not 0 */
    bool mixed[MOST_WARPS];   /* not all of them wait for the same */
    unsigned barrier_count;
    bool barrier_predicate;
    int barrier_any, barrier_result;
    lane_state lanes[MOST_THREADS];
} block;
static bool running;
static pthread_t runner;
static sigjmp_buf bad_address;
static void *dynamic_shared;

static uint64_t random_state;

static uint32_t random_below(uint32_t bound) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) * bound >> 31);
}

/* The place of the n-th bit that is set. */
static unsigned bit_of(uint32_t bits, unsigned n) {
    while (n-- > 0) bits &= bits - 1;
    return (unsigned)__builtin_ctz(bits);
}

static void set_ready(unsigned warp, uint32_t lanes) {
    block.ready[warp] |= lanes;
    if (lanes != 0) block.ready_warps |= 1u << warp;
}

static unsigned take(unsigned thread) {
    unsigned warp = thread / LANES;
    block.ready[warp] &= ~(1u << thread % LANES);
    if (block.ready[warp] == 0) block.ready_warps &= ~(1u << warp);
    return thread;
}

/* Takes the thread that goes on next: of this warp, then of the others; NOT_NUMBERED: none can. */
static unsigned take_next() {
    unsigned warp = block.now / LANES, lane = block.now % LANES;
    if (block.ready_warps == 0) return NOT_NUMBERED;
    if (carom_emulated_seed != 0) {
        unsigned warps = (unsigned)__builtin_popcount(block.ready_warps);
        warp = bit_of(block.ready_warps, random_below(warps));
        lane = bit_of(block.ready[warp],
                      random_below((uint32_t)__builtin_popcount(block.ready[warp])));
    } else {
        if (block.ready[warp] == 0) {
            uint32_t later = block.ready_warps & ~((2u << warp) - 1u);
            warp = (unsigned)__builtin_ctz(later != 0 ? later : block.ready_warps);
            lane = LANES - 1;
        }
        uint32_t later = lane == LANES - 1 ? 0 : block.ready[warp] & ~((2u << lane) - 1u);
        lane = (unsigned)__builtin_ctz(later != 0 ? later : block.ready[warp]);
    }
    return take(warp * LANES + lane);
}

static void set_now(unsigned thread) {
    block.now = thread;
    threadIdx.x = thread;
}

/* ---- Errors ---------------------------------------------------------------------------------- */

void carom_emulated_stop(const char *format, ...) {
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "emulated device: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (running)
        fprintf(stderr, " (kernel %s, block %u,%u of %u,%u, thread %u of %u, seed %llu)",
                carom_emulated_name(block.kernel), blockIdx.x, blockIdx.y, gridDim.x, gridDim.y,
                block.now, block.threads, (unsigned long long)carom_emulated_seed);
    fprintf(stderr, "\n");
    abort();
}

/* Nothing can go on, and not all threads have ended. */
[[noreturn]] static void stop_at_deadlock() {
    for (unsigned t = 0; t < block.threads; ++t) {
        unsigned warp = t / LANES, lane = t % LANES;
        const lane_state *s = &block.lanes[t];
        if ((block.waiting[warp] >> lane & 1) != 0)
            fprintf(stderr, "emulated device: thread %u waits at %s with mask %08x\n", t,
                    kind_names[s->kind], s->mask);
        else if ((block.at_barrier[warp] >> lane & 1) != 0)
            fprintf(stderr, "emulated device: thread %u waits at __syncthreads\n", t);
        else if ((block.alive[warp] >> lane & 1) == 0)
            fprintf(stderr, "emulated device: thread %u has ended\n", t);
    }
    carom_emulated_stop("threads wait for what does not come");
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Lets the next thread run, until this one is taken again. */
static void let_others_run() {
    fiber *own = block.runs;
    unsigned self = block.now, next = take_next();
    if (next == NOT_NUMBERED) stop_at_deadlock();
    if (next == self) return;
    block.of[self] = own;
    if (block.of[next] == nullptr) block.of[next] = fiber_take();
    block.runs = block.of[next];
    set_now(next);
    fiber_switch(own, block.runs, false);
    /* who switched back has set block.runs and the thread */
}

void carom_emulated_pause() {
    if (carom_emulated_seed == 0 || !running || random_below(PAUSE_ONE_IN) != 0) return;
    set_ready(block.now / LANES, 1u << block.now % LANES);
    let_others_run();
}

void *carom_emulated_dynamic_shared() {
    return dynamic_shared;
}

/* ---- Where a warp meets ---------------------------------------------------------------------- */

/* The lane that a shuffle reads. */
static unsigned lane_read(carom_emulated_kind kind, unsigned lane, int argument) {
    switch (kind) {
    case CAROM_EMULATED_SHUFFLE_UP:
        return (int)lane >= argument ? lane - (unsigned)argument : lane;
    case CAROM_EMULATED_SHUFFLE_DOWN:
        return lane + (unsigned)argument < LANES ? lane + (unsigned)argument : lane;
    case CAROM_EMULATED_SHUFFLE_XOR:
        return (lane ^ (unsigned)argument) % LANES;
    default:
        return (unsigned)argument % LANES;
    }
}

static uint64_t combine(carom_emulated_kind kind, uint64_t a, uint64_t b) {
    switch (kind) {
    case CAROM_EMULATED_ADD:
        return (uint32_t)(a + b);
    case CAROM_EMULATED_MIN:
        return a < b ? a : b;
    case CAROM_EMULATED_MAX:
        return a > b ? a : b;
    default:
        return a | b;
    }
}

/* What one number says of all lanes. */
static uint64_t result_of_all(const lane_state *lanes, uint32_t named, uint32_t set,
                              carom_emulated_kind kind) {
    const lane_state *first = &lanes[__builtin_ctz(named)];
    uint64_t all = first->value;
    bool same = true;
    if (kind == CAROM_EMULATED_SYNC) return 0;
    if (kind == CAROM_EMULATED_BALLOT) return set & named;
    if (kind == CAROM_EMULATED_ANY) return (set & named) != 0;
    if (kind == CAROM_EMULATED_ALL) return (set & named) == named;
    for (uint32_t left = named & (named - 1); left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        all = combine(kind, all, lanes[i].value);
        same = same && lanes[i].value == first->value;
    }
    return kind != CAROM_EMULATED_MATCH_ALL ? all : same ? named : 0;
}

static void set_shuffled(lane_state *lanes, uint32_t named, carom_emulated_kind kind) {
    for (uint32_t left = named; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        unsigned from = lane_read(kind, i, lanes[i].argument);
        if ((named >> from & 1) == 0)
            carom_emulated_stop("lane %u reads lane %u in %s, which is not there (mask %08x)", i,
                                from, kind_names[kind], lanes[i].mask);
        lanes[i].result = lanes[from].value;
    }
}

static void set_matches(lane_state *lanes, uint32_t named) {
    for (uint32_t left = named; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        uint32_t same = 0;
        for (uint32_t others = named; others != 0; others &= others - 1) {
            unsigned k = (unsigned)__builtin_ctz(others);
            if (lanes[k].value == lanes[i].value) same |= 1u << k;
        }
        lanes[i].result = same;
    }
}

/* Lets the lanes go on that this one waits for, if all have come. Lanes that have ended are not
 * waited for. */
static bool warp_meets(unsigned warp, unsigned lane) {
    lane_state *lanes = &block.lanes[warp * LANES];
    const lane_state &own = lanes[lane];
    uint32_t named = own.mask & block.alive[warp];
    if ((block.waiting[warp] & named) != named) return false;
    for (uint32_t left = block.mixed[warp] ? named : 0; left != 0; left &= left - 1) {
        const lane_state *s = &lanes[__builtin_ctz(left)];
        if (s->kind != own.kind || s->mask != own.mask || s->bytes != own.bytes) return false;
    }
    if (own.kind >= CAROM_EMULATED_SHUFFLE && own.kind <= CAROM_EMULATED_SHUFFLE_XOR) {
        set_shuffled(lanes, named, own.kind);
    } else if (own.kind == CAROM_EMULATED_MATCH_ANY) {
        set_matches(lanes, named);
    } else {
        uint64_t result = result_of_all(lanes, named, block.set[warp], own.kind);
        for (uint32_t left = named; left != 0; left &= left - 1)
            lanes[__builtin_ctz(left)].result = result;
    }
    block.waiting[warp] &= ~named;
    set_ready(warp, named);
    return true;
}

uint64_t carom_emulated_warp(carom_emulated_kind kind, unsigned mask, unsigned bytes,
                             uint64_t value, int argument) {
    if (!running) carom_emulated_stop("%s outside of a kernel", kind_names[kind]);
    unsigned warp = block.now / LANES, lane = block.now % LANES;
    lane_state *s = &block.lanes[block.now];
    if ((mask >> lane & 1) == 0)
        carom_emulated_stop("a lane that mask %08x of %s does not name", mask, kind_names[kind]);
    *s = lane_state{kind, mask, bytes, argument, value, 0};
    if (block.waiting[warp] == 0) {
        block.set[warp] = 0;
        block.mixed[warp] = false;
    } else {
        const lane_state *other =
            &block.lanes[warp * LANES + (unsigned)__builtin_ctz(block.waiting[warp])];
        if (other->kind != kind || other->mask != mask || other->bytes != bytes)
            block.mixed[warp] = true;
    }
    block.waiting[warp] |= 1u << lane;
    block.set[warp] = (block.set[warp] & ~(1u << lane)) | (value != 0 ? 1u << lane : 0);
    (void)warp_meets(warp, lane);
    let_others_run();
    return s->result;
}

/* ---- Where a block meets --------------------------------------------------------------------- */

static void block_meets() {
    if (block.barrier_count == 0 || block.barrier_count != block.live) return;
    block.barrier_result = block.barrier_any;
    block.barrier_count = 0;
    block.barrier_any = 0;
    for (unsigned warp = 0; warp * LANES < block.threads; ++warp) {
        set_ready(warp, block.at_barrier[warp]);
        block.at_barrier[warp] = 0;
    }
}

int carom_emulated_block(bool has_predicate, int predicate) {
    if (!running) carom_emulated_stop("__syncthreads outside of a kernel");
    if (block.barrier_count != 0 && block.barrier_predicate != has_predicate)
        carom_emulated_stop("__syncthreads and __syncthreads_or at the same time");
    block.barrier_predicate = has_predicate;
    block.barrier_any |= predicate != 0;
    block.at_barrier[block.now / LANES] |= 1u << block.now % LANES;
    ++block.barrier_count;
    block_meets();
    let_others_run();
    return block.barrier_result;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void thread_ends() {
    unsigned warp = block.now / LANES;
    block.alive[warp] &= ~(1u << block.now % LANES);
    block.of[block.now] = nullptr;
    --block.live;
    for (uint32_t left = block.waiting[warp]; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        if ((block.waiting[warp] >> lane & 1) != 0) (void)warp_meets(warp, lane);
    }
    block_meets();
}

/* Runs threads that have not begun, one after the other, as long as they do not wait. */
static void fiber_main() {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, host_stack == nullptr ? &host_stack : nullptr,
                                    host_stack_bytes == 0 ? &host_stack_bytes : nullptr);
#endif
    while (true) {
        (*block.body)();
        thread_ends();
        unsigned next = take_next();
        fiber *own = block.runs;
        if (next == NOT_NUMBERED && block.live != 0) stop_at_deadlock();
        if (next != NOT_NUMBERED) {
            set_now(next);
            if (block.of[next] == nullptr) continue;
        }
        spare.push_back(own);
        block.runs = next != NOT_NUMBERED ? block.of[next] : &host;
        fiber_switch(own, block.runs, true);
    }
}

static void run_block() {
    block.live = block.threads;
    block.ready_warps = 0;
    block.barrier_count = 0;
    block.barrier_any = 0;
    for (unsigned warp = 0; warp * LANES < block.threads; ++warp) {
        unsigned left = block.threads - warp * LANES;
        block.alive[warp] = left >= LANES ? ~0u : (1u << left) - 1u;
        block.ready[warp] = block.waiting[warp] = block.at_barrier[warp] = 0;
        set_ready(warp, block.alive[warp]);
    }
    block.now = 0;
    unsigned first = carom_emulated_seed != 0 ? take_next() : take(0);
    set_now(first);
    block.runs = fiber_take();
    fiber_switch(&host, block.runs, false);
}

/* ---- Bad addresses --------------------------------------------------------------------------- */

static struct sigaction segv_before, bus_before;

static void on_bad_address(int number, siginfo_t *info, void *) {
    if (running && pthread_equal(pthread_self(), runner)) {
        fprintf(stderr,
                "emulated device: address %p is no memory (kernel %s, block %u,%u, thread %u)\n",
                info->si_addr, carom_emulated_name(block.kernel), blockIdx.x, blockIdx.y,
                block.now);
        siglongjmp(bad_address, 1);
    }
    (void)sigaction(number, number == SIGSEGV ? &segv_before : &bus_before, nullptr);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

extern char __start_carom_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_carom_shared[] __attribute__((weak, visibility("hidden")));

/* Between variables there may be what the address sanitizer minds. */
__attribute__((no_sanitize_address)) static void fill_shared() {
    uint64_t pattern = ((SHARED_FILL + carom_emulated_seed) & 0xFF) * 0x0101010101010101u;
    volatile uint64_t *at = (volatile uint64_t *)__start_carom_shared;
    for (; at + 1 <= (volatile uint64_t *)__stop_carom_shared; ++at) *at = pattern;
}

static void run_blocks(uint64_t count) {
    uint64_t first = 0, step = 1;
    if (carom_emulated_seed != 0) { /* an order without a table: steps have no common factor */
        first = random_below((uint32_t)count);
        step = 1 + random_below((uint32_t)count);
        while (std::__gcd(step, count) != 1) ++step;
    }
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t at = (first + i * step) % count;
        blockIdx = uint3{(unsigned)(at % gridDim.x), (unsigned)(at / gridDim.x), 0};
        run_block();
    }
}

bool carom_emulated_run(const void *kernel, const cudaLaunchConfig_t &config,
                        const std::function<void()> &body) {
    static char *signal_stack = (char *)malloc(SIGNAL_BYTES);
    stack_t alternative = {}, stack_before;
    struct sigaction action = {};
    alternative.ss_sp = signal_stack;
    alternative.ss_size = SIGNAL_BYTES;
    action.sa_sigaction = on_bad_address;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    gridDim = config.gridDim;
    blockDim = config.blockDim;
    if (gridDim.z != 1 || blockDim.y != 1 || blockDim.z != 1 || blockDim.x > MOST_THREADS)
        carom_emulated_stop("a shape of blocks that is not emulated");
    block.kernel = kernel;
    block.body = &body;
    block.threads = blockDim.x;
    random_state = carom_emulated_seed * 0x9E3779B97F4A7C15u + 1;
    fill_shared();
    dynamic_shared = malloc(config.dynamicSmemBytes + 1);
    memset(dynamic_shared, SHARED_FILL, config.dynamicSmemBytes);
    host_stack = nullptr;
    host_stack_bytes = 0;
    (void)sigaltstack(&alternative, &stack_before);
    (void)sigaction(SIGSEGV, &action, &segv_before);
    (void)sigaction(SIGBUS, &action, &bus_before);
    runner = pthread_self();
    running = true;
    bool fine = sigsetjmp(bad_address, 1) == 0;
    if (fine) run_blocks((uint64_t)gridDim.x * gridDim.y);
    running = false;
    (void)sigaction(SIGSEGV, &segv_before, nullptr);
    (void)sigaction(SIGBUS, &bus_before, nullptr);
    (void)sigaltstack(&stack_before, nullptr);
    free(dynamic_shared);
    dynamic_shared = nullptr;
    return fine;
}
