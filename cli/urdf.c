/* SPDX-License-Identifier: MIT */
/* Reading URDF: one pass over the tags, then names become indices by sorted lists, then joints that
 * follow others get their values, then links get their poses, each once: the time is that of
 * sorting the names.
 *
 * A joint's origin is the pose of the child link in the parent's frame; R = Rz(yaw) Ry(pitch)
 * Rx(roll). Then it turns about its axis, or moves along it, by its value, which is 0 unless given.
 *
 * Nothing is dropped silently. What the specification defines and has no shape (inertia, materials,
 * transmissions, simulators' data) is skipped; any other element is counted by kind.
 * Numbers that are none are failures, not defaults. */
#include "cli/urdf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/platform.h"
#include "cli/xml.h"

#define MOST_VALUE 1e100 /* of any number, so that products of a few are finite */

typedef struct reader {
    const urdf_def *def;
    urdf *robot;
    xml x;
    const char *path; /* of the file that is read */
    carom_status status;
} reader;

PLATFORM_PRINTF(3, 4) static bool fail(reader *r, size_t line, const char *format, ...) {
    va_list arguments;
    if (r->status != CAROM_OK) return false;
    urdf *robot = r->robot;
    r->status = CAROM_BAD_FILE;
    int length = snprintf(robot->message, sizeof(robot->message), "%.200s:%zu: ", r->path, line);
    va_start(arguments, format);
    (void)vsnprintf(robot->message + length, sizeof(robot->message) - (size_t)length, format,
                    arguments);
    va_end(arguments);
    return false;
}

static bool no_memory(reader *r) {
    if (r->status != CAROM_OK) return false;
    r->status = CAROM_NO_MEMORY;
    snprintf(r->robot->message, sizeof(r->robot->message), "%.200s: no memory for the robot",
             r->path);
    return false;
}

/* ---- Poses ----------------------------------------------------------------------------------- */

static const carom_pose identity = {.q = {1.0, 0.0, 0.0, 0.0}};

static carom_quat multiply(carom_quat a, carom_quat b) {
    return (carom_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

carom_pose urdf_compose(const carom_pose *a, const carom_pose *b) {
    carom_quat v = {0.0, b->t.x, b->t.y, b->t.z};
    carom_quat back = {a->q.w, -a->q.x, -a->q.y, -a->q.z};
    carom_quat turned = multiply(multiply(a->q, v), back);
    return (carom_pose){multiply(a->q, b->q),
                        {turned.x + a->t.x, turned.y + a->t.y, turned.z + a->t.z}};
}

/* Products of thousands of rotations drift from length 1. */
static carom_quat normalised(carom_quat q) {
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return (carom_quat){q.w / length, q.x / length, q.y / length, q.z / length};
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* A block of names. They stay where they are until urdf_free. */
typedef struct urdf_text {
    struct urdf_text *next;
    size_t used, size;
    char bytes[];
} urdf_text;

#define TEXT_BLOCK ((size_t)1 << 16)

static const char *keep(reader *r, const char *text) {
    size_t size = strlen(text) + 1;
    urdf_text *block = r->robot->texts;
    if (block == NULL || block->size - block->used < size) {
        size_t space = size > TEXT_BLOCK ? size : TEXT_BLOCK;
        block = malloc(sizeof(*block) + space);
        if (block == NULL) {
            (void)no_memory(r);
            return NULL;
        }
        *block = (urdf_text){.next = r->robot->texts, .size = space};
        r->robot->texts = block;
    }
    char *to = block->bytes + block->used;
    memcpy(to, text, size);
    block->used += size;
    return to;
}

/* The value of an attribute, "" where there is none; false when it is longer than `most`. */
static bool take_text(reader *r, const char *name, size_t most, const char **text) {
    char value[4096];
    *text = "";
    if (!xml_has(&r->x, name)) return true;
    if (!xml_get(&r->x, name, value, sizeof(value)) || strlen(value) >= most)
        return fail(r, r->x.line, "the attribute %s is longer than %zu bytes; shorten it", name,
                    most - 1);
    *text = keep(r, value);
    return *text != NULL;
}

/* What xacro makes of "$(optenv NAME VALUE)" where the environment has no NAME: VALUE. Some
 * published robots are left so. Any other text is returned as it is. */
static char *default_of(char *text) {
    static const char start[] = "$(optenv ";
    size_t size = strlen(text);
    if (strncmp(text, start, sizeof(start) - 1) != 0 || text[size - 1] != ')') return text;
    text[size - 1] = '\0';
    text += sizeof(start) - 1;
    return text + strcspn(text, " ");
}

/* The numbers of an attribute. Those of one that is missing stay as they are where it may be
 * missing. */
static bool take_numbers(reader *r, const char *name, double *numbers, int count, bool may_lack) {
    char text[512] = "", *at = text, *end;
    const xml *x = &r->x;
    int size = (int)(x->name_size < 60 ? x->name_size : 60);
    if (!xml_has(x, name))
        return may_lack || fail(r, x->line, "<%.*s> lacks its attribute %s", size, x->name, name);
    bool good = xml_get(x, name, text, sizeof(text));
    if (good) at = default_of(text);
    for (int i = 0; i < count && good; ++i, at = end) {
        numbers[i] = strtod(at, &end);
        good = end != at && fabs(numbers[i]) <= MOST_VALUE;
    }
    if (good && at[strspn(at, " \t\r\n")] == '\0') return true;
    return fail(r, x->line, "the attribute %s of <%.*s> takes %d finite number%s%s", name, size,
                x->name, count, count == 1 ? "" : "s",
                strchr(text, '$') != NULL ? "; run xacro first, which computes them" : "");
}

static bool take_origin(reader *r, carom_pose *pose) {
    double xyz[3] = {0.0, 0.0, 0.0}, rpy[3] = {0.0, 0.0, 0.0};
    if (!take_numbers(r, "xyz", xyz, 3, true) || !take_numbers(r, "rpy", rpy, 3, true))
        return false;
    carom_quat roll = {cos(0.5 * rpy[0]), sin(0.5 * rpy[0]), 0.0, 0.0};
    carom_quat pitch = {cos(0.5 * rpy[1]), 0.0, sin(0.5 * rpy[1]), 0.0};
    carom_quat yaw = {cos(0.5 * rpy[2]), 0.0, 0.0, sin(0.5 * rpy[2])};
    *pose = (carom_pose){multiply(yaw, multiply(pitch, roll)), {xyz[0], xyz[1], xyz[2]}};
    return true;
}

/* ---- Elements -------------------------------------------------------------------------------- */

/* The element whose children are read. */
typedef struct scope {
    size_t depth;
    bool is_empty;
} scope;

static scope enter(const reader *r) {
    return (scope){r->x.depth, r->x.closes};
}

/* Goes to the next child; false at the end of the element or after a failure. What is inside of a
 * child that was not entered is skipped. */
static bool next_child(reader *r, const scope *s) {
    xml *x = &r->x;
    if (s->is_empty || r->status != CAROM_OK) return false;
    while (xml_next(x)) {
        if (x->opens && x->depth == s->depth + 1) return true;
        if (!x->opens && x->depth == s->depth) return false;
    }
    return fail(r, x->error_line, "%s", x->error);
}

static bool is_one_of(const xml *x, const char *const *names) {
    for (; *names != NULL; ++names)
        if (xml_is(x, *names)) return true;
    return false;
}

/* Counts an element that is not understood. */
static void note_unknown(reader *r, const char *name, size_t name_size, const char *inside) {
    urdf *robot = r->robot;
    char text[sizeof(robot->unknown[0].name)];
    snprintf(text, sizeof(text), "%.*s", (int)(name_size < 60 ? name_size : 60), name);
    for (size_t i = 0; i < robot->unknown_count; ++i) {
        urdf_unknown *u = &robot->unknown[i];
        bool is_rest = i + 1 == URDF_MOST_UNKNOWN;
        if (!is_rest && (strcmp(u->name, text) != 0 || strcmp(u->inside, inside) != 0)) continue;
        ++u->count;
        return;
    }
    urdf_unknown *u = &robot->unknown[robot->unknown_count++];
    bool is_rest = robot->unknown_count == URDF_MOST_UNKNOWN;
    *u = (urdf_unknown){.line = r->x.line, .count = 1};
    snprintf(u->name, sizeof(u->name), "%s", is_rest ? "..." : text);
    snprintf(u->inside, sizeof(u->inside), "%s", is_rest ? "robot" : inside);
}

/* Names an element that is none of those that have no effect on shapes. */
static void pass_over(reader *r, const char *const *without_effect, const char *inside) {
    if (!is_one_of(&r->x, without_effect)) note_unknown(r, r->x.name, r->x.name_size, inside);
}

/* The capacity after one that is used up. */
static uint32_t larger(uint32_t capacity) {
    return 2 * capacity + 16;
}

static void *enlarge(reader *r, void *data, uint32_t capacity, size_t size) {
    void *larger = realloc(data, (size_t)capacity * size);
    if (larger == NULL) (void)no_memory(r);
    return larger;
}

static bool is_size(reader *r, const double *n, int count) {
    for (int i = 0; i < count; ++i)
        if (!(n[i] >= 0.0))
            return fail(r, r->x.line, "a size of <%.*s> is negative",
                        (int)(r->x.name_size < 60 ? r->x.name_size : 60), r->x.name);
    return true;
}

/* One shape; *has_shape stays false where it is not understood. */
static bool take_shape(reader *r, urdf_element *e, bool *has_shape) {
    const xml *x = &r->x;
    double n[3] = {0.0, 0.0, 0.0};
    if (*has_shape)
        return fail(r, x->line, "a geometry has a second shape; give it an element of its own");
    *has_shape = true;
    if (xml_is(x, "mesh")) {
        if (!take_text(r, "filename", 4096, &e->file)) return false;
        if (*e->file == '\0') return fail(r, x->line, "<mesh> lacks its attribute filename");
        return take_numbers(r, "scale", e->scale, 3, true);
    }
    if (xml_is(x, "box")) {
        e->shape.kind = CAROM_CONVEX_KIND_BOX;
        if (!take_numbers(r, "size", n, 3, false) || !is_size(r, n, 3)) return false;
        e->shape.half = (carom_vec3){0.5 * n[0], 0.5 * n[1], 0.5 * n[2]};
        return true;
    }
    bool is_sphere = xml_is(x, "sphere"), is_capsule = xml_is(x, "capsule");
    if (!is_sphere && !is_capsule && !xml_is(x, "cylinder")) {
        *has_shape = false;
        note_unknown(r, x->name, x->name_size, "geometry");
        return true;
    }
    e->shape.kind = is_sphere    ? CAROM_CONVEX_KIND_SPHERE
                    : is_capsule ? CAROM_CONVEX_KIND_CAPSULE
                                 : CAROM_CONVEX_KIND_CYLINDER;
    if (!take_numbers(r, "radius", n, 1, false) ||
        (!is_sphere && !take_numbers(r, "length", n + 1, 1, false)) || !is_size(r, n, 2))
        return false;
    e->shape.radius = n[0];
    e->shape.half_height = 0.5 * n[1];
    return true;
}

/* A <collision> or <visual>; the tag is the current one. */
static bool take_element(reader *r, uint32_t link) {
    static const char *const without_effect[] = {"material", "verbose", NULL};
    urdf *robot = r->robot;
    scope s = enter(r);
    size_t line = r->x.line;
    const char *kind = r->def->visual ? "visual" : "collision";
    bool has_geometry = false, has_shape = false;
    urdf_element e = {.link = link, .origin = identity, .scale = {1.0, 1.0, 1.0}};
    if (!take_text(r, "name", URDF_NAME_SIZE, &e.name)) return false;
    while (next_child(r, &s)) {
        if (xml_is(&r->x, "origin")) {
            if (!take_origin(r, &e.origin)) return false;
        } else if (xml_is(&r->x, "geometry")) {
            scope geometry = enter(r);
            has_geometry = true;
            while (next_child(r, &geometry))
                if (!take_shape(r, &e, &has_shape)) return false;
        } else {
            pass_over(r, without_effect, kind);
        }
    }
    if (r->status != CAROM_OK) return false;
    if (!has_geometry) return fail(r, line, "a <%s> has no <geometry>", kind);
    if (!has_shape) {
        note_unknown(r, kind, strlen(kind), "link");
        return true;
    }
    if (robot->element_count == robot->element_capacity) {
        uint32_t capacity = larger(robot->element_capacity);
        urdf_element *elements = enlarge(r, robot->elements, capacity, sizeof(*elements));
        if (elements == NULL) return false;
        robot->elements = elements;
        robot->element_capacity = capacity;
    }
    robot->elements[robot->element_count++] = e;
    return true;
}

static bool take_link(reader *r) {
    static const char *const without_effect[] = {"inertial", "visual", "collision", NULL};
    urdf *robot = r->robot;
    scope s = enter(r);
    urdf_link link = {.line = r->x.line,
                      .first = robot->element_count,
                      .parent = URDF_NONE,
                      .in_parent = identity,
                      .in_world = identity};
    if (!take_text(r, "name", URDF_NAME_SIZE, &link.name)) return false;
    if (*link.name == '\0') return fail(r, link.line, "a link has no name");
    if (robot->link_count == robot->link_capacity) {
        uint32_t capacity = larger(robot->link_capacity);
        urdf_link *links = enlarge(r, robot->links, capacity, sizeof(*links));
        if (links == NULL) return false;
        robot->links = links;
        robot->link_capacity = capacity;
    }
    uint32_t number = robot->link_count++;
    robot->links[number] = link;
    while (next_child(r, &s)) {
        if (!xml_is(&r->x, r->def->visual ? "visual" : "collision"))
            pass_over(r, without_effect, "link");
        else if (!take_element(r, number))
            return false;
    }
    robot->links[number].count = robot->element_count - link.first;
    return r->status == CAROM_OK;
}

/* ---- Joints ---------------------------------------------------------------------------------- */

static bool take_type(reader *r, urdf_joint *j) {
    const char *type;
    if (!take_text(r, "type", URDF_NAME_SIZE, &type)) return false;
    j->turns = strcmp(type, "revolute") == 0 || strcmp(type, "continuous") == 0;
    j->endless = strcmp(type, "continuous") == 0;
    j->slides = strcmp(type, "prismatic") == 0;
    if (!j->turns && !j->slides && strcmp(type, "fixed") != 0 && strcmp(type, "floating") != 0 &&
        strcmp(type, "planar") != 0) {
        char words[64];
        snprintf(words, sizeof(words), "joint type=\"%.40s\"", type);
        note_unknown(r, words, strlen(words), "robot");
    }
    return true;
}

static bool take_mimic(reader *r, urdf_joint *j) {
    j->multiplier = 1.0;
    j->offset = 0.0;
    if (!take_text(r, "joint", URDF_NAME_SIZE, &j->mimic) ||
        !take_numbers(r, "multiplier", &j->multiplier, 1, true) ||
        !take_numbers(r, "offset", &j->offset, 1, true))
        return false;
    return *j->mimic != '\0' || fail(r, r->x.line, "<mimic> lacks its attribute joint");
}

static bool take_joint(reader *r) {
    static const char *const without_effect[] = {"dynamics", "calibration", "safety_controller",
                                                 NULL};
    urdf *robot = r->robot;
    const xml *x = &r->x;
    scope s = enter(r);
    urdf_joint j = {
        .parent = "", .child = "", .origin = identity, .axis = {1.0, 0.0, 0.0}, .line = x->line};
    if (!take_text(r, "name", URDF_NAME_SIZE, &j.name) || !take_type(r, &j)) return false;
    while (next_child(r, &s)) {
        bool good = true;
        if (xml_is(x, "origin"))
            good = take_origin(r, &j.origin);
        else if (xml_is(x, "axis"))
            good = take_numbers(r, "xyz", j.axis, 3, true);
        else if (xml_is(x, "parent"))
            good = take_text(r, "link", URDF_NAME_SIZE, &j.parent);
        else if (xml_is(x, "child"))
            good = take_text(r, "link", URDF_NAME_SIZE, &j.child);
        else if (xml_is(x, "mimic"))
            good = take_mimic(r, &j);
        else if (xml_is(x, "limit"))
            good = take_numbers(r, "lower", &j.lower, 1, true) &&
                   take_numbers(r, "upper", &j.upper, 1, true);
        else
            pass_over(r, without_effect, "joint");
        if (!good) return false;
    }
    if (r->status != CAROM_OK) return false;
    if (robot->joint_count == robot->joint_capacity) {
        uint32_t capacity = larger(robot->joint_capacity);
        urdf_joint *joints = enlarge(r, robot->joints, capacity, sizeof(*joints));
        if (joints == NULL) return false;
        robot->joints = joints;
        robot->joint_capacity = capacity;
    }
    if (*j.parent == '\0' || *j.child == '\0')
        return fail(r, j.line, "a joint lacks its parent or its child");
    robot->joints[robot->joint_count++] = j;
    return true;
}

/* ---- Names ----------------------------------------------------------------------------------- */

typedef struct named {
    const char *name;
    uint32_t index;
} named;

static int compare_named(const void *a, const void *b) {
    const named *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    return order != 0 ? order : p->index < q->index ? -1 : p->index > q->index;
}

/* Sorts, and turns the list into one of indices; NULL when there is no memory. */
static uint32_t *sort_names(reader *r, named *list, uint32_t count) {
    uint32_t *order = list != NULL ? malloc(((size_t)count + 1) * sizeof(*order)) : NULL;
    if (order == NULL) {
        (void)no_memory(r);
        return NULL;
    }
    qsort(list, count, sizeof(*list), compare_named);
    for (uint32_t i = 0; i < count; ++i) order[i] = list[i].index;
    return order;
}

static bool sort_links(reader *r) {
    urdf *robot = r->robot;
    named *list = malloc(((size_t)robot->link_count + 1) * sizeof(*list));
    for (uint32_t i = 0; i < robot->link_count && list != NULL; ++i)
        list[i] = (named){robot->links[i].name, i};
    robot->links_by_name = sort_names(r, list, robot->link_count);
    free(list);
    if (robot->links_by_name == NULL) return false;
    for (uint32_t i = 1; i < robot->link_count; ++i) {
        const urdf_link *a = &robot->links[robot->links_by_name[i - 1]];
        const urdf_link *b = &robot->links[robot->links_by_name[i]];
        if (strcmp(a->name, b->name) == 0)
            return fail(r, b->line, "the link of line %zu is also called '%.100s'; rename one",
                        a->line, a->name);
    }
    return true;
}

static bool sort_joints(reader *r) {
    urdf *robot = r->robot;
    named *list = malloc(((size_t)robot->joint_count + 1) * sizeof(*list));
    for (uint32_t i = 0; i < robot->joint_count && list != NULL; ++i)
        list[i] = (named){robot->joints[i].name, i};
    robot->joints_by_name = sort_names(r, list, robot->joint_count);
    free(list);
    if (robot->joints_by_name == NULL) return false;
    for (uint32_t i = 1; i < robot->joint_count; ++i) {
        const urdf_joint *a = &robot->joints[robot->joints_by_name[i - 1]];
        const urdf_joint *b = &robot->joints[robot->joints_by_name[i]];
        if (*a->name != '\0' && strcmp(a->name, b->name) == 0)
            return fail(r, b->line, "the joint of line %zu is also called '%.100s'; rename one",
                        a->line, a->name);
    }
    return true;
}

uint32_t urdf_find_link(urdf *robot, const char *name) {
    uint32_t low = 0, high = robot->link_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, index = robot->links_by_name[middle];
        int order = strcmp(robot->links[index].name, name);
        ++robot->comparisons;
        if (order == 0) return index;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return URDF_NONE;
}

static urdf_joint *find_joint(urdf *robot, const char *name) {
    uint32_t low = 0, high = robot->joint_count;
    while (low < high && *name != '\0') {
        uint32_t middle = low + (high - low) / 2;
        urdf_joint *joint = &robot->joints[robot->joints_by_name[middle]];
        int order = strcmp(joint->name, name);
        ++robot->comparisons;
        if (order == 0) return joint;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- Values of joints ------------------------------------------------------------------------ */

PLATFORM_PRINTF(3, 4)
static bool refuse_joint(reader *r, const char *text, const char *format, ...) {
    va_list arguments;
    urdf *robot = r->robot;
    int length = snprintf(robot->message, sizeof(robot->message), "--joints: '%.*s' ",
                          (int)strcspn(text, ",") < 150 ? (int)strcspn(text, ",") : 150, text);
    va_start(arguments, format);
    (void)vsnprintf(robot->message + length, sizeof(robot->message) - (size_t)length, format,
                    arguments);
    va_end(arguments);
    r->status = CAROM_BAD_INPUT;
    return false;
}

/* NAME=VALUE,NAME=VALUE ... */
static bool set_joints(reader *r, const char *text) {
    while (text != NULL && *text != '\0') {
        char name[URDF_NAME_SIZE] = "", *end = NULL;
        const char *equals = strchr(text, '=');
        double value = equals != NULL ? strtod(equals + 1, &end) : 0.0;
        bool good = equals != NULL && end != equals + 1 && (*end == ',' || *end == '\0') &&
                    fabs(value) <= MOST_VALUE && (size_t)(equals - text) < sizeof(name);
        if (good) memcpy(name, text, (size_t)(equals - text));
        urdf_joint *joint = good ? find_joint(r->robot, name) : NULL;
        if (joint == NULL)
            return refuse_joint(r, text, "is not NAME=VALUE of a joint of %.200s", r->path);
        if (joint->mimic != NULL)
            return refuse_joint(r, text, "follows the joint '%.150s'; set that one", joint->mimic);
        if (!joint->turns && !joint->slides)
            return refuse_joint(r, text, "is a joint that does not move by one value");
        joint->value = value;
        text = *end == ',' ? end + 1 : end;
    }
    return true;
}

/* Gives a joint that follows others its value: to the end of the chain, and back. */
static bool follow(reader *r, uint32_t first, uint32_t *chain) {
    urdf *robot = r->robot;
    uint32_t count = 0;
    for (uint32_t at = first; !robot->joints[at].known;) {
        urdf_joint *j = &robot->joints[at];
        if (count == robot->joint_count)
            return fail(r, robot->joints[first].line,
                        "the joint '%.100s' follows others in a circle; remove a <mimic>",
                        robot->joints[first].name);
        chain[count++] = at;
        const urdf_joint *next = find_joint(robot, j->mimic);
        if (next == NULL)
            return fail(r, j->line, "the joint '%.100s' follows '%.100s', which is not there",
                        j->name, j->mimic);
        at = (uint32_t)(next - robot->joints);
    }
    while (count-- > 0) {
        urdf_joint *j = &robot->joints[chain[count]];
        j->value = j->multiplier * find_joint(robot, j->mimic)->value + j->offset;
        j->known = true;
        if (!(fabs(j->value) <= MOST_VALUE))
            return fail(r, j->line, "the value of the joint '%.100s' is beyond 1e100", j->name);
    }
    return true;
}

static bool follow_all(reader *r) {
    urdf *robot = r->robot;
    bool good = true;
    uint32_t *chain = malloc(((size_t)robot->joint_count + 1) * sizeof(*chain));
    if (chain == NULL) return no_memory(r);
    for (uint32_t i = 0; i < robot->joint_count; ++i)
        robot->joints[i].known = robot->joints[i].mimic == NULL;
    for (uint32_t i = 0; i < robot->joint_count && good; ++i) good = follow(r, i, chain);
    free(chain);
    return good;
}

/* ---- Poses of links -------------------------------------------------------------------------- */

/* The pose of a joint's child in its parent. */
static bool pose_of(reader *r, const urdf_joint *j, carom_pose *pose) {
    const double *a = j->axis;
    double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), v = j->value;
    carom_pose motion = identity;
    *pose = j->origin;
    if ((!j->turns && !j->slides) || v == 0.0) return true;
    if (!(length > 0.0))
        return fail(r, j->line, "the joint '%.100s' moves, and its axis has no length", j->name);
    if (j->slides) {
        motion.t = (carom_vec3){v * a[0] / length, v * a[1] / length, v * a[2] / length};
    } else {
        double s = sin(0.5 * v) / length;
        motion.q = (carom_quat){cos(0.5 * v), s * a[0], s * a[1], s * a[2]};
    }
    *pose = urdf_compose(&j->origin, &motion);
    return true;
}

static bool connect(reader *r) {
    urdf *robot = r->robot;
    for (uint32_t i = 0; i < robot->joint_count; ++i) {
        const urdf_joint *j = &robot->joints[i];
        uint32_t parent = urdf_find_link(robot, j->parent), child = urdf_find_link(robot, j->child);
        if (parent == URDF_NONE || child == URDF_NONE)
            return fail(r, j->line, "a joint names a link that is not there: '%.100s'",
                        parent == URDF_NONE ? j->parent : j->child);
        if (robot->links[child].parent != URDF_NONE)
            return fail(r, j->line, "the link '%.100s' is the child of two joints", j->child);
        robot->links[child].parent = parent;
        if (!pose_of(r, j, &robot->links[child].in_parent)) return false;
    }
    return true;
}

/* Poses in the world: up to a link that has one, and back, so that each is computed once. */
static bool pose_links(reader *r) {
    urdf *robot = r->robot;
    uint32_t count = robot->link_count, depth = 0;
    uint32_t *path = malloc(((size_t)count + 1) * sizeof(*path));
    bool *posed = calloc((size_t)count + 1, sizeof(*posed)), good = path != NULL && posed != NULL;
    if (!good) (void)no_memory(r);
    for (uint32_t i = 0; i < count && good; ++i) {
        for (uint32_t at = i; at != URDF_NONE && !posed[at]; at = robot->links[at].parent) {
            if (depth == count) {
                good =
                    fail(r, robot->links[i].line,
                         "the joints above the link '%.100s' form a circle", robot->links[i].name);
                break;
            }
            path[depth++] = at;
        }
        for (; depth > 0 && good; --depth) {
            urdf_link *link = &robot->links[path[depth - 1]];
            const urdf_link *above = link->parent != URDF_NONE ? &robot->links[link->parent] : NULL;
            link->in_world =
                above != NULL ? urdf_compose(&above->in_world, &link->in_parent) : identity;
            if (above != NULL) link->in_world.q = normalised(link->in_world.q);
            posed[path[depth - 1]] = true;
        }
    }
    free(path);
    free(posed);
    return good;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Begins a text whose root must be <robot>. */
static bool begin_robot(reader *r, const char *text, size_t size, scope *root) {
    xml_begin(&r->x, text, size);
    if (!xml_next(&r->x)) return fail(r, r->x.error_line, "%s", r->x.error);
    *root = enter(r);
    return xml_is(&r->x, "robot") || fail(r, r->x.line, "the root element is not <robot>");
}

/* What follows the root must be nothing. */
static bool end_robot(reader *r) {
    if (r->status != CAROM_OK) return false;
    while (xml_next(&r->x)) continue;
    return *r->x.error == '\0' || fail(r, r->x.error_line, "%s", r->x.error);
}

static bool read_robot(reader *r) {
    static const char *const without_effect[] = {"material", "transmission", "gazebo",
                                                 "sensor",   "ros2_control", NULL};
    scope root = {0};
    if (!begin_robot(r, r->def->text, r->def->size, &root)) return false;
    while (next_child(r, &root)) {
        if (xml_is(&r->x, "link"))
            (void)take_link(r);
        else if (xml_is(&r->x, "joint"))
            (void)take_joint(r);
        else
            pass_over(r, without_effect, "robot");
    }
    return end_robot(r) && sort_links(r) && sort_joints(r) && set_joints(r, r->def->joints) &&
           follow_all(r) && connect(r) && pose_links(r);
}

carom_status urdf_read(const urdf_def *def, urdf *robot) {
    reader *r = malloc(sizeof(*r));
    *robot = (urdf){0};
    if (r == NULL) return CAROM_NO_MEMORY;
    *r = (reader){.def = def, .robot = robot, .path = def->path};
    (void)read_robot(r);
    carom_status status = r->status;
    free(r);
    return status;
}

void urdf_free(urdf *robot) {
    for (urdf_text *block = robot->texts; block != NULL;) {
        urdf_text *next = block->next;
        free(block);
        block = next;
    }
    free(robot->links);
    free(robot->elements);
    free(robot->joints);
    free(robot->links_by_name);
    free(robot->joints_by_name);
    *robot = (urdf){0};
}

static bool read_srdf(reader *r, const char *text, size_t size, urdf_pair_fn *visit, void *user,
                      uint64_t *foreign) {
    static const char *const without_effect[] = {"group",
                                                 "group_state",
                                                 "end_effector",
                                                 "virtual_joint",
                                                 "passive_joint",
                                                 "joint_property",
                                                 "link_sphere_approximation",
                                                 NULL};
    scope root = {0};
    if (!begin_robot(r, text, size, &root)) return false;
    while (next_child(r, &root)) {
        char a[URDF_NAME_SIZE], b[URDF_NAME_SIZE];
        if (!xml_is(&r->x, "disable_collisions")) {
            pass_over(r, without_effect, "robot");
            continue;
        }
        if (!xml_get(&r->x, "link1", a, sizeof(a)) || !xml_get(&r->x, "link2", b, sizeof(b)))
            return fail(r, r->x.line, "<disable_collisions> lacks link1 or link2");
        uint32_t p = urdf_find_link(r->robot, a), q = urdf_find_link(r->robot, b);
        if (p == URDF_NONE || q == URDF_NONE)
            ++*foreign;
        else if (!visit(user, p, q))
            return no_memory(r);
    }
    return end_robot(r);
}

carom_status urdf_read_srdf(urdf *robot, const char *path, const char *text, size_t size,
                            urdf_pair_fn *visit, void *user, uint64_t *foreign) {
    reader *r = malloc(sizeof(*r));
    *foreign = 0;
    if (r == NULL) return CAROM_NO_MEMORY;
    *r = (reader){.robot = robot, .path = path};
    (void)read_srdf(r, text, size, visit, user, foreign);
    carom_status status = r->status;
    free(r);
    return status;
}
