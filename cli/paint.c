/* SPDX-License-Identifier: MIT */
/* The painter: a z-buffer of samples, several per pixel, in parallel projection. Two lights and the
 * sky light triangles, smoothly where their edges are not sharp; spheres and segments are drawn as
 * such. What is see-through goes
 * to a layer of its own, of which the nearest is kept. At the end samples that lie behind their
 * surroundings are darkened (Luft, Colditz, Deussen 2006: Image enhancement by unsharp masking the
 * depth buffer), and the samples of a pixel are averaged. */
#include "cli/paint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/pose.h"

#define MARGIN       1.06    /* of the picture around what it shows */
#define FEW_PIXELS   300000u /* pictures with at most so many have more samples per pixel */
#define LINE_WIDTH   1.1     /* half of it, in pixels of a picture 1000 high */
#define POINT_SIZE   3.0     /* radius, in the same */
#define OVERLAY_LIFT 2e-4    /* of the size of the picture, towards the eye */
#define LINE_LIFT    6e-4
#define ARROW_LIFT   10.0 /* in front of all else */
#define ARROW_LENGTH 0.28 /* of the longest arrow, in sizes of the picture */
#define BLUR         0.02 /* radius of the surroundings, in heights of the picture */
#define DARKENING    6.0  /* how fast it grows with depth, in sizes of the picture */
#define MOST_DARK    0.45
#define BACKGROUND   250u

typedef struct vec2 {
    double x, y;
} vec2;

typedef struct layer {
    float *depth; /* growing away from the eye; INFINITY: nothing */
    uint8_t (*colour)[4];
} layer;

typedef struct painter {
    const display *d;
    uint32_t width, height, samples; /* of the z-buffer; per pixel and axis */
    carom_vec3 right, up, eye;       /* unit vectors */
    carom_vec3 middle;
    double scale;         /* samples per unit of length */
    double size;          /* of what is seen, in units of length */
    double arrow_scale;   /* of vectors */
    layer solid, through; /* what is see-through has its own */
    bool no_memory;
} painter;

static double dot(carom_vec3 a, carom_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static carom_vec3 cross(carom_vec3 a, carom_vec3 b) {
    return (carom_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static carom_vec3 minus(carom_vec3 a, carom_vec3 b) {
    return (carom_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static carom_vec3 unit(carom_vec3 a) {
    double most = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z))); /* against overflow */
    if (!(most > 0.0)) return (carom_vec3){0.0, 0.0, 0.0};
    a = (carom_vec3){a.x / most, a.y / most, a.z / most};
    double length = sqrt(dot(a, a));
    return (carom_vec3){a.x / length, a.y / length, a.z / length};
}

/* ---- Light ----------------------------------------------------------------------------------- */

/* In the coordinates of the picture: right, up, towards the eye. */
static double light_of(carom_vec3 n) {
    static const carom_vec3 key = {-0.48, 0.62, 0.62}, fill = {0.81, -0.12, 0.57};
    double sky = 0.5 + 0.5 * n.y, towards = fabs(n.z);
    double half = n.x * -0.267 + n.y * 0.344 + n.z * 0.9; /* between the key light and the eye */
    double shine = half > 0.0 ? pow(half, 40.0) : 0.0;
    return 0.38 + 0.16 * sky + 0.50 * fmax(dot(n, key), 0.0) + 0.16 * fmax(dot(n, fill), 0.0) +
           0.08 * towards + 0.12 * shine;
}

static uint8_t shade(uint8_t value, double light) {
    double v = (double)value * light;
    return (uint8_t)(v < 255.0 ? v : 255.0);
}

/* Keeps a sample where it is the nearest. */
static void put(painter *p, bool through, uint32_t x, uint32_t y, double depth, carom_vec3 n,
                display_colour c, bool flat) {
    layer *l = through ? &p->through : &p->solid;
    size_t at = (size_t)y * p->width + x;
    if (!((float)depth < l->depth[at])) return;
    double light = flat ? 1.0 : light_of(n), grazing = 1.0 - fabs(n.z);
    /* glass is denser where it is seen from the side */
    double alpha = through ? 255.0 * (0.13 + 0.5 * grazing * grazing) : 255.0;
    l->depth[at] = (float)depth;
    l->colour[at][0] = shade(c.r, light);
    l->colour[at][1] = shade(c.g, light);
    l->colour[at][2] = shade(c.b, light);
    l->colour[at][3] = (uint8_t)alpha;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* Right, down in samples; away from the eye in the same unit. */
static carom_vec3 project(const painter *p, carom_vec3 point) {
    carom_vec3 v = minus(point, p->middle);
    return (carom_vec3){0.5 * p->width + p->scale * dot(v, p->right),
                        0.5 * p->height - p->scale * dot(v, p->up), -p->scale * dot(v, p->eye)};
}

/* The samples [*from, *to) whose middles are in [low, high]. */
static void clip(double low, double high, uint32_t most, uint32_t *from, uint32_t *to) {
    double first = ceil(low - 0.5), last = floor(high - 0.5) + 1.0;
    *from = first > 0.0 ? (first < most ? (uint32_t)first : most) : 0;
    *to = last > 0.0 ? (last < most ? (uint32_t)last : most) : 0;
}

/* `n` are the normals at the corners, to be interpolated. */
static void put_triangle(painter *p, const carom_vec3 at[3], const carom_vec3 n[3],
                         display_colour c, bool through, double lift) {
    carom_vec3 a = at[0], b = at[1], o = at[2];
    double area = (b.x - a.x) * (o.y - a.y) - (b.y - a.y) * (o.x - a.x);
    uint32_t x0, x1, y0, y1;
    if (!(fabs(area) > 0.0)) return;
    clip(fmin(a.x, fmin(b.x, o.x)), fmax(a.x, fmax(b.x, o.x)), p->width, &x0, &x1);
    clip(fmin(a.y, fmin(b.y, o.y)), fmax(a.y, fmax(b.y, o.y)), p->height, &y0, &y1);
    for (uint32_t y = y0; y < y1; ++y)
        for (uint32_t x = x0; x < x1; ++x) {
            double px = x + 0.5, py = y + 0.5;
            double u = ((px - a.x) * (o.y - a.y) - (py - a.y) * (o.x - a.x)) / area;
            double v = ((b.x - a.x) * (py - a.y) - (b.y - a.y) * (px - a.x)) / area;
            if (u < 0.0 || v < 0.0 || u + v > 1.0) continue;
            carom_vec3 m = {n[0].x + u * (n[1].x - n[0].x) + v * (n[2].x - n[0].x),
                            n[0].y + u * (n[1].y - n[0].y) + v * (n[2].y - n[0].y),
                            n[0].z + u * (n[1].z - n[0].z) + v * (n[2].z - n[0].z)};
            double depth = a.z + u * (b.z - a.z) + v * (o.z - a.z) - lift;
            put(p, through, x, y, depth, unit(m), c, false);
        }
}

static void put_sphere(painter *p, carom_vec3 centre, double r, display_colour c, bool through,
                       bool flat) {
    uint32_t x0, x1, y0, y1;
    clip(centre.x - r, centre.x + r, p->width, &x0, &x1);
    clip(centre.y - r, centre.y + r, p->height, &y0, &y1);
    for (uint32_t y = y0; y < y1; ++y)
        for (uint32_t x = x0; x < x1; ++x) {
            double dx = (x + 0.5 - centre.x) / r, dy = (y + 0.5 - centre.y) / r;
            double rest = 1.0 - dx * dx - dy * dy;
            if (rest < 0.0) continue;
            carom_vec3 n = {dx, -dy, sqrt(rest)};
            put(p, through, x, y, centre.z - r * n.z, n, c, flat);
        }
}

/* A segment of some width, with round ends. */
static void put_segment(painter *p, carom_vec3 a, carom_vec3 b, double r, display_colour c,
                        double lift) {
    double dx = b.x - a.x, dy = b.y - a.y, squared = dx * dx + dy * dy;
    uint32_t x0, x1, y0, y1;
    clip(fmin(a.y, b.y) - r, fmax(a.y, b.y) + r, p->height, &y0, &y1);
    for (uint32_t y = y0; y < y1; ++y) {
        /* the part of the segment that comes near this row */
        double s = 0.0, e = 1.0;
        if (fabs(dy) > r) {
            double near = (y + 0.5 - r - a.y) / dy, far = (y + 0.5 + r - a.y) / dy;
            s = fmin(fmax(fmin(near, far), 0.0), 1.0);
            e = fmin(fmax(fmax(near, far), 0.0), 1.0);
        }
        clip(fmin(a.x + s * dx, a.x + e * dx) - r, fmax(a.x + s * dx, a.x + e * dx) + r, p->width,
             &x0, &x1);
        for (uint32_t x = x0; x < x1; ++x) {
            double px = x + 0.5 - a.x, py = y + 0.5 - a.y;
            double t = squared > 0.0 ? fmin(fmax((px * dx + py * dy) / squared, 0.0), 1.0) : 0.0;
            double ex = px - t * dx, ey = py - t * dy;
            if (ex * ex + ey * ey > r * r) continue;
            put(p, false, x, y, a.z + t * (b.z - a.z) - lift, (carom_vec3){0.0, 0.0, 1.0}, c, true);
        }
    }
}

/* ---- Items ----------------------------------------------------------------------------------- */

static const carom_vec3 *points_of(const display_item *item) {
    return item->frame_count != 0 ? item->frames[item->frame_count - 1] : item->points;
}

/* Where a point is in the picture: at the end of its motion, at the last of its frames. */
static carom_vec3 painted_position(const display_item *item, const double matrix[12],
                                   const painter *p, uint64_t i) {
    carom_vec3 at = points_of(item)[i];
    if (item->moves) at = display_posed(matrix, at);
    if (item->kind == DISPLAY_ARROW)
        at = (carom_vec3){item->from.x + p->arrow_scale * (at.x - item->from.x),
                          item->from.y + p->arrow_scale * (at.y - item->from.y),
                          item->from.z + p->arrow_scale * (at.z - item->from.z)};
    return at;
}

/* Turns the normals of a triangle into the coordinates of the picture, towards the eye. */
static void turn_normals(const painter *p, const display_item *item, const double m[12],
                         const carom_vec3 at[3], carom_vec3 n[3]) {
    carom_vec3 flat = cross(minus(at[1], at[0]), minus(at[2], at[0])); /* y down, z away */
    for (int k = 0; k < 3; ++k) {
        carom_vec3 v = n[k];
        if (item->moves) v = minus(display_posed(m, v), (carom_vec3){m[3], m[7], m[11]});
        v = (carom_vec3){dot(v, p->right), dot(v, p->up), dot(v, p->eye)};
        n[k] = flat.z > 0.0 ? (carom_vec3){-v.x, -v.y, -v.z} : v;
    }
}

static void put_item(painter *p, const display_item *item) {
    double matrix[12], pixel = p->height / 1000.0, size = p->scale * p->size;
    bool arrow = item->kind == DISPLAY_ARROW;
    double width = LINE_WIDTH * pixel * (arrow ? 2.0 : 1.0), lift = arrow ? ARROW_LIFT : LINE_LIFT;
    uint64_t each = display_has_triangles(item) ? 3 : display_has_segments(item) ? 2 : 1;
    carom_vec3 *normals = each == 3 ? display_normals(item, points_of(item)) : NULL;
    p->no_memory = p->no_memory || (each == 3 && normals == NULL);
    pose_matrix(display_still_pose(p->d, item), matrix);
    for (uint64_t i = 0; !p->no_memory && i + each <= display_corner_count(item); i += each) {
        carom_vec3 at[3];
        display_colour c = display_item_colour(p->d, item, i / each);
        for (uint64_t k = 0; k < each; ++k)
            at[k] = project(p, painted_position(item, matrix, p, display_corner(item, i + k)));
        if (each == 3) turn_normals(p, item, matrix, at, normals + i);
        if (each == 3)
            put_triangle(p, at, normals + i, c, item->ghost,
                         item->overlay ? OVERLAY_LIFT * size : 0.0);
        else if (each == 2)
            put_segment(p, at[0], at[1], width, c, lift * size);
        else if (item->kind == DISPLAY_SPHERES)
            put_sphere(p, at[0], p->scale * item->radii[i], c, item->ghost, false);
        else
            put_sphere(p, at[0], POINT_SIZE * pixel, c, false, true);
    }
    free(normals);
}

/* ---- The picture ----------------------------------------------------------------------------- */

/* Moves and scales what is shown into the picture. */
static void fit(painter *p) {
    vec2 least = {HUGE_VAL, HUGE_VAL}, most = {-HUGE_VAL, -HUGE_VAL};
    for (uint64_t i = 0; i < p->d->item_count; ++i) {
        const display_item *item = p->d->items[i];
        double matrix[12];
        pose_matrix(display_still_pose(p->d, item), matrix);
        for (uint64_t k = 0; k < item->point_count && item->kind != DISPLAY_ARROW; ++k) {
            carom_vec3 v = minus(painted_position(item, matrix, p, k), p->middle);
            double x = dot(v, p->right), y = dot(v, p->up);
            double r = k < item->radius_count ? item->radii[k] : 0.0;
            least = (vec2){fmin(least.x, x - r), fmin(least.y, y - r)};
            most = (vec2){fmax(most.x, x + r), fmax(most.y, y + r)};
        }
    }
    double across = most.x - least.x, tall = most.y - least.y;
    p->size = fmax(across, tall);
    if (!(p->size > 0.0 && isfinite(p->size))) {
        p->size = p->scale = 1.0;
        return;
    }
    p->scale = fmin(p->width / (MARGIN * fmax(across, 1e-9 * p->size)),
                    p->height / (MARGIN * fmax(tall, 1e-9 * p->size)));
    double x = 0.5 * least.x + 0.5 * most.x, y = 0.5 * least.y + 0.5 * most.y;
    p->middle = (carom_vec3){p->middle.x + x * p->right.x + y * p->up.x,
                             p->middle.y + x * p->right.y + y * p->up.y,
                             p->middle.z + x * p->right.z + y * p->up.z};
}

static void aim(painter *p, const paint_view *view) {
    carom_bounds b = display_bounds(p->d);
    char top = p->d->up;
    carom_vec3 up = {top == 'x', top == 'y', top == 'z'};
    carom_vec3 from_z = {0.55, -0.75, 0.5}, from_y = {0.55, 0.5, 0.75}, from_x = {0.5, 0.55, 0.75};
    carom_vec3 eye = top == 'z' ? from_z : top == 'y' ? from_y : from_x;
    if (view != NULL && dot(view->towards, view->towards) > 0.0) eye = view->towards;
    p->eye = unit(eye);
    p->right = unit(cross(up, p->eye));
    if (!(dot(p->right, p->right) > 0.5))
        p->right = unit(cross((carom_vec3){0.6, 0.8, 0.0}, p->eye));
    p->up = cross(p->eye, p->right);
    p->middle = (carom_vec3){0.5 * b.low.x + 0.5 * b.high.x, 0.5 * b.low.y + 0.5 * b.high.y,
                             0.5 * b.low.z + 0.5 * b.high.z};
    if (view != NULL && view->radius > 0.0) {
        p->middle = view->at;
        p->size = 2.0 * view->radius;
        p->scale = (p->width < p->height ? p->width : p->height) / (MARGIN * p->size);
    } else {
        fit(p);
    }
    double longest = 0.0;
    for (uint64_t i = 0; i < p->d->item_count; ++i) {
        carom_vec3 v = p->d->items[i]->vector;
        longest = fmax(longest, sqrt(dot(v, v)));
    }
    p->arrow_scale = longest > 0.0 ? ARROW_LENGTH * p->size / longest : 1.0;
}

/* The mean of `count` numbers, each `step` after the other, over the 2 * reach + 1 around each. */
static void blur(const float *from, float *to, size_t step, uint32_t count, uint32_t reach) {
    double sum = 0.0;
    uint32_t first = 0, end = 0; /* the window */
    for (uint32_t i = 0; i < count; ++i) {
        for (; end < count && end <= i + reach; ++end) sum += (double)from[end * step];
        for (; first + reach < i; ++first) sum -= (double)from[first * step];
        to[i * step] = (float)(sum / (end - first));
    }
}

/* Darkens what lies behind its surroundings. `mean` and `rest` are scratch. */
static void darken(painter *p, float *mean, float *rest) {
    size_t count = (size_t)p->width * p->height;
    uint32_t reach = (uint32_t)(BLUR * p->height) + 1;
    const float *depth = p->solid.depth;
    float far = -INFINITY;
    for (size_t i = 0; i < count; ++i)
        if (isfinite(depth[i]) && depth[i] > far) far = depth[i];
    for (size_t i = 0; i < count; ++i) mean[i] = isfinite(depth[i]) ? depth[i] : far;
    for (uint32_t y = 0; y < p->height; ++y)
        blur(mean + (size_t)y * p->width, rest + (size_t)y * p->width, 1, p->width, reach);
    for (uint32_t x = 0; x < p->width; ++x) blur(rest + x, mean + x, p->width, p->height, reach);
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(depth[i])) continue;
        double behind = (double)(depth[i] - mean[i]) / (p->scale * p->size) * DARKENING;
        double light = 1.0 - fmin(fmax(behind, 0.0), MOST_DARK);
        for (int k = 0; k < 3; ++k) p->solid.colour[i][k] = shade(p->solid.colour[i][k], light);
    }
}

/* The mean of the samples of a pixel, see-through ones over the others. */
static void put_pixel(const painter *p, uint32_t x, uint32_t y, uint8_t *to) {
    unsigned sum[3] = {0, 0, 0}, count = p->samples * p->samples;
    for (uint32_t i = 0; i < count; ++i) {
        size_t at =
            (size_t)(y * p->samples + i / p->samples) * p->width + x * p->samples + i % p->samples;
        bool glass = p->through.depth[at] < p->solid.depth[at];
        unsigned alpha = glass ? p->through.colour[at][3] : 0;
        for (int k = 0; k < 3; ++k) {
            unsigned c = isfinite(p->solid.depth[at]) ? p->solid.colour[at][k] : BACKGROUND;
            sum[k] += (c * (255 - alpha) + p->through.colour[at][k] * alpha) / 255;
        }
    }
    for (int k = 0; k < 3; ++k) to[k] = (uint8_t)((sum[k] + count / 2) / count);
}

static bool begin_layer(layer *l, size_t count) {
    l->depth = malloc(count * sizeof(*l->depth));
    l->colour = calloc(count, sizeof(*l->colour));
    for (size_t i = 0; i < count && l->depth != NULL; ++i) l->depth[i] = INFINITY;
    return l->depth != NULL && l->colour != NULL;
}

carom_status paint(const display *d, const paint_view *view, uint32_t width, uint32_t height,
                   uint8_t *rgb) {
    uint32_t samples = (uint64_t)width * height <= FEW_PIXELS ? 3 : 2;
    painter p = {.d = d, .width = width * samples, .height = height * samples, .samples = samples};
    size_t count = (size_t)p.width * p.height;
    float *scratch = malloc(2 * count * sizeof(*scratch));
    bool good = begin_layer(&p.solid, count);
    good = begin_layer(&p.through, count) && good && scratch != NULL && !d->no_memory;
    if (good) {
        aim(&p, view);
        for (uint64_t i = 0; i < d->item_count && !interrupt_seen(); ++i)
            if (display_still_shows(d, d->items[i])) put_item(&p, d->items[i]);
        darken(&p, scratch, scratch + count);
        for (uint32_t y = 0; y < height; ++y)
            for (uint32_t x = 0; x < width; ++x)
                put_pixel(&p, x, y, rgb + 3 * ((size_t)y * width + x));
    }
    free(scratch);
    free(p.solid.depth);
    free(p.solid.colour);
    free(p.through.depth);
    free(p.through.colour);
    if (interrupt_seen()) return CAROM_CANCELLED;
    return good && !p.no_memory ? CAROM_OK : CAROM_NO_MEMORY;
}
