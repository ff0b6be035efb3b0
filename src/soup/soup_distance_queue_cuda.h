/* SPDX-License-Identifier: MIT */
/* soup_distance_queue_cuda.h: how searches for distances are queued and finished, included by
 * soup_distance_cuda.cu alone. */
#ifndef CAROM_SRC_SOUP_SOUP_DISTANCE_QUEUE_CUDA_H
#define CAROM_SRC_SOUP_SOUP_DISTANCE_QUEUE_CUDA_H

struct distance_arguments {
    carom_device_distance query;
    uint64_t first; /* of its poses */
    uint32_t count;
    uint64_t *bad; /* NULL: a pose out of range is a failure */
};

/* The lists of pairs of nodes: one is read while the next one is written, so there are two blocks.
 */
static carom_device_scratch distance_nodes_block(uint32_t list) {
    return list % 2 == 0 ? CAROM_SCRATCH_DISTANCE_NODES : CAROM_SCRATCH_DISTANCE_CHILDREN;
}

/* Lists that are opened: the levels of the higher tree, but for that of the leaves. */
static uint32_t distance_opened_lists(const carom_device_distance *q) {
    uint32_t a = carom_soup_cuda_arrays_of(q->a).tree.levels;
    uint32_t b = carom_soup_cuda_arrays_of(q->b).tree.levels;
    return CAROM_MAX(a, b) - 1;
}

static carom_status distance_reserve(carom_device *device, carom_device_op *op) {
    const distance_arguments *arguments = carom_device_arguments<distance_arguments>(op);
    uint64_t entries =
        DISTANCE_PAIRS_PER_POSE * (uint64_t)arguments->count + CAROM_DEVICE_LIST_ENTRIES;
    const struct {
        carom_device_scratch block;
        uint64_t size;
    } lists[] = {{CAROM_SCRATCH_DISTANCE_NODES, sizeof(uint4)},
                 {CAROM_SCRATCH_DISTANCE_CHILDREN, sizeof(uint4)},
                 {CAROM_SCRATCH_DISTANCE_CANDIDATES, sizeof(uint4)},
                 {CAROM_SCRATCH_DISTANCE_UNDECIDED, sizeof(unsigned long long)}};
    for (const auto &list : lists)
        CAROM_DEVICE_TRY(
            carom_device_reserve_list(device, list.block, entries, list.size, "a search"));
    uint64_t candidates =
        carom_device_scratch_bytes(device, CAROM_SCRATCH_DISTANCE_CANDIDATES) / sizeof(uint4);
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_DISTANCE_LENGTHS,
                                                  candidates * sizeof(double), "a search"));
    return carom_device_reserve_scratch(device, CAROM_SCRATCH_DISTANCE_POSES,
                                        arguments->count * sizeof(distance_pose), "a search");
}

static distance_view distance_view_of(carom_device *device, const distance_arguments *arguments) {
    const carom_device_distance *q = &arguments->query;
    distance_view v = {};
    v.soup[0] = carom_soup_cuda_arrays_of(q->a);
    v.soup[1] = carom_soup_cuda_arrays_of(q->b);
    v.poses[0] = q->poses_a;
    v.poses[1] = q->poses_b;
    v.first = arguments->first;
    v.count = arguments->count;
    v.limit = q->limit;
    v.meet_only = q->meet != nullptr;
    v.state = carom_device_take<distance_pose>(device, CAROM_SCRATCH_DISTANCE_POSES,
                                               arguments->count * sizeof(distance_pose));
    return v;
}

template <typename KERNEL>
static uint64_t distance_blocks(const carom_device *device, KERNEL kernel) {
    return carom_device_resident(device, kernel, DISTANCE_THREADS);
}

static void distance_tighten(carom_device *device, const distance_view &v, distance_levels level,
                             const carom_device_list<uint4> &pairs, bool turn,
                             carom_device_counters *counters) {
    if (v.meet_only && !turn) return;
    carom_device_launch(device, distance_cuda_tighten,
                        distance_blocks(device, distance_cuda_tighten), DISTANCE_THREADS, v, level,
                        pairs, turn, counters);
}

/* Queues the levels; returns the list of pairs of leaves. */
static carom_device_list<uint4> distance_launch_nodes(carom_device *device, carom_device_op *op,
                                                      const distance_view &v) {
    const distance_arguments *arguments = carom_device_arguments<distance_arguments>(op);
    uint32_t opened = distance_opened_lists(&arguments->query);
    distance_levels level = {v.soup[0].tree.levels, v.soup[1].tree.levels};
    carom_device_list<uint4> lists[2];
    for (uint32_t i = 0; i < 2; ++i)
        lists[i] = carom_device_list_of<uint4>(device, distance_nodes_block(i), op,
                                               DISTANCE_N_NODES + (int)i);
    carom_device_step(device, "begin");
    carom_device_launch(device, distance_cuda_begin, carom_device_blocks(v.count, DISTANCE_WARPS),
                        DISTANCE_THREADS, v, lists[0], op->counters);
    carom_device_launch(device, distance_cuda_dive, v.count, DISTANCE_THREADS, v, op->counters);
    carom_device_step(device, "nodes");
    for (uint32_t i = 0; i < opened; ++i, level = level.next()) {
        carom_device_list<uint4> to = lists[(i + 1) % 2];
        to.count = &op->counters->n[DISTANCE_N_NODES + i + 1];
        lists[(i + 1) % 2] = to;
        distance_tighten(device, v, level, lists[i % 2], false, op->counters);
        carom_device_launch(device, distance_cuda_open, distance_blocks(device, distance_cuda_open),
                            DISTANCE_THREADS, v, level, lists[i % 2], to);
    }
    CAROM_ASSERT(level.a == 1 && level.b == 1);
    return lists[opened % 2];
}

static void distance_launch(carom_device *device, carom_device_op *op) {
    const distance_arguments *arguments = carom_device_arguments<distance_arguments>(op);
    const carom_device_distance *q = &arguments->query;
    carom_device_clear(device, op);
    distance_view v = distance_view_of(device, arguments);
    carom_device_list<uint4> leaves = distance_launch_nodes(device, op, v);
    carom_device_list<uint4> candidates = carom_device_list_of<uint4>(
        device, CAROM_SCRATCH_DISTANCE_CANDIDATES, op, DISTANCE_N_CANDIDATES);
    carom_device_list<unsigned long long> undecided = carom_device_list_of<unsigned long long>(
        device, CAROM_SCRATCH_DISTANCE_UNDECIDED, op, DISTANCE_N_UNDECIDED);
    double *lengths = carom_device_take<double>(device, CAROM_SCRATCH_DISTANCE_LENGTHS,
                                                candidates.capacity * sizeof(double));
    carom_device_step(device, "leaves");
    distance_tighten(device, v, {1, 1}, leaves, false, op->counters);
    distance_tighten(device, v, {1, 1}, leaves, true, op->counters);
    carom_device_launch(device, distance_cuda_leaves, distance_blocks(device, distance_cuda_leaves),
                        DISTANCE_THREADS, v, leaves, candidates);
    carom_device_step(device, "triangles");
    carom_device_launch(device, distance_cuda_measure,
                        distance_blocks(device, distance_cuda_measure), DISTANCE_THREADS, v,
                        candidates, lengths, undecided, op->counters);
    carom_device_step(device, "exact");
    carom_device_launch(device, distance_cuda_exact, distance_blocks(device, distance_cuda_exact),
                        DISTANCE_THREADS, v, candidates, undecided, op->counters);
    carom_device_step(device, "result");
    for (int items = 0; items < (v.polygons() ? 2 : 1) && !v.meet_only; ++items)
        carom_device_launch(device, distance_cuda_pick, distance_blocks(device, distance_cuda_pick),
                            DISTANCE_THREADS, v, candidates, lengths, items != 0);
    carom_device_launch(device, distance_cuda_write, carom_device_blocks(v.count, DISTANCE_THREADS),
                        DISTANCE_THREADS, v, q->gaps, q->meet);
}

/* ---- What is left to the host ---------------------------------------------------------------- */

/* An array of the host like one of the device, or NULL; the caller frees it. */
static carom_status distance_read(carom_device *device, const void *from, uint64_t bytes,
                                  void **to) {
    *to = nullptr;
    if (from == nullptr || bytes == 0) return CAROM_OK;
    *to = malloc(bytes);
    if (*to == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for %llu bytes of a search",
                                 (unsigned long long)bytes);
    return carom_device_copy(device, *to, from, bytes, cudaMemcpyDeviceToHost, "reading a search");
}

static uint64_t distance_position_bytes(const carom_soup_cuda_arrays &soup) {
    return 3 * (soup.doubles ? sizeof(double) : sizeof(float)) * (uint64_t)soup.vertex_count;
}

/* What the host reads to name the faces that meet. */
struct distance_on_host {
    void *gaps, *poses[2], *positions[2], *meets;

    carom_status read(carom_device *device, const distance_arguments *arguments, uint64_t count) {
        const carom_device_distance *q = &arguments->query;
        const carom_soup_cuda_arrays a = carom_soup_cuda_arrays_of(q->a);
        const carom_soup_cuda_arrays b = carom_soup_cuda_arrays_of(q->b);
        const struct {
            const void *from;
            uint64_t bytes;
            void **to;
        } arrays[] = {
            {q->gaps + arguments->first, count * sizeof(carom_soup_gap), &gaps},
            {q->poses_a != nullptr ? q->poses_a + arguments->first : nullptr,
             count * sizeof(carom_pose), &poses[0]},
            {q->poses_b != nullptr ? q->poses_b + arguments->first : nullptr,
             count * sizeof(carom_pose), &poses[1]},
            {*q->stale_a ? a.positions : nullptr, distance_position_bytes(a), &positions[0]},
            {*q->stale_b ? b.positions : nullptr, distance_position_bytes(b), &positions[1]}};
        for (const auto &array : arrays)
            CAROM_DEVICE_TRY(distance_read(device, array.from, array.bytes, array.to));
        meets = malloc(count);
        if (meets == nullptr)
            return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for %llu poses",
                                     (unsigned long long)count);
        for (uint64_t i = 0; i < count; ++i) {
            const carom_soup_gap *gap = (const carom_soup_gap *)gaps + i;
            ((uint8_t *)meets)[i] = gap->distance == 0.0 && gap->face_a == UINT32_MAX;
        }
        return CAROM_OK;
    }
    void release() {
        void *const all[] = {gaps, poses[0], poses[1], positions[0], positions[1], meets};
        for (void *memory : all) free(memory);
    }
};

/* Sets the results of the first `count` poses in which faces meet. */
static carom_status distance_finish_contact(carom_device *device,
                                            const distance_arguments *arguments, uint64_t count) {
    const carom_device_distance *q = &arguments->query;
    distance_on_host h = {};
    carom_status status = h.read(device, arguments, count);
    if (status == CAROM_OK) {
        const carom_device_contact contact = {q->context,
                                              q->soup_a,
                                              q->soup_b,
                                              (const carom_pose *)h.poses[0],
                                              (const carom_pose *)h.poses[1],
                                              (const uint8_t *)h.meets,
                                              count,
                                              h.positions[0],
                                              h.positions[1],
                                              (carom_soup_gap *)h.gaps};
        status = q->find_contact(&contact);
        if (status != CAROM_OK)
            status =
                carom_device_fail(device, status, "the host could not find which faces meet first");
    }
    if (status == CAROM_OK)
        status = carom_device_copy(device, q->gaps + arguments->first, h.gaps,
                                   count * sizeof(carom_soup_gap), cudaMemcpyHostToDevice,
                                   "writing a search");
    h.release();
    return status;
}

/* ---- Finish ---------------------------------------------------------------------------------- */

/* Whether a list turned out larger than its memory. */
static bool distance_grows(carom_device *device, const distance_arguments *arguments,
                           const carom_device_count *n) {
    bool again = false;
    for (uint32_t i = 0; i <= distance_opened_lists(&arguments->query); ++i)
        again = carom_device_list_grows(device, distance_nodes_block(i), n[DISTANCE_N_NODES + i],
                                        sizeof(uint4)) ||
                again;
    again = carom_device_list_grows(device, CAROM_SCRATCH_DISTANCE_CANDIDATES,
                                    n[DISTANCE_N_CANDIDATES], sizeof(uint4)) ||
            again;
    return carom_device_list_grows(device, CAROM_SCRATCH_DISTANCE_UNDECIDED,
                                   n[DISTANCE_N_UNDECIDED], sizeof(unsigned long long)) ||
           again;
}

static carom_status distance_finish(carom_device *device, carom_device_op *op,
                                    const carom_device_counters *counters, bool *again) {
    const distance_arguments *arguments = carom_device_arguments<distance_arguments>(op);
    const carom_device_count *n = counters->n;
    uint64_t count = arguments->count, good = count - n[DISTANCE_N_BAD];
    if (good != count && arguments->bad == nullptr)
        return carom_device_fail(device, CAROM_BAD_INPUT,
                                 "pose %llu is not finite or moves a soup beyond the range of "
                                 "doubles; scale it down first",
                                 (unsigned long long)(arguments->first + good));
    *again = distance_grows(device, arguments, n);
    if (*again) return CAROM_OK;
    if (arguments->bad != nullptr) *arguments->bad = good;
    device->steps.node_pairs = 0;
    for (uint32_t i = 0; i <= distance_opened_lists(&arguments->query); ++i)
        device->steps.node_pairs += n[DISTANCE_N_NODES + i];
    device->steps.candidates = device->steps.open_in_floats = n[DISTANCE_N_CANDIDATES];
    device->steps.open_in_doubles = arguments->query.meet == nullptr ? n[DISTANCE_N_MEET] : 0;
    if (device->steps.open_in_doubles == 0 || good == 0) return CAROM_OK;
    return distance_finish_contact(device, arguments, good);
}

/* ---- Queueing -------------------------------------------------------------------------------- */

static carom_status distance_submit(carom_device *device, const carom_device_distance *query,
                                    uint64_t first, uint32_t count, uint64_t *bad) {
    carom_device_op op = {distance_reserve, distance_launch, distance_finish, nullptr, {}};
    *carom_device_arguments<distance_arguments>(&op) =
        distance_arguments{*query, first, count, bad};
    op.uses[0] = query->a;
    op.uses[1] = query->b;
    return carom_device_submit(device, &op);
}

static carom_status distance_find(carom_device *device, const carom_device_distance *query) {
    for (uint64_t first = 0, some; first < query->count; first += some) {
        some = CAROM_MIN(query->count - first, (uint64_t)CAROM_DEVICE_DISTANCE_POSES);
        CAROM_DEVICE_TRY(distance_submit(device, query, first, (uint32_t)some, nullptr));
    }
    return CAROM_OK;
}

/* Copies poses to the device, searches, and copies the results back; waits. */
static carom_status distance_some_of_host(carom_device *device, const carom_device_distance *query,
                                          uint64_t first, uint32_t count, uint64_t *bad,
                                          carom_work *work) {
    carom_device_distance q = *query;
    uint64_t bytes = count * sizeof(carom_pose);
    CAROM_DEVICE_TRY(
        carom_device_reserve_scratch(device, CAROM_SCRATCH_DISTANCE_INPUT, 2 * bytes, "poses"));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_DISTANCE_OUTPUT,
                                                  count * sizeof(carom_soup_gap), "distances"));
    carom_pose *poses = carom_device_scratch_data<carom_pose>(device, CAROM_SCRATCH_DISTANCE_INPUT);
    void *results = carom_device_scratch_data<void>(device, CAROM_SCRATCH_DISTANCE_OUTPUT);
    const carom_pose **of[] = {&q.poses_a, &q.poses_b};
    for (int side = 0; side < 2; ++side) {
        if (*of[side] == nullptr) continue;
        carom_pose *to = poses + side * (uint64_t)count;
        CAROM_DEVICE_TRY(carom_device_check(
            device,
            cudaMemcpyAsync(to, *of[side] + first, bytes, cudaMemcpyHostToDevice, device->stream),
            "copying poses"));
        *of[side] = to;
    }
    q.gaps = q.gaps != nullptr ? (carom_soup_gap *)results : nullptr;
    q.meet = q.meet != nullptr ? (bool *)results : nullptr;
    CAROM_DEVICE_TRY(distance_submit(device, &q, 0, count, bad));
    CAROM_DEVICE_TRY(carom_device_finish(device));
    work->visits += device->steps.node_pairs;
    work->candidates += device->steps.candidates;
    work->undecided += device->steps.open_in_doubles;
    void *to = query->meet != nullptr ? (void *)(query->meet + first) : query->gaps + first;
    uint64_t size = query->meet != nullptr ? sizeof(bool) : sizeof(carom_soup_gap);
    return carom_device_copy(device, to, results, *bad * size, cudaMemcpyDeviceToHost,
                             "copying distances");
}

/* Where memory runs out with many poses, fewer are searched at a time. */
static carom_status distance_find_of_host(carom_device *device, const carom_device_distance *query,
                                          uint64_t *bad, carom_work *work) {
    uint64_t most = CAROM_DEVICE_DISTANCE_POSES, some, good = 0;
    CAROM_DEVICE_TRY(carom_device_finish(device));
    *bad = query->count;
    for (uint64_t first = 0; first < query->count; first += some) {
        some = CAROM_MIN(query->count - first, most);
        carom_status status =
            distance_some_of_host(device, query, first, (uint32_t)some, &good, work);
        if (status == CAROM_NO_MEMORY && some > 1) {
            most = some / 2;
            some = 0; /* once more */
            continue;
        }
        CAROM_DEVICE_TRY(status);
        if (good == some) continue;
        *bad = first + good;
        return CAROM_OK;
    }
    return CAROM_OK;
}

#endif
