/* SPDX-License-Identifier: MIT */
/* Binary glTF 2.0 (Khronos, 2021), the triangles of the default scene: each mesh once per node that
 * refers to it, transformed in doubles by the matrices of that node and its ancestors. A node with
 * triangles is a part, named by its path below the root, as the reader through assimp does it.
 *
 * Files that need more (buffers in other files, compressed or sparse accessors, other required
 * extensions than KHR_mesh_quantization) are left to assimp. Every offset, size and index is
 * checked before use; no node is visited twice, so that circles end. */
#include <inttypes.h>

#include "geom/length.h"
#include "mesh/mesh_format.h"
#include "mesh/mesh_json.h"

CAROM_ARRAY(glb_elements, carom_json); /* of the elements of an array */

typedef struct glb_matrix { /* rows of x' = m x */
    double m[3][4];
} glb_matrix;

/* A node on the stack, and the product of its ancestors' matrices. */
typedef struct glb_waiting {
    uint32_t node;
    glb_matrix above;
} glb_waiting;
CAROM_ARRAY(glb_stack, glb_waiting);

#define GLB_NO_PARENT  UINT32_MAX
#define GLB_UNSEEN     (UINT32_MAX - 1)
#define GLB_LONGEST    4096u /* bytes of a path; of a longer one the end is kept */
#define GLB_MOST_ABOVE 256   /* ancestors in a path */

typedef struct glb_file {
    carom_builder *builder;
    carom_source bin;
    glb_elements nodes, meshes, accessors, views;
    uint32_t *parents; /* of the nodes; GLB_UNSEEN: not reached yet */
    bool one_root;     /* which has no part in paths */
    char path[GLB_LONGEST], name[GLB_LONGEST];
} glb_file;

/* ---- The file -------------------------------------------------------------------------------- */

static uint32_t glb_word(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

#define GLB_HEAD  12u
#define GLB_CHUNK 8u
#define GLB_JSON  0x4E4F534Au
#define GLB_BIN   0x004E4942u

bool carom_glb_is(carom_source source) {
    return source.size >= GLB_HEAD + GLB_CHUNK && memcmp(source.bytes, "glTF", 4) == 0 &&
           glb_word(source.bytes + 4) == 2;
}

static carom_status glb_fail(const glb_file *f, const char *what) {
    return carom_fail(f->builder->context, CAROM_BAD_FILE, "%s: %s", f->builder->name, what);
}

/* Finds the two chunks. */
static carom_status glb_split(glb_file *f, carom_source source, carom_json *root) {
    bool has_json = false;
    uint64_t at = GLB_HEAD, size = glb_word(source.bytes + 8);
    if (size > source.size) return glb_fail(f, "the file was cut short");
    while (size - at >= GLB_CHUNK) {
        uint64_t length = glb_word(source.bytes + at), kind = glb_word(source.bytes + at + 4);
        at += GLB_CHUNK;
        if (length > size - at) return glb_fail(f, "a chunk is longer than the file");
        if (kind == GLB_JSON && !has_json) *root = carom_json_begin(source.bytes + at, length);
        if (kind == GLB_BIN && f->bin.bytes == NULL)
            f->bin = (carom_source){source.bytes + at, length};
        has_json = has_json || kind == GLB_JSON;
        at += length;
    }
    if (!has_json || carom_json_skip(*root) == NULL || *root->at != '{')
        return glb_fail(f, "its JSON is missing, malformed or nested too deep");
    return CAROM_OK;
}

/* Whether assimp is needed. */
static bool glb_is_foreign(carom_json root) {
    carom_json list, value, uri;
    carom_json_walk walk;
    if (!carom_json_find(root, "scenes", &list)) return true;
    if (carom_json_find(root, "extensionsRequired", &list)) {
        walk = carom_json_enter(list, '[');
        while (carom_json_next(&walk, &value))
            if (!carom_json_is(value, "KHR_mesh_quantization")) return true;
    }
    if (carom_json_find(root, "buffers", &list)) {
        walk = carom_json_enter(list, '[');
        for (int i = 0; carom_json_next(&walk, &value); ++i)
            if (i > 0 || carom_json_find(value, "uri", &uri)) return true;
    }
    if (carom_json_find(root, "accessors", &list)) {
        walk = carom_json_enter(list, '[');
        while (carom_json_next(&walk, &value))
            if (carom_json_find(value, "sparse", &uri)) return true;
    }
    return false;
}

static carom_status glb_index(glb_file *f, carom_json root, const char *name,
                              glb_elements *elements) {
    carom_json list, value;
    if (!carom_json_find(root, name, &list)) return CAROM_OK;
    carom_json_walk walk = carom_json_enter(list, '[');
    while (carom_json_next(&walk, &value))
        if (!glb_elements_push(elements, &f->builder->context->allocator, value))
            return carom_builder_fail_memory(f->builder);
    return walk.is_failed ? glb_fail(f, "its JSON is malformed") : CAROM_OK;
}

/* A whole number of an object; `missing` where it has none. False: it is something else. */
static bool glb_count(carom_json object, const char *name, uint64_t missing, uint64_t *count) {
    carom_json value;
    *count = missing;
    return !carom_json_find(object, name, &value) || carom_json_count(value, count);
}

/* ---- Accessors ------------------------------------------------------------------------------- */

enum { GLB_INT8 = 5120, GLB_UINT8, GLB_INT16, GLB_UINT16, GLB_UINT32 = 5125, GLB_FLOAT = 5126 };

typedef struct glb_array {
    const uint8_t *bytes; /* NULL: all zero */
    uint64_t count, stride, component;
    bool normalised;
} glb_array;

static uint64_t glb_size(uint64_t component) {
    return component <= GLB_UINT8 ? 1 : component <= GLB_UINT16 ? 2 : 4;
}

/* Finds the elements of an accessor with `width` numbers each. */
static carom_status glb_accessor(const glb_file *f, uint64_t number, uint64_t width, glb_array *a) {
    static const char *const types[] = {"", "SCALAR", "VEC2", "VEC3"};
    const uint64_t none = UINT64_MAX;
    carom_json value, view;
    uint64_t number_of_view, offset, view_offset, length;
    if (number >= f->accessors.count) return glb_fail(f, "an accessor is missing");
    carom_json accessor = f->accessors.data[number];
    if (!glb_count(accessor, "bufferView", none, &number_of_view) ||
        !glb_count(accessor, "byteOffset", 0, &offset) ||
        !glb_count(accessor, "count", 0, &a->count) ||
        !glb_count(accessor, "componentType", 0, &a->component) ||
        !carom_json_find(accessor, "type", &value) || !carom_json_is(value, types[width]))
        return glb_fail(f, "an accessor has another type than its use");
    if ((a->component < GLB_INT8 || a->component > GLB_FLOAT) || a->component == 5124)
        return glb_fail(f, "an accessor has an unknown type of numbers");
    a->normalised =
        carom_json_find(accessor, "normalized", &value) && value.at < value.end && *value.at == 't';
    a->bytes = NULL;
    a->stride = width * glb_size(a->component);
    if (number_of_view == none) return glb_fail(f, "an accessor has no bytes");
    if (number_of_view >= f->views.count) return glb_fail(f, "a part of the buffer is missing");
    view = f->views.data[number_of_view];
    uint64_t packed = a->stride;
    if (!glb_count(view, "byteOffset", 0, &view_offset) ||
        !glb_count(view, "byteLength", 0, &length) ||
        !glb_count(view, "byteStride", packed, &a->stride) || a->stride < packed)
        return glb_fail(f, "a part of the buffer has a wrong size");
    /* all below 2^53, so that sums do not overflow; products are checked by division */
    if (view_offset > f->bin.size || length > f->bin.size - view_offset || offset > length ||
        (a->count != 0 &&
         (packed > length - offset || (length - offset - packed) / a->stride < a->count - 1)))
        return glb_fail(f, "an accessor leads beyond the end of the buffer");
    a->bytes = f->bin.bytes + view_offset + offset;
    return CAROM_OK;
}

static double glb_number(const glb_array *a, uint64_t element, int component) {
    const uint8_t *at =
        a->bytes + element * a->stride + (uint64_t)component * glb_size(a->component);
    uint32_t word = glb_size(a->component) == 4 ? glb_word(at) : 0;
    uint32_t half = glb_size(a->component) == 2 ? (uint32_t)at[0] | (uint32_t)at[1] << 8 : 0;
    double value = 0.0, most = 1.0;
    float f;
    switch (a->component) {
    case GLB_FLOAT:
        memcpy(&f, &word, sizeof(f));
        return (double)f;
    case GLB_UINT32:
        return (double)word;
    case GLB_INT8:
        value = (double)(int8_t)*at;
        most = 127.0;
        break;
    case GLB_UINT8:
        value = (double)*at;
        most = 255.0;
        break;
    case GLB_INT16:
        value = (double)(int16_t)half;
        most = 32767.0;
        break;
    default:
        value = (double)half;
        most = 65535.0;
    }
    if (!a->normalised) return value;
    return value / most > -1.0 ? value / most : -1.0;
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

enum { GLB_TRIANGLES = 4, GLB_STRIP = 5, GLB_FAN = 6 };

static bool glb_has_faces(carom_json primitive, uint64_t *mode) {
    return glb_count(primitive, "mode", GLB_TRIANGLES, mode) && *mode >= GLB_TRIANGLES &&
           *mode <= GLB_FAN;
}

static double glb_row(const double r[4], const double p[3]) {
    return ((r[0] * p[0] + r[1] * p[1]) + r[2] * p[2]) + r[3];
}

#define GLB_AT_ONCE 65536u /* vertices or faces between two looks whether to go on */

static bool glb_goes_on(const glb_file *f, uint64_t i) {
    if (i % GLB_AT_ONCE == 0) carom_builder_report(f->builder, f->builder->reported);
    return !f->builder->stopped;
}

static carom_status glb_add_points(glb_file *f, const glb_array *a, const glb_matrix *m) {
    carom_builder *builder = f->builder;
    if (a->count > CAROM_MESH_MOST_VERTICES - builder->points.count)
        return carom_fail(builder->context, CAROM_TOO_LARGE, "%s: more than %" PRIu32 " vertices",
                          builder->name, CAROM_MESH_MOST_VERTICES);
    for (uint64_t i = 0; i < a->count && glb_goes_on(f, i); ++i) {
        const double p[3] = {glb_number(a, i, 0), glb_number(a, i, 1), glb_number(a, i, 2)};
        carom_vec3 at = {glb_row(m->m[0], p), glb_row(m->m[1], p), glb_row(m->m[2], p)};
        if (!carom_vec_finite(at))
            return carom_fail(builder->context, CAROM_BAD_FILE,
                              "%s: vertex %" PRIu64 " has a coordinate that is not finite",
                              builder->name, builder->points.count);
        carom_builder_add_point(builder, at);
    }
    return CAROM_OK;
}

/* The vertices of a primitive in the order of its corners. */
static uint64_t glb_corner(const glb_array *indices, uint64_t i) {
    return indices->bytes != NULL ? (uint64_t)glb_number(indices, i, 0) : i;
}

static carom_status glb_add_primitive(glb_file *f, carom_json primitive, const glb_matrix *m) {
    carom_builder *builder = f->builder;
    carom_json attributes;
    glb_array points, indices = {0};
    uint64_t mode, position, of_indices, base = builder->points.count;
    if (!glb_has_faces(primitive, &mode)) return CAROM_OK;
    if (!carom_json_find(primitive, "attributes", &attributes) ||
        !glb_count(attributes, "POSITION", UINT64_MAX, &position) ||
        !glb_count(primitive, "indices", UINT64_MAX, &of_indices) || position == UINT64_MAX)
        return glb_fail(f, "a primitive has no positions");
    CAROM_TRY(glb_accessor(f, position, 3, &points));
    if (points.component == GLB_UINT32) return glb_fail(f, "positions are no numbers of glTF");
    indices.count = points.count;
    if (of_indices != UINT64_MAX) CAROM_TRY(glb_accessor(f, of_indices, 1, &indices));
    indices.normalised = false;
    if (of_indices != UINT64_MAX && indices.component != GLB_UINT8 &&
        indices.component != GLB_UINT16 && indices.component != GLB_UINT32)
        return glb_fail(f, "indices are no whole numbers");
    CAROM_TRY(glb_add_points(f, &points, m));
    uint64_t step = mode == GLB_TRIANGLES ? 3 : 1;
    for (uint64_t i = 0; i + 2 < indices.count && glb_goes_on(f, i); i += step) {
        uint64_t c[3] = {mode == GLB_FAN ? 0 : i, i + 1, i + 2};
        if (mode == GLB_STRIP && i % 2 == 1) c[0] = i + 1;
        if (mode == GLB_STRIP && i % 2 == 1) c[1] = i;
        uint64_t begin = builder->corners.count;
        for (int k = 0; k < 3; ++k) {
            uint64_t vertex = glb_corner(&indices, c[k]);
            if (vertex >= points.count)
                return carom_fail(builder->context, CAROM_BAD_FILE,
                                  "%s: a face names vertex %" PRIu64 ", its mesh has %" PRIu64,
                                  builder->name, vertex, points.count);
            carom_builder_add_corner(builder, (uint32_t)(base + vertex));
        }
        carom_builder_end_face(builder, begin);
    }
    return CAROM_OK;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* Reads `count` numbers of an array; false where it is none, or has others. */
static bool glb_numbers(carom_json object, const char *name, double *to, int count) {
    carom_json list, value;
    if (!carom_json_find(object, name, &list)) return false;
    carom_json_walk walk = carom_json_enter(list, '[');
    for (int i = 0; i < count; ++i)
        if (!carom_json_next(&walk, &value) || !carom_json_number(value, &to[i])) return false;
    return true;
}

static glb_matrix glb_local(carom_json node) {
    double t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1}, c[16];
    glb_matrix local;
    if (glb_numbers(node, "matrix", c, 16)) { /* column by column */
        for (int r = 0; r < 3; ++r)
            for (int k = 0; k < 4; ++k) local.m[r][k] = c[4 * k + r];
        return local;
    }
    (void)glb_numbers(node, "translation", t, 3);
    (void)glb_numbers(node, "rotation", q, 4);
    (void)glb_numbers(node, "scale", s, 3);
    double x = q[0], y = q[1], z = q[2], w = q[3], squared = x * x + y * y + z * z + w * w;
    double u = squared > 0.0 ? 2.0 / squared : 0.0;
    const double turn[3][3] = {
        {1.0 - u * (y * y + z * z), u * (x * y - w * z), u * (x * z + w * y)},
        {u * (x * y + w * z), 1.0 - u * (x * x + z * z), u * (y * z - w * x)},
        {u * (x * z - w * y), u * (y * z + w * x), 1.0 - u * (x * x + y * y)}};
    for (int r = 0; r < 3; ++r) {
        for (int k = 0; k < 3; ++k) local.m[r][k] = turn[r][k] * s[k];
        local.m[r][3] = t[r];
    }
    return local;
}

static glb_matrix glb_multiply(const glb_matrix *a, const glb_matrix *b) {
    glb_matrix product;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 4; ++c)
            product.m[r][c] =
                ((a->m[r][0] * b->m[0][c] + a->m[r][1] * b->m[1][c]) + a->m[r][2] * b->m[2][c]) +
                (c == 3 ? a->m[r][3] : 0.0);
    return product;
}

/* The name of a node, or that of its mesh where it has none and is the last. */
static uint64_t glb_name(glb_file *f, uint32_t node, bool is_last) {
    carom_json value;
    uint64_t length = 0, mesh;
    carom_json of = f->nodes.data[node];
    if (carom_json_find(of, "name", &value))
        length = carom_json_decode(value, f->name, GLB_LONGEST);
    if (length == 0 && is_last && glb_count(of, "mesh", UINT64_MAX, &mesh) &&
        mesh < f->meshes.count && carom_json_find(f->meshes.data[mesh], "name", &value))
        length = carom_json_decode(value, f->name, GLB_LONGEST);
    return length;
}

/* Writes the path of a node from its end; its length. */
static uint64_t glb_path(glb_file *f, uint32_t node) {
    uint64_t at = GLB_LONGEST;
    for (int above = 0; node < GLB_UNSEEN && above < GLB_MOST_ABOVE; ++above) {
        uint32_t parent = f->parents[node];
        bool is_last = above == 0, is_root = parent == GLB_NO_PARENT && f->one_root;
        uint64_t length = is_root && !is_last ? 0 : glb_name(f, node, is_last);
        node = parent;
        if (length == 0) continue;
        bool joins = at != GLB_LONGEST;
        if (length + (joins ? 1 : 0) > at) break;
        if (joins) f->path[--at] = '/';
        at -= length;
        memcpy(f->path + at, f->name, (size_t)length);
    }
    return GLB_LONGEST - at;
}

static carom_status glb_add_mesh(glb_file *f, uint32_t node, const glb_matrix *m) {
    uint64_t mesh, mode;
    carom_json list, primitive;
    bool has_faces = false;
    if (!glb_count(f->nodes.data[node], "mesh", UINT64_MAX, &mesh))
        return glb_fail(f, "a node has no number of a mesh");
    if (mesh == UINT64_MAX) return CAROM_OK;
    if (mesh >= f->meshes.count) return glb_fail(f, "a mesh is missing");
    if (!carom_json_find(f->meshes.data[mesh], "primitives", &list)) return CAROM_OK;
    carom_json_walk walk = carom_json_enter(list, '[');
    while (carom_json_next(&walk, &primitive))
        has_faces = has_faces || glb_has_faces(primitive, &mode);
    if (!has_faces) return CAROM_OK;
    uint64_t length = glb_path(f, node);
    carom_builder_add_part(f->builder, f->path + GLB_LONGEST - length, (size_t)length);
    walk = carom_json_enter(list, '[');
    while (carom_json_next(&walk, &primitive) && !f->builder->stopped)
        CAROM_TRY(glb_add_primitive(f, primitive, m));
    return CAROM_OK;
}

/* Pushes the nodes of a list, so that the first is on top. */
static carom_status glb_push(glb_file *f, glb_stack *stack, carom_json list, uint32_t parent,
                             const glb_matrix *above) {
    uint64_t first = stack->count, node;
    carom_json value;
    carom_json_walk walk = carom_json_enter(list, '[');
    while (carom_json_next(&walk, &value)) {
        if (!carom_json_count(value, &node) || node >= f->nodes.count)
            return glb_fail(f, "a node is missing");
        if (f->parents[node] != GLB_UNSEEN) return glb_fail(f, "a node stands twice in the scene");
        f->parents[node] = parent;
        glb_waiting w = {(uint32_t)node, *above};
        if (!glb_stack_push(stack, &f->builder->context->allocator, w))
            return carom_builder_fail_memory(f->builder);
    }
    for (uint64_t i = first, k = stack->count; i + 1 < k; ++i) {
        glb_waiting w = stack->data[i];
        stack->data[i] = stack->data[--k];
        stack->data[k] = w;
    }
    return CAROM_OK;
}

static carom_status glb_add_nodes(glb_file *f, glb_stack *stack, carom_json roots) {
    static const glb_matrix identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    carom_json list;
    CAROM_TRY(glb_push(f, stack, roots, GLB_NO_PARENT, &identity));
    f->one_root = stack->count == 1;
    while (stack->count != 0 && !f->builder->stopped) {
        glb_waiting w = stack->data[--stack->count];
        glb_matrix local = glb_local(f->nodes.data[w.node]), m = glb_multiply(&w.above, &local);
        CAROM_TRY(glb_add_mesh(f, w.node, &m));
        if (carom_json_find(f->nodes.data[w.node], "children", &list))
            CAROM_TRY(glb_push(f, stack, list, w.node, &m));
    }
    return CAROM_OK;
}

/* ---- The scene ------------------------------------------------------------------------------- */

/* glTF is in metres. Files of ours keep the numbers of their input, and say its unit. */
static double glb_metres(carom_json scene) {
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"m", 1.0},     {"mm", 0.001},  {"cm", 0.01},  {"um", 1e-6},
                 {"in", 0.0254}, {"ft", 0.3048}, {"km", 1000.0}};
    carom_json extras, ours, unit;
    if (!carom_json_find(scene, "extras", &extras) || !carom_json_find(extras, "carom", &ours))
        return 1.0;
    if (carom_json_find(ours, "unit", &unit))
        for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); ++i)
            if (carom_json_is(unit, units[i].name)) return units[i].metres;
    return 0.0;
}

static carom_status glb_read_scene(glb_file *f, carom_json root) {
    const carom_allocator *allocator = &f->builder->context->allocator;
    carom_json list, scene, roots;
    uint64_t number;
    CAROM_TRY(glb_index(f, root, "nodes", &f->nodes));
    CAROM_TRY(glb_index(f, root, "meshes", &f->meshes));
    CAROM_TRY(glb_index(f, root, "accessors", &f->accessors));
    CAROM_TRY(glb_index(f, root, "bufferViews", &f->views));
    if (f->nodes.count >= GLB_UNSEEN) return glb_fail(f, "it has too many nodes");
    f->parents = carom_allocate(allocator, f->nodes.count + 1, sizeof(*f->parents));
    if (f->parents == NULL) return carom_builder_fail_memory(f->builder);
    for (uint64_t i = 0; i < f->nodes.count; ++i) f->parents[i] = GLB_UNSEEN;
    if (!glb_count(root, "scene", 0, &number)) return glb_fail(f, "its scene has no number");
    if (!carom_json_find(root, "scenes", &list)) return CAROM_OK;
    carom_json_walk walk = carom_json_enter(list, '[');
    for (uint64_t i = 0; i <= number; ++i)
        if (!carom_json_next(&walk, &scene)) return glb_fail(f, "its scene is missing");
    f->builder->metres = glb_metres(scene);
    if (!carom_json_find(scene, "nodes", &roots)) return CAROM_OK;
    glb_stack stack = {0};
    carom_status status = glb_add_nodes(f, &stack, roots);
    glb_stack_release(&stack, allocator);
    return status;
}

carom_status carom_read_glb(carom_builder *builder, carom_source source, bool *is_foreign) {
    const carom_allocator *allocator = &builder->context->allocator;
    carom_json root = {NULL, NULL};
    *is_foreign = false;
    glb_file *f = carom_allocate(allocator, 1, sizeof(*f));
    if (f == NULL) return carom_builder_fail_memory(builder);
    memset(f, 0, sizeof(*f));
    f->builder = builder;
    carom_status status = glb_split(f, source, &root);
    if (status == CAROM_OK) *is_foreign = glb_is_foreign(root);
    if (status == CAROM_OK && !*is_foreign) status = glb_read_scene(f, root);
    glb_elements_release(&f->nodes, allocator);
    glb_elements_release(&f->meshes, allocator);
    glb_elements_release(&f->accessors, allocator);
    glb_elements_release(&f->views, allocator);
    carom_release(allocator, f->parents);
    carom_release(allocator, f);
    return status;
}
