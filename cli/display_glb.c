/* SPDX-License-Identifier: MIT */
/* A display as binary glTF 2.0 (Khronos, 2021): one node per item below a root that turns the axis
 * that points up, our numbers in `extras`. docs/viewer.md describes what is ours.
 *
 * Files have positions as float32 and need no extension. The copy inside a page has those of
 * triangles as 16-bit integers on a grid over the part (KHR_mesh_quantization); a patch uses the
 * grid of its part, so that their corners coincide. Positions that float32 cannot hold well, far
 * away from the origin or at extreme scales, are relative to the node's translation and scale. */
#include "cli/display_glb.h"
#include "cli/platform.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names of glTF. */
enum {
    MODE_POINTS = 0,
    MODE_LINES = 1,
    MODE_TRIANGLES = 4,
    TYPE_UINT8 = 5121,
    TYPE_UINT16 = 5123,
    TYPE_UINT32 = 5125,
    TYPE_FLOAT = 5126,
    TARGET_NONE = 0,
    TARGET_VERTICES = 34962,
    TARGET_INDICES = 34963
};

#define GRID_STEPS  65535.0 /* of a quantised part, along each axis */
#define FAR_SIZES   16.0    /* farther from the origin than so many sizes, a node has an offset */
#define LEAST_SIZE  1e-30   /* of float32 positions without a scale */
#define LARGEST     1e30
#define NO_ACCESSOR UINT64_MAX

typedef struct accessor {
    uint64_t offset, size, count;
    int component, width; /* numbers per element */
    int target;
    unsigned stride;
    bool normalised, bounded;
    double low[3], high[3];
} accessor;

/* p = offset + scale * stored. */
typedef struct frame {
    double offset[3], scale[3];
    bool plain; /* offset 0, scale 1 */
    bool quantised;
} frame;

typedef struct colour_use {
    display_colour colour;
    bool blended;
} colour_use;

/* What a node refers to. */
typedef struct node {
    frame frame;
    uint64_t mesh; /* NO_ACCESSOR: it has none */
    uint64_t position, indices, radius, colour, faces, values, material;
    uint64_t frames;                         /* the first of its frames */
    uint64_t times, translations, rotations; /* of its motion */
} node;

typedef struct glb {
    const display *d;
    bool for_page;
    FILE *bin; /* in memory */
    uint64_t bin_size;
    accessor *accessors;
    uint64_t accessor_count, accessor_capacity;
    colour_use *materials;
    uint64_t material_count, material_capacity;
    node *nodes; /* of the items */
    uint64_t mesh_count;
    bool no_memory;
} glb;

/* ---- The binary part ------------------------------------------------------------------------- */

static bool grow(glb *g, void *array, uint64_t count, uint64_t *capacity, size_t size) {
    void *data;
    if (count < *capacity) return true;
    uint64_t wanted = 2 * *capacity + 64;
    memcpy(&data, array, sizeof(data));
    void *larger = realloc(data, (size_t)wanted * size);
    if (larger == NULL) {
        g->no_memory = true;
        return false;
    }
    memcpy(array, &larger, sizeof(larger));
    *capacity = wanted;
    return true;
}

static void put(glb *g, const void *bytes, size_t size) {
    if (fwrite(bytes, 1, size, g->bin) != size) g->no_memory = true;
    g->bin_size += size;
}

/* glTF is little endian, whatever the machine is. */
static void put_uint32(glb *g, uint32_t value) {
    const unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8),
                                    (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    put(g, bytes, sizeof(bytes));
}

static void put_uint16(glb *g, uint32_t value) {
    const unsigned char bytes[2] = {(unsigned char)value, (unsigned char)(value >> 8)};
    put(g, bytes, sizeof(bytes));
}

static void put_float(glb *g, double value) {
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    put_uint32(g, bits);
}

/* Begins an accessor at the end of the binary part; its number. */
static uint64_t begin(glb *g, int component, int width, uint64_t count, int target) {
    static const char zeros[4] = {0};
    if (!grow(g, (void *)&g->accessors, g->accessor_count, &g->accessor_capacity,
              sizeof(*g->accessors)))
        return NO_ACCESSOR;
    put(g, zeros, (size_t)(-g->bin_size & 3));
    g->accessors[g->accessor_count] = (accessor){.offset = g->bin_size,
                                                 .count = count,
                                                 .component = component,
                                                 .width = width,
                                                 .target = target};
    return g->accessor_count++;
}

static void end(glb *g, uint64_t number) {
    if (number != NO_ACCESSOR)
        g->accessors[number].size = g->bin_size - g->accessors[number].offset;
}

static void include(accessor *a, int axis, double value) {
    if (!a->bounded || value < a->low[axis]) a->low[axis] = value;
    if (!a->bounded || value > a->high[axis]) a->high[axis] = value;
}

/* ---- Positions ------------------------------------------------------------------------------- */

static void to_array(carom_vec3 p, double x[3]) {
    x[0] = p.x;
    x[1] = p.y;
    x[2] = p.z;
}

static bool is_float32(carom_vec3 p) {
    return (double)(float)p.x == p.x && (double)(float)p.y == p.y && (double)(float)p.z == p.z;
}

/* Chooses how the positions of an item are stored. */
static frame frame_of(const glb *g, const display_item *item) {
    const display_item *of = item->kind == DISPLAY_PATCH && item->part != NULL ? item->part : item;
    frame f = {{0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}, true, false};
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    bool exact = true;
    for (uint64_t i = 0; i < of->point_count; ++i) {
        double p[3];
        to_array(of->points[i], p);
        exact = exact && is_float32(of->points[i]);
        for (int k = 0; k < 3; ++k) {
            low[k] = fmin(low[k], p[k]);
            high[k] = fmax(high[k], p[k]);
        }
    }
    if (of->point_count == 0 || of->moves || of->frame_count != 0) return f;
    double size = 0.0, away = 0.0;
    for (int k = 0; k < 3; ++k) {
        size = fmax(size, high[k] - low[k]);
        away = fmax(away, fmax(fabs(low[k]), fabs(high[k])));
    }
    f.quantised = g->for_page && display_has_triangles(item);
    if (f.quantised) {
        for (int k = 0; k < 3; ++k) {
            f.offset[k] = low[k];
            f.scale[k] = high[k] > low[k] ? (high[k] - low[k]) / GRID_STEPS : 1.0;
        }
        f.plain = false;
    } else if (away > LARGEST || (away > 0.0 && away < LEAST_SIZE) ||
               (!exact && away > FAR_SIZES * size)) {
        double unit = size > 0.0 ? ldexp(1.0, ilogb(size)) : 1.0;
        if (size > LEAST_SIZE && size < LARGEST) unit = 1.0;
        for (int k = 0; k < 3; ++k) {
            f.offset[k] = 0.5 * low[k] + 0.5 * high[k];
            f.scale[k] = unit;
        }
        f.plain = false;
    }
    return f;
}

static void put_point(glb *g, const frame *f, accessor *a, carom_vec3 point) {
    double p[3];
    to_array(point, p);
    for (int k = 0; k < 3; ++k) {
        double x = (p[k] - f->offset[k]) / f->scale[k];
        if (f->quantised) {
            x = floor(x + 0.5);
            x = x < 0.0 ? 0.0 : x > GRID_STEPS ? GRID_STEPS : x;
            put_uint16(g, (uint32_t)x);
        } else {
            x = (double)(float)x;
            put_float(g, x);
        }
        include(a, k, x);
    }
    if (f->quantised) put_uint16(g, 0);
    a->bounded = true;
}

/* `expanded`: one position per corner, so that each triangle can have its colour. */
static uint64_t put_positions(glb *g, const display_item *item, const frame *f,
                              const carom_vec3 *points, bool expanded) {
    uint64_t count = expanded ? display_corner_count(item) : item->point_count;
    uint64_t number = begin(g, f->quantised ? TYPE_UINT16 : TYPE_FLOAT, 3, count, TARGET_VERTICES);
    if (number == NO_ACCESSOR) return number;
    accessor *a = &g->accessors[number];
    a->stride = f->quantised ? 8 : 0;
    for (uint64_t i = 0; i < count; ++i)
        put_point(g, f, a, points[expanded ? display_corner(item, i) : i]);
    end(g, number);
    return number;
}

static uint64_t put_indices(glb *g, const display_item *item) {
    bool narrow = item->point_count < UINT16_MAX; /* the largest one restarts primitives */
    uint64_t number =
        begin(g, narrow ? TYPE_UINT16 : TYPE_UINT32, 1, item->corner_count, TARGET_INDICES);
    for (uint64_t i = 0; i < item->corner_count; ++i) {
        if (narrow)
            put_uint16(g, item->corners[i]);
        else
            put_uint32(g, item->corners[i]);
    }
    end(g, number);
    return number;
}

static uint64_t put_numbers(glb *g, const double *values, uint64_t count, int target) {
    uint64_t number = begin(g, TYPE_FLOAT, 1, count, target);
    for (uint64_t i = 0; i < count; ++i) put_float(g, values[i]);
    end(g, number);
    return number;
}

/* `each`: vertices per triangle or sphere. */
static uint64_t put_colours(glb *g, const display_item *item, uint64_t elements, int each) {
    uint64_t number = begin(g, TYPE_UINT8, 4, elements * (uint64_t)each, TARGET_VERTICES);
    if (number == NO_ACCESSOR) return number;
    g->accessors[number].normalised = true;
    for (uint64_t i = 0; i < elements; ++i) {
        display_colour c = display_item_colour(g->d, item, i);
        for (int k = 0; k < each; ++k) put(g, &c, 4);
    }
    end(g, number);
    return number;
}

static uint64_t put_faces(glb *g, const display_item *item) {
    uint64_t number = begin(g, TYPE_UINT32, 1, item->face_count, TARGET_NONE);
    for (uint64_t i = 0; i < item->face_count; ++i) put_uint32(g, item->faces[i]);
    end(g, number);
    return number;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

#define GHOST_ALPHA   0.22 /* of what is see-through */
#define OVERLAY_ALPHA 0.95 /* below 1, so that other programs draw overlays after their parts */

static uint64_t material_of(glb *g, display_colour colour, bool blended) {
    for (uint64_t i = 0; i < g->material_count; ++i)
        if (memcmp(&g->materials[i].colour, &colour, sizeof(colour)) == 0 &&
            g->materials[i].blended == blended)
            return i;
    if (!grow(g, (void *)&g->materials, g->material_count, &g->material_capacity,
              sizeof(*g->materials)))
        return 0;
    g->materials[g->material_count] = (colour_use){colour, blended};
    return g->material_count++;
}

static void put_motion(glb *g, const display_item *item, node *n) {
    const display *d = g->d;
    if (!item->moves || d->time_count < 2 || !(d->times[0] < d->times[d->time_count - 1])) return;
    double ends[2] = {d->times[0], d->times[d->time_count - 1]};
    bool all = item->pose_count == d->time_count; /* a pose at each time, not only at the ends */
    uint64_t count = all ? item->pose_count : 2;
    const carom_pose *poses = all ? item->poses : item->path;
    n->times = put_numbers(g, all ? d->times : ends, count, TARGET_NONE);
    if (n->times != NO_ACCESSOR) {
        accessor *a = &g->accessors[n->times];
        a->bounded = true;
        a->low[0] = (double)(float)ends[0];
        a->high[0] = (double)(float)ends[1];
    }
    n->translations = begin(g, TYPE_FLOAT, 3, count, TARGET_NONE);
    for (uint64_t i = 0; i < count; ++i) {
        double t[3];
        to_array(poses[i].t, t);
        for (int k = 0; k < 3; ++k) put_float(g, t[k]);
    }
    end(g, n->translations);
    n->rotations = begin(g, TYPE_FLOAT, 4, count, TARGET_NONE);
    for (uint64_t i = 0; i < count; ++i) {
        const carom_quat *q = &poses[i].q;
        put_float(g, q->x);
        put_float(g, q->y);
        put_float(g, q->z);
        put_float(g, q->w);
    }
    end(g, n->rotations);
}

static void put_item(glb *g, const display_item *item, node *n) {
    bool triangles = display_has_triangles(item), spheres = item->kind == DISPLAY_SPHERES;
    uint64_t corners = display_corner_count(item);
    uint64_t elements = triangles ? corners / 3 : item->point_count;
    bool coloured = (triangles || spheres) &&
                    (item->colour_count != 0 || (item->value_count != 0 && !g->for_page));
    bool expanded = triangles && coloured;
    bool blended = item->ghost || item->overlay || item->colour.a != 255;
    *n = (node){.frame = frame_of(g, item),
                .mesh = NO_ACCESSOR,
                .indices = NO_ACCESSOR,
                .radius = NO_ACCESSOR,
                .colour = NO_ACCESSOR,
                .faces = NO_ACCESSOR,
                .values = NO_ACCESSOR,
                .times = NO_ACCESSOR};
    if (item->point_count == 0) return;
    display_colour colour = item->colour;
    if (item->ghost) colour.a = (uint8_t)(255.0 * GHOST_ALPHA);
    if (item->overlay) colour.a = (uint8_t)(255.0 * OVERLAY_ALPHA);
    if (coloured) colour = (display_colour){255, 255, 255, colour.a};
    n->mesh = g->mesh_count++;
    n->position = put_positions(g, item, &n->frame, item->points, expanded);
    if (item->corners != NULL && !expanded) n->indices = put_indices(g, item);
    if (spheres) n->radius = put_numbers(g, item->radii, item->radius_count, TARGET_VERTICES);
    if (coloured) n->colour = put_colours(g, item, elements, triangles ? 3 : 1);
    if (item->faces != NULL) n->faces = put_faces(g, item);
    if (item->value_count != 0)
        n->values = put_numbers(g, item->values, item->value_count, TARGET_NONE);
    n->frames = g->accessor_count;
    for (uint64_t f = 0; f < item->frame_count; ++f)
        (void)put_positions(g, item, &n->frame, item->frames[f], false);
    n->material = material_of(g, colour, blended);
    put_motion(g, item, n);
}

/* ---- JSON: arrays of glTF -------------------------------------------------------------------- */

static void put_array(json *j, const char *key, const double *values, int count) {
    json_begin_array(j, key);
    for (int i = 0; i < count; ++i) json_number(j, NULL, values[i]);
    json_end_array(j);
}

static void put_accessors(const glb *g, json *j) {
    static const char *const types[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    if (g->accessor_count == 0) return;
    json_begin_array(j, "accessors");
    for (uint64_t i = 0; i < g->accessor_count; ++i) {
        const accessor *a = &g->accessors[i];
        json_begin_object(j, NULL);
        json_count(j, "bufferView", i);
        json_count(j, "componentType", (uint64_t)a->component);
        if (a->normalised) json_bool(j, "normalized", true);
        json_count(j, "count", a->count);
        json_text(j, "type", types[a->width]);
        if (a->bounded) put_array(j, "min", a->low, a->width);
        if (a->bounded) put_array(j, "max", a->high, a->width);
        json_end_object(j);
    }
    json_end_array(j);
    json_begin_array(j, "bufferViews");
    for (uint64_t i = 0; i < g->accessor_count; ++i) {
        const accessor *a = &g->accessors[i];
        json_begin_object(j, NULL);
        json_count(j, "buffer", 0);
        json_count(j, "byteOffset", a->offset);
        json_count(j, "byteLength", a->size);
        if (a->stride != 0) json_count(j, "byteStride", a->stride);
        if (a->target != TARGET_NONE) json_count(j, "target", (uint64_t)a->target);
        json_end_object(j);
    }
    json_end_array(j);
    json_begin_array(j, "buffers");
    json_begin_object(j, NULL);
    json_count(j, "byteLength", g->bin_size);
    json_end_object(j);
    json_end_array(j);
}

/* glTF takes linear light; colours are those of screens. */
static double linear(uint8_t value) {
    double v = (double)value / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static void put_materials(const glb *g, json *j) {
    if (g->material_count == 0) return;
    json_begin_array(j, "materials");
    for (uint64_t i = 0; i < g->material_count; ++i) {
        display_colour c = g->materials[i].colour;
        const double rgba[4] = {linear(c.r), linear(c.g), linear(c.b), (double)c.a / 255.0};
        json_begin_object(j, NULL);
        json_begin_object(j, "pbrMetallicRoughness");
        put_array(j, "baseColorFactor", rgba, 4);
        json_count(j, "metallicFactor", 0);
        json_number(j, "roughnessFactor", 0.8);
        json_end_object(j);
        if (g->materials[i].blended) json_text(j, "alphaMode", "BLEND");
        json_bool(j, "doubleSided", true);
        json_end_object(j);
    }
    json_end_array(j);
}

static void put_meshes(const glb *g, json *j) {
    if (g->mesh_count == 0) return;
    json_begin_array(j, "meshes");
    for (uint64_t i = 0; i < g->d->item_count; ++i) {
        const node *n = &g->nodes[i];
        const display_item *item = g->d->items[i];
        if (n->mesh == NO_ACCESSOR) continue;
        int mode = display_has_triangles(item)  ? MODE_TRIANGLES
                   : display_has_segments(item) ? MODE_LINES
                                                : MODE_POINTS;
        json_begin_object(j, NULL);
        if (item->name != NULL) json_text(j, "name", item->name);
        json_begin_array(j, "primitives");
        json_begin_object(j, NULL);
        json_begin_object(j, "attributes");
        json_count(j, "POSITION", n->position);
        if (n->radius != NO_ACCESSOR) json_count(j, "_RADIUS", n->radius);
        if (n->colour != NO_ACCESSOR) json_count(j, "COLOR_0", n->colour);
        json_end_object(j);
        if (n->indices != NO_ACCESSOR) json_count(j, "indices", n->indices);
        json_count(j, "mode", (uint64_t)mode);
        json_count(j, "material", n->material);
        json_end_object(j);
        json_end_array(j);
        json_end_object(j);
    }
    json_end_array(j);
}

/* ---- JSON: what is ours ---------------------------------------------------------------------- */

static void put_number(json *j, const display_number *n) {
    json_begin_object(j, NULL);
    json_text(j, "label", n->label);
    if (n->text != NULL)
        json_text(j, "value", n->text);
    else
        json_number(j, "value", n->value);
    if (n->unit != NULL && *n->unit != '\0') json_text(j, "unit", n->unit);
    if (n->bound != NULL) json_text(j, "bound", n->bound);
    json_end_object(j);
}

static void put_colour(json *j, const char *key, display_colour c) {
    const double rgba[4] = {(double)c.r / 255.0, (double)c.g / 255.0, (double)c.b / 255.0,
                            (double)c.a / 255.0};
    put_array(j, key, rgba, 4);
}

static void put_id(json *j, const display_item *item) {
    char id[48];
    snprintf(id, sizeof(id), "%s-%llu", display_kind_name(item->kind),
             (unsigned long long)item->number);
    json_text(j, "id", id);
}

/* From when until when it is shown; without an end where it stays. */
static void put_shown(const display *d, const display_item *item, json *j) {
    json_begin_array(j, "shown");
    for (int i = 0; i < 2; ++i)
        if (item->shown[i] < d->time_count) json_number(j, NULL, d->times[item->shown[i]]);
    json_end_array(j);
}

/* When it is lit: pairs of times, from one until before the other; after the last time it stays. */
static void put_lit(const display *d, const display_item *item, json *j) {
    double after = d->time_count != 0 ? d->times[d->time_count - 1] + 1.0 : 1.0;
    json_begin_array(j, "lit");
    for (uint64_t i = 0; i < item->lit_count; ++i)
        json_number(j, NULL, item->lit[i] < d->time_count ? d->times[item->lit[i]] : after);
    json_end_array(j);
}

static void put_item_extras(const display *d, const display_item *item, const node *n, json *j) {
    json_begin_object(j, "extras");
    json_begin_object(j, "carom");
    json_text(j, "kind", display_kind_name(item->kind));
    put_id(j, item);
    const display_item *part = item->kind == DISPLAY_PART ? item : item->part;
    if (part != NULL) json_count(j, "part", part->number);
    if (item->contact != CAROM_NONE) json_count(j, "contact", item->contact);
    if (n->faces != NO_ACCESSOR)
        json_count(j, "faces", n->faces);
    else if (item->kind == DISPLAY_PART)
        json_count(j, "first_face", 0);
    if (n->values != NO_ACCESSOR) json_count(j, "values", n->values);
    if (item->numbers.count != 0) {
        json_begin_array(j, "numbers");
        for (uint64_t i = 0; i < item->numbers.count; ++i) put_number(j, &item->numbers.data[i]);
        json_end_array(j);
    }
    json_begin_object(j, "style");
    put_colour(j, "colour", item->colour);
    if (item->ghost) json_bool(j, "ghost", true);
    if (item->overlay) json_bool(j, "overlay", true);
    json_end_object(j);
    if (item->kind == DISPLAY_ARROW) {
        json_vector(j, "from", item->from);
        json_vector(j, "vector", item->vector);
    }
    if (item->timed) put_shown(d, item, j);
    if (item->lit_count != 0) put_lit(d, item, j);
    if (item->frame_count != 0) {
        json_begin_array(j, "frames");
        for (uint64_t f = 0; f < item->frame_count; ++f) json_count(j, NULL, n->frames + f);
        json_end_array(j);
    }
    json_end_object(j);
    json_end_object(j);
}

static void put_list(const glb *g, const display_list *list, json *j) {
    json_begin_object(j, NULL);
    json_text(j, "title", list->title);
    if (list->total > list->row_count) json_count(j, "total", list->total);
    json_begin_array(j, "columns");
    for (uint64_t i = 0; i < list->column_count; ++i) json_text(j, NULL, list->columns[i]);
    json_end_array(j);
    json_begin_array(j, "rows");
    for (uint64_t i = 0; i < list->row_count; ++i) {
        const display_row *row = &list->rows[i];
        char id[64];
        snprintf(id, sizeof(id), "%llu-%llu", (unsigned long long)(list - g->d->lists),
                 (unsigned long long)i);
        json_begin_object(j, NULL);
        json_text(j, "id", row->id != NULL ? row->id : id);
        json_begin_array(j, "cells");
        for (uint64_t k = 0; k < list->column_count; ++k) json_text(j, NULL, row->cells[k]);
        json_end_array(j);
        json_begin_array(j, "nodes");
        for (int k = 0; k < DISPLAY_MOST_LIT && row->items[k] != NULL; ++k)
            json_count(j, NULL, row->items[k]->index + 1);
        json_end_array(j);
        if (row->timed && row->time < g->d->time_count) {
            json_number(j, "time", g->d->times[row->time]);
        } else {
            json_vector(j, "at", row->at);
            json_number(j, "radius", row->radius);
        }
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

static void put_plot(const display_plot *plot, json *j) {
    json_begin_object(j, NULL);
    json_text(j, "title", plot->title);
    json_text(j, "x", plot->x);
    json_text(j, "y", plot->y);
    json_begin_array(j, "series");
    for (uint64_t i = 0; i < plot->series_count; ++i) {
        const display_series *s = &plot->series[i];
        json_begin_object(j, NULL);
        json_text(j, "name", s->name);
        json_begin_array(j, "points");
        for (uint64_t k = 0; k < s->count; ++k) {
            json_begin_array(j, NULL);
            json_number(j, NULL, s->x[k]);
            json_number(j, NULL, s->y[k]);
            json_end_array(j);
        }
        json_end_array(j);
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

static void put_legend(const display *d, json *j) {
    json_begin_object(j, "legend");
    json_text(j, "label", d->legend);
    json_text(j, "unit", d->legend_unit != NULL ? d->legend_unit : "");
    json_number(j, "min", d->legend_low);
    json_number(j, "max", d->legend_high);
    json_text(j, "map", "viridis");
    json_end_object(j);
}

static void put_times(const display *d, json *j) {
    json_begin_object(j, "frames");
    json_begin_array(j, "times");
    for (uint64_t i = 0; i < d->time_count; ++i) json_number(j, NULL, d->times[i]);
    json_end_array(j);
    json_text(j, "unit", "");
    json_end_object(j);
}

static void put_head(const display *d, json *j) {
    carom_bounds b = display_bounds(d);
    double x = b.high.x - b.low.x, y = b.high.y - b.low.y, z = b.high.z - b.low.z;
    char up[2] = {d->up, '\0'};
    json_count(j, "format", 1);
    json_text(j, "kind", d->cli->name);
    json_text(j, "title", d->title);
    json_text(j, "command", d->cli->line != NULL ? d->cli->line : d->cli->name);
    json_begin_array(j, "inputs");
    for (size_t i = 0; i < d->cli->input_count; ++i) json_text(j, NULL, d->cli->inputs[i]);
    json_end_array(j);
    json_text(j, "unit", display_unit(d));
    json_text(j, "up", up);
    json_number(j, "size", sqrt(x * x + y * y + z * z));
}

static void put_scene(const glb *g, json *j) {
    const display *d = g->d;
    json_begin_object(j, "extras");
    json_begin_object(j, "carom");
    put_head(d, j);
    json_begin_array(j, "answers");
    for (uint64_t i = 0; i < d->answers.count; ++i) put_number(j, &d->answers.data[i]);
    json_end_array(j);
    json_begin_array(j, "lists");
    for (uint64_t i = 0; i < d->list_count; ++i) put_list(g, &d->lists[i], j);
    json_end_array(j);
    if (d->legend != NULL) put_legend(d, j);
    if (d->plot_count != 0) {
        json_begin_array(j, "plots");
        for (uint64_t i = 0; i < d->plot_count; ++i) put_plot(&d->plots[i], j);
        json_end_array(j);
    }
    if (d->time_count != 0) put_times(d, j);
    if (d->box.x > 0.0) json_vector(j, "box", d->box);
    json_end_object(j);
    json_end_object(j);
}

/* ---- JSON: nodes ----------------------------------------------------------------------------- */

#define HALF_ROOT 0.70710678118654757 /* sin and cos of 45 degrees */

/* The root turns the axis that points up into glTF's, which is y. */
static void put_root(const glb *g, json *j) {
    const double from_z[4] = {-HALF_ROOT, 0.0, 0.0, HALF_ROOT};
    const double from_x[4] = {0.0, 0.0, HALF_ROOT, HALF_ROOT};
    json_begin_object(j, NULL);
    json_text(j, "name", "carom");
    if (g->d->up != 'y') put_array(j, "rotation", g->d->up == 'z' ? from_z : from_x, 4);
    if (g->d->item_count != 0) {
        json_begin_array(j, "children");
        for (uint64_t i = 0; i < g->d->item_count; ++i) json_count(j, NULL, i + 1);
        json_end_array(j);
    }
    json_end_object(j);
}

static void put_node(const display *d, const display_item *item, const node *n, json *j) {
    json_begin_object(j, NULL);
    if (item->name != NULL) json_text(j, "name", item->name);
    if (n->mesh != NO_ACCESSOR) json_count(j, "mesh", n->mesh);
    if (item->moves) { /* at rest it is where it ends */
        const carom_pose *p = &item->path[1];
        const double q[4] = {p->q.x, p->q.y, p->q.z, p->q.w};
        json_vector(j, "translation", p->t);
        put_array(j, "rotation", q, 4);
    } else if (!n->frame.plain) {
        put_array(j, "translation", n->frame.offset, 3);
        put_array(j, "scale", n->frame.scale, 3);
    }
    put_item_extras(d, item, n, j);
    json_end_object(j);
}

static void put_channel(json *j, uint64_t node, uint64_t sampler, const char *path) {
    json_begin_object(j, NULL);
    json_count(j, "sampler", sampler);
    json_begin_object(j, "target");
    json_count(j, "node", node);
    json_text(j, "path", path);
    json_end_object(j);
    json_end_object(j);
}

static void put_sampler(json *j, uint64_t input, uint64_t output, bool steps) {
    json_begin_object(j, NULL);
    json_count(j, "input", input);
    json_text(j, "interpolation", steps ? "STEP" : "LINEAR");
    json_count(j, "output", output);
    json_end_object(j);
}

static void put_animation(const glb *g, json *j) {
    uint64_t moving = 0;
    for (uint64_t i = 0; i < g->d->item_count; ++i) moving += g->nodes[i].times != NO_ACCESSOR;
    if (moving == 0) return;
    json_begin_array(j, "animations");
    json_begin_object(j, NULL);
    json_text(j, "name", "motion");
    json_begin_array(j, "channels");
    for (uint64_t i = 0, k = 0; i < g->d->item_count; ++i) {
        if (g->nodes[i].times == NO_ACCESSOR) continue;
        put_channel(j, i + 1, k++, "translation");
        put_channel(j, i + 1, k++, "rotation");
    }
    json_end_array(j);
    json_begin_array(j, "samplers");
    for (uint64_t i = 0; i < g->d->item_count; ++i) {
        const node *n = &g->nodes[i];
        if (n->times == NO_ACCESSOR) continue;
        put_sampler(j, n->times, n->translations, g->d->items[i]->steps);
        put_sampler(j, n->times, n->rotations, g->d->items[i]->steps);
    }
    json_end_array(j);
    json_end_object(j);
    json_end_array(j);
}

static void put_json(const glb *g, FILE *out) {
    static const char extension[] = "KHR_mesh_quantization";
    json j = {out, false};
    bool quantised = false;
    for (uint64_t i = 0; i < g->d->item_count; ++i)
        quantised = quantised || (g->nodes[i].frame.quantised && g->nodes[i].mesh != NO_ACCESSOR);
    json_begin_object(&j, NULL);
    json_begin_object(&j, "asset");
    json_text(&j, "version", "2.0");
    json_text(&j, "generator", "carom");
    json_end_object(&j);
    for (int i = 0; i < 2 && quantised; ++i) {
        json_begin_array(&j, i == 0 ? "extensionsUsed" : "extensionsRequired");
        json_text(&j, NULL, extension);
        json_end_array(&j);
    }
    json_count(&j, "scene", 0);
    json_begin_array(&j, "scenes");
    json_begin_object(&j, NULL);
    json_begin_array(&j, "nodes");
    json_count(&j, NULL, 0);
    json_end_array(&j);
    put_scene(g, &j);
    json_end_object(&j);
    json_end_array(&j);
    json_begin_array(&j, "nodes");
    put_root(g, &j);
    for (uint64_t i = 0; i < g->d->item_count; ++i)
        put_node(g->d, g->d->items[i], &g->nodes[i], &j);
    json_end_array(&j);
    put_meshes(g, &j);
    put_materials(g, &j);
    put_animation(g, &j);
    put_accessors(g, &j);
    json_end_object(&j);
}

/* ---- The file -------------------------------------------------------------------------------- */

#define HEAD_SIZE  12u
#define CHUNK_SIZE 8u

static void put_word(FILE *out, uint64_t value) {
    for (int i = 0; i < 4; ++i) putc((int)(value >> (8 * i) & 0xFF), out);
}

static carom_status put_file(const char *text, uint64_t text_size, const char *bin,
                             uint64_t bin_size, FILE *out) {
    uint64_t text_padding = -text_size & 3, bin_padding = -bin_size & 3;
    uint64_t size = HEAD_SIZE + CHUNK_SIZE + text_size + text_padding;
    if (bin_size != 0) size += CHUNK_SIZE + bin_size + bin_padding;
    if (size > UINT32_MAX) return CAROM_TOO_LARGE;
    fputs("glTF", out);
    put_word(out, 2); /* the version */
    put_word(out, size);
    put_word(out, text_size + text_padding);
    fputs("JSON", out);
    (void)fwrite(text, 1, (size_t)text_size, out);
    for (uint64_t i = 0; i < text_padding; ++i) putc(' ', out);
    if (bin_size == 0) return CAROM_OK;
    put_word(out, bin_size + bin_padding);
    (void)fwrite("BIN", 1, 4, out);
    (void)fwrite(bin, 1, (size_t)bin_size, out);
    for (uint64_t i = 0; i < bin_padding; ++i) putc('\0', out);
    return CAROM_OK;
}

carom_status display_write_glb(const display *d, bool for_page, FILE *out) {
    glb g = {.d = d, .for_page = for_page};
    platform_memory text = {0}, bin = {0};
    carom_status status = CAROM_NO_MEMORY;
    g.nodes = calloc((size_t)d->item_count + 1, sizeof(*g.nodes));
    bool opened = platform_open_memory(&bin) && platform_open_memory(&text);
    g.bin = bin.file;
    if (g.nodes != NULL && opened && !d->no_memory) {
        for (uint64_t i = 0; i < d->item_count && !g.no_memory; ++i)
            put_item(&g, d->items[i], &g.nodes[i]);
        if (!g.no_memory) put_json(&g, text.file);
        status = g.no_memory ? CAROM_NO_MEMORY : CAROM_OK;
    }
    if (!platform_close_memory(&bin)) status = CAROM_NO_MEMORY;
    if (!platform_close_memory(&text)) status = CAROM_NO_MEMORY;
    if (status == CAROM_OK) status = put_file(text.bytes, text.size, bin.bytes, bin.size, out);
    free(text.bytes);
    free(bin.bytes);
    free(g.nodes);
    free(g.accessors);
    free(g.materials);
    return status;
}
