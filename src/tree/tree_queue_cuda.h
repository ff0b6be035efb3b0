/* SPDX-License-Identifier: MIT */
/* tree_queue_cuda.h: how trees are copied to the device, and how searches are queued and finished,
 * included by tree_cuda.cu alone. */
#ifndef CAROM_SRC_TREE_TREE_QUEUE_CUDA_H
#define CAROM_SRC_TREE_TREE_QUEUE_CUDA_H

/* ---- Copies ---------------------------------------------------------------------------------- */

/* The ball of each node; the caller frees it. NULL: no memory. */
static tree_cuda_ball *tree_cuda_make_balls(const carom_tree *t) {
    uint64_t nodes = (uint64_t)t->inner_count + t->leaf_count;
    tree_cuda_ball *balls = (tree_cuda_ball *)calloc(nodes, sizeof(*balls));
    if (balls == nullptr) return nullptr;
    float up = 1.0f + CAROM_TREE_FLOAT_SLACK;
    balls[0] = {(float)t->centre.x,    (float)t->centre.y,   (float)t->centre.z,
                (float)t->radius * up, (float)t->reach * up, (float)t->cover * up};
    for (uint32_t i = 0; i < t->inner_count; ++i)
        for (uint32_t k = 0; k < CAROM_TREE_WIDTH; ++k) {
            const carom_tree_node &n = t->nodes[i];
            if (n.child[k] == CAROM_TREE_NONE) continue;
            balls[n.child[k]] = {n.x[k], n.y[k], n.z[k], n.radius[k], n.reach[k], n.cover[k]};
        }
    return balls;
}

/* Copies arrays behind a tree_cuda_tree, whose pointers it sets. */
static carom_status tree_cuda_fill(carom_device *device, const carom_tree *tree,
                                   const tree_cuda_ball *balls, carom_device_tree *copy) {
    tree_cuda_tree t = {*tree, nullptr};
    const carom_tree_surface &s = tree->surface;
    uint64_t leaves = tree->leaf_count, nodes = tree->inner_count + leaves;
    struct {
        const void *from;
        uint64_t bytes;
        size_t pointer; /* where in t */
    } arrays[] = {
        {tree->nodes, nodes * sizeof(*tree->nodes), offsetof(tree_cuda_tree, tree.nodes)},
        {tree->leaves, leaves * sizeof(*tree->leaves), offsetof(tree_cuda_tree, tree.leaves)},
        {tree->slots, tree->extent.count * sizeof(*tree->slots),
         offsetof(tree_cuda_tree, tree.slots)},
        {balls, nodes * sizeof(*balls), offsetof(tree_cuda_tree, balls)},
        {s.nodes, s.node_count * sizeof(*s.nodes), offsetof(tree_cuda_tree, tree.surface.nodes)},
        {s.vertices, s.vertex_count * sizeof(*s.vertices),
         offsetof(tree_cuda_tree, tree.surface.vertices)},
        {s.corners, 3 * (uint64_t)s.triangle_count * sizeof(*s.corners),
         offsetof(tree_cuda_tree, tree.surface.corners)},
        {s.faces, s.triangle_count * sizeof(*s.faces),
         offsetof(tree_cuda_tree, tree.surface.faces)}};
    uint64_t bytes = carom_device_row(sizeof(t));
    for (const auto &array : arrays) bytes += carom_device_row(array.bytes);
    CAROM_DEVICE_TRY(carom_device_reserve(device, &copy->memory, bytes, "a sphere tree"));
    char *at = (char *)copy->memory.data + carom_device_row(sizeof(t));
    for (const auto &array : arrays) {
        memcpy((char *)&t + array.pointer, &at, sizeof(at));
        if (array.bytes != 0)
            CAROM_DEVICE_TRY(carom_device_copy(device, at, array.from, array.bytes,
                                               cudaMemcpyHostToDevice, "copying a sphere tree"));
        at += carom_device_row(array.bytes);
    }
    return carom_device_copy(device, copy->memory.data, &t, sizeof(t), cudaMemcpyHostToDevice,
                             "copying a sphere tree");
}

static void tree_cuda_destroy(carom_device_tree *copy) {
    carom_device_release(&copy->memory);
    delete copy;
}

static carom_status tree_cuda_create(carom_device *device, const carom_tree *tree,
                                     carom_device_tree **out) {
    *out = nullptr;
    CAROM_DEVICE_TRY(carom_device_finish(device));
    carom_device_tree *copy = new (std::nothrow) carom_device_tree{};
    tree_cuda_ball *balls = tree_cuda_make_balls(tree);
    carom_status status = CAROM_OK;
    if (copy == nullptr || balls == nullptr)
        status = carom_device_fail(device, CAROM_NO_MEMORY, "no memory to copy a sphere tree");
    if (status == CAROM_OK) status = tree_cuda_fill(device, tree, balls, copy);
    free(balls);
    if (status == CAROM_OK)
        *out = copy;
    else if (copy != nullptr)
        tree_cuda_destroy(copy);
    return status;
}

static uint64_t tree_cuda_bytes(const carom_device_tree *copy) {
    return copy->memory.bytes;
}

/* ---- Queries --------------------------------------------------------------------------------- */

struct tree_cuda_arguments {
    carom_device_tree_search search;
    uint64_t first; /* of its poses */
    uint32_t count;
    uint2 *nearest;   /* on the device; or NULL */
    uint64_t *visits; /* the same */

    tree_cuda_kind kind() const {
        if (search.overlaps != nullptr) return search.bounds ? TREE_CUDA_BOUNDS : TREE_CUDA_LENSES;
        return search.meet != nullptr ? TREE_CUDA_MEET
               : search.faces         ? TREE_CUDA_FACES
                                      : TREE_CUDA_SPHERES;
    }
    const carom_device_tree_query &query(uint32_t i) const {
        return search.all != nullptr ? search.all[first + i] : search.one;
    }
    uint32_t queries() const {
        return search.all != nullptr ? count : 1u;
    }
};

static tree_cuda_query tree_cuda_query_of(const carom_device_tree_query &q) {
    tree_cuda_query of = {};
    const carom_device_posed_tree *posed[2] = {&q.a, &q.b};
    for (int i = 0; i < 2; ++i) {
        of.tree[i] = (const tree_cuda_tree *)posed[i]->tree->device->memory.data;
        of.pose[i] = posed[i]->pose;
        of.poses[i] = posed[i]->poses;
        of.scale[i] = posed[i]->scale;
        of.hint[i] = q.hint[i];
    }
    of.apart = q.apart;
    return of;
}

/* Lists of pairs of nodes that are opened: as many as the higher tree has levels of them. */
static uint32_t tree_cuda_levels(const tree_cuda_arguments *arguments) {
    uint32_t levels = 0;
    for (uint32_t i = 0; i < arguments->queries(); ++i) {
        const carom_device_tree_query &q = arguments->query(i);
        const carom_tree *trees[2] = {q.a.tree, q.b.tree};
        for (const carom_tree *t : trees) {
            uint32_t of = arguments->search.faces ? t->surface.level_count : t->depth - 1;
            levels = of > levels ? of : levels;
        }
    }
    return levels;
}

/* Words of flags of a query. */
static uint64_t tree_cuda_flag_words(const carom_device_tree_query &q) {
    return tree_cuda_words_of(*q.a.tree) + tree_cuda_words_of(*q.b.tree);
}

static uint64_t tree_cuda_level_bytes(uint32_t levels) {
    return (levels + 1ull) * sizeof(carom_device_count);
}

static carom_status tree_cuda_copy_queries(carom_device *device,
                                           const tree_cuda_arguments *arguments) {
    uint64_t bytes = arguments->count * sizeof(tree_cuda_query);
    tree_cuda_query *queries = new (std::nothrow) tree_cuda_query[arguments->count];
    if (queries == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for queries");
    uint64_t words = 0;
    for (uint32_t i = 0; i < arguments->count; ++i) {
        queries[i] = tree_cuda_query_of(arguments->query(i));
        queries[i].flags = words;
        words += tree_cuda_flag_words(arguments->query(i));
    }
    carom_status status =
        carom_device_reserve_scratch(device, CAROM_SCRATCH_TREES_QUERIES, bytes, "a search");
    if (status == CAROM_OK)
        status = carom_device_copy(
            device, carom_device_scratch_data<void>(device, CAROM_SCRATCH_TREES_QUERIES), queries,
            bytes, cudaMemcpyHostToDevice, "copying queries");
    delete[] queries;
    return status;
}

/* Bytes of the flags of all poses. */
static uint64_t tree_cuda_flag_bytes(const tree_cuda_arguments *arguments) {
    uint64_t words = 0;
    for (uint32_t i = 0; i < arguments->queries(); ++i)
        words += tree_cuda_flag_words(arguments->query(i));
    return words * sizeof(uint32_t) * (arguments->count / arguments->queries());
}

static uint64_t tree_cuda_state_bytes(const tree_cuda_arguments *arguments) {
    return (uint64_t)arguments->count * TREE_CUDA_S_NUMBERS * sizeof(carom_device_count);
}

static carom_status tree_cuda_reserve_sums(carom_device *device,
                                           const tree_cuda_arguments *arguments) {
    if (arguments->search.overlaps == nullptr) return CAROM_OK;
    CAROM_DEVICE_TRY(carom_device_reserve_scratch_zeros(
        device, CAROM_SCRATCH_TREES_STATES, tree_cuda_state_bytes(arguments), "a search"));
    if (!arguments->search.bounds) return CAROM_OK;
    return carom_device_reserve_scratch_zeros(device, CAROM_SCRATCH_TREES_FLAGS,
                                              tree_cuda_flag_bytes(arguments), "a search");
}

static carom_status tree_cuda_reserve(carom_device *device, carom_device_op *op) {
    const tree_cuda_arguments *arguments = carom_device_arguments<tree_cuda_arguments>(op);
    uint64_t entries =
        TREE_CUDA_PAIRS_PER_POSE * (uint64_t)arguments->count + CAROM_DEVICE_LIST_ENTRIES;
    const carom_device_scratch lists[] = {CAROM_SCRATCH_TREES_NODES, CAROM_SCRATCH_TREES_CHILDREN,
                                          CAROM_SCRATCH_TREES_LEAVES,
                                          CAROM_SCRATCH_TREES_CANDIDATES};
    for (carom_device_scratch list : lists)
        CAROM_DEVICE_TRY(
            carom_device_reserve_list(device, list, entries, sizeof(uint4), "a search"));
    uint64_t candidates =
        carom_device_scratch_bytes(device, CAROM_SCRATCH_TREES_CANDIDATES) / sizeof(uint4);
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_TREES_LENGTHS,
                                                  candidates * sizeof(double), "a search"));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(
        device, CAROM_SCRATCH_TREES_LEVELS, tree_cuda_level_bytes(tree_cuda_levels(arguments)),
        "a search"));
    CAROM_DEVICE_TRY(tree_cuda_reserve_sums(device, arguments));
    if (arguments->search.all != nullptr)
        CAROM_DEVICE_TRY(tree_cuda_copy_queries(device, arguments));
    return carom_device_reserve_scratch(device, CAROM_SCRATCH_TREES_POSES,
                                        arguments->count * sizeof(tree_cuda_pose), "a search");
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static tree_cuda_view tree_cuda_view_of(carom_device *device,
                                        const tree_cuda_arguments *arguments) {
    tree_cuda_view v = {};
    if (arguments->search.all != nullptr)
        v.all = carom_device_take<tree_cuda_query>(device, CAROM_SCRATCH_TREES_QUERIES,
                                                   arguments->count * sizeof(*v.all));
    else
        v.one = tree_cuda_query_of(arguments->search.one);
    v.state = carom_device_take<tree_cuda_pose>(device, CAROM_SCRATCH_TREES_POSES,
                                                arguments->count * sizeof(*v.state));
    v.first = arguments->first;
    v.count = arguments->count;
    return v;
}

template <typename KERNEL>
static uint64_t tree_cuda_blocks(const carom_device *device, KERNEL kernel) {
    return carom_device_resident(device, kernel, TREE_CUDA_THREADS);
}

/* The lists of a search. */
struct tree_cuda_lists {
    carom_device_list<uint4> nodes[2], leaves, candidates;
    carom_device_count *levels; /* the count of each list of nodes */
    uint32_t opened;

    carom_device_list<uint4> nodes_of(uint32_t level) const {
        return {nodes[level % 2].data, nodes[level % 2].capacity, levels + level};
    }
};

static tree_cuda_lists tree_cuda_take_lists(carom_device *device, carom_device_op *op) {
    const tree_cuda_arguments *arguments = carom_device_arguments<tree_cuda_arguments>(op);
    tree_cuda_lists lists;
    lists.opened = tree_cuda_levels(arguments);
    lists.levels = carom_device_take<carom_device_count>(device, CAROM_SCRATCH_TREES_LEVELS,
                                                         tree_cuda_level_bytes(lists.opened));
    lists.nodes[0] = carom_device_list_of<uint4>(device, CAROM_SCRATCH_TREES_NODES, op, 0);
    lists.nodes[1] = carom_device_list_of<uint4>(device, CAROM_SCRATCH_TREES_CHILDREN, op, 0);
    lists.leaves =
        carom_device_list_of<uint4>(device, CAROM_SCRATCH_TREES_LEAVES, op, TREE_CUDA_N_LEAVES);
    lists.candidates = carom_device_list_of<uint4>(device, CAROM_SCRATCH_TREES_CANDIDATES, op,
                                                   TREE_CUDA_N_CANDIDATES);
    return lists;
}

template <int KIND>
static void tree_cuda_launch_begin(carom_device *device, carom_device_op *op,
                                   const tree_cuda_view &v, const tree_cuda_lists &lists) {
    carom_device_clear(device, op);
    (void)cudaMemsetAsync(lists.levels, 0, tree_cuda_level_bytes(lists.opened), device->stream);
    carom_device_step(device, "begin");
    carom_device_launch(device, tree_cuda_begin<KIND>,
                        carom_device_blocks(v.count, TREE_CUDA_THREADS), TREE_CUDA_THREADS, v,
                        lists.nodes_of(0), lists.leaves, op->counters);
}

template <int KIND>
static void tree_cuda_launch_nodes(carom_device *device, carom_device_op *op,
                                   const tree_cuda_view &v, const tree_cuda_lists &lists) {
    tree_cuda_launch_begin<KIND>(device, op, v, lists);
    carom_device_step(device, "dive");
    carom_device_launch(device, tree_cuda_dive<KIND>, carom_device_blocks(v.count, TREE_CUDA_WARPS),
                        TREE_CUDA_THREADS, v);
    carom_device_step(device, "nodes");
    const carom_device_list<uint4> &ends =
        KIND == TREE_CUDA_FACES ? lists.candidates : lists.leaves;
    uint64_t blocks = tree_cuda_blocks(device, tree_cuda_open<KIND>);
    for (uint32_t i = 0; i < lists.opened; ++i)
        carom_device_launch(device, tree_cuda_open<KIND>, blocks, TREE_CUDA_THREADS, v,
                            lists.nodes_of(i), lists.nodes_of(i + 1), ends);
    if (KIND != TREE_CUDA_FACES) { /* of leaves there are no children but these */
        carom_device_step(device, "leaves");
        carom_device_launch(device, tree_cuda_open<KIND>, blocks, TREE_CUDA_THREADS, v,
                            lists.leaves, lists.nodes_of(lists.opened), lists.candidates);
    }
    carom_device_launch(device, tree_cuda_count, 1, 1, lists.levels, lists.opened + 1,
                        op->counters);
}

template <int KIND> static void tree_cuda_launch_kind(carom_device *device, carom_device_op *op) {
    const tree_cuda_arguments *arguments = carom_device_arguments<tree_cuda_arguments>(op);
    tree_cuda_view v = tree_cuda_view_of(device, arguments);
    tree_cuda_lists lists = tree_cuda_take_lists(device, op);
    double *lengths = carom_device_take<double>(device, CAROM_SCRATCH_TREES_LENGTHS,
                                                lists.candidates.capacity * sizeof(double));
    tree_cuda_launch_nodes<KIND>(device, op, v, lists);
    carom_device_step(device, "pairs");
    carom_device_launch(device, tree_cuda_measure<KIND>,
                        tree_cuda_blocks(device, tree_cuda_measure<KIND>), TREE_CUDA_THREADS, v,
                        lists.candidates, lengths);
    carom_device_step(device, "result");
    int picks = KIND == TREE_CUDA_FACES ? 2 : KIND == TREE_CUDA_SPHERES ? 1 : 0;
    for (int i = 0; i < picks; ++i)
        carom_device_launch(device, tree_cuda_pick<KIND>,
                            tree_cuda_blocks(device, tree_cuda_pick<KIND>), TREE_CUDA_THREADS, v,
                            lists.candidates, lengths, i != 0);
    const tree_cuda_results to = {arguments->search.meet, arguments->search.gaps,
                                  arguments->nearest};
    carom_device_launch(device, tree_cuda_write<KIND>,
                        carom_device_blocks(v.count, TREE_CUDA_THREADS), TREE_CUDA_THREADS, v, to,
                        op->counters);
}

template <bool BOUNDS>
static void tree_cuda_launch_overlaps(carom_device *device, carom_device_op *op) {
    const tree_cuda_kind kind = BOUNDS ? TREE_CUDA_BOUNDS : TREE_CUDA_LENSES;
    const tree_cuda_arguments *arguments = carom_device_arguments<tree_cuda_arguments>(op);
    tree_cuda_view v = tree_cuda_view_of(device, arguments);
    tree_cuda_lists lists = tree_cuda_take_lists(device, op);
    tree_cuda_sums sums = {carom_device_take<carom_device_count>(device, CAROM_SCRATCH_TREES_STATES,
                                                                 tree_cuda_state_bytes(arguments)),
                           nullptr};
    if (BOUNDS)
        sums.flags = carom_device_take<uint32_t>(device, CAROM_SCRATCH_TREES_FLAGS,
                                                 tree_cuda_flag_bytes(arguments));
    tree_cuda_launch_begin<kind>(device, op, v, lists);
    carom_device_step(device, "nodes");
    uint64_t blocks = tree_cuda_blocks(device, tree_cuda_open_overlaps<BOUNDS>);
    for (uint32_t i = 0; i < lists.opened; ++i)
        carom_device_launch(device, tree_cuda_open_overlaps<BOUNDS>, blocks, TREE_CUDA_THREADS, v,
                            lists.nodes_of(i), lists.nodes_of(i + 1), lists.leaves);
    carom_device_launch(device, tree_cuda_count, 1, 1, lists.levels, lists.opened + 1,
                        op->counters);
    carom_device_step(device, "pairs");
    carom_device_launch(device, tree_cuda_sum<BOUNDS>,
                        tree_cuda_blocks(device, tree_cuda_sum<BOUNDS>), TREE_CUDA_THREADS, v,
                        lists.leaves, sums, op->counters);
    carom_device_step(device, "result");
    carom_device_launch(device, tree_cuda_finish_overlaps<BOUNDS>,
                        carom_device_blocks(v.count, TREE_CUDA_WARPS), TREE_CUDA_THREADS, v, sums,
                        arguments->search.overlaps, arguments->visits);
}

static void tree_cuda_launch(carom_device *device, carom_device_op *op) {
    switch (carom_device_arguments<tree_cuda_arguments>(op)->kind()) {
    case TREE_CUDA_MEET:
        tree_cuda_launch_kind<TREE_CUDA_MEET>(device, op);
        return;
    case TREE_CUDA_SPHERES:
        tree_cuda_launch_kind<TREE_CUDA_SPHERES>(device, op);
        return;
    case TREE_CUDA_FACES:
        tree_cuda_launch_kind<TREE_CUDA_FACES>(device, op);
        return;
    case TREE_CUDA_LENSES:
        tree_cuda_launch_overlaps<false>(device, op);
        return;
    case TREE_CUDA_BOUNDS:
        tree_cuda_launch_overlaps<true>(device, op);
        return;
    }
}

/* ---- Finish ---------------------------------------------------------------------------------- */

/* What the host reads to complete distances. */
struct tree_cuda_on_host {
    carom_tree_gap *gaps;
    carom_pose *poses[2]; /* NULL: those of the queries */

    carom_status read(carom_device *device, const tree_cuda_arguments *arguments) {
        const carom_device_tree_query &q = arguments->search.one;
        uint64_t count = arguments->count, first = arguments->first;
        const carom_pose *of[2] = {q.a.poses, q.b.poses};
        gaps = (carom_tree_gap *)malloc(count * sizeof(*gaps));
        bool there = gaps != nullptr;
        for (int i = 0; i < 2 && arguments->search.all == nullptr; ++i) {
            if (of[i] == nullptr) continue;
            poses[i] = (carom_pose *)malloc(count * sizeof(carom_pose));
            there = there && poses[i] != nullptr;
        }
        if (!there)
            return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for %llu poses",
                                     (unsigned long long)count);
        for (int i = 0; i < 2; ++i)
            if (poses[i] != nullptr)
                CAROM_DEVICE_TRY(carom_device_copy(device, poses[i], of[i] + first,
                                                   count * sizeof(carom_pose),
                                                   cudaMemcpyDeviceToHost, "reading poses"));
        return carom_device_copy(device, gaps, arguments->search.gaps + first,
                                 count * sizeof(*gaps), cudaMemcpyDeviceToHost,
                                 "reading distances");
    }
    void release() {
        free(gaps);
        free(poses[0]);
        free(poses[1]);
    }
};

static carom_status tree_cuda_complete(carom_device *device, const tree_cuda_arguments *arguments) {
    tree_cuda_on_host h = {};
    carom_status status = h.read(device, arguments);
    for (uint32_t i = 0; i < arguments->count && status == CAROM_OK; ++i) {
        const carom_device_tree_query &q = arguments->query(i);
        if (!h.gaps[i].partial) continue;
        const carom_tree_pair pair = {q.a.tree,
                                      q.b.tree,
                                      h.poses[0] != nullptr ? h.poses[0][i] : q.a.pose,
                                      h.poses[1] != nullptr ? h.poses[1][i] : q.b.pose,
                                      q.a.scale,
                                      q.b.scale,
                                      nullptr};
        h.gaps[i].partial = false;
        arguments->search.complete(&pair, &h.gaps[i]);
    }
    if (status == CAROM_OK)
        status = carom_device_copy(device, arguments->search.gaps + arguments->first, h.gaps,
                                   arguments->count * sizeof(*h.gaps), cudaMemcpyHostToDevice,
                                   "writing distances");
    h.release();
    return status;
}

static bool tree_cuda_grows(carom_device *device, const tree_cuda_arguments *arguments,
                            const carom_device_count *n) {
    /* pairs of spheres of overlaps are counted, not listed */
    carom_device_count listed =
        arguments->search.overlaps == nullptr ? n[TREE_CUDA_N_CANDIDATES] : 0;
    const struct {
        carom_device_scratch block;
        uint64_t entries;
    } lists[] = {{CAROM_SCRATCH_TREES_NODES, n[TREE_CUDA_N_LEVEL]},
                 {CAROM_SCRATCH_TREES_CHILDREN, n[TREE_CUDA_N_LEVEL]},
                 {CAROM_SCRATCH_TREES_LEAVES, n[TREE_CUDA_N_LEAVES]},
                 {CAROM_SCRATCH_TREES_CANDIDATES, listed}};
    bool again = false;
    for (const auto &list : lists)
        again = carom_device_list_grows(device, list.block, list.entries, sizeof(uint4)) || again;
    return again;
}

static carom_status tree_cuda_finish(carom_device *device, carom_device_op *op,
                                     const carom_device_counters *counters, bool *again) {
    const tree_cuda_arguments *arguments = carom_device_arguments<tree_cuda_arguments>(op);
    const carom_device_count *n = counters->n;
    if (n[TREE_CUDA_N_BAD] != 0)
        return carom_device_fail(
            device, CAROM_BAD_INPUT,
            "pose %llu is not finite, or moves a sphere tree beyond sizes of 2^-200 to 2^200",
            (unsigned long long)(arguments->first + arguments->count - n[TREE_CUDA_N_BAD]));
    *again = tree_cuda_grows(device, arguments, n);
    if (*again) return CAROM_OK;
    device->steps.node_pairs = n[TREE_CUDA_N_NODES] + n[TREE_CUDA_N_LEAVES];
    device->steps.candidates = device->steps.open_in_floats = n[TREE_CUDA_N_CANDIDATES];
    device->steps.open_in_doubles = n[TREE_CUDA_N_HOST];
    return n[TREE_CUDA_N_HOST] != 0 ? tree_cuda_complete(device, arguments) : CAROM_OK;
}

/* ---- Queueing -------------------------------------------------------------------------------- */

static carom_status tree_cuda_submit(carom_device *device, const tree_cuda_arguments &arguments) {
    carom_device_op op = {tree_cuda_reserve, tree_cuda_launch, tree_cuda_finish, nullptr, {}};
    *carom_device_arguments<tree_cuda_arguments>(&op) = arguments;
    return carom_device_submit(device, &op);
}

static carom_status tree_cuda_search(carom_device *device, const carom_device_tree_search *search) {
    for (uint64_t first = 0, some; first < search->count; first += some) {
        some = CAROM_MIN(search->count - first, (uint64_t)CAROM_DEVICE_TREE_POSES);
        CAROM_DEVICE_TRY(
            tree_cuda_submit(device, {*search, first, (uint32_t)some, nullptr, nullptr}));
    }
    return CAROM_OK;
}

/* Searches some of the queries, and copies the results back; waits. */
static carom_status tree_cuda_some_of_host(carom_device *device,
                                           const carom_device_tree_search *search, uint64_t first,
                                           uint32_t count, carom_work *work) {
    tree_cuda_arguments arguments = {*search, 0, count, nullptr, nullptr};
    carom_device_tree_search *on_device = &arguments.search;
    uint64_t size = search->meet != nullptr   ? sizeof(bool)
                    : search->gaps != nullptr ? sizeof(carom_tree_gap)
                                              : sizeof(carom_packing_overlap);
    uint64_t bytes = count * size;
    uint64_t row = carom_device_row(bytes);
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_TREES_OUTPUT,
                                                  row + count * sizeof(uint2), "distances"));
    char *results = carom_device_scratch_data<char>(device, CAROM_SCRATCH_TREES_OUTPUT);
    on_device->all = search->all + first;
    on_device->meet = search->meet != nullptr ? (bool *)results : nullptr;
    on_device->gaps = search->gaps != nullptr ? (carom_tree_gap *)results : nullptr;
    on_device->overlaps = search->overlaps != nullptr ? (carom_packing_overlap *)results : nullptr;
    static_assert(sizeof(uint2) == sizeof(uint64_t), "one row holds either");
    if (search->nearest != nullptr) arguments.nearest = (uint2 *)(results + row);
    if (search->visits != nullptr) arguments.visits = (uint64_t *)(results + row);
    CAROM_DEVICE_TRY(tree_cuda_submit(device, arguments));
    CAROM_DEVICE_TRY(carom_device_finish(device));
    work->visits += device->steps.node_pairs;
    work->candidates += device->steps.candidates;
    work->undecided += device->steps.open_in_doubles;
    if (search->nearest != nullptr)
        CAROM_DEVICE_TRY(carom_device_copy(device, search->nearest + 2 * first, arguments.nearest,
                                           count * sizeof(uint2), cudaMemcpyDeviceToHost,
                                           "reading what is nearest"));
    if (search->visits != nullptr)
        CAROM_DEVICE_TRY(carom_device_copy(device, search->visits + first, arguments.visits,
                                           count * sizeof(uint64_t), cudaMemcpyDeviceToHost,
                                           "reading how many nodes were opened"));
    char *to = search->meet != nullptr   ? (char *)search->meet
               : search->gaps != nullptr ? (char *)search->gaps
                                         : (char *)search->overlaps;
    return carom_device_copy(device, to + first * size, results, bytes, cudaMemcpyDeviceToHost,
                             "reading results of sphere trees");
}

/* Where memory runs out with many poses, fewer are searched at a time. */
static carom_status tree_cuda_search_of_host(carom_device *device,
                                             const carom_device_tree_search *search,
                                             carom_work *work) {
    uint64_t most = CAROM_DEVICE_TREE_POSES, some;
    CAROM_DEVICE_TRY(carom_device_finish(device));
    for (uint64_t first = 0; first < search->count; first += some) {
        some = CAROM_MIN(search->count - first, most);
        carom_status status = tree_cuda_some_of_host(device, search, first, (uint32_t)some, work);
        if (status == CAROM_NO_MEMORY && some > 1) {
            most = some / 2;
            some = 0; /* once more */
            continue;
        }
        CAROM_DEVICE_TRY(status);
    }
    return CAROM_OK;
}

#endif
