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
#include "robot/robot_urdf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/math.h"
#include "geom/length.h"
#include "mesh/mesh_number.h"
#include "robot/robot_xml.h"

#define URDF_MOST_VALUE 1e100 /* of any number, so that products of a few are finite */
#define URDF_MOST_BYTES (UINT64_C(1) << 28) /* of a file: half a million links */
#define URDF_SHOWN      60                  /* bytes of a tag's name in a message */

/* A joint while names are not indices yet. */
typedef struct urdf_names {
    const char *parent, *child, *mimic; /* mimic NULL: it follows none */
    bool known;                         /* its value is final */
} urdf_names;

CAROM_ARRAY(urdf_names_list, urdf_names);

typedef struct urdf_reader {
    const carom_urdf_def *def;
    carom_urdf *robot;
    urdf_names_list names; /* of each joint */
    carom_xml x;
    const char *path; /* of the file that is read */
    carom_status status;
    char message[512];
} urdf_reader;

CAROM_PRINTF(3, 4)
static bool urdf_fail(urdf_reader *r, uint64_t line, const char *format, ...) {
    va_list arguments;
    if (r->status != CAROM_OK) return false;
    r->status = CAROM_BAD_FILE;
    int length = snprintf(r->message, sizeof(r->message), "%.200s:%llu: ", r->path,
                          (unsigned long long)line);
    va_start(arguments, format);
    (void)vsnprintf(r->message + length, sizeof(r->message) - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

static bool urdf_no_memory(urdf_reader *r) {
    if (r->status != CAROM_OK) return false;
    r->status = CAROM_NO_MEMORY;
    snprintf(r->message, sizeof(r->message), "%.200s: no memory for the robot", r->path);
    return false;
}

static const carom_pose urdf_identity = {.q = {1.0, 0.0, 0.0, 0.0}};

/* ---- Text ------------------------------------------------------------------------------------ */

/* A block of names. They stay where they are until the robot is destroyed. */
typedef struct carom_urdf_text {
    struct carom_urdf_text *next;
    size_t used, size;
    char bytes[];
} carom_urdf_text;

#define URDF_TEXT_BLOCK ((size_t)1 << 16)

const char *carom_urdf_keep(carom_urdf *urdf, const char *text) {
    size_t size = strlen(text) + 1;
    carom_urdf_text *block = urdf->texts;
    if (block == NULL || block->size - block->used < size) {
        size_t space = CAROM_MAX(size, URDF_TEXT_BLOCK);
        block = carom_allocate(&urdf->allocator, sizeof(*block) + space, 1);
        if (block == NULL) return NULL;
        *block = (carom_urdf_text){.next = urdf->texts, .size = space};
        urdf->texts = block;
    }
    char *to = block->bytes + block->used;
    memcpy(to, text, size);
    block->used += size;
    return to;
}

static const char *urdf_keep(urdf_reader *r, const char *text) {
    const char *kept = carom_urdf_keep(r->robot, text);
    if (kept == NULL) (void)urdf_no_memory(r);
    return kept;
}

static int urdf_shown(const carom_xml *x) {
    return (int)CAROM_MIN(x->name_size, (size_t)URDF_SHOWN);
}

/* The value of an attribute, "" where there is none; false when it is longer than `most`. */
static bool urdf_take_text(urdf_reader *r, const char *name, size_t most, const char **text) {
    char value[CAROM_URDF_PATH_SIZE];
    *text = "";
    if (!carom_xml_has(&r->x, name)) return true;
    if (!carom_xml_get(&r->x, name, value, sizeof(value)) || strlen(value) >= most)
        return urdf_fail(r, r->x.line, "the attribute %s is longer than %zu bytes; shorten it",
                         name, most - 1);
    *text = urdf_keep(r, value);
    return *text != NULL;
}

/* What xacro makes of "$(optenv NAME VALUE)" where the environment has no NAME: VALUE. Some
 * published robots are left so. Any other text is returned as it is. */
static char *urdf_default_of(char *text) {
    static const char start[] = "$(optenv ";
    size_t size = strlen(text);
    if (strncmp(text, start, sizeof(start) - 1) != 0 || text[size - 1] != ')') return text;
    text[size - 1] = '\0';
    text += sizeof(start) - 1;
    return text + strcspn(text, " ");
}

/* A number that a word ends after; NULL where there is none. */
static const char *urdf_number(const char *at, double *value) {
    at += strspn(at, " \t\r\n");
    const uint8_t *begin = (const uint8_t *)at, *end = begin + strlen(at);
    const uint8_t *after = carom_number_parse(begin, end, value);
    return after != NULL && fabs(*value) <= URDF_MOST_VALUE ? at + (after - begin) : NULL;
}

/* The numbers of an attribute. Those of one that is missing stay as they are where it may be
 * missing. */
static bool urdf_take_numbers(urdf_reader *r, const char *name, double *numbers, int count,
                              bool may_lack) {
    char text[512] = "";
    const carom_xml *x = &r->x;
    if (!carom_xml_has(x, name))
        return may_lack ||
               urdf_fail(r, x->line, "<%.*s> lacks its attribute %s", urdf_shown(x), x->name, name);
    const char *at = carom_xml_get(x, name, text, sizeof(text)) ? urdf_default_of(text) : NULL;
    for (int i = 0; i < count && at != NULL; ++i) {
        at = urdf_number(at, &numbers[i]);
        if (at != NULL && *at != '\0' && strchr(" \t\r\n", *at) == NULL) at = NULL;
    }
    if (at != NULL && at[strspn(at, " \t\r\n")] == '\0') return true;
    return urdf_fail(r, x->line, "the attribute %s of <%.*s> takes %d finite number%s%s", name,
                     urdf_shown(x), x->name, count, count == 1 ? "" : "s",
                     strchr(text, '$') != NULL ? "; run xacro first, which computes them" : "");
}

static bool urdf_take_vector(urdf_reader *r, const char *name, carom_vec3 *v) {
    double numbers[3] = {v->x, v->y, v->z};
    if (!urdf_take_numbers(r, name, numbers, 3, true)) return false;
    *v = carom_vec(numbers[0], numbers[1], numbers[2]);
    return true;
}

static bool urdf_take_origin(urdf_reader *r, carom_pose *pose) {
    carom_vec3 xyz = {0.0, 0.0, 0.0}, rpy = {0.0, 0.0, 0.0};
    if (!urdf_take_vector(r, "xyz", &xyz) || !urdf_take_vector(r, "rpy", &rpy)) return false;
    *pose = carom_pose_from_euler_value(rpy.x, rpy.y, rpy.z);
    pose->t = xyz;
    return true;
}

/* ---- Elements -------------------------------------------------------------------------------- */

/* The element whose children are read. */
typedef struct urdf_scope {
    size_t depth;
    bool is_empty;
} urdf_scope;

static urdf_scope urdf_enter(const urdf_reader *r) {
    return (urdf_scope){r->x.depth, r->x.closes};
}

/* Goes to the next child; false at the end of the element or after a failure. What is inside of a
 * child that was not entered is skipped. */
static bool urdf_next_child(urdf_reader *r, const urdf_scope *s) {
    carom_xml *x = &r->x;
    if (s->is_empty || r->status != CAROM_OK) return false;
    while (carom_xml_next(x)) {
        if (x->opens && x->depth == s->depth + 1) return true;
        if (!x->opens && x->depth == s->depth) return false;
    }
    return urdf_fail(r, x->error_line, "%s", x->error);
}

/* Counts an element that is not understood. */
static bool urdf_note_unknown(urdf_reader *r, const char *name, const char *inside) {
    carom_urdf *robot = r->robot;
    for (uint32_t i = 0; i < robot->unknown_count; ++i) {
        carom_urdf_unknown *u = &robot->unknown[i];
        bool is_rest = i + 1 == CAROM_URDF_MOST_UNKNOWN;
        if (!is_rest && (strcmp(u->name, name) != 0 || strcmp(u->inside, inside) != 0 ||
                         strcmp(u->file, r->path) != 0))
            continue;
        ++u->count;
        return true;
    }
    bool is_rest = robot->unknown_count + 1 == CAROM_URDF_MOST_UNKNOWN;
    carom_urdf_unknown u = {.file = urdf_keep(r, r->path),
                            .line = r->x.line,
                            .name = urdf_keep(r, is_rest ? "..." : name),
                            .inside = urdf_keep(r, is_rest ? "robot" : inside),
                            .count = 1};
    if (r->status != CAROM_OK) return false;
    robot->unknown[robot->unknown_count++] = u;
    return true;
}

/* Names an element that is none of those that have no effect on shapes. */
static bool urdf_pass_over(urdf_reader *r, const char *const *without_effect, const char *inside) {
    char name[URDF_SHOWN + 1];
    for (; *without_effect != NULL; ++without_effect)
        if (carom_xml_is(&r->x, *without_effect)) return true;
    snprintf(name, sizeof(name), "%.*s", urdf_shown(&r->x), r->x.name);
    return urdf_note_unknown(r, name, inside);
}

static bool urdf_is_size(urdf_reader *r, const double *n, int count) {
    for (int i = 0; i < count; ++i)
        if (!(n[i] >= 0.0))
            return urdf_fail(r, r->x.line, "a size of <%.*s> is negative", urdf_shown(&r->x),
                             r->x.name);
    return true;
}

/* A sphere, capsule or cylinder. */
static bool urdf_take_round(urdf_reader *r, carom_convex_kind kind, carom_convex *shape) {
    double n[2] = {0.0, 0.0};
    if (!urdf_take_numbers(r, "radius", n, 1, false) ||
        (kind != CAROM_CONVEX_KIND_SPHERE && !urdf_take_numbers(r, "length", n + 1, 1, false)) ||
        !urdf_is_size(r, n, 2))
        return false;
    *shape = (carom_convex){.kind = kind, .radius = n[0], .half_height = 0.5 * n[1]};
    return true;
}

/* One shape; *has_shape stays false where it is not understood. */
static bool urdf_take_shape(urdf_reader *r, carom_urdf_element *e, bool *has_shape) {
    static const char *const none[] = {NULL};
    const carom_xml *x = &r->x;
    double n[3] = {0.0, 0.0, 0.0};
    if (*has_shape)
        return urdf_fail(r, x->line,
                         "a geometry has a second shape; give it an element of its own");
    *has_shape = true;
    if (carom_xml_is(x, "mesh")) {
        if (!urdf_take_text(r, "filename", CAROM_URDF_PATH_SIZE, &e->file)) return false;
        if (*e->file == '\0') return urdf_fail(r, x->line, "<mesh> lacks its attribute filename");
        return urdf_take_vector(r, "scale", &e->scale);
    }
    if (carom_xml_is(x, "box")) {
        e->shape.kind = CAROM_CONVEX_KIND_BOX;
        if (!urdf_take_numbers(r, "size", n, 3, false) || !urdf_is_size(r, n, 3)) return false;
        e->shape.half = carom_vec(0.5 * n[0], 0.5 * n[1], 0.5 * n[2]);
        return true;
    }
    if (carom_xml_is(x, "sphere")) return urdf_take_round(r, CAROM_CONVEX_KIND_SPHERE, &e->shape);
    if (carom_xml_is(x, "capsule")) return urdf_take_round(r, CAROM_CONVEX_KIND_CAPSULE, &e->shape);
    if (carom_xml_is(x, "cylinder"))
        return urdf_take_round(r, CAROM_CONVEX_KIND_CYLINDER, &e->shape);
    *has_shape = false;
    return urdf_pass_over(r, none, "geometry");
}

/* A <collision> or <visual>; the tag is the current one. */
static bool urdf_take_element(urdf_reader *r, uint32_t link) {
    static const char *const without_effect[] = {"material", "verbose", NULL};
    carom_urdf *robot = r->robot;
    urdf_scope s = urdf_enter(r);
    size_t line = r->x.line;
    const char *kind = r->def->visual ? "visual" : "collision";
    bool has_geometry = false, has_shape = false;
    carom_urdf_element e = {.link = link, .origin = urdf_identity, .scale = {1.0, 1.0, 1.0}};
    if (!urdf_take_text(r, "name", CAROM_URDF_NAME_SIZE, &e.name)) return false;
    while (urdf_next_child(r, &s)) {
        if (carom_xml_is(&r->x, "origin")) {
            if (!urdf_take_origin(r, &e.origin)) return false;
        } else if (carom_xml_is(&r->x, "geometry")) {
            urdf_scope geometry = urdf_enter(r);
            has_geometry = true;
            while (urdf_next_child(r, &geometry))
                if (!urdf_take_shape(r, &e, &has_shape)) return false;
        } else if (!urdf_pass_over(r, without_effect, kind)) {
            return false;
        }
    }
    if (r->status != CAROM_OK) return false;
    if (!has_geometry) return urdf_fail(r, line, "a <%s> has no <geometry>", kind);
    if (!has_shape) return urdf_note_unknown(r, kind, "link");
    return carom_urdf_elements_push(&robot->elements, &robot->allocator, e) || urdf_no_memory(r);
}

static bool urdf_take_link(urdf_reader *r) {
    static const char *const without_effect[] = {"inertial", "visual", "collision", NULL};
    carom_urdf *robot = r->robot;
    urdf_scope s = urdf_enter(r);
    uint32_t number = (uint32_t)robot->links.count;
    carom_urdf_link link = {.line = r->x.line,
                            .first = (uint32_t)robot->elements.count,
                            .parent = CAROM_NONE,
                            .in_parent = urdf_identity,
                            .in_world = urdf_identity};
    if (!urdf_take_text(r, "name", CAROM_URDF_NAME_SIZE, &link.name)) return false;
    if (*link.name == '\0') return urdf_fail(r, link.line, "a link has no name");
    if (!carom_urdf_links_push(&robot->links, &robot->allocator, link)) return urdf_no_memory(r);
    while (urdf_next_child(r, &s)) {
        bool wanted = carom_xml_is(&r->x, r->def->visual ? "visual" : "collision");
        if (wanted ? !urdf_take_element(r, number) : !urdf_pass_over(r, without_effect, "link"))
            return false;
    }
    robot->links.data[number].count = (uint32_t)robot->elements.count - link.first;
    return r->status == CAROM_OK;
}

/* ---- Joints ---------------------------------------------------------------------------------- */

static bool urdf_take_type(urdf_reader *r, carom_urdf_joint *j) {
    const char *type;
    if (!urdf_take_text(r, "type", CAROM_URDF_NAME_SIZE, &type)) return false;
    if (strcmp(type, "floating") == 0 || strcmp(type, "planar") == 0 ||
        carom_robot_joint_kind_from_name(type, &j->kind))
        return true;
    char words[64];
    snprintf(words, sizeof(words), "joint type=\"%.40s\"", type);
    return urdf_note_unknown(r, words, "robot");
}

static bool urdf_take_mimic(urdf_reader *r, carom_urdf_joint *j, urdf_names *names) {
    j->multiplier = 1.0;
    j->offset = 0.0;
    if (!urdf_take_text(r, "joint", CAROM_URDF_NAME_SIZE, &names->mimic) ||
        !urdf_take_numbers(r, "multiplier", &j->multiplier, 1, true) ||
        !urdf_take_numbers(r, "offset", &j->offset, 1, true))
        return false;
    return *names->mimic != '\0' || urdf_fail(r, r->x.line, "<mimic> lacks its attribute joint");
}

static bool urdf_take_limit(urdf_reader *r, carom_urdf_joint *j) {
    if (!urdf_take_numbers(r, "lower", &j->lower, 1, true) ||
        !urdf_take_numbers(r, "upper", &j->upper, 1, true))
        return false;
    return j->lower <= j->upper ||
           urdf_fail(r, r->x.line,
                     "the joint '%.100s' has the limits %g and %g; lower must not be above upper",
                     j->name, j->lower, j->upper);
}

/* One child of a joint. */
static bool urdf_take_joint_part(urdf_reader *r, carom_urdf_joint *j, urdf_names *names) {
    static const char *const without_effect[] = {"dynamics", "calibration", "safety_controller",
                                                 NULL};
    const carom_xml *x = &r->x;
    if (carom_xml_is(x, "origin")) return urdf_take_origin(r, &j->origin);
    if (carom_xml_is(x, "axis")) return urdf_take_vector(r, "xyz", &j->axis);
    if (carom_xml_is(x, "parent"))
        return urdf_take_text(r, "link", CAROM_URDF_NAME_SIZE, &names->parent);
    if (carom_xml_is(x, "child"))
        return urdf_take_text(r, "link", CAROM_URDF_NAME_SIZE, &names->child);
    if (carom_xml_is(x, "mimic")) return urdf_take_mimic(r, j, names);
    if (carom_xml_is(x, "limit")) return urdf_take_limit(r, j);
    return urdf_pass_over(r, without_effect, "joint");
}

static bool urdf_take_joint(urdf_reader *r) {
    carom_urdf *robot = r->robot;
    urdf_scope s = urdf_enter(r);
    urdf_names names = {.parent = "", .child = ""};
    carom_urdf_joint j = {.origin = urdf_identity,
                          .axis = {1.0, 0.0, 0.0},
                          .line = r->x.line,
                          .mimic = CAROM_NONE,
                          .parent = CAROM_NONE,
                          .child = CAROM_NONE};
    if (!urdf_take_text(r, "name", CAROM_URDF_NAME_SIZE, &j.name) || !urdf_take_type(r, &j))
        return false;
    while (urdf_next_child(r, &s))
        if (!urdf_take_joint_part(r, &j, &names)) return false;
    if (r->status != CAROM_OK) return false;
    if (*names.parent == '\0' || *names.child == '\0')
        return urdf_fail(r, j.line, "a joint lacks its parent or its child");
    return (carom_urdf_joints_push(&robot->joints, &robot->allocator, j) &&
            urdf_names_list_push(&r->names, &robot->allocator, names)) ||
           urdf_no_memory(r);
}

/* ---- Names ----------------------------------------------------------------------------------- */

typedef struct urdf_named {
    const char *name;
    uint64_t line;
    uint32_t index;
} urdf_named;

static int urdf_compare_named(const void *a, const void *b) {
    const urdf_named *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    return order != 0 ? order : p->index < q->index ? -1 : p->index > q->index;
}

/* Sorts a list, which it frees, to indices by name; fails where two of them, which are links or
 * joints as `what` says, have one name. Joints may have none. */
static bool urdf_sort_names(urdf_reader *r, urdf_named *list, uint64_t count, const char *what,
                            uint32_t **by_name) {
    const carom_allocator *allocator = &r->robot->allocator;
    bool good = true;
    uint32_t *order = list != NULL ? carom_allocate(allocator, count + 1, sizeof(*order)) : NULL;
    *by_name = order;
    if (order == NULL) {
        carom_release(allocator, list);
        return urdf_no_memory(r);
    }
    if (count > 1) qsort(list, count, sizeof(*list), urdf_compare_named);
    for (uint64_t i = 0; i < count; ++i) order[i] = list[i].index;
    for (uint64_t i = 1; i < count && good; ++i) {
        const urdf_named *a = &list[i - 1], *b = &list[i];
        CAROM_ASSERT(urdf_compare_named(a, b) < 0);
        if (*a->name != '\0' && strcmp(a->name, b->name) == 0)
            good = urdf_fail(r, b->line, "the %s of line %llu is also called '%.100s'; rename one",
                             what, (unsigned long long)a->line, a->name);
    }
    carom_release(allocator, list);
    return good;
}

static urdf_named *urdf_name_list(urdf_reader *r, uint64_t count) {
    return carom_allocate(&r->robot->allocator, count + 1, sizeof(urdf_named));
}

static bool urdf_sort_links(urdf_reader *r) {
    const carom_urdf_link *links = r->robot->links.data;
    uint64_t count = r->robot->links.count;
    urdf_named *list = urdf_name_list(r, count);
    for (uint64_t i = 0; i < count && list != NULL; ++i)
        list[i] = (urdf_named){links[i].name, links[i].line, (uint32_t)i};
    return urdf_sort_names(r, list, count, "link", &r->robot->links_by_name);
}

static bool urdf_sort_joints(urdf_reader *r) {
    const carom_urdf_joint *joints = r->robot->joints.data;
    uint64_t count = r->robot->joints.count;
    urdf_named *list = urdf_name_list(r, count);
    for (uint64_t i = 0; i < count && list != NULL; ++i)
        list[i] = (urdf_named){joints[i].name, joints[i].line, (uint32_t)i};
    return urdf_sort_names(r, list, count, "joint", &r->robot->joints_by_name);
}

static const char *urdf_name_of(const carom_urdf *urdf, bool joint, uint32_t index) {
    return joint ? urdf->joints.data[index].name : urdf->links.data[index].name;
}

/* The joint or link of a name; none is called "". */
static uint32_t urdf_find(carom_urdf *urdf, bool joint, const char *name) {
    const uint32_t *by_name = joint ? urdf->joints_by_name : urdf->links_by_name;
    uint64_t low = 0, high = joint ? urdf->joints.count : urdf->links.count;
    while (low < high && *name != '\0') {
        uint64_t middle = low + (high - low) / 2;
        int order = strcmp(urdf_name_of(urdf, joint, by_name[middle]), name);
        ++urdf->comparisons;
        if (order == 0) return by_name[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return CAROM_NONE;
}

uint32_t carom_urdf_find_link(carom_urdf *urdf, const char *name) {
    return urdf_find(urdf, false, name);
}

static uint32_t urdf_find_joint(carom_urdf *robot, const char *name) {
    return urdf_find(robot, true, name);
}

/* ---- Values of joints ------------------------------------------------------------------------ */

CAROM_PRINTF(3, 4)
static bool urdf_refuse_joint(urdf_reader *r, const char *text, const char *format, ...) {
    va_list arguments;
    size_t shown = CAROM_MIN(strcspn(text, ","), (size_t)150);
    int length = snprintf(r->message, sizeof(r->message), "joints: '%.*s' ", (int)shown, text);
    va_start(arguments, format);
    (void)vsnprintf(r->message + length, sizeof(r->message) - (size_t)length, format, arguments);
    va_end(arguments);
    r->status = CAROM_BAD_INPUT;
    return false;
}

/* NAME=VALUE,NAME=VALUE ... A name twice is refused. */
static bool urdf_set_joints(urdf_reader *r, const char *text) {
    carom_urdf *robot = r->robot;
    while (text != NULL && *text != '\0') {
        char name[CAROM_URDF_NAME_SIZE] = "";
        const char *equals = strchr(text, '=');
        double value = 0.0;
        const char *end = equals != NULL ? urdf_number(equals + 1, &value) : NULL;
        bool good =
            end != NULL && (*end == ',' || *end == '\0') && (size_t)(equals - text) < sizeof(name);
        if (good) memcpy(name, text, (size_t)(equals - text));
        uint32_t index = good ? urdf_find_joint(robot, name) : CAROM_NONE;
        if (index == CAROM_NONE)
            return urdf_refuse_joint(r, text, "is not NAME=VALUE of a joint of %.200s", r->path);
        carom_urdf_joint *joint = &robot->joints.data[index];
        if (r->names.data[index].mimic != NULL)
            return urdf_refuse_joint(r, text, "follows the joint '%.150s'; set that one",
                                     r->names.data[index].mimic);
        if (joint->kind == CAROM_ROBOT_JOINT_KIND_FIXED)
            return urdf_refuse_joint(r, text, "is a joint that does not move by one value");
        if (r->names.data[index].known)
            return urdf_refuse_joint(r, text, "sets a joint for the second time; give it once");
        r->names.data[index].known = true;
        joint->value = value;
        text = *end == ',' ? end + 1 : end;
    }
    return true;
}

/* Gives a joint that follows others its value: to the end of the chain, and back. */
static bool urdf_follow(urdf_reader *r, uint32_t first, uint32_t *chain) {
    carom_urdf *robot = r->robot;
    carom_urdf_joint *joints = robot->joints.data;
    uint64_t count = 0;
    for (uint32_t at = first; !r->names.data[at].known;) {
        carom_urdf_joint *j = &joints[at];
        if (count == robot->joints.count)
            return urdf_fail(r, joints[first].line,
                             "the joint '%.100s' follows others in a circle; remove a <mimic>",
                             joints[first].name);
        chain[count++] = at;
        j->mimic = urdf_find_joint(robot, r->names.data[at].mimic);
        if (j->mimic == CAROM_NONE)
            return urdf_fail(r, j->line, "the joint '%.100s' follows '%.100s', which is not there",
                             j->name, r->names.data[at].mimic);
        at = j->mimic;
    }
    while (count-- > 0) {
        carom_urdf_joint *j = &joints[chain[count]];
        j->value = j->multiplier * joints[j->mimic].value + j->offset;
        r->names.data[chain[count]].known = true;
        if (!(fabs(j->value) <= URDF_MOST_VALUE))
            return urdf_fail(r, j->line, "the value of the joint '%.100s' is beyond 1e100",
                             j->name);
    }
    return true;
}

static bool urdf_follow_all(urdf_reader *r) {
    const carom_urdf *robot = r->robot;
    uint64_t count = robot->joints.count;
    bool good = true;
    uint32_t *chain = carom_allocate(&robot->allocator, count + 1, sizeof(*chain));
    if (chain == NULL) return urdf_no_memory(r);
    for (uint64_t i = 0; i < count; ++i) r->names.data[i].known = r->names.data[i].mimic == NULL;
    for (uint64_t i = 0; i < count && good; ++i) good = urdf_follow(r, (uint32_t)i, chain);
    carom_release(&robot->allocator, chain);
    return good;
}

/* ---- Poses of links -------------------------------------------------------------------------- */

/* The pose of a joint's child in its parent. */
static bool urdf_pose_of(urdf_reader *r, const carom_urdf_joint *j, carom_pose *pose) {
    carom_pose motion = urdf_identity;
    *pose = j->origin;
    if (j->kind == CAROM_ROBOT_JOINT_KIND_FIXED || j->value == 0.0) return true;
    if (!(carom_vec_largest(j->axis) > 0.0))
        return urdf_fail(r, j->line, "the joint '%.100s' moves, and its axis has no length",
                         j->name);
    if (j->kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC)
        motion.t = carom_vec_scale(carom_vec_unit(j->axis), j->value);
    else
        motion = carom_pose_from_axis_angle_value(&j->axis, j->value);
    *pose = carom_pose_compose_value(&j->origin, &motion);
    return true;
}

static bool urdf_connect(urdf_reader *r) {
    carom_urdf *robot = r->robot;
    for (uint64_t i = 0; i < robot->joints.count; ++i) {
        carom_urdf_joint *j = &robot->joints.data[i];
        const urdf_names *names = &r->names.data[i];
        j->parent = carom_urdf_find_link(robot, names->parent);
        j->child = carom_urdf_find_link(robot, names->child);
        if (j->parent == CAROM_NONE || j->child == CAROM_NONE)
            return urdf_fail(r, j->line, "a joint names a link that is not there: '%.100s'",
                             j->parent == CAROM_NONE ? names->parent : names->child);
        carom_urdf_link *child = &robot->links.data[j->child];
        if (child->parent != CAROM_NONE)
            return urdf_fail(r, j->line, "the link '%.100s' is the child of two joints",
                             names->child);
        child->parent = j->parent;
        if (!urdf_pose_of(r, j, &child->in_parent)) return false;
    }
    return true;
}

/* Products of thousands of rotations drift from length 1. */
static carom_quat urdf_normalised(carom_quat q) {
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return (carom_quat){q.w / length, q.x / length, q.y / length, q.z / length};
}

/* Poses in the world: up to a link that has one, and back, so that each is computed once. */
static bool urdf_pose_links(urdf_reader *r) {
    carom_urdf *robot = r->robot;
    carom_urdf_link *links = robot->links.data;
    uint64_t count = robot->links.count, depth = 0;
    uint32_t *path = carom_allocate(&robot->allocator, count + 1, sizeof(*path));
    bool *posed = carom_allocate(&robot->allocator, count + 1, sizeof(*posed));
    bool good = path != NULL && posed != NULL;
    if (!good)
        (void)urdf_no_memory(r);
    else
        memset(posed, 0, count + 1);
    for (uint64_t i = 0; i < count && good; ++i) {
        for (uint32_t at = (uint32_t)i; at != CAROM_NONE && !posed[at]; at = links[at].parent) {
            if (depth == count) {
                good = urdf_fail(r, links[i].line,
                                 "the joints above the link '%.100s' form a circle", links[i].name);
                break;
            }
            path[depth++] = at;
        }
        for (; depth > 0 && good; --depth) {
            carom_urdf_link *link = &links[path[depth - 1]];
            const carom_urdf_link *above = link->parent != CAROM_NONE ? &links[link->parent] : NULL;
            posed[path[depth - 1]] = true;
            if (above == NULL) continue;
            link->in_world = carom_pose_compose_value(&above->in_world, &link->in_parent);
            link->in_world.q = urdf_normalised(link->in_world.q);
        }
    }
    CAROM_RELEASE_ALL(&robot->allocator, path, posed);
    return good;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* Begins a text whose root must be <robot>. */
static bool urdf_begin_robot(urdf_reader *r, const void *text, uint64_t size, urdf_scope *root) {
    carom_xml_begin(&r->x, text, (size_t)size);
    if (!carom_xml_next(&r->x)) return urdf_fail(r, r->x.error_line, "%s", r->x.error);
    *root = urdf_enter(r);
    return carom_xml_is(&r->x, "robot") ||
           urdf_fail(r, r->x.line, "the root element is not <robot>");
}

/* What follows the root must be nothing. */
static bool urdf_end_robot(urdf_reader *r) {
    if (r->status != CAROM_OK) return false;
    while (carom_xml_next(&r->x)) continue;
    return *r->x.error == '\0' || urdf_fail(r, r->x.error_line, "%s", r->x.error);
}

static bool urdf_read_robot(urdf_reader *r, const void *text, uint64_t size) {
    static const char *const without_effect[] = {"material", "transmission", "gazebo",
                                                 "sensor",   "ros2_control", NULL};
    urdf_scope root = {0};
    if (!urdf_begin_robot(r, text, size, &root)) return false;
    while (urdf_next_child(r, &root)) {
        if (carom_xml_is(&r->x, "link"))
            (void)urdf_take_link(r);
        else if (carom_xml_is(&r->x, "joint"))
            (void)urdf_take_joint(r);
        else
            (void)urdf_pass_over(r, without_effect, "robot");
    }
    return urdf_end_robot(r) && urdf_sort_links(r) && urdf_sort_joints(r) &&
           urdf_set_joints(r, r->def->joints) && urdf_follow_all(r) && urdf_connect(r) &&
           urdf_pose_links(r);
}

static bool urdf_read_srdf(urdf_reader *r, const void *text, uint64_t size, carom_urdf_pairs *pairs,
                           uint64_t *foreign) {
    static const char *const without_effect[] = {"group",
                                                 "group_state",
                                                 "end_effector",
                                                 "virtual_joint",
                                                 "passive_joint",
                                                 "joint_property",
                                                 "link_sphere_approximation",
                                                 NULL};
    urdf_scope root = {0};
    if (!urdf_begin_robot(r, text, size, &root)) return false;
    while (urdf_next_child(r, &root)) {
        char a[CAROM_URDF_NAME_SIZE], b[CAROM_URDF_NAME_SIZE];
        if (!carom_xml_is(&r->x, "disable_collisions")) {
            (void)urdf_pass_over(r, without_effect, "robot");
            continue;
        }
        if (!carom_xml_get(&r->x, "link1", a, sizeof(a)) ||
            !carom_xml_get(&r->x, "link2", b, sizeof(b)))
            return urdf_fail(r, r->x.line, "<disable_collisions> lacks link1 or link2");
        uint32_t p = carom_urdf_find_link(r->robot, a), q = carom_urdf_find_link(r->robot, b);
        if (p == CAROM_NONE || q == CAROM_NONE)
            ++*foreign;
        else if (!carom_urdf_pairs_push(pairs, &r->robot->allocator, (carom_pair){p, q}))
            return urdf_no_memory(r);
    }
    return urdf_end_robot(r);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static carom_status urdf_begin(carom_context *context, carom_urdf *robot, const char *path,
                               const carom_urdf_def *def, urdf_reader **reader) {
    *reader = carom_allocate(&context->allocator, 1, sizeof(**reader));
    if (*reader == NULL) return carom_fail_memory(context, sizeof(**reader), "reading a robot");
    memset(*reader, 0, sizeof(**reader));
    (*reader)->robot = robot;
    (*reader)->def = def;
    (*reader)->path = path;
    return CAROM_OK;
}

/* Passes a failure on, and frees the reader. */
static carom_status urdf_end(carom_context *context, urdf_reader *r) {
    carom_status status = r->status;
    if (status != CAROM_OK) (void)carom_fail(context, status, "%s", r->message);
    urdf_names_list_release(&r->names, &context->allocator);
    carom_release(&context->allocator, r);
    return status;
}

static carom_status urdf_check_size(carom_context *context, uint64_t size, const char *name) {
    if (size <= URDF_MOST_BYTES) return CAROM_OK;
    return carom_fail(context, CAROM_TOO_LARGE, "%s: has more than 2^28 bytes", name);
}

/* Copies a text of the def; NULL stays NULL. */
static bool urdf_copy(carom_urdf *urdf, const char *text, const char **copy) {
    *copy = text != NULL ? carom_urdf_keep(urdf, text) : NULL;
    return text == NULL || *copy != NULL;
}

static carom_status urdf_make(carom_context *context, const void *bytes, uint64_t size,
                              const char *path, const carom_urdf_def *def, carom_urdf **urdf) {
    const carom_urdf_def none = {0};
    urdf_reader *reader;
    if (def == NULL) def = &none;
    CAROM_TRY(urdf_check_size(context, size, path != NULL ? path : "robot"));
    carom_urdf *made = carom_allocate(&context->allocator, 1, sizeof(*made));
    if (made == NULL) return carom_fail_memory(context, sizeof(*made), "a robot");
    memset(made, 0, sizeof(*made));
    made->allocator = context->allocator;
    bool kept = urdf_copy(made, path, &made->path) &&
                urdf_copy(made, def->packages, &made->packages) &&
                urdf_copy(made, def->package_path, &made->package_path) &&
                urdf_copy(made, def->prefix_path, &made->prefix_path);
    carom_status status =
        !kept ? carom_fail_memory(context, 0, "a robot")
              : urdf_begin(context, made, path != NULL ? path : "robot", def, &reader);
    if (status == CAROM_OK) {
        (void)urdf_read_robot(reader, bytes, size);
        status = urdf_end(context, reader);
    }
    if (status == CAROM_OK)
        *urdf = made;
    else
        carom_urdf_destroy(made);
    return status;
}

carom_status carom_urdf_load(carom_context *context, const char *path, const carom_urdf_def *def,
                             carom_urdf **urdf) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(urdf, "urdf");
    *urdf = NULL;
    CAROM_REQUIRE_INPUT(path, "path");
    uint8_t *bytes = NULL;
    uint64_t size;
    CAROM_TRY(carom_file_read(context, path, &bytes, &size));
    carom_status status = urdf_make(context, bytes, size, path, def, urdf);
    carom_release(&context->allocator, bytes);
    return status;
}

carom_status carom_urdf_load_memory(carom_context *context, const void *bytes, uint64_t size,
                                    const char *name, const carom_urdf_def *def,
                                    carom_urdf **urdf) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(urdf, "urdf");
    *urdf = NULL;
    CAROM_REQUIRE(bytes != NULL, CAROM_ARE_NULL("bytes"));
    return urdf_make(context, bytes, size, name, def, urdf);
}

void carom_urdf_destroy(carom_urdf *urdf) {
    if (urdf == NULL) return;
    carom_allocator allocator = urdf->allocator;
    for (carom_urdf_text *block = urdf->texts; block != NULL;) {
        carom_urdf_text *next = block->next;
        carom_release(&allocator, block);
        block = next;
    }
    carom_urdf_links_release(&urdf->links, &allocator);
    carom_urdf_elements_release(&urdf->elements, &allocator);
    carom_urdf_joints_release(&urdf->joints, &allocator);
    carom_urdf_pairs_release(&urdf->disabled, &allocator);
    CAROM_RELEASE_ALL(&allocator, urdf->links_by_name, urdf->joints_by_name, urdf);
}

/* Pairs are added at the end, so that a failure adds none. */
static carom_status urdf_add_srdf(carom_context *context, carom_urdf *urdf, const void *bytes,
                                  uint64_t size, const char *path) {
    carom_urdf_pairs pairs = {0};
    urdf_reader *reader;
    uint64_t foreign = 0;
    uint32_t unknown = urdf->unknown_count;
    CAROM_TRY(urdf_check_size(context, size, path));
    CAROM_TRY(urdf_begin(context, urdf, path, NULL, &reader));
    if (urdf_read_srdf(reader, bytes, size, &pairs, &foreign) &&
        !carom_urdf_pairs_reserve(&urdf->disabled, &urdf->allocator,
                                  urdf->disabled.count + pairs.count))
        (void)urdf_no_memory(reader);
    carom_status status = urdf_end(context, reader);
    for (uint64_t i = 0; i < pairs.count && status == CAROM_OK; ++i)
        urdf->disabled.data[urdf->disabled.count++] = pairs.data[i];
    if (status == CAROM_OK) urdf->foreign += foreign;
    if (status != CAROM_OK) urdf->unknown_count = unknown;
    carom_urdf_pairs_release(&pairs, &urdf->allocator);
    return status;
}

carom_status carom_urdf_load_srdf(carom_context *context, carom_urdf *urdf, const char *path) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(urdf, "urdf");
    CAROM_REQUIRE_INPUT(path, "path");
    uint8_t *bytes = NULL;
    uint64_t size;
    CAROM_TRY(carom_file_read(context, path, &bytes, &size));
    carom_status status = urdf_add_srdf(context, urdf, bytes, size, path);
    carom_release(&context->allocator, bytes);
    return status;
}

carom_status carom_urdf_load_srdf_memory(carom_context *context, carom_urdf *urdf,
                                         const void *bytes, uint64_t size, const char *name) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(urdf, "urdf");
    CAROM_REQUIRE(bytes != NULL, CAROM_ARE_NULL("bytes"));
    return urdf_add_srdf(context, urdf, bytes, size, name != NULL ? name : "srdf");
}

carom_status carom_urdf_get_view(const carom_urdf *urdf, carom_urdf_view *view) {
    CAROM_REQUIRE_INPUT(urdf, "urdf");
    CAROM_REQUIRE_OUTPUT(view, "view");
    *view = (carom_urdf_view){.links = urdf->links.data,
                              .elements = urdf->elements.data,
                              .joints = urdf->joints.data,
                              .disabled = urdf->disabled.data,
                              .unknown = urdf->unknown,
                              .link_count = (uint32_t)urdf->links.count,
                              .element_count = (uint32_t)urdf->elements.count,
                              .joint_count = (uint32_t)urdf->joints.count,
                              .unknown_count = urdf->unknown_count,
                              .disabled_count = urdf->disabled.count,
                              .foreign_count = urdf->foreign};
    return CAROM_OK;
}
