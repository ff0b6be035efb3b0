/* SPDX-License-Identifier: MIT */
/* Seeded cases at all scales. Every mesh is made of small integers first, so that corners, edges
 * and planes coincide all the time, then moved and scaled without rounding. */
#include "tests/support/scale_case.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"

#define MOST_DESCRIBED 2u /* of a class of failures */
#define MOST_CLASSES   64

/* ---- running --------------------------------------------------------------------------------- */

/* What went wrong, by the message that says so. */
static struct {
    const char *format;
    uint64_t count;
} classes[MOST_CLASSES];

/* How often it did before. */
static uint64_t count_class(const char *format) {
    for (int i = 0; i < MOST_CLASSES; ++i) {
        if (classes[i].format == NULL) classes[i].format = format;
        if (classes[i].format == format) return classes[i].count++;
    }
    return MOST_DESCRIBED;
}

bool scale_expect(scale_case *c, bool holds, const char *format, ...) {
    ++c->checks;
    if (holds) return true;
    if (!c->failed) ++c->wrong;
    if (count_class(format) < MOST_DESCRIBED) {
        va_list arguments;
        va_start(arguments, format);
        printf("CAROM_CASE=%s:%" PRIu64 "  ", c->property, c->number);
        vprintf(format, arguments);
        printf("\n");
        va_end(arguments);
    }
    c->failed = true;
    return false;
}

bool scale_expect_ok(scale_case *c, carom_status status, const char *call) {
    return scale_expect(c, status == CAROM_OK, "%.40s: %s: %s", call, carom_status_name(status),
                        carom_context_message(c->context));
}

bool scale_replays(void) {
    return getenv("CAROM_CASE") != NULL;
}

void scale_print_mesh(const char *name, const carom_mesh_view *view, const carom_pose *pose) {
    const carom_vec3 *p = view->positions;
    printf("# %s", name);
    if (pose != NULL)
        printf(", pose %a %a %a %a, %a %a %a", pose->q.w, pose->q.x, pose->q.y, pose->q.z,
               pose->t.x, pose->t.y, pose->t.z);
    printf("\n");
    for (uint64_t i = 0; i < view->vertex_count; ++i)
        printf("v %a %a %a\n", p[i].x, p[i].y, p[i].z);
    for (uint64_t i = 0; i < view->face_count; ++i)
        printf("f %u %u %u\n", view->corners[3 * i] + 1, view->corners[3 * i + 1] + 1,
               view->corners[3 * i + 2] + 1);
}

static void run_one(scale_case *c, scale_property_fn *run, uint64_t number) {
    c->number = number;
    c->failed = false;
    c->random.state = 0;
    for (const char *p = c->property; *p != '\0'; ++p)
        c->random.state = c->random.state * 131 + (unsigned char)*p;
    c->random.state += number * UINT64_C(0x9e3779b97f4a7c15);
    c->random.state = carom_random_next(&c->random);
    number_reset();
    run(c);
}

void scale_run(const char *property, scale_property_fn *run, uint64_t cases, uint64_t longer) {
    const char *only = getenv("CAROM_CASE");
    scale_case c = {.context = test_context(1), .property = property};
    uint64_t total = campaign_is_long() ? cases * longer : TEST_CASES(cases), done = 0;
    memset(classes, 0, sizeof(classes));
    if (only != NULL) {
        size_t length = strlen(property);
        if (strncmp(only, property, length) == 0 && only[length] == ':')
            run_one(&c, run, strtoull(only + length + 1, NULL, 10));
    } else {
        for (uint64_t i = 0; i < total; ++i) {
            if (campaign_is_long() && !campaign_has(i)) continue;
            run_one(&c, run, i);
            ++done;
        }
    }
    printf("%s: %" PRIu64 " cases, %" PRIu64 " checks, %" PRIu64 " cases wrong\n", property, done,
           c.checks, c.wrong);
    for (int i = 0; i < MOST_CLASSES && classes[i].format != NULL; ++i)
        printf("    %" PRIu64 " times: %.60s\n", classes[i].count, classes[i].format);
    carom_context_destroy(c.context);
    if (c.wrong != 0) fail_msg("%s: %" PRIu64 " of %" PRIu64 " wrong", property, c.wrong, done);
}

/* ---- random choices -------------------------------------------------------------------------- */

uint32_t scale_below(scale_case *c, uint32_t n) {
    return (uint32_t)(carom_random_next(&c->random) % n);
}

int scale_between(scale_case *c, int low, int high) {
    if (low > high) abort(); /* a bug in the test */
    return low + (int)scale_below(c, (uint32_t)(high - low + 1));
}

bool scale_one_in(scale_case *c, uint32_t n) {
    return scale_below(c, n) == 0;
}

int scale_exponent(scale_case *c, int low, int high) {
    switch (scale_below(c, 8)) {
    case 0:
        return low + (int)scale_below(c, 4);
    case 1:
        return high - (int)scale_below(c, 4);
    case 2:
        if (low <= -4 && high >= 4) return scale_between(c, -4, 4);
        break;
    default:
        break;
    }
    return scale_between(c, low, high);
}

/* ---- making ---------------------------------------------------------------------------------- */

carom_mesh_view scale_view(const scale_soup *soup) {
    return (carom_mesh_view){.positions = soup->position,
                             .vertex_count = soup->vertices,
                             .corners = soup->corners,
                             .face_count = soup->faces};
}

void scale_corners(const scale_soup *soup, uint32_t face, carom_vec3 corner[3]) {
    for (int i = 0; i < 3; ++i) corner[i] = soup->position[soup->corners[3 * face + i]];
}

static carom_vec3 lattice_point(scale_case *c, int reach) {
    carom_vec3 p;
    p.x = scale_between(c, -reach, reach);
    p.y = scale_between(c, -reach, reach);
    p.z = scale_between(c, -reach, reach);
    return p;
}

static void add_face(scale_soup *soup, carom_vec3 a, carom_vec3 b, carom_vec3 d) {
    uint32_t v = soup->vertices, f = 3 * soup->faces++;
    soup->position[v] = a;
    soup->position[v + 1] = b;
    soup->position[v + 2] = d;
    for (uint32_t i = 0; i < 3; ++i) soup->corners[f + i] = v + i;
    soup->vertices += 3;
}

/* Corners from a few common vertices, or each its own. */
static void make_lattice(scale_case *c, uint32_t faces, int reach, scale_soup *soup) {
    soup->kind = "lattice";
    if (scale_one_in(c, 2)) {
        for (uint32_t i = 0; i < faces; ++i)
            add_face(soup, lattice_point(c, reach), lattice_point(c, reach),
                     lattice_point(c, reach));
        return;
    }
    soup->kind = "shared";
    soup->faces = faces;
    soup->vertices = 4 + scale_below(c, faces + 1);
    for (uint32_t i = 0; i < soup->vertices; ++i) soup->position[i] = lattice_point(c, reach);
    for (uint32_t i = 0; i < 3 * faces; ++i) soup->corners[i] = scale_below(c, soup->vertices);
}

static double whole(double x) {
    return floor(x + 0.5);
}

/* Two far corners and one within a unit or so of their line; or two that are close together. */
static void make_thin(scale_case *c, uint32_t faces, scale_soup *soup) {
    soup->kind = "thin";
    for (uint32_t i = 0; i < faces; ++i) {
        int reach = 1 << scale_between(c, 2, 25);
        carom_vec3 a = lattice_point(c, reach), b = lattice_point(c, reach), d;
        double share = carom_random_uniform(&c->random);
        if (scale_one_in(c, 3)) share = 0.0;
        d.x = whole(a.x + share * (b.x - a.x)) + scale_between(c, -1, 1);
        d.y = whole(a.y + share * (b.y - a.y)) + scale_between(c, -1, 1);
        d.z = whole(a.z + share * (b.z - a.z)) + scale_between(c, -1, 1);
        add_face(soup, a, b, d);
    }
}

static void make_plates(scale_case *c, uint32_t faces, scale_soup *soup) {
    make_lattice(c, faces, 4, soup);
    soup->kind = "plates";
    int k = scale_between(c, 1, 30), axis = (int)scale_below(c, 3);
    for (uint32_t i = 0; i < soup->vertices; ++i) {
        carom_vec3 *p = &soup->position[i];
        if (axis != 0) p->x = ldexp(p->x, k);
        if (axis != 1) p->y = ldexp(p->y, k);
        if (axis != 2) p->z = ldexp(p->z, k);
    }
}

static void make_box(scale_case *c, scale_soup *soup) {
    static const uint32_t corners[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    carom_vec3 low = lattice_point(c, 4), high = low;
    soup->kind = "box";
    high.x += scale_between(c, 1, 4);
    high.y += scale_between(c, 1, 4);
    high.z += scale_between(c, 1, 4);
    soup->vertices = 8;
    soup->faces = 12;
    for (uint32_t i = 0; i < 8; ++i)
        soup->position[i] =
            (carom_vec3){(i & 1) != 0 ? high.x : low.x, (i & 2) != 0 ? high.y : low.y,
                         (i & 4) != 0 ? high.z : low.z};
    memcpy(soup->corners, corners, sizeof(corners));
}

/* Each face has a size of its own, up to 2^60 times another's, about the origin. */
static void make_ratio(scale_case *c, uint32_t faces, scale_soup *soup) {
    int most = scale_between(c, 1, 60);
    soup->kind = "ratio";
    for (uint32_t i = 0; i < faces; ++i) {
        int k = scale_one_in(c, 2) ? 0 : scale_between(c, 0, most);
        add_face(soup, scale_vec(lattice_point(c, 3), k), scale_vec(lattice_point(c, 3), k),
                 scale_vec(lattice_point(c, 3), k));
    }
}

static carom_vec3 any_point(scale_case *c) {
    return (carom_vec3){carom_random_between(&c->random, -1.0, 1.0),
                        carom_random_between(&c->random, -1.0, 1.0),
                        carom_random_between(&c->random, -1.0, 1.0)};
}

/* Any doubles; some faces within rounding of a line. */
static void make_random(scale_case *c, uint32_t faces, scale_soup *soup) {
    soup->kind = "random";
    for (uint32_t i = 0; i < faces; ++i) {
        carom_vec3 a = any_point(c), b = any_point(c), d = any_point(c);
        if (scale_one_in(c, 2)) {
            double s = carom_random_uniform(&c->random);
            d = (carom_vec3){a.x + s * (b.x - a.x), a.y + s * (b.y - a.y), a.z + s * (b.z - a.z)};
        }
        add_face(soup, a, b, d);
    }
}

void scale_make_soup(scale_case *c, uint32_t most_faces, scale_soup *soup) {
    uint32_t faces = 1 + scale_below(c, most_faces);
    *soup = (scale_soup){.unit = 0};
    switch (scale_below(c, 8)) {
    default:
        make_lattice(c, faces, scale_between(c, 1, 5), soup);
        break;
    case 3:
        make_thin(c, faces, soup);
        break;
    case 4:
        make_plates(c, faces, soup);
        break;
    case 5:
        if (most_faces >= 12)
            make_box(c, soup);
        else
            make_lattice(c, faces, 2, soup);
        break;
    case 6:
        make_ratio(c, faces, soup);
        break;
    case 7:
        make_random(c, faces, soup);
        break;
    }
    for (uint32_t i = 0; i < soup->vertices; ++i) {
        const carom_vec3 *p = &soup->position[i];
        soup->reach = fmax(soup->reach, fmax(fabs(p->x), fmax(fabs(p->y), fabs(p->z))));
    }
}

/* ---- moving ---------------------------------------------------------------------------------- */

carom_vec3 scale_vec(carom_vec3 v, int k) {
    return (carom_vec3){ldexp(v.x, k), ldexp(v.y, k), ldexp(v.z, k)};
}

bool scale_vec_exact(carom_vec3 v, int k) {
    carom_vec3 w = scale_vec(v, k);
    if (!(fabs(w.x) <= 0x1p1010 && fabs(w.y) <= 0x1p1010 && fabs(w.z) <= 0x1p1010)) return false;
    return ldexp(w.x, -k) == v.x && ldexp(w.y, -k) == v.y && ldexp(w.z, -k) == v.z;
}

static bool sum_exact(double a, double b) {
    double s = a + b;
    return s - a == b && s - b == a && fabs(s) <= 0x1p1010;
}

bool scale_offset(scale_soup *soup, carom_vec3 by) {
    for (uint32_t i = 0; i < soup->vertices; ++i) {
        const carom_vec3 *p = &soup->position[i];
        if (!sum_exact(p->x, by.x) || !sum_exact(p->y, by.y) || !sum_exact(p->z, by.z))
            return false;
    }
    for (uint32_t i = 0; i < soup->vertices; ++i) {
        carom_vec3 *p = &soup->position[i];
        *p = (carom_vec3){p->x + by.x, p->y + by.y, p->z + by.z};
    }
    return true;
}

bool scale_by_power(scale_soup *soup, int k) {
    for (uint32_t i = 0; i < soup->vertices; ++i)
        if (!scale_vec_exact(soup->position[i], k)) return false;
    for (uint32_t i = 0; i < soup->vertices; ++i)
        soup->position[i] = scale_vec(soup->position[i], k);
    soup->unit += k;
    return true;
}

void scale_move_soup(scale_case *c, scale_soup *soup) {
    if (scale_one_in(c, 3)) {
        int far = ilogb(soup->reach > 0.0 ? soup->reach : 1.0) + scale_between(c, 0, 50);
        while (far > 0 && !scale_offset(soup, scale_vec(lattice_point(c, 2), far))) --far;
    }
    for (int attempt = 0; attempt < 20; ++attempt)
        if (scale_by_power(soup, scale_exponent(c, -1074, 1000))) break;
}
