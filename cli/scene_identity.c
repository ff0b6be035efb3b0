/* SPDX-License-Identifier: MIT */
/* What makes a clash the same in the next report, and which clashes belong together.
 *
 * The GUID of a clash is a UUID of version 5 of "NAME\nI\nNAME\nI": the names of both parts and,
 * where several parts are called the same, which of them it is, from 0 in their order. The lesser
 * pair comes first. So it depends neither on the order of the two, nor on where they are, nor on
 * other clashes.
 *
 * Neighbours are clashes with a common part whose places, the common boxes of their parts, meet;
 * groups are what that connects. Alike are clashes with the same relation between equal parts:
 * those with as many triangles, the same area and the same spread of it, wherever they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/scene_report.h"

#define EQUAL 1e-5 /* relative: areas of copies differ by the rounding of float32 coordinates */

/* The namespace of clashes, drawn at random once. */
static const unsigned char clash_space[16] = {0x6a, 0x1c, 0x0e, 0x5b, 0x7d, 0x3f, 0x4b, 0x92,
                                              0x9e, 0x21, 0xc4, 0xd8, 0x05, 0xf7, 0x3a, 0x6e};

/* ---- GUIDs ----------------------------------------------------------------------------------- */

typedef struct named {
    const char *name;
    uint64_t index;
} named;

static int compare_named(const void *one, const void *other) {
    const named *x = one, *y = other;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : x->index < y->index ? -1 : x->index > y->index;
}

/* Of each part, how many before it have its name. */
static uint64_t *count_namesakes(const scene_parts *parts) {
    named *all = malloc((size_t)(parts->count + 1) * sizeof(*all));
    uint64_t *before = malloc((size_t)(parts->count + 1) * sizeof(*before));
    if (all == NULL || before == NULL) {
        free(all);
        free(before);
        return NULL;
    }
    for (uint64_t i = 0; i < parts->count; ++i) all[i] = (named){parts->data[i].name, i};
    qsort(all, (size_t)parts->count, sizeof(*all), compare_named);
    for (uint64_t i = 0; i < parts->count; ++i)
        before[all[i].index] =
            i > 0 && strcmp(all[i - 1].name, all[i].name) == 0 ? before[all[i - 1].index] + 1 : 0;
    free(all);
    return before;
}

static bool make_guid(const scene_parts *parts, const uint64_t *before, scene_clash *c) {
    uint64_t x = c->a, y = c->b;
    int order = strcmp(parts->data[x].name, parts->data[y].name);
    if (order > 0 || (order == 0 && before[x] > before[y])) x = c->b, y = c->a;
    const char *first = parts->data[x].name, *second = parts->data[y].name;
    size_t size = strlen(first) + strlen(second) + 64;
    char *key = malloc(size);
    if (key == NULL) return false;
    int length = snprintf(key, size, "%s\n%llu\n%s\n%llu", first, (unsigned long long)before[x],
                          second, (unsigned long long)before[y]);
    guid_make(clash_space, key, (size_t)length, c->guid);
    free(key);
    return true;
}

/* ---- Neighbours ------------------------------------------------------------------------------ */

carom_bounds scene_common_box(const scene_report *report, const scene_clash *c) {
    const carom_bounds *a = &report->parts->data[c->a].box, *b = &report->parts->data[c->b].box;
    double half = 0.5 * report->clearance; /* of parts that are apart the boxes need not meet */
    return (carom_bounds){{fmax(a->low.x, b->low.x) - half, fmax(a->low.y, b->low.y) - half,
                           fmax(a->low.z, b->low.z) - half},
                          {fmin(a->high.x, b->high.x) + half, fmin(a->high.y, b->high.y) + half,
                           fmin(a->high.z, b->high.z) + half}};
}

static bool meet(const carom_bounds *a, const carom_bounds *b) {
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
           b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static uint64_t root_of(uint64_t *parent, uint64_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

typedef struct end_of_clash {
    uint64_t part, clash;
} end_of_clash;

static int compare_ends(const void *one, const void *other) {
    const end_of_clash *x = one, *y = other;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    return x->clash < y->clash ? -1 : x->clash > y->clash;
}

bool scene_group_items(const scene_group_item *items, uint64_t count, uint64_t *groups,
                       uint64_t *group_count) {
    uint64_t *parent = malloc((size_t)(count + 1) * sizeof(*parent));
    uint64_t *number = calloc((size_t)count + 1, sizeof(*number));
    end_of_clash *ends = malloc((size_t)(2 * count + 1) * sizeof(*ends));
    bool good = parent != NULL && number != NULL && ends != NULL;
    *group_count = 0;
    for (uint64_t i = 0; i < count && good; ++i) {
        parent[i] = i;
        ends[2 * i] = (end_of_clash){items[i].a, i};
        ends[2 * i + 1] = (end_of_clash){items[i].b, i};
    }
    if (good) qsort(ends, (size_t)(2 * count), sizeof(*ends), compare_ends);
    for (uint64_t i = 0; i < 2 * count && good; ++i)
        for (uint64_t k = i + 1; k < 2 * count && ends[k].part == ends[i].part; ++k) {
            if (!meet(&items[ends[i].clash].box, &items[ends[k].clash].box)) continue;
            uint64_t x = root_of(parent, ends[i].clash), y = root_of(parent, ends[k].clash);
            parent[x < y ? y : x] = x < y ? x : y;
        }
    for (uint64_t i = 0; i < count && good; ++i) {
        uint64_t root = root_of(parent, i);
        if (number[root] == 0) number[root] = ++*group_count;
        groups[i] = number[root];
    }
    free(parent);
    free(number);
    free(ends);
    return good;
}

static bool group_neighbours(scene_report *report) {
    uint64_t count = report->count;
    scene_group_item *items = calloc((size_t)count + 1, sizeof(*items));
    uint64_t *groups = malloc((size_t)(count + 1) * sizeof(*groups));
    bool good = items != NULL && groups != NULL;
    for (uint64_t i = 0; i < count && good; ++i) {
        const scene_clash *c = &report->clashes[i];
        items[i] = (scene_group_item){c->a, c->b, scene_common_box(report, c)};
    }
    good = good && scene_group_items(items, count, groups, &report->group_count);
    for (uint64_t i = 0; i < count && good; ++i) report->clashes[i].group = groups[i];
    free(items);
    free(groups);
    return good;
}

/* ---- Equal parts ----------------------------------------------------------------------------- */

typedef struct shape_key {
    uint64_t triangles;
    double area, spread;
} shape_key;

static bool is_equal(double x, double y) {
    return fabs(x - y) <= EQUAL * fmax(fabs(x), fabs(y));
}

static double area_of(const carom_vec3 c[3]) {
    carom_vec3 u = {c[1].x - c[0].x, c[1].y - c[0].y, c[1].z - c[0].z};
    carom_vec3 v = {c[2].x - c[0].x, c[2].y - c[0].y, c[2].z - c[0].z};
    carom_vec3 n = {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
    return 0.5 * sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
}

/* Area, and its spread around the middle of the area. */
static shape_key key_of(const scene_part *part) {
    shape_key key = {.triangles = part->triangles};
    carom_mesh_view view;
    if (part->mesh == NULL || carom_mesh_get_view(part->mesh, &view) != CAROM_OK) return key;
    double sum[3] = {0.0}, squares = 0.0;
    carom_vec3 o = part->box.low;
    for (uint64_t t = 0; t < view.face_count; ++t) {
        carom_vec3 c[3];
        for (int k = 0; k < 3; ++k) c[k] = scene_part_corner(part, &view, t, k);
        double area = area_of(c);
        double x = (c[0].x + c[1].x + c[2].x) / 3.0 - o.x,
               y = (c[0].y + c[1].y + c[2].y) / 3.0 - o.y,
               z = (c[0].z + c[1].z + c[2].z) / 3.0 - o.z;
        key.area += area;
        sum[0] += area * x;
        sum[1] += area * y;
        sum[2] += area * z;
        squares += area * (x * x + y * y + z * z);
    }
    if (key.area > 0.0)
        key.spread = squares / key.area -
                     (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / (key.area * key.area);
    return key;
}

/* Of each part, the first that is equal to it. */
static uint64_t *find_equals(const scene_parts *parts) {
    shape_key *keys = malloc((size_t)(parts->count + 1) * sizeof(*keys));
    uint64_t *first = malloc((size_t)(parts->count + 1) * sizeof(*first));
    for (uint64_t i = 0; i < parts->count && keys != NULL && first != NULL; ++i) {
        keys[i] = key_of(&parts->data[i]);
        first[i] = i;
        for (uint64_t k = 0; k < i && parts->data[i].mesh != NULL; ++k)
            if (first[k] == k && parts->data[k].mesh != NULL &&
                keys[k].triangles == keys[i].triangles && is_equal(keys[k].area, keys[i].area) &&
                is_equal(keys[k].spread, keys[i].spread)) {
                first[i] = k;
                break;
            }
    }
    if (keys == NULL) free(first);
    if (keys == NULL) first = NULL;
    free(keys);
    return first;
}

typedef struct alike_key {
    uint64_t x, y, relation, clash;
} alike_key;

static int compare_alike(const void *one, const void *other) {
    const alike_key *x = one, *y = other;
    if (x->x != y->x) return x->x < y->x ? -1 : 1;
    if (x->y != y->y) return x->y < y->y ? -1 : 1;
    if (x->relation != y->relation) return x->relation < y->relation ? -1 : 1;
    return x->clash < y->clash ? -1 : x->clash > y->clash;
}

static bool group_alike(scene_report *report) {
    uint64_t *first = find_equals(report->parts);
    alike_key *keys = malloc((size_t)(report->count + 1) * sizeof(*keys));
    bool good = first != NULL && keys != NULL;
    for (uint64_t i = 0; i < report->count && good; ++i) {
        const scene_clash *c = &report->clashes[i];
        uint64_t x = first[c->a], y = first[c->b];
        keys[i] = (alike_key){x < y ? x : y, x < y ? y : x, (uint64_t)c->relation, i};
    }
    if (good) qsort(keys, (size_t)report->count, sizeof(*keys), compare_alike);
    for (uint64_t i = 0; i < report->count && good; ++i) {
        bool same = i > 0 && keys[i].x == keys[i - 1].x && keys[i].y == keys[i - 1].y &&
                    keys[i].relation == keys[i - 1].relation;
        if (!same) ++report->alike_count;
        report->clashes[keys[i].clash].alike = report->alike_count;
    }
    free(first);
    free(keys);
    return good;
}

carom_status scene_identify(scene_report *report) {
    uint64_t *before = count_namesakes(report->parts);
    bool good = before != NULL;
    for (uint64_t i = 0; i < report->count && good; ++i)
        good = make_guid(report->parts, before, &report->clashes[i]);
    free(before);
    return good ? CAROM_OK : CAROM_NO_MEMORY;
}

carom_status scene_group(scene_report *report) {
    return group_neighbours(report) && group_alike(report) ? CAROM_OK : CAROM_NO_MEMORY;
}
