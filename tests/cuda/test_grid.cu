/* SPDX-License-Identifier: MIT */
/* The grid's items on the GPU: levels, cells, buckets, tags; then all of the crumpled cloth by
 * count, scan and fill, against the CPU's golden hashes. */
#include <algorithm>
#include <cstdlib>
#include <cub/device/device_scan.cuh>
#include <vector>

#include "tests/cuda/device.h"
#include "tests/support/grid_cloth.h"
#include "tests/support/grid_items.h"

#define ROUNDS 21

/* ---- decision by decision -------------------------------------------------------------------- */

__global__ void decide(carom_grid_space space, carom_grid_table table, const carom_box *boxes,
                       uint32_t count, grid_decision *decisions) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) decisions[i] = grid_decide(&space, &table, &boxes[i]);
}

static void items_decide_as_on_the_cpu(void **state) {
    (void)state;
    static const char *const names[GRID_TABLES] = {"items-block", "items-djb2", "items-morton",
                                                   "items-perfect"};
    const uint32_t displacements[] = {3, 1, 4, 1};
    carom_grid_table tables[GRID_TABLES];
    device_array<uint32_t> on_device(4);
    device_array<carom_box> boxes(GRID_ITEMS);
    device_array<grid_decision> decisions(GRID_ITEMS);
    std::vector<carom_box> made(GRID_ITEMS);
    std::vector<grid_decision> decided(GRID_ITEMS);
    carom_random random = {77};
    for (carom_box &box : made) box = grid_items_next(&random);
    boxes.set(made.data(), GRID_ITEMS);
    on_device.set(displacements, 4);
    grid_items_tables(on_device.data, tables);
    for (int t = 0; t < GRID_TABLES; ++t) {
        uint64_t levels = 0, corners = 0, buckets = 0;
        launch(decide, blocks(GRID_ITEMS), grid_items_space(), tables[t], boxes.data, GRID_ITEMS,
               decisions.data);
        CHECK(cudaGetLastError());
        decisions.get(decided.data());
        for (const grid_decision &d : decided) {
            levels = test_hash(&d.level, sizeof(d.level), levels);
            corners = test_hash(&d.on, sizeof(d.on), corners);
            buckets = test_hash(d.buckets, d.count * sizeof(d.buckets[0]), buckets);
            buckets = test_hash(d.tags, d.count * sizeof(d.tags[0]), buckets);
        }
        test_golden("grid.txt", "items-levels", levels);
        test_golden("grid.txt", "items-cells", corners);
        test_golden("grid.txt", names[t], buckets);
    }
}

/* ---- the cloth ------------------------------------------------------------------------------- */

/* The buckets an item enters, one call of `put` each. */
template <typename PUT>
__device__ void enter(const carom_grid_space &space, const carom_grid_table &table,
                      const carom_box *box, uint8_t *level_out, PUT put) {
    uint32_t buckets[CAROM_GRID_MOST_CELLS], tags[CAROM_GRID_MOST_CELLS];
    carom_grid_cells cells = carom_grid_cells_of(&space, box);
    uint32_t level = carom_grid_level(&space, &cells);
    uint32_t count = carom_grid_enter(&table, &cells, level, buckets, tags);
    *level_out = (uint8_t)level;
    for (uint32_t i = 0; i < count; ++i) put(buckets[i], tags[i]);
}

__global__ void count_entries(carom_grid_space space, carom_grid_table table,
                              const carom_box *boxes, uint32_t count, uint8_t *levels,
                              uint32_t *counts) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    enter(space, table, &boxes[i], &levels[i],
          [=](uint32_t bucket, uint32_t) { atomicAdd(&counts[bucket], 1u); });
}

__global__ void fill_entries(carom_grid_space space, carom_grid_table table, const carom_box *boxes,
                             uint32_t count, uint8_t *levels, uint32_t *ends, uint2 *entries) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    enter(space, table, &boxes[i], &levels[i], [=](uint32_t bucket, uint32_t tags) {
        entries[atomicAdd(&ends[bucket], 1u)] = make_uint2(i, tags);
    });
}

__global__ void sum_buckets(const uint32_t *starts, const uint2 *entries, uint32_t buckets,
                            uint64_t *sums) {
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= buckets) return;
    uint64_t sum = 0;
    for (uint32_t at = starts[b]; at < starts[b + 1]; ++at)
        sum += grid_entry_digest(entries[at].x, entries[at].y);
    sums[b] = sum;
}

static void check_cloth(carom_context *context, uint64_t detail, const char *name, int hash) {
    grid_cloth cloth;
    grid_content cpu;
    grid_cloth_make(context, detail, &cloth);
    grid_content_build(context, &cloth, (carom_grid_hash)hash, &cpu);
    uint32_t buckets = cpu.table.bucket_count, entry_count = cpu.starts[buckets];
    device_array<carom_box> boxes(cloth.count);
    device_array<uint8_t> levels(cloth.count);
    device_array<uint32_t> counts(buckets + 1), starts(buckets + 1), ends(buckets + 1);
    device_array<uint2> entries(entry_count);
    device_array<uint64_t> sums(buckets);
    size_t room = 0;
    CHECK(cub::DeviceScan::ExclusiveSum(nullptr, room, counts.data, starts.data, buckets + 1));
    device_array<char> scratch(room);
    stopwatch watch;
    boxes.set(cloth.boxes, cloth.count);
    std::vector<double> times;
    for (int round = 0; round < ROUNDS; ++round) {
        watch.start();
        counts.clear();
        launch(count_entries, blocks(cloth.count), cpu.space, cpu.table, boxes.data, cloth.count,
               levels.data, counts.data);
        CHECK(cub::DeviceScan::ExclusiveSum(scratch.data, room, counts.data, starts.data,
                                            buckets + 1));
        CHECK(cudaMemcpyAsync(ends.data, starts.data, (buckets + 1) * sizeof(uint32_t),
                              cudaMemcpyDeviceToDevice));
        launch(fill_entries, blocks(cloth.count), cpu.space, cpu.table, boxes.data, cloth.count,
               levels.data, ends.data, entries.data);
        times.push_back(watch.stop_ms());
    }
    launch(sum_buckets, blocks(buckets), starts.data, entries.data, buckets, sums.data);
    CHECK(cudaGetLastError());
    std::sort(times.begin(), times.end());
    print_message("%s, hash %d: %u triangles, %u entries, built in %.3f ms (median)\n", name, hash,
                  cloth.count, entry_count, times[ROUNDS / 2]);
    levels.get(cpu.levels);
    starts.get(cpu.starts);
    sums.get(cpu.sums);
    grid_content_check(&cpu, cloth.count, name);
    grid_content_free(&cpu);
    grid_cloth_free(&cloth);
}

static void the_cloth_fills_the_same_buckets(void **state) {
    (void)state;
    carom_context *context = test_context(0);
    for (int hash = 0; hash < CAROM_GRID_HASH_PERFECT; ++hash) {
        check_cloth(context, 100, "cloth-20k", hash);
        if (getenv("CAROM_LONG") != NULL) check_cloth(context, 707, "cloth-1M", hash);
    }
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_decide_as_on_the_cpu),
        cmocka_unit_test(the_cloth_fills_the_same_buckets),
    };
    return RUN_ON_DEVICE("cuda grid", tests);
}
