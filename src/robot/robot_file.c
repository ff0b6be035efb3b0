/* SPDX-License-Identifier: MIT */
/* Files of robots: a head of four words, then all that is prepared, as words of 64 bits, low byte
 * first. One function per structure goes through its members; it counts and sums, writes, or reads,
 * so that the three cannot differ. The plan is not stored: it follows from the rest.
 *
 * Invariant: what is read is accepted only if its sum is right, all its numbers are finite and its
 * indices in range, and carom_robot_validate finds nothing wrong. */
#include <float.h>
#include <string.h>

#include "base/byte_order.h"
#include "base/file.h"
#include "geom/length.h"
#include "mesh/mesh_writer.h"
#include "robot/robot.h"

#define ROBOT_FILE_MAGIC   UINT64_C(0x01544f424f524143) /* "CAROBOT\1" */
#define ROBOT_FILE_VERSION 3u
#define ROBOT_FILE_HEAD    4u /* words: magic, version, words that follow, their sum */

/* Of any number: coordinates are at most 2^40, bounds of them a little more. */
#define ROBOT_FILE_MOST 0x1p44

typedef struct robot_file {
    carom_context *context;
    const carom_allocator *allocator;
    carom_writer *writer; /* NULL: counts, or reads where `from` is not NULL */
    const uint8_t *from;  /* of a file that is read: the next word */
    uint64_t left;        /* words left in it */
    uint64_t words, sum;  /* so far */
    const char *broken;   /* what is wrong; NULL: nothing */
    bool no_memory;
} robot_file;

static bool file_reads(const robot_file *f) {
    return f->from != NULL;
}

static void file_break(robot_file *f, const char *why) {
    if (f->broken == NULL) f->broken = why;
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* Any change of one word changes the sum: both steps can be undone. */
static uint64_t file_sum(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 32;
}

static void file_word(robot_file *f, uint64_t *word) {
    if (file_reads(f)) {
        *word = 0;
        if (f->left == 0) {
            file_break(f, "it ends too early");
            return;
        }
        memcpy(word, f->from, sizeof(*word));
        if (!carom_is_little_endian()) carom_reverse_numbers(word, sizeof(*word), sizeof(*word));
        f->from += sizeof(*word);
        --f->left;
    } else if (f->writer != NULL) {
        uint64_t turned = *word;
        if (!carom_is_little_endian())
            carom_reverse_numbers(&turned, sizeof(turned), sizeof(turned));
        char *to = carom_writer_reserve(f->writer);
        memcpy(to, &turned, sizeof(turned));
        carom_writer_advance(f->writer, to + sizeof(turned));
    } else {
        f->sum = file_sum(f->sum, *word);
        ++f->words;
    }
}

/* A whole number below `end`. */
static void file_index(robot_file *f, uint32_t *value, uint64_t end) {
    uint64_t word = *value;
    file_word(f, &word);
    if (file_reads(f)) {
        if (word >= end) {
            file_break(f, "a count or an index is out of range");
            word = 0;
        }
        *value = (uint32_t)word;
    }
}

static void file_flag(robot_file *f, bool *value) {
    uint32_t word = *value ? 1 : 0;
    file_index(f, &word, 2);
    *value = word != 0;
}

/* Finite numbers; memory of structs of doubles. */
static void file_doubles(robot_file *f, void *values, uint64_t count) {
    uint8_t *at = values;
    for (uint64_t i = 0; i < count; ++i, at += sizeof(double)) {
        uint64_t word = 0;
        double value;
        if (!file_reads(f)) memcpy(&word, at, sizeof(word));
        file_word(f, &word);
        if (!file_reads(f)) continue;
        memcpy(&value, &word, sizeof(value));
        if (!(fabs(value) <= ROBOT_FILE_MOST)) {
            file_break(f, "a number is not finite, or too large");
            value = 0.0;
        }
        memcpy(at, &value, sizeof(value));
    }
}

/* One that may be infinite. */
static void file_bound(robot_file *f, double *value) {
    bool infinite = *value > DBL_MAX;
    double finite = infinite ? 0.0 : *value;
    file_flag(f, &infinite);
    file_doubles(f, &finite, 1);
    if (!(finite >= 0.0)) file_break(f, "a bound is negative");
    *value = infinite ? HUGE_VAL : finite;
}

/* An array of `count` elements, each of at least `words` words: allocated where it is read. */
static bool file_array(robot_file *f, void *pointer, uint64_t count, size_t size, uint64_t words) {
    void *made = NULL;
    if (!file_reads(f)) return count != 0;
    memcpy(pointer, &made, sizeof(made));
    if (f->broken != NULL || count == 0) return false;
    if (count > f->left / words) {
        file_break(f, "a count is larger than the file");
        return false;
    }
    made = carom_allocate(f->allocator, count, size);
    if (made == NULL) {
        f->no_memory = true;
        file_break(f, "no memory");
        return false;
    }
    memset(made, 0, count * size);
    memcpy(pointer, &made, sizeof(made));
    return true;
}

#define FILE_NUMBERS(type) (sizeof(type) / sizeof(double))

static void file_ball_list(robot_file *f, carom_ball **balls, uint32_t *count) {
    file_index(f, count, UINT32_MAX / 16);
    if (!file_array(f, balls, *count, sizeof(**balls), FILE_NUMBERS(carom_ball))) {
        if (file_reads(f)) *count = 0;
        return;
    }
    for (uint32_t i = 0; i < *count; ++i) {
        file_doubles(f, &(*balls)[i], FILE_NUMBERS(carom_ball));
        if (!((*balls)[i].radius >= 0.0)) file_break(f, "a radius is negative");
    }
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void file_node(robot_file *f, carom_robot_node *n, const carom_robot_tree *t) {
    file_doubles(f, n->low, 3);
    file_doubles(f, n->high, 3);
    file_doubles(f, &n->ball, FILE_NUMBERS(carom_ball));
    file_index(f, &n->first, (uint64_t)CAROM_MAX(t->item_count, t->node_count) + 1);
    file_index(f, &n->count, CAROM_ROBOT_LEAF + 1);
}

static void file_tree(robot_file *f, carom_robot_tree *t) {
    bool faces = t->triangles != NULL;
    file_flag(f, &faces);
    file_index(f, &t->item_count, UINT32_MAX / 4);
    file_index(f, &t->node_count, UINT32_MAX / 2);
    file_doubles(f, &t->radius, 1);
    file_doubles(f, &t->largest, 1);
    if (t->node_count > 2 * (uint64_t)t->item_count || (t->node_count == 0) != (t->item_count == 0))
        file_break(f, "the numbers of nodes and items do not fit");
    if (file_array(f, &t->nodes, t->node_count, sizeof(*t->nodes), 12))
        for (uint32_t i = 0; i < t->node_count; ++i) file_node(f, &t->nodes[i], t);
    if (faces) {
        if (file_array(f, &t->triangles, t->item_count, sizeof(*t->triangles),
                       FILE_NUMBERS(carom_triangle)))
            file_doubles(f, t->triangles, t->item_count * (uint64_t)FILE_NUMBERS(carom_triangle));
        return;
    }
    if (file_array(f, &t->balls, t->item_count, sizeof(*t->balls), FILE_NUMBERS(carom_ball)))
        file_doubles(f, t->balls, t->item_count * (uint64_t)FILE_NUMBERS(carom_ball));
}

/* Cells, two to a word. */
static void file_field(robot_file *f, carom_robot_field *field) {
    uint32_t count = (uint32_t)carom_robot_field_count(field);
    file_index(f, &count, UINT32_MAX / 2);
    if (count == 0) return;
    for (int k = 0; k < 3; ++k) file_index(f, &field->size[k], 64);
    file_index(f, &field->brick_count, CAROM_ROBOT_FIELD_MOST);
    file_flag(f, &field->closed);
    file_doubles(f, &field->low, 3);
    file_doubles(f, &field->side, 1);
    file_doubles(f, &field->error, 1);
    file_doubles(f, field->box_low, 3);
    file_doubles(f, field->box_high, 3);
    if (carom_robot_field_top(field) + (uint64_t)field->brick_count * CAROM_ROBOT_FIELD_BRICK !=
        count)
        file_break(f, "distances do not fit their grid");
    if (!file_array(f, &field->cells, (count + UINT64_C(1)) / 2, sizeof(uint64_t), 1)) return;
    for (uint32_t i = 0; i < count; i += 2) {
        uint64_t word = field->cells[i];
        if (i + 1 < count) word |= (uint64_t)field->cells[i + 1] << 32;
        file_word(f, &word);
        if (!file_reads(f)) continue;
        field->cells[i] = (uint32_t)word;
        if (i + 1 < count) field->cells[i + 1] = (uint32_t)(word >> 32);
    }
}

/* Corners of a hull, eight to a block. */
static void file_hull(robot_file *f, carom_robot_hull *hull) {
    file_index(f, &hull->count, UINT32_MAX / 16);
    if (!file_array(f, &hull->blocks, hull->count, sizeof(*hull->blocks), 3 * CAROM_HULL_LANES)) {
        if (file_reads(f)) hull->count = 0;
        return;
    }
    for (uint32_t i = 0; i < hull->count; ++i) {
        carom_hull_block *block = &hull->blocks[i];
        file_doubles(f, block->x, CAROM_HULL_LANES);
        file_doubles(f, block->y, CAROM_HULL_LANES);
        file_doubles(f, block->z, CAROM_HULL_LANES);
    }
}

static void file_part(robot_file *f, carom_robot_part *p) {
    uint32_t kind = (uint32_t)p->kind;
    bool is_negative = p->sign < 0;
    file_index(f, &kind, CAROM_ROBOT_SHAPE_KIND_COUNT);
    file_flag(f, &p->closed);
    file_flag(f, &p->open_mesh);
    file_flag(f, &is_negative);
    file_doubles(f, p->frame.r, 9);
    file_doubles(f, &p->frame.t, 3);
    file_doubles(f, &p->half, 3);
    file_tree(f, &p->tree);
    file_tree(f, &p->points);
    file_field(f, &p->field);
    file_hull(f, &p->hull);
    p->hull.round = p->tree.radius;
    p->kind = (carom_robot_shape_kind)kind;
    p->sign = is_negative ? -1 : 1;
    bool is_round = kind == CAROM_ROBOT_SHAPE_KIND_SPHERE || kind == CAROM_ROBOT_SHAPE_KIND_BALLS;
    if (p->hull.count != 0 && p->tree.triangles == NULL) file_break(f, "a packing has a hull");
    if (p->points.triangles != NULL || (is_round && (p->tree.triangles != NULL || p->closed)) ||
        (!is_round && p->tree.balls != NULL))
        file_break(f, "a shape has items of another kind");
}

static void file_body(robot_file *f, carom_robot_body *b, uint32_t link_count) {
    file_flag(f, &b->live);
    file_index(f, &b->link, link_count);
    file_index(f, &b->part_count, UINT32_MAX / 4);
    if (file_array(f, &b->parts, b->part_count, sizeof(*b->parts), 20))
        for (uint32_t i = 0; i < b->part_count; ++i) file_part(f, &b->parts[i]);
    else if (file_reads(f))
        b->part_count = 0;
    file_ball_list(f, &b->cover, &b->cover_count);
    file_ball_list(f, &b->inner, &b->inner_count);
    file_ball_list(f, &b->fine, &b->fine_count);
    file_bound(f, &b->overhang);
    file_bound(f, &b->fine_overhang);
    file_doubles(f, &b->largest, 1);
    file_index(f, &b->rough, UINT64_C(1) << 32);
    file_field(f, &b->field);
    for (uint32_t i = 0; i < b->part_count; ++i)
        if (b->parts[i].tree.largest > b->largest)
            file_break(f, "a body is smaller than its shapes");
    if (b->cover_count == 0 && b->part_count != 0)
        for (uint32_t i = 0; i < b->part_count; ++i)
            if (b->parts[i].tree.item_count != 0) file_break(f, "a body has no cover");
}

/* ---- The robot ------------------------------------------------------------------------------- */

/* An index, or CAROM_NONE. */
static void file_index_or_none(robot_file *f, uint32_t *value, uint64_t end) {
    bool is_none = *value == CAROM_NONE;
    uint32_t index = is_none ? 0 : *value;
    file_flag(f, &is_none);
    file_index(f, &index, is_none ? 1 : end);
    *value = is_none ? CAROM_NONE : index;
}

static void file_link(robot_file *f, carom_robot_node_link *l, const carom_robot *robot) {
    uint32_t kind = (uint32_t)l->kind;
    file_index(f, &kind, CAROM_ROBOT_JOINT_KIND_COUNT);
    l->kind = (carom_robot_joint_kind)kind;
    file_index_or_none(f, &l->parent, robot->link_count);
    file_index_or_none(f, &l->column, robot->dof);
    file_index(f, &l->depth, robot->link_count);
    file_doubles(f, &l->multiplier, 1);
    file_doubles(f, &l->offset, 1);
    file_doubles(f, &l->lower, 1);
    file_doubles(f, &l->upper, 1);
    file_doubles(f, l->a, 9);
    file_doubles(f, l->b, 9);
    file_doubles(f, l->c, 9);
    file_doubles(f, &l->origin, 3);
    file_doubles(f, &l->slide, 3);
    if ((l->column == CAROM_NONE) != (l->kind == CAROM_ROBOT_JOINT_KIND_FIXED))
        file_break(f, "a joint moves and has no column");
}

/* Names, eight bytes to a word, each ended by a zero. */
static void file_names(robot_file *f, carom_robot *robot) {
    uint32_t size = (uint32_t)robot->names_size;
    file_index(f, &size, UINT32_MAX);
    if (!file_array(f, &robot->names, size, 1, 1) && file_reads(f)) {
        file_break(f, "the names are missing");
        return;
    }
    robot->names_size = size;
    for (uint32_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        for (uint32_t i = 0; i < 8 && at + i < size; ++i)
            word |= (uint64_t)(uint8_t)robot->names[at + i] << 8 * i;
        file_word(f, &word);
        for (uint32_t i = 0; i < 8 && at + i < size; ++i)
            robot->names[at + i] = (char)(uint8_t)(word >> 8 * i);
    }
    if (!file_reads(f)) return;
    uint64_t start = 0;
    for (uint32_t i = 0; i < robot->link_count && f->broken == NULL; ++i) {
        const char *end = start < size ? memchr(robot->names + start, 0, size - start) : NULL;
        robot->name_starts[i] = start;
        if (end == NULL)
            file_break(f, "a name has no end");
        else
            start = (uint64_t)(end - robot->names) + 1;
    }
    if (start != size) file_break(f, "there are more names than links");
}

static void file_words(robot_file *f, carom_robot_words *w, uint64_t a_count, uint64_t b_count) {
    uint32_t count = (uint32_t)w->count;
    file_index(f, &count, UINT32_MAX);
    if (file_array(f, &w->data, count, sizeof(*w->data), 1)) {
        w->count = count;
        if (file_reads(f)) w->capacity = count;
        for (uint32_t i = 0; i < count; ++i) {
            file_word(f, &w->data[i]);
            if (w->data[i] >> 32 >= a_count || (uint32_t)w->data[i] >= b_count)
                file_break(f, "an allowed pair is of bodies that are none");
        }
    }
}

static bool file_allocate_links(robot_file *f, carom_robot *robot) {
    return file_array(f, &robot->links, robot->link_count, sizeof(*robot->links), 40) &&
           file_array(f, &robot->order, robot->link_count, sizeof(*robot->order), 1) &&
           file_array(f, &robot->lower, robot->link_count, sizeof(*robot->lower), 1) &&
           file_array(f, &robot->upper, robot->link_count, sizeof(*robot->upper), 1) &&
           file_array(f, &robot->name_starts, robot->link_count, sizeof(*robot->name_starts), 1);
}

static void file_robot(robot_file *f, carom_robot *robot) {
    uint32_t inner = (uint32_t)robot->inner;
    file_index(f, &robot->link_count, CAROM_ROBOT_MOST_BODIES + UINT64_C(1));
    file_index(f, &robot->joint_count, CAROM_ROBOT_MOST_BODIES);
    file_index(f, &robot->dof, CAROM_ROBOT_MOST_BODIES);
    file_index(f, &inner, UINT64_C(1) << 20);
    robot->inner = inner;
    file_doubles(f, &robot->spheres_per_length, 1);
    file_doubles(f, &robot->fine_per_length, 1);
    if (robot->joint_count + UINT64_C(1) != robot->link_count || robot->dof > robot->joint_count)
        file_break(f, "the numbers of links and joints do not fit");
    if (f->broken != NULL || !file_allocate_links(f, robot)) {
        file_break(f, "it has no links");
        return;
    }
    file_names(f, robot);
    for (uint32_t i = 0; i < robot->link_count; ++i) {
        file_link(f, &robot->links[i], robot);
        file_index(f, &robot->order[i], robot->link_count);
    }
    file_doubles(f, robot->lower, robot->dof);
    file_doubles(f, robot->upper, robot->dof);
    file_index(f, &robot->body_count, CAROM_ROBOT_MOST_BODIES + UINT64_C(1));
    if (file_array(f, &robot->bodies, robot->body_count, sizeof(*robot->bodies), 10))
        for (uint32_t i = 0; i < robot->body_count; ++i)
            file_body(f, &robot->bodies[i], robot->link_count);
    else if (file_reads(f))
        robot->body_count = 0;
    if (file_reads(f)) robot->body_capacity = robot->body_count;
    file_index(f, &robot->object_count, CAROM_ROBOT_MOST_BODIES + UINT64_C(1));
    if (file_array(f, &robot->objects, robot->object_count, sizeof(*robot->objects), 20))
        for (uint32_t i = 0; i < robot->object_count; ++i) {
            file_flag(f, &robot->objects[i].live);
            file_part(f, &robot->objects[i].part);
        }
    else if (file_reads(f))
        robot->object_count = 0;
    if (file_reads(f)) robot->object_capacity = robot->object_count;
    file_words(f, &robot->allowed, robot->body_count, robot->body_count);
    file_words(f, &robot->allowed_objects, robot->body_count, robot->object_count);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static carom_status file_put(carom_context *context, carom_writer *writer,
                             const carom_robot *robot) {
    carom_robot copy = *robot; /* its members are passed by address; none is changed */
    robot_file counted = {.context = context};
    file_robot(&counted, &copy);
    robot_file f = {.context = context, .writer = writer};
    uint64_t head[ROBOT_FILE_HEAD] = {ROBOT_FILE_MAGIC, ROBOT_FILE_VERSION, counted.words,
                                      counted.sum};
    for (uint32_t i = 0; i < ROBOT_FILE_HEAD; ++i) file_word(&f, &head[i]);
    file_robot(&f, &copy);
    CAROM_ASSERT(f.broken == NULL && counted.broken == NULL);
    return CAROM_OK;
}

carom_status carom_robot_save(carom_context *context, const carom_robot *robot,
                              carom_robot_format format, const char *path) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_INPUT(path, "path");
    CAROM_REQUIRE_KNOWN(format, CAROM_ROBOT_FORMAT_COUNT, "format");
    carom_writer_file file;
    CAROM_TRY(carom_writer_open_file(context, path, false, &file));
    return carom_writer_close_file(&file, file_put(context, &file.writer, robot));
}

carom_status carom_robot_save_memory(carom_context *context, const carom_robot *robot,
                                     carom_robot_format format, carom_bytes *bytes) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(robot, "robot");
    CAROM_REQUIRE_RESULT(bytes, "bytes");
    CAROM_REQUIRE_KNOWN(format, CAROM_ROBOT_FORMAT_COUNT, "format");
    carom_writer writer;
    CAROM_TRY(carom_writer_open_memory(context, bytes, &writer));
    return carom_writer_close_memory(&writer, file_put(context, &writer, robot));
}

/* ---- Reading --------------------------------------------------------------------------------- */

uint64_t carom_robot_file_sum(const void *bytes, uint64_t size) {
    const uint8_t *at = bytes;
    uint64_t sum = 0;
    for (uint64_t i = 0; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, sizeof(word));
        if (!carom_is_little_endian()) carom_reverse_numbers(&word, sizeof(word), sizeof(word));
        sum = file_sum(sum, word);
    }
    return sum;
}

/* Parents come first, each link once: what loops over the order rely on. */
static const char *file_check_order(const carom_robot *robot) {
    for (uint32_t i = 0; i < robot->link_count; ++i) {
        uint32_t link = robot->order[i];
        if (robot->links[link].depth == CAROM_NONE - 1) return "a link comes twice";
        uint32_t parent = robot->links[link].parent;
        if ((parent == CAROM_NONE) != (i == 0)) return "there is not one root";
        if (parent != CAROM_NONE && robot->links[parent].depth != CAROM_NONE - 1)
            return "a link comes before its parent";
        robot->links[link].depth = CAROM_NONE - 1;
    }
    for (uint32_t i = 0; i < robot->link_count; ++i) {
        carom_robot_node_link *l = &robot->links[robot->order[i]];
        l->depth = l->parent == CAROM_NONE ? 0 : robot->links[l->parent].depth + 1;
    }
    for (uint32_t i = 0; i < robot->body_count; ++i)
        if (i < robot->link_count && (!robot->bodies[i].live || robot->bodies[i].link != i))
            return "the body of a link is none";
    return robot->body_count >= robot->link_count ? NULL : "there are fewer bodies than links";
}

static carom_status file_get(carom_context *context, const uint8_t *bytes, uint64_t size,
                             const char *name, carom_robot *made) {
    uint64_t head[ROBOT_FILE_HEAD] = {0};
    robot_file f = {
        .context = context, .allocator = &made->allocator, .from = bytes, .left = size / 8};
    if (size < 8 * ROBOT_FILE_HEAD)
        return carom_fail(
            context, CAROM_BAD_FILE,
            "%s: byte %llu: the file ends inside its head; it was cut short, or is no "
            "robot",
            name, (unsigned long long)size);
    for (uint32_t i = 0; i < ROBOT_FILE_HEAD; ++i) file_word(&f, &head[i]);
    if (head[0] != ROBOT_FILE_MAGIC)
        return carom_fail(context, CAROM_BAD_FILE, "%s: not a robot by Carom", name);
    if (head[1] != ROBOT_FILE_VERSION)
        return carom_fail(
            context, CAROM_BAD_FILE,
            "%s: a file of version %llu, and this library reads version %u; prepare the "
            "robot anew",
            name, (unsigned long long)head[1], ROBOT_FILE_VERSION);
    if (size % 8 != 0 || head[2] != f.left)
        return carom_fail(context, CAROM_BAD_FILE,
                          "%s: byte %llu: the file ends here, and its head says %llu words; it was "
                          "cut short or something was added",
                          name, (unsigned long long)size, (unsigned long long)head[2]);
    if (carom_robot_file_sum(bytes + 8 * ROBOT_FILE_HEAD, size - 8 * ROBOT_FILE_HEAD) != head[3])
        return carom_fail(context, CAROM_BAD_FILE, "%s: damaged: its sum is wrong", name);
    file_robot(&f, made);
    if (f.no_memory) return carom_fail_memory(context, size, "a robot");
    if (f.left != 0) file_break(&f, "something follows its end");
    if (f.broken == NULL) f.broken = file_check_order(made);
    if (f.broken == NULL) CAROM_TRY(carom_robot_plan_make(context, made));
    if (f.broken == NULL) f.broken = carom_robot_validate(made);
    if (f.broken == NULL) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_FILE, "%s: damaged: %s", name, f.broken);
}

carom_status carom_robot_load_memory(carom_context *context, const void *bytes, uint64_t size,
                                     carom_robot_format format, const char *name,
                                     carom_robot **robot) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(robot, "robot");
    *robot = NULL;
    CAROM_REQUIRE(bytes != NULL, CAROM_ARE_NULL("bytes"));
    CAROM_REQUIRE_KNOWN(format, CAROM_ROBOT_FORMAT_COUNT, "format");
    CAROM_TRY(carom_context_require_cpu(context, "a robot"));
    carom_robot *made = carom_allocate(&context->allocator, 1, sizeof(*made));
    if (made == NULL) return carom_fail_memory(context, sizeof(*made), "a robot");
    *made = (carom_robot){.allocator = context->allocator};
    carom_status status = file_get(context, bytes, size, name != NULL ? name : "robot", made);
    if (status == CAROM_OK)
        *robot = made;
    else
        carom_robot_destroy(made);
    return status;
}

carom_status carom_robot_load(carom_context *context, const char *path, carom_robot_format format,
                              carom_robot **robot) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(robot, "robot");
    *robot = NULL;
    CAROM_REQUIRE_INPUT(path, "path");
    CAROM_REQUIRE_KNOWN(format, CAROM_ROBOT_FORMAT_COUNT, "format");
    uint8_t *bytes;
    uint64_t size;
    CAROM_TRY(carom_file_read(context, path, &bytes, &size));
    carom_status status = carom_robot_load_memory(context, bytes, size, format, path, robot);
    carom_release(&context->allocator, bytes);
    return status;
}
