/* SPDX-License-Identifier: MIT */
/* soup_rays_all_cuda.h: all faces that each ray meets, on the GPU (soup_rays.c), included by
 * soup_rays_cuda.cu alone.
 *
 * A warp per ray visits the tree, in doubles; rays with a triangle that doubles leave open are
 * searched once more, in integers, and those for which integers on the device are too short are
 * listed for the host. Each search of a ray has a stage, and what an earlier stage found of it does
 * not count. What is met is appended in any order, with its number among those of its ray. The
 * counts of the rays are added up, and each is put to its ray; runs of 32 are sorted by counting
 * who comes before, and where a ray meets more, finish merges the runs. Last, each hit is rounded
 * and written to its place.
 *
 * The hits of the host are put between the others by finish, so one such search is queued at a
 * time. */
#ifndef CAROM_SRC_SOUP_SOUP_RAYS_ALL_CUDA_H
#define CAROM_SRC_SOUP_SOUP_RAYS_ALL_CUDA_H

#include <new>
#include <utility>

#include "base/scan_cuda.h"

enum {
    RAYS_ALL_N_BAD,
    RAYS_ALL_N_FOUND,
    RAYS_ALL_N_LEFT,
    RAYS_ALL_N_OPEN,
    RAYS_ALL_N_LONGEST,
    RAYS_ALL_N_TOTAL
};

/* The searches of a ray: the last one counts. */
enum { RAYS_ALL_DOUBLES, RAYS_ALL_INTEGERS, RAYS_ALL_HOST };

/* What is sorted by counting, with at most so many comparisons each. */
#define RAYS_ALL_RUN     32u
#define RAYS_ALL_THREADS 128u

struct rays_all_found {
    double low, high; /* of carom_ray_hit */
    uint32_t ray, item, number, stage;
};

struct rays_all_host_hit {
    carom_soup_ray_hit hit;
    uint64_t number; /* among those of its ray */
};

/* Of each ray, in one block: its stage, how many faces it meets, where they begin in the result,
 * and where those that the device found begin in their order; the frame of the soup, and memory to
 * add the counts up. */
struct rays_all_rows {
    uint32_t *stages, *counts, *starts, *ordered;
    carom_bvh8_frame *frame;
    void *scan;
    size_t scan_bytes;
};

static uint64_t rays_all_lay_out(uint32_t count, char *memory, rays_all_rows *rows) {
    uint64_t row = carom_device_row(((uint64_t)count + 1) * sizeof(uint32_t));
    rows->stages = (uint32_t *)memory;
    rows->counts = (uint32_t *)(memory + row);
    rows->starts = (uint32_t *)(memory + 2 * row);
    rows->ordered = (uint32_t *)(memory + 3 * row);
    rows->frame = (carom_bvh8_frame *)(memory + 4 * row);
    uint64_t at = 4 * row + carom_device_row(sizeof(*rows->frame));
    rows->scan = memory + at;
    rows->scan_bytes = carom_device_scan_bytes((uint64_t)count + 1);
    return at + rows->scan_bytes;
}

/* ---- Searching ------------------------------------------------------------------------------- */

/* The search of carom_batch_walk; in pass 0 for what the ray meets, in pass 1 for all triangles
 * that it may meet, which the host gets. */
template <bool EXACT> struct rays_all_search {
    const rays_view *v;
    carom_ray ray;
    carom_ray_view view;
    carom_bvh_slabs slabs;
    double end;
    uint32_t query, *counts;
    int pass;
    bool open; /* this lane saw a triangle that it cannot decide */
    carom_device_list<rays_all_found> found;
    carom_device_list<rays_open> list;

    __device__ double bound(const carom_box &box) const {
        return rays_bound(slabs, end, box);
    }
    __device__ bool within(double entered) const {
        return entered <= end;
    }

    /* Whether another triangle of the same face is met before this one, or one of lower index at
     * the same place. Sets `open` where one of them cannot be decided. */
    __device__ bool later_of_face(uint32_t item, const carom_ray_hit &hit) {
        const carom_soup_cuda_arrays &soup = v->soup;
        if (soup.faces == nullptr) return false;
        uint32_t face = soup.faces[item], i = item;
        while (i > 0 && soup.faces[i - 1] == face) --i;
        for (; i < soup.triangle_count && soup.faces[i] == face; ++i) {
            carom_ray_hit other;
            if (i == item || !carom_soup_cuda_searched(soup, i)) continue;
            carom_triangle t = carom_soup_cuda_triangle(soup, i);
            if (!carom_ray_fits(&ray, &t)) {
                open = true;
                return false;
            }
            if (!carom_ray_meet(&view, t.corner, &other) || !carom_ray_within(&view, &other))
                continue;
            int order = carom_ray_compare(&view, &other, &hit);
            if (order < 0 || (order == 0 && i < item)) return true;
        }
        return false;
    }

    /* Whether the ray meets a triangle that doubles may leave open, and it is the one to list for
     * its face; sets `open`. */
    __device__ bool meets(const carom_triangle &triangle, uint32_t item, int verdict,
                          carom_ray_hit *hit) {
        bool fits = carom_ray_fits(&ray, &triangle);
        if constexpr (EXACT) {
            open = open || !fits;
            if (!fits) return false;
            if (verdict == CAROM_UNDECIDED &&
                !(carom_ray_meet(&view, triangle.corner, hit) && carom_ray_within(&view, hit)))
                return false;
            return !later_of_face(item, *hit);
        } else {
            bool certain = fits && verdict == CAROM_YES && v->soup.faces == nullptr;
            open = open || !certain;
            return certain;
        }
    }

    __device__ void visit(bool there, uint32_t slot) {
        uint32_t item = there ? v->soup.tree.items[slot] : 0;
        carom_ray_hit hit;
        if (!there || !carom_soup_cuda_searched(v->soup, item)) return;
        carom_triangle triangle = carom_soup_cuda_slot(v->soup, slot, item);
        int verdict = rays_meet(view, triangle, &hit);
        if (verdict == CAROM_NO) return;
        if (pass == 0) {
            if (!meets(triangle, item, verdict, &hit)) return;
            uint32_t stage = EXACT ? RAYS_ALL_INTEGERS : RAYS_ALL_DOUBLES;
            found.append(rays_all_found{hit.low, hit.high, query, item,
                                        atomicAdd(&counts[query], 1u), stage});
        } else {
            list.append(rays_open_entry(*v, view, ray, query, item, triangle));
        }
    }
};

/* Searches for all that a ray meets; false: some lane cannot decide it. All lanes call it. */
template <bool EXACT>
static __device__ bool rays_all_search_one(const rays_view &v, uint32_t query, carom_batch_way &way,
                                           rays_all_search<EXACT> &s) {
    s.v = &v;
    s.query = query;
    s.ray = v.in[query];
    s.open = false;
    s.pass = 0;
    if (!carom_ray_good(&s.ray)) return true;
    carom_ray_frame frame = rays_frame(*v.tree.frame, 1.0);
    carom_ray_begin(s.ray.origin, s.ray.direction, s.ray.length, &frame, &s.view);
    carom_bvh_ray path = carom_rays_path(&s.view);
    s.slabs = carom_bvh_slabs_make(&path);
    s.end = carom_bvh_ray_limit(s.view.limit_high, path.margin);
    if (!s.view.misses) carom_batch_walk(v.soup.tree, way, s);
    __syncwarp();
    return __any_sync(~0u, s.open) == 0;
}

static __global__ void __launch_bounds__(CAROM_BATCH_SEARCHERS)
    rays_all_find(rays_view v, uint32_t count, rays_all_rows rows,
                  carom_device_list<rays_all_found> found, carom_device_list<uint32_t> left,
                  carom_device_counters *counters) {
    carom_device_begin();
    __shared__ carom_batch_way ways[CAROM_BATCH_WARPS];
    unsigned warp = threadIdx.x / CAROM_WARP;
    uint64_t stride = (uint64_t)gridDim.x * CAROM_BATCH_WARPS;
    for (uint64_t i = (uint64_t)blockIdx.x * CAROM_BATCH_WARPS + warp; i < count; i += stride) {
        rays_all_search<false> s;
        s.counts = rows.counts;
        s.found = found;
        bool certain = rays_all_search_one(v, (uint32_t)i, ways[warp], s);
        if (threadIdx.x % CAROM_WARP != 0) continue;
        if (!carom_ray_good(&s.ray)) atomicAdd(&counters->n[RAYS_ALL_N_BAD], 1ull); /* rare */
        if (certain) continue;
        rows.stages[i] = RAYS_ALL_INTEGERS;
        rows.counts[i] = 0;
        left.append((uint32_t)i);
    }
}

static __global__ void __launch_bounds__(CAROM_BATCH_SEARCHERS, CAROM_BATCH_EXACT_BLOCKS)
    rays_all_find_exactly(rays_view v, rays_all_rows rows, carom_device_list<rays_all_found> found,
                          carom_device_list<uint32_t> left, carom_device_list<rays_open> list) {
    carom_device_begin();
    __shared__ carom_batch_way ways[CAROM_BATCH_WARPS];
    unsigned warp = threadIdx.x / CAROM_WARP;
    uint64_t count = left.stored(), stride = (uint64_t)gridDim.x * CAROM_BATCH_WARPS;
    for (uint64_t i = (uint64_t)blockIdx.x * CAROM_BATCH_WARPS + warp; i < count; i += stride) {
        rays_all_search<true> s;
        s.counts = rows.counts;
        s.found = found;
        s.list = list;
        if (rays_all_search_one(v, left.data[i], ways[warp], s)) continue;
        if (threadIdx.x % CAROM_WARP == 0) {
            rows.stages[s.query] = RAYS_ALL_HOST;
            rows.counts[s.query] = 0;
        }
        s.pass = 1;
        carom_batch_walk(v.soup.tree, ways[warp], s);
        __syncwarp();
    }
}

/* ---- Order ----------------------------------------------------------------------------------- */

static __global__ void rays_all_clear(rays_all_rows rows, uint32_t count) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i <= count;
         i += (uint64_t)gridDim.x * blockDim.x)
        rows.stages[i] = rows.counts[i] = 0;
}

/* The most that one ray meets. */
static __global__ void rays_all_measure(rays_all_rows rows, uint32_t count,
                                        carom_device_counters *counters) {
    carom_device_begin();
    uint32_t longest = 0;
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x)
        longest = CAROM_MAX(rows.counts[i], longest);
    if (longest > RAYS_ALL_RUN) /* else nobody has to know */
        atomicMax(&counters->n[RAYS_ALL_N_LONGEST], (carom_device_count)longest);
}

/* Whether an entry is of the last search of its ray. */
static __device__ inline bool rays_all_counts(const rays_all_rows &rows, const rays_all_found &f) {
    return f.stage == rows.stages[f.ray] && f.number < rows.counts[f.ray];
}

/* Whether some were not stored: finish repeats the search. */
static __device__ inline bool rays_all_overflows(const carom_device_list<rays_all_found> &found) {
    return *found.count > found.capacity;
}

/* Puts each to its ray. */
static __global__ void rays_all_scatter(carom_device_list<rays_all_found> found, rays_all_rows rows,
                                        uint32_t rays, uint32_t *order,
                                        carom_device_counters *counters) {
    carom_device_begin();
    uint64_t count = found.stored();
    if (rays_all_overflows(found)) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) counters->n[RAYS_ALL_N_TOTAL] = rows.starts[rays];
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        const rays_all_found &f = found.data[i];
        if (!rays_all_counts(rows, f)) continue;
        order[(uint64_t)rows.starts[f.ray] + f.number] = (uint32_t)i;
    }
}

/* Whether a comes before b on their ray. */
static __device__ bool rays_all_before(const rays_view &v, const rays_all_found &a,
                                       const rays_all_found &b) {
    if (a.high < b.low) return true;
    if (a.low > b.high || a.item == b.item) return false;
    carom_ray ray = v.in[a.ray];
    carom_ray_view view;
    carom_ray_hit x, y;
    carom_ray_frame frame = rays_frame(*v.tree.frame, 1.0);
    carom_ray_begin(ray.origin, ray.direction, ray.length, &frame, &view);
    carom_triangle first = carom_soup_cuda_triangle(v.soup, a.item);
    carom_triangle second = carom_soup_cuda_triangle(v.soup, b.item);
    (void)carom_ray_meet(&view, first.corner, &x);
    (void)carom_ray_meet(&view, second.corner, &y);
    int order = carom_ray_compare_exact(&view, &x, &y);
    if (order != 0) return order < 0;
    return carom_soup_cuda_face(v.soup, a.item) < carom_soup_cuda_face(v.soup, b.item);
}

/* Sorts runs of each ray: an entry comes after those that come before it. */
static __global__ void __launch_bounds__(RAYS_ALL_THREADS, CAROM_BATCH_EXACT_BLOCKS)
    rays_all_sort_runs(rays_view v, carom_device_list<rays_all_found> found, rays_all_rows rows,
                       const uint32_t *order, uint32_t *sorted) {
    carom_device_begin();
    uint64_t count = found.stored();
    if (rays_all_overflows(found)) return;
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        const rays_all_found f = found.data[i];
        if (!rays_all_counts(rows, f)) continue;
        uint64_t start = rows.starts[f.ray];
        uint32_t run = f.number / RAYS_ALL_RUN * RAYS_ALL_RUN, at = run;
        uint32_t end = CAROM_MIN(run + RAYS_ALL_RUN, rows.counts[f.ray]);
        for (uint32_t k = run; k < end; ++k) {
            if (k == f.number) continue;
            if (rays_all_before(v, found.data[order[start + k]], f)) ++at;
        }
        sorted[start + at] = (uint32_t)i;
    }
}

/* Merges sorted runs of `width` of each ray in pairs: an entry comes after those of its own run and
 * those of the other run that come before it. */
static __global__ void __launch_bounds__(RAYS_ALL_THREADS, CAROM_BATCH_EXACT_BLOCKS)
    rays_all_merge(rays_view v, carom_device_list<rays_all_found> found, rays_all_rows rows,
                   const uint32_t *order, uint32_t *sorted, uint64_t count, uint32_t width) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        const rays_all_found f = found.data[order[i]];
        uint32_t start = rows.starts[f.ray], of = rows.counts[f.ray];
        uint32_t number = (uint32_t)i - start, run = number / width;
        uint64_t low = (uint64_t)(run ^ 1u) * width, first = low;
        uint64_t high = CAROM_MIN(low + width, (uint64_t)of);
        if (low > of) low = first = high = of;
        while (low < high) { /* the first of the other run that does not come before it */
            uint64_t middle = low + (high - low) / 2;
            if (rays_all_before(v, found.data[order[start + middle]], f))
                low = middle + 1;
            else
                high = middle;
        }
        uint64_t at = (uint64_t)(run & ~1u) * width + number % width + (low - first);
        sorted[start + at] = order[i];
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(RAYS_ALL_THREADS, CAROM_BATCH_EXACT_BLOCKS)
    rays_all_answer(rays_view v, carom_device_list<rays_all_found> found, rays_all_rows rows,
                    uint32_t count, const uint32_t *starts, const uint32_t *order,
                    uint32_t first_ray, carom_soup_ray_hit *hits, uint64_t room) {
    carom_device_begin();
    uint64_t total = rows.starts[count];
    if (rays_all_overflows(found)) return;
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < total && i < room;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint32_t low = 0, high = count; /* the ray: the last that begins at i or before */
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            if (rows.starts[middle] <= i)
                low = middle;
            else
                high = middle;
        }
        if (rows.stages[low] == RAYS_ALL_HOST) continue;
        const rays_all_found f = found.data[order[starts[low] + (i - rows.starts[low])]];
        carom_ray ray = v.in[low];
        carom_ray_view view;
        carom_ray_hit met;
        carom_ray_frame frame = rays_frame(*v.tree.frame, 1.0);
        carom_ray_begin(ray.origin, ray.direction, ray.length, &frame, &view);
        carom_triangle t = carom_soup_cuda_triangle(v.soup, f.item);
        (void)carom_ray_meet(&view, t.corner, &met);
        uint32_t face = carom_soup_cuda_face(v.soup, f.item);
        carom_hit hit = carom_rays_hit(&ray, face, rays_normal(v.soup, f.item));
        carom_ray_answer(&view, &met, &hit.distance, &hit.point);
        hits[i] = carom_soup_ray_hit{first_ray + f.ray, face, hit.distance, hit.point, hit.normal};
    }
}

static __global__ void rays_all_count_host(const rays_all_host_hit *of_host, uint64_t count,
                                           rays_all_rows rows) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x)
        atomicAdd(&rows.counts[of_host[i].hit.ray], 1u);
}

static __global__ void rays_all_put_host(const rays_all_host_hit *of_host, uint64_t count,
                                         rays_all_rows rows, uint32_t first_ray,
                                         carom_soup_ray_hit *hits) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        carom_soup_ray_hit hit = of_host[i].hit;
        uint64_t at = rows.starts[hit.ray] + of_host[i].number;
        hit.ray += first_ray;
        hits[at] = hit;
    }
}

/* ---- Queueing -------------------------------------------------------------------------------- */

struct rays_all_arguments {
    const carom_device_soup *soup;
    const carom_ray *rays; /* on the device */
    uint32_t count, first_ray;
    carom_cuda_ray_hits *hits; /* with in_scratch its data is scratch */
    bool in_scratch;
    carom_ray_list_fn *decide;
    carom_context *context;
};

static carom_status rays_all_reserve_hits(carom_device *device, const rays_all_arguments *a,
                                          uint64_t count) {
    carom_cuda_ray_hits *hits = a->hits;
    if (a->in_scratch) {
        CAROM_DEVICE_TRY(carom_device_reserve_scratch(
            device, CAROM_SCRATCH_RAYS_HITS, count * sizeof(*hits->data), "the faces of rays"));
        hits->data = carom_device_scratch_data<carom_soup_ray_hit>(device, CAROM_SCRATCH_RAYS_HITS);
        hits->capacity =
            carom_device_scratch_bytes(device, CAROM_SCRATCH_RAYS_HITS) / sizeof(*hits->data);
        return CAROM_OK;
    }
    if (hits->memory == nullptr) hits->memory = new (std::nothrow) carom_device_block{};
    carom_device_block *block = (carom_device_block *)hits->memory;
    if (block == nullptr) return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for hits");
    carom_status status =
        carom_device_reserve(device, block, count * sizeof(*hits->data), "the faces of rays");
    hits->data = (carom_soup_ray_hit *)block->data;
    hits->capacity = block->bytes / sizeof(*hits->data);
    return status;
}

static carom_status rays_all_reserve(carom_device *device, carom_device_op *op) {
    const rays_all_arguments *a = carom_device_arguments<rays_all_arguments>(op);
    rays_all_rows rows = {};
    CAROM_DEVICE_TRY(
        carom_batch_reserve_tree(device, carom_soup_cuda_arrays_of(a->soup).triangle_count));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_RAYS_ROWS,
                                                  rays_all_lay_out(a->count, nullptr, &rows),
                                                  "the faces of rays"));
    const struct {
        carom_device_scratch block;
        uint64_t entries, size;
    } lists[] = {
        {CAROM_SCRATCH_RAYS_FOUND, a->count, sizeof(rays_all_found)},
        {CAROM_SCRATCH_RAYS_ORDER, a->count, 2 * sizeof(uint32_t)},
        {CAROM_SCRATCH_BATCH_LEFT, a->count / CAROM_BATCH_QUERIES_PER_LEFT, sizeof(uint32_t)},
        {CAROM_SCRATCH_RAYS_OPEN, 0, sizeof(rays_open)}};
    for (const auto &list : lists)
        CAROM_DEVICE_TRY(carom_device_reserve_list(device, list.block,
                                                   list.entries + CAROM_DEVICE_LIST_ENTRIES,
                                                   list.size, "the faces of rays"));
    return rays_all_reserve_hits(device, a, CAROM_MAX(a->hits->capacity, (uint64_t)1));
}

/* What kernels work on, while the operation is launched or finished. */
struct rays_all_work {
    rays_view v;
    rays_all_rows rows;
    carom_device_list<rays_all_found> found;
    uint32_t *order, *sorted;
};

static rays_all_work rays_all_work_of(carom_device *device, carom_device_op *op) {
    const rays_all_arguments *a = carom_device_arguments<rays_all_arguments>(op);
    rays_all_work w = {};
    w.v.soup = carom_soup_cuda_arrays_of(a->soup);
    w.v.in = a->rays;
    uint64_t bytes = rays_all_lay_out(a->count, nullptr, &w.rows);
    (void)rays_all_lay_out(
        a->count, carom_device_take<char>(device, CAROM_SCRATCH_RAYS_ROWS, bytes), &w.rows);
    w.found = carom_device_list_of<rays_all_found>(device, CAROM_SCRATCH_RAYS_FOUND, op,
                                                   RAYS_ALL_N_FOUND);
    bytes = carom_device_scratch_bytes(device, CAROM_SCRATCH_RAYS_ORDER);
    const uint64_t room = bytes / (2 * sizeof(uint32_t));
    w.order = carom_device_take<uint32_t>(device, CAROM_SCRATCH_RAYS_ORDER, bytes);
    w.sorted = w.order + room;
    w.found.capacity = CAROM_MIN(w.found.capacity, room);
    w.v.tree.frame = w.rows.frame;
    return w;
}

static unsigned rays_all_blocks(const carom_device *device) {
    return CAROM_BATCH_EXACT_BLOCKS * (unsigned)device->processors;
}

/* Queues the order: where rays begin, then sorted runs, in w.order. */
static void rays_all_launch_order(carom_device *device, carom_device_op *op, uint32_t count,
                                  rays_all_work *w) {
    const unsigned blocks = rays_all_blocks(device);
    carom_device_step(device, "order");
    carom_device_scan(device, w->rows.scan, w->rows.scan_bytes, w->rows.counts, w->rows.starts,
                      (uint64_t)count + 1);
    carom_device_launch(device, rays_all_scatter, blocks, RAYS_ALL_THREADS, w->found, w->rows,
                        count, w->order, op->counters);
    carom_device_launch(device, rays_all_sort_runs, blocks, RAYS_ALL_THREADS, w->v, w->found,
                        w->rows, w->order, w->sorted);
    std::swap(w->order, w->sorted);
}

static void rays_all_launch_answer(carom_device *device, const rays_all_arguments *a,
                                   const rays_all_work *w, const uint32_t *starts) {
    carom_device_step(device, "hits");
    carom_device_launch(device, rays_all_answer, rays_all_blocks(device), RAYS_ALL_THREADS, w->v,
                        w->found, w->rows, a->count, starts, w->order, a->first_ray, a->hits->data,
                        a->hits->capacity);
}

static void rays_all_launch(carom_device *device, carom_device_op *op) {
    const rays_all_arguments *a = carom_device_arguments<rays_all_arguments>(op);
    const unsigned blocks = rays_all_blocks(device);
    carom_device_clear(device, op);
    rays_all_work w = rays_all_work_of(device, op);
    if (a->count == 0) return;
    carom_bvh8_tree tree = carom_batch_build(device, w.v.soup);
    (void)cudaMemcpyAsync(w.rows.frame, tree.frame, sizeof(*tree.frame), cudaMemcpyDeviceToDevice,
                          device->stream);
    carom_device_list<uint32_t> left =
        carom_device_list_of<uint32_t>(device, CAROM_SCRATCH_BATCH_LEFT, op, RAYS_ALL_N_LEFT);
    carom_device_list<rays_open> open =
        carom_device_list_of<rays_open>(device, CAROM_SCRATCH_RAYS_OPEN, op, RAYS_ALL_N_OPEN);
    carom_device_step(device, "doubles");
    carom_device_launch(device, rays_all_clear, blocks, RAYS_ALL_THREADS, w.rows, a->count);
    carom_device_launch(device, rays_all_find,
                        carom_device_resident(device, rays_all_find, CAROM_BATCH_SEARCHERS),
                        CAROM_BATCH_SEARCHERS, w.v, a->count, w.rows, w.found, left, op->counters);
    carom_device_step(device, "left by doubles");
    carom_device_launch(device, rays_all_find_exactly, blocks, CAROM_BATCH_SEARCHERS, w.v, w.rows,
                        w.found, left, open);
    carom_device_launch(device, rays_all_measure, blocks, RAYS_ALL_THREADS, w.rows, a->count,
                        op->counters);
    rays_all_launch_order(device, op, a->count, &w);
    rays_all_launch_answer(device, a, &w, w.rows.starts);
}

/* The hits of rays that the host decides, in the order of rays, with their numbers. `of_host` has
 * space for `count`, the number of entries. */
static carom_status rays_all_decide(carom_device *device, const rays_all_arguments *a,
                                    rays_open *entries, uint64_t count, carom_soup_ray_hit *some,
                                    rays_all_host_hit *of_host, uint64_t *hits) {
    qsort(entries, count, sizeof(*entries), carom_batch_compare<rays_open>);
    for (uint64_t i = 0, end; i < count; i = end) {
        uint64_t n = 0;
        for (end = i + 1; end < count && entries[end].query == entries[i].query;) ++end;
        if (a->decide(a->context, entries + i, end - i, some, &n) != CAROM_OK)
            return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for %llu triangles",
                                     (unsigned long long)(end - i));
        for (uint64_t k = 0; k < n; ++k) of_host[(*hits)++] = rays_all_host_hit{some[k], k};
        ++a->hits->host_items;
    }
    return CAROM_OK;
}

/* Reads the triangles for the host and writes what rays meet of them; *hits of them. Waits. */
static carom_status rays_all_query_host(carom_device *device, const rays_all_arguments *a,
                                        uint64_t count, uint64_t *hits) {
    *hits = 0;
    if (count == 0) return CAROM_OK;
    rays_open *entries = (rays_open *)malloc(count * sizeof(*entries));
    carom_soup_ray_hit *some = (carom_soup_ray_hit *)malloc(count * sizeof(*some));
    rays_all_host_hit *of_host = (rays_all_host_hit *)malloc(count * sizeof(*of_host));
    carom_status status = CAROM_OK;
    if (entries == nullptr || some == nullptr || of_host == nullptr)
        status = carom_device_fail(device, CAROM_NO_MEMORY, "no memory for %llu triangles",
                                   (unsigned long long)count);
    if (status == CAROM_OK)
        status = carom_device_copy(
            device, entries, carom_device_scratch_data<void>(device, CAROM_SCRATCH_RAYS_OPEN),
            count * sizeof(*entries), cudaMemcpyDeviceToHost, "reading what is undecided");
    if (status == CAROM_OK)
        status = rays_all_decide(device, a, entries, count, some, of_host, hits);
    if (status == CAROM_OK)
        status = carom_device_reserve_scratch(device, CAROM_SCRATCH_RAYS_OF_HOST,
                                              (*hits + 1) * sizeof(*of_host), "the faces of rays");
    if (status == CAROM_OK && *hits != 0)
        status = carom_device_copy(
            device, carom_device_scratch_data<void>(device, CAROM_SCRATCH_RAYS_OF_HOST), of_host,
            *hits * sizeof(*of_host), cudaMemcpyHostToDevice, "writing what was undecided");
    free(entries);
    free(some);
    free(of_host);
    return status;
}

/* Merges runs until each ray is one. */
static void rays_all_merge_runs(carom_device *device, rays_all_work *w, uint64_t total,
                                uint64_t longest) {
    for (uint64_t width = RAYS_ALL_RUN; width < longest; width *= 2) {
        carom_device_launch(device, rays_all_merge, rays_all_blocks(device), RAYS_ALL_THREADS, w->v,
                            w->found, w->rows, w->order, w->sorted, total, (uint32_t)width);
        std::swap(w->order, w->sorted);
    }
}

/* Makes room in the result for the hits of the host. */
static carom_status rays_all_make_room(carom_device *device, uint32_t count, uint64_t of_host,
                                       const rays_all_work *w) {
    const rays_all_host_hit *hits =
        carom_device_scratch_data<rays_all_host_hit>(device, CAROM_SCRATCH_RAYS_OF_HOST);
    CAROM_DEVICE_TRY(carom_device_check(device,
                                        cudaMemcpyAsync(w->rows.ordered, w->rows.starts,
                                                        ((uint64_t)count + 1) * sizeof(uint32_t),
                                                        cudaMemcpyDeviceToDevice, device->stream),
                                        "the faces of rays"));
    carom_device_launch(device, rays_all_count_host, rays_all_blocks(device), RAYS_ALL_THREADS,
                        hits, of_host, w->rows);
    carom_device_scan(device, w->rows.scan, w->rows.scan_bytes, w->rows.counts, w->rows.starts,
                      (uint64_t)count + 1);
    return CAROM_OK;
}

/* Sorts what is not in order yet, puts the hits of the host between the others, and writes all to a
 * result that has room for them. Waits. */
static carom_status rays_all_complete(carom_device *device, carom_device_op *op, uint64_t total,
                                      uint64_t of_host, uint64_t longest) {
    const rays_all_arguments *a = carom_device_arguments<rays_all_arguments>(op);
    rays_all_work w = rays_all_work_of(device, op);
    std::swap(w.order, w.sorted); /* as the launch left them */
    rays_all_merge_runs(device, &w, total, longest);
    if (total + of_host > a->hits->capacity)
        CAROM_DEVICE_TRY(rays_all_reserve_hits(device, a, carom_device_enlarged(total + of_host)));
    if (of_host != 0) CAROM_DEVICE_TRY(rays_all_make_room(device, a->count, of_host, &w));
    rays_all_launch_answer(device, a, &w, of_host != 0 ? w.rows.ordered : w.rows.starts);
    if (of_host != 0)
        carom_device_launch(
            device, rays_all_put_host, rays_all_blocks(device), RAYS_ALL_THREADS,
            carom_device_scratch_data<rays_all_host_hit>(device, CAROM_SCRATCH_RAYS_OF_HOST),
            of_host, w.rows, a->first_ray, a->hits->data);
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "the faces of rays");
}

static carom_status rays_all_finish(carom_device *device, carom_device_op *op,
                                    const carom_device_counters *counters, bool *again) {
    const rays_all_arguments *a = carom_device_arguments<rays_all_arguments>(op);
    const carom_device_count *n = counters->n;
    uint64_t of_host = 0, total = n[RAYS_ALL_N_TOTAL];
    *again = false;
    if (n[RAYS_ALL_N_BAD] != 0)
        return carom_device_fail(device, CAROM_BAD_INPUT, "%llu %s %s", n[RAYS_ALL_N_BAD],
                                 rays_kind::name, rays_kind::bad);
    if (n[RAYS_ALL_N_FOUND] > UINT32_MAX)
        return carom_device_fail(device, CAROM_TOO_LARGE,
                                 "%llu faces of %u rays are too many to number",
                                 n[RAYS_ALL_N_FOUND], a->count);
    const struct {
        carom_device_scratch block;
        uint64_t entries, size;
    } lists[] = {{CAROM_SCRATCH_RAYS_FOUND, n[RAYS_ALL_N_FOUND], sizeof(rays_all_found)},
                 {CAROM_SCRATCH_RAYS_ORDER, n[RAYS_ALL_N_FOUND], 2 * sizeof(uint32_t)},
                 {CAROM_SCRATCH_BATCH_LEFT, n[RAYS_ALL_N_LEFT], sizeof(uint32_t)},
                 {CAROM_SCRATCH_RAYS_OPEN, n[RAYS_ALL_N_OPEN], sizeof(rays_open)}};
    for (const auto &list : lists)
        *again = carom_device_list_grows(device, list.block, list.entries, list.size) || *again;
    if (*again) return CAROM_OK;
    a->hits->host_items = 0;
    CAROM_DEVICE_TRY(rays_all_query_host(device, a, n[RAYS_ALL_N_OPEN], &of_host));
    if (total + of_host > UINT32_MAX)
        return carom_device_fail(device, CAROM_TOO_LARGE,
                                 "%llu faces of %u rays are too many to number",
                                 (unsigned long long)(total + of_host), a->count);
    if (of_host != 0 || n[RAYS_ALL_N_LONGEST] > RAYS_ALL_RUN || total > a->hits->capacity)
        CAROM_DEVICE_TRY(rays_all_complete(device, op, total, of_host, n[RAYS_ALL_N_LONGEST]));
    a->hits->count = total + of_host;
    device->steps.open_in_floats = n[RAYS_ALL_N_LEFT];
    device->steps.open_in_doubles = a->hits->host_items;
    return CAROM_OK;
}

/* One search at a time: what finish needs lies in the same memory. */
static carom_status rays_all_wait(carom_device *device) {
    bool queued = false;
    for (uint32_t i = 0; i < device->op_count; ++i)
        queued = queued || device->ops[i].launch == rays_all_launch;
    if (!queued) return CAROM_OK;
    if (device->recording)
        return carom_device_fail(device, CAROM_UNSUPPORTED,
                                 "a frame has at most one search for all faces along rays");
    return carom_device_finish(device);
}

static carom_status rays_all_submit(carom_device *device, const rays_all_arguments *a) {
    carom_device_op op = {rays_all_reserve, rays_all_launch, rays_all_finish, nullptr, {}};
    CAROM_DEVICE_TRY(rays_all_wait(device));
    *carom_device_arguments<rays_all_arguments>(&op) = *a;
    op.uses[0] = a->soup;
    return carom_device_submit(device, &op);
}

carom_status carom_rays_query(carom_device *device, const carom_device_soup *soup,
                              const carom_ray *rays, uint32_t count, carom_cuda_ray_hits *hits,
                              carom_ray_list_fn *decide, carom_context *context) {
    const rays_all_arguments a = {soup, rays, count, 0, hits, false, decide, context};
    return rays_all_submit(device, &a);
}

carom_status carom_rays_query_of_host(carom_device *device, const carom_device_soup *soup,
                                      const carom_ray *rays, uint32_t count, uint32_t first,
                                      carom_cuda_ray_hits *hits, carom_ray_list_fn *decide,
                                      carom_context *context) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_BATCH_INPUT,
                                                  count * sizeof(*rays), rays_kind::name));
    carom_ray *from = carom_device_scratch_data<carom_ray>(device, CAROM_SCRATCH_BATCH_INPUT);
    CAROM_DEVICE_TRY(carom_device_check(
        device,
        cudaMemcpyAsync(from, rays, count * sizeof(*rays), cudaMemcpyHostToDevice, device->stream),
        "copying rays"));
    *hits = carom_cuda_ray_hits{};
    const rays_all_arguments a = {soup, from, count, first, hits, true, decide, context};
    CAROM_DEVICE_TRY(rays_all_submit(device, &a));
    return carom_device_finish(device);
}

void carom_rays_free(carom_cuda_ray_hits *hits) {
    carom_device_block *block = (carom_device_block *)hits->memory;
    if (block != nullptr) carom_device_release(block);
    delete block;
    *hits = carom_cuda_ray_hits{};
}

#endif
