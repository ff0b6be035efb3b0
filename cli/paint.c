/* SPDX-License-Identifier: MIT */
/* The painter: a z-buffer of samples, several per pixel, in parallel projection. Two lights and the
 * sky light triangles, smoothly where their edges are not sharp; spheres and segments are drawn as
 * such. What is see-through goes to a layer of its own, of which the nearest is kept. At the end
 * samples that lie behind their surroundings are darkened (Luft, Colditz, Deussen 2006: Image
 * enhancement by unsharp masking the depth buffer), and the samples of a pixel are averaged. */
#include "cli/paint.h"

#include <math.h>
#include <stdlib.h>

#include "cli/interrupt.h"
#include "cli/pose.h"
#include "cli/vector.h"

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
#define EVEN         1e-3 /* normals at corners that differ by less have one light */

typedef struct texel {
    uint8_t rgba[4]; /* a: how dense glass is; of what is not see-through, 0 for lines and points */
} texel;

typedef struct layer {
    float *depth; /* growing away from the eye; INFINITY: nothing */
    texel *colour;
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

/* ---- Light ----------------------------------------------------------------------------------- */

/* In the coordinates of the picture: right, up, towards the eye. */
static double light_of(carom_vec3 n) {
    static const carom_vec3 key = {-0.48, 0.62, 0.62}, fill = {0.81, -0.12, 0.57};
    double sky = 0.5 + 0.5 * n.y, towards = fabs(n.z);
    double half = n.x * -0.267 + n.y * 0.344 + n.z * 0.9; /* between the key light and the eye */
    double shine = half > 0.0 ? half * half * half * half : 0.0; /* to the power of 4, then 40 */
    shine = shine * shine * (shine * shine * shine * shine) * (shine * shine * shine * shine);
    return 0.38 + 0.16 * sky + 0.50 * fmax(vector_dot(n, key), 0.0) +
           0.16 * fmax(vector_dot(n, fill), 0.0) + 0.08 * towards + 0.12 * shine;
}

static uint8_t shade(uint8_t value, double light) {
    double v = (double)value * light;
    return (uint8_t)(v < 255.0 ? v : 255.0);
}

/* The colour of a sample; of glass also how dense it is, more where it is seen from the side. */
static texel light_up(display_colour c, bool through, carom_vec3 n) {
    double light = light_of(n), grazing = 1.0 - fabs(n.z);
    double alpha = through ? 255.0 * (0.13 + 0.5 * grazing * grazing) : 255.0;
    return (texel){{shade(c.r, light), shade(c.g, light), shade(c.b, light), (uint8_t)alpha}};
}

static void put(layer *l, size_t at, double depth, texel colour) {
    l->depth[at] = (float)depth;
    l->colour[at] = colour;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* Right, down in samples; away from the eye in the same unit. */
static carom_vec3 project(const painter *p, carom_vec3 point) {
    carom_vec3 v = vector_minus(point, p->middle);
    return (carom_vec3){0.5 * p->width + p->scale * vector_dot(v, p->right),
                        0.5 * p->height - p->scale * vector_dot(v, p->up),
                        -p->scale * vector_dot(v, p->eye)};
}

/* The samples [*from, *to) whose middles are in [low, high]. */
static void clip(double low, double high, uint32_t most, uint32_t *from, uint32_t *to) {
    double first = ceil(low - 0.5), last = floor(high - 0.5) + 1.0;
    *from = first > 0.0 ? (first < most ? (uint32_t)first : most) : 0;
    *to = last > 0.0 ? (last < most ? (uint32_t)last : most) : 0;
}

/* The samples of the row at height y that a triangle may cover: between its edges, one more on each
 * side against rounding. */
static void clip_row(const painter *p, const carom_vec3 at[3], double y, uint32_t *from,
                     uint32_t *to) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int k = 0; k < 3; ++k) {
        carom_vec3 a = at[k], b = at[(k + 1) % 3];
        if (a.y == b.y || fmin(a.y, b.y) > y || fmax(a.y, b.y) < y) continue;
        double x = a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x);
        low = fmin(low, x);
        high = fmax(high, x);
    }
    clip(low - 1.0, high + 1.0, p->width, from, to);
}

/* `n` are the normals at the corners, to be interpolated. */
static void put_triangle(painter *p, const carom_vec3 at[3], const carom_vec3 n[3],
                         display_colour c, bool through, double lift) {
    carom_vec3 a = at[0], e = vector_minus(at[1], a), f = vector_minus(at[2], a);
    carom_vec3 m = vector_minus(n[1], n[0]), o = vector_minus(n[2], n[0]);
    double area = e.x * f.y - e.y * f.x, inverse = 1.0 / area;
    bool even = vector_dot(m, m) + vector_dot(o, o) < EVEN * EVEN;
    layer *l = through ? &p->through : &p->solid;
    texel colour = light_up(c, through, n[0]);
    uint32_t x0, x1, y0, y1;
    if (!(fabs(area) > 0.0)) return;
    clip(fmin(a.y, fmin(at[1].y, at[2].y)), fmax(a.y, fmax(at[1].y, at[2].y)), p->height, &y0, &y1);
    for (uint32_t y = y0; y < y1; ++y) {
        double py = y + 0.5 - a.y;
        clip_row(p, at, y + 0.5, &x0, &x1);
        for (uint32_t x = x0; x < x1; ++x) {
            double px = x + 0.5 - a.x;
            double u = (px * f.y - py * f.x) * inverse, v = (e.x * py - e.y * px) * inverse;
            double depth = a.z + u * e.z + v * f.z - lift;
            size_t index = (size_t)y * p->width + x;
            if (u < 0.0 || v < 0.0 || u + v > 1.0 || !((float)depth < l->depth[index])) continue;
            if (!even) {
                carom_vec3 normal = vector_add(vector_add(n[0], u, m), v, o);
                double square = vector_dot(normal, normal);
                double s = square > 0.0 ? 1.0 / sqrt(square) : 0.0;
                colour =
                    light_up(c, through, (carom_vec3){s * normal.x, s * normal.y, s * normal.z});
            }
            put(l, index, depth, colour);
        }
    }
}

static void put_sphere(painter *p, carom_vec3 centre, double r, display_colour c, bool through,
                       bool flat) {
    layer *l = through ? &p->through : &p->solid;
    uint32_t x0, x1, y0, y1;
    clip(centre.x - r, centre.x + r, p->width, &x0, &x1);
    clip(centre.y - r, centre.y + r, p->height, &y0, &y1);
    for (uint32_t y = y0; y < y1; ++y)
        for (uint32_t x = x0; x < x1; ++x) {
            double dx = (x + 0.5 - centre.x) / r, dy = (y + 0.5 - centre.y) / r;
            double rest = 1.0 - dx * dx - dy * dy;
            if (rest < 0.0) continue;
            carom_vec3 n = {dx, -dy, sqrt(rest)};
            double depth = centre.z - r * n.z;
            size_t index = (size_t)y * p->width + x;
            if (!((float)depth < l->depth[index])) continue;
            put(l, index, depth, flat ? (texel){{c.r, c.g, c.b, 0}} : light_up(c, through, n));
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
            double depth = a.z + t * (b.z - a.z) - lift;
            size_t index = (size_t)y * p->width + x;
            if ((float)depth < p->solid.depth[index])
                put(&p->solid, index, depth, (texel){{c.r, c.g, c.b, 0}});
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
        at = vector_add(item->from, p->arrow_scale, vector_minus(at, item->from));
    return at;
}

/* Turns the normals of a triangle into the coordinates of the picture, towards the eye. */
static void turn_normals(const painter *p, const display_item *item, const double m[12],
                         const carom_vec3 at[3], carom_vec3 n[3]) {
    carom_vec3 flat =
        vector_cross(vector_minus(at[1], at[0]), vector_minus(at[2], at[0])); /* y down, z away */
    for (int k = 0; k < 3; ++k) {
        carom_vec3 v = n[k];
        if (item->moves) v = vector_minus(display_posed(m, v), (carom_vec3){m[3], m[7], m[11]});
        v = (carom_vec3){vector_dot(v, p->right), vector_dot(v, p->up), vector_dot(v, p->eye)};
        n[k] = flat.z > 0.0 ? (carom_vec3){-v.x, -v.y, -v.z} : v;
    }
}

static void put_item(painter *p, const display_item *item) {
    double matrix[12], pixel = p->height / 1000.0, size = p->scale * p->size,
                       over = OVERLAY_LIFT * size;
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
            put_triangle(p, at, normals + i, c, item->ghost, item->overlay ? over : 0.0);
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
    carom_vec3 least = {HUGE_VAL, HUGE_VAL, 0.0}, most = {-HUGE_VAL, -HUGE_VAL, 0.0};
    for (uint64_t i = 0; i < p->d->item_count; ++i) {
        const display_item *item = p->d->items[i];
        double matrix[12];
        pose_matrix(display_still_pose(p->d, item), matrix);
        for (uint64_t k = 0; k < item->point_count && item->kind != DISPLAY_ARROW; ++k) {
            carom_vec3 v = vector_minus(painted_position(item, matrix, p, k), p->middle);
            double x = vector_dot(v, p->right), y = vector_dot(v, p->up);
            double r = k < item->radius_count ? item->radii[k] : 0.0;
            least = (carom_vec3){fmin(least.x, x - r), fmin(least.y, y - r), 0.0};
            most = (carom_vec3){fmax(most.x, x + r), fmax(most.y, y + r), 0.0};
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
    p->middle = vector_add(vector_add(p->middle, x, p->right), y, p->up);
}

static void aim(painter *p, const paint_view *view) {
    carom_bounds b = display_bounds(p->d);
    char top = p->d->up;
    carom_vec3 up = {top == 'x', top == 'y', top == 'z'};
    carom_vec3 from_z = {0.55, -0.75, 0.5}, from_y = {0.55, 0.5, 0.75}, from_x = {0.5, 0.55, 0.75};
    carom_vec3 eye = top == 'z' ? from_z : top == 'y' ? from_y : from_x;
    if (view != NULL && vector_dot(view->towards, view->towards) > 0.0) eye = view->towards;
    p->eye = vector_unit(eye);
    p->right = vector_unit(vector_cross(up, p->eye));
    if (!(vector_dot(p->right, p->right) > 0.5))
        p->right = vector_unit(vector_cross((carom_vec3){0.6, 0.8, 0.0}, p->eye));
    p->up = vector_cross(p->eye, p->right);
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
        longest = fmax(longest, sqrt(vector_dot(v, v)));
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

/* How far away the surroundings of pixels are: the depth, blurred. `rest` is scratch. */
static void find_surroundings(const painter *p, float *mean, float *rest) {
    uint32_t n = p->samples, width = p->width / n, height = p->height / n;
    uint32_t reach = (uint32_t)(BLUR * height) + 1;
    float far = -INFINITY;
    for (size_t i = 0; i < (size_t)p->width * p->height; ++i)
        far = p->solid.depth[i] > far && p->solid.depth[i] < INFINITY ? p->solid.depth[i] : far;
    for (size_t i = 0; i < (size_t)width * height; ++i) {
        size_t at = (i / width * p->width + i % width) * n;
        float sum = 0.0f;
        for (uint32_t y = 0; y < n; ++y, at += p->width)
            for (uint32_t x = 0; x < n; ++x) {
                float depth = p->solid.depth[at + x];
                bool is_surface = depth < INFINITY && p->solid.colour[at + x].rgba[3] != 0;
                sum += is_surface ? depth : far; /* lines and points, lifted, cast no shadow */
            }
        mean[i] = sum / (float)(n * n);
    }
    for (uint32_t y = 0; y < height; ++y)
        blur(mean + (size_t)y * width, rest + (size_t)y * width, 1, width, reach);
    for (uint32_t x = 0; x < width; ++x) blur(rest + x, mean + x, width, height, reach);
}

/* Adds a sample to those of its pixel, what is see-through over the rest. What lies behind its
 * surroundings, `mean` away, is darker. */
static void add_sample(const painter *p, size_t at, double mean, double darker, unsigned sum[3]) {
    float depth = p->solid.depth[at];
    double behind = ((double)depth - mean) * darker;
    double light = behind > MOST_DARK ? 1.0 - MOST_DARK : behind > 0.0 ? 1.0 - behind : 1.0;
    bool empty = !(depth < INFINITY);
    bool glass = p->through.depth != NULL && p->through.depth[at] < depth;
    for (int k = 0; k < 3; ++k) {
        unsigned c = empty ? BACKGROUND : shade(p->solid.colour[at].rgba[k], light);
        if (glass) {
            const uint8_t *over = p->through.colour[at].rgba;
            c = (c * (255u - over[3]) + over[k] * (unsigned)over[3]) / 255;
        }
        sum[k] += c;
    }
}

/* The mean of the samples of a pixel. */
static void put_pixel(const painter *p, size_t first, double mean, uint8_t *to) {
    unsigned sum[3] = {0, 0, 0}, n = p->samples;
    double darker = DARKENING / (p->scale * p->size);
    for (uint32_t y = 0; y < n; ++y, first += p->width)
        for (uint32_t x = 0; x < n; ++x) add_sample(p, first + x, mean, darker, sum);
    for (int k = 0; k < 3; ++k) to[k] = (uint8_t)((sum[k] + n * n / 2) / (n * n));
}

static bool begin_layer(layer *l, size_t count) {
    l->depth = malloc(count * sizeof(*l->depth));
    l->colour = malloc(count * sizeof(*l->colour));
    for (size_t i = 0; i < count && l->depth != NULL; ++i) l->depth[i] = INFINITY;
    return l->depth != NULL && l->colour != NULL;
}

carom_status paint(const display *d, const paint_view *view, uint32_t width, uint32_t height,
                   uint8_t *rgb) {
    uint32_t samples = (uint64_t)width * height <= FEW_PIXELS ? 3 : 2;
    painter p = {.d = d, .width = width * samples, .height = height * samples, .samples = samples};
    size_t pixels = (size_t)width * height, count = pixels * samples * samples;
    float *mean = malloc(2 * pixels * sizeof(*mean));
    bool good = begin_layer(&p.solid, count) && mean != NULL && !d->no_memory, glass = false;
    for (uint64_t i = 0; i < d->item_count; ++i) glass = glass || d->items[i]->ghost;
    if (glass) good = begin_layer(&p.through, count) && good;
    if (good) {
        aim(&p, view);
        for (uint64_t i = 0; i < d->item_count && !interrupt_seen(); ++i)
            if (display_still_shows(d, d->items[i])) put_item(&p, d->items[i]);
        find_surroundings(&p, mean, mean + pixels);
        for (size_t i = 0; i < pixels; ++i)
            put_pixel(&p, (i / width * p.width + i % width) * samples, (double)mean[i],
                      rgb + 3 * i);
    }
    free(mean);
    free(p.solid.depth);
    free(p.solid.colour);
    free(p.through.depth);
    free(p.through.colour);
    return interrupt_seen() ? CAROM_CANCELLED : good && !p.no_memory ? CAROM_OK : CAROM_NO_MEMORY;
}
