/* SPDX-License-Identifier: MIT */
/* Initial states of moving spheres. A lattice melts within a few collisions per sphere at moderate
 * packing fractions, and unlike random insertion it reaches any of them. At 0.49 one without gaps
 * is still a crystal after two hundred (Z = 9.9 instead of 12.2); one with a tenth of its sites
 * empty, as with 98,400 spheres, melts. */
#include "scenes/gas.h"

#include <math.h>
#include <stdlib.h>

#include "base/math.h"

#define PI 3.14159265358979323846

/* The volumes of very large or small lengths overflow or underflow, so lengths are divided by a
 * power of two first; the results have the same bits. */
double scene_gas_edge(uint64_t count, double radius, double fraction) {
    int exponent;
    double r = frexp(radius, &exponent), volume = 4.0 / 3.0 * PI * r * r * r;
    return ldexp(carom_cbrt((double)count * volume / fraction), exponent);
}

double scene_gas_radius(uint64_t count, double edge, double fraction) {
    int exponent;
    double e = frexp(edge, &exponent);
    return ldexp(0.5 * carom_cbrt(6.0 * fraction * e * e * e / (PI * (double)count)), exponent);
}

double scene_gas_radius_in(uint64_t count, carom_vec3 edges, double fraction) {
    double longest = fmax(edges.x, fmax(edges.y, edges.z));
    double share = edges.x / longest * (edges.y / longest) * (edges.z / longest);
    return scene_gas_radius(count, longest, fraction * share); /* a cube has the share 1 */
}

/* ---- Mixtures -------------------------------------------------------------------------------- */

double scene_gas_mean_radius(const scene_gas_kind *kinds, uint32_t kind_count) {
    double largest = 0.0, volume = 0.0, shares = 0.0;
    for (uint32_t k = 0; k < kind_count; ++k) largest = fmax(largest, kinds[k].radius);
    for (uint32_t k = 0; k < kind_count; ++k) {
        double r = kinds[k].radius / largest;
        volume += kinds[k].share * r * r * r;
        shares += kinds[k].share;
    }
    return largest * carom_cbrt(volume / shares);
}

/* How many spheres of each kind there are: rounded down, then the largest remainders get one
 * more. */
static void count_kinds(uint64_t count, const scene_gas_kind *kinds, uint32_t kind_count,
                        uint64_t counts[SCENE_GAS_MOST_KINDS]) {
    double shares = 0.0, rest[SCENE_GAS_MOST_KINDS];
    uint64_t given = 0;
    for (uint32_t k = 0; k < kind_count; ++k) shares += kinds[k].share;
    for (uint32_t k = 0; k < kind_count; ++k) {
        double exact = (double)count * (kinds[k].share / shares);
        counts[k] = (uint64_t)exact;
        if (counts[k] > count - given) counts[k] = count - given; /* by rounding */
        rest[k] = exact - (double)counts[k];
        given += counts[k];
    }
    for (; given < count; ++given) {
        uint32_t best = 0;
        for (uint32_t k = 1; k < kind_count; ++k)
            if (rest[k] > rest[best]) best = k;
        ++counts[best];
        rest[best] -= 1.0;
    }
}

void scene_gas_mix(carom_gas_sphere *spheres, uint64_t count, const scene_gas_kind *kinds,
                   uint32_t kind_count, uint64_t seed, uint8_t *kind_of) {
    uint64_t left[SCENE_GAS_MOST_KINDS];
    carom_random random = {seed};
    count_kinds(count, kinds, kind_count, left);
    for (uint64_t i = 0; i < count; ++i) { /* all arrangements are equally likely */
        double at = carom_random_uniform(&random) * (double)(count - i);
        uint32_t kind = 0;
        while (kind + 1 < kind_count && (left[kind] == 0 || at >= (double)left[kind]))
            at -= (double)left[kind++];
        while (left[kind] == 0) --kind; /* by rounding */
        --left[kind];
        spheres[i].radius = kinds[kind].radius;
        spheres[i].mass = kinds[kind].mass;
        if (kind_of != NULL) kind_of[i] = (uint8_t)kind;
    }
}

void scene_gas_heat(carom_gas_sphere *spheres, uint64_t count, uint64_t seed) {
    carom_random random = {seed};
    carom_vec3 momentum = {0.0, 0.0, 0.0};
    double total = 0.0, energy = 0.0; /* twice the energy */
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 *v = &spheres[i].velocity;
        double mass = spheres[i].mass, speed = 1.0 / sqrt(mass);
        v->x = speed * carom_random_normal(&random);
        v->y = speed * carom_random_normal(&random);
        v->z = speed * carom_random_normal(&random);
        momentum.x += mass * v->x;
        momentum.y += mass * v->y;
        momentum.z += mass * v->z;
        total += mass;
    }
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 *v = &spheres[i].velocity;
        v->x -= momentum.x / total;
        v->y -= momentum.y / total;
        v->z -= momentum.z / total;
        energy += spheres[i].mass * (v->x * v->x + v->y * v->y + v->z * v->z);
    }
    double scale = energy > 0.0 ? sqrt(3.0 * (double)count / energy) : 1.0;
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 *v = &spheres[i].velocity;
        v->x *= scale;
        v->y *= scale;
        v->z *= scale;
    }
}

/* ---- Lattice --------------------------------------------------------------------------------- */

#define MOST_CELLS 0x1p40 /* along an axis: more is too many in any case */

/* The number of sites of a lattice with cells of about that edge. */
static double lattice_sites(const double edges[3], double step, uint64_t cells[3]) {
    double sites = 4.0;
    for (int axis = 0; axis < 3; ++axis) {
        double size = fmin(fmax(floor(edges[axis] / step * 1.0001), 1.0), MOST_CELLS);
        cells[axis] = (uint64_t)size;
        sites *= size;
    }
    return sites;
}

/* The number of cells of the lattice along each axis: four sites each, at least `count` sites in
 * total and not many more. */
static void lattice_cells(uint64_t count, carom_vec3 box, uint64_t cells[3]) {
    int exponent;
    double wanted = (double)(count > 0 ? count : 1);
    (void)frexp(fmax(box.x, fmax(box.y, box.z)), &exponent);
    const double edges[3] = {ldexp(box.x, -exponent), ldexp(box.y, -exponent),
                             ldexp(box.z, -exponent)};
    double step = carom_cbrt(4.0 * edges[0] * edges[1] * edges[2] / wanted);
    step = fmax(step, 0x1p-100); /* for a box that is far thinner than wide */
    while (lattice_sites(edges, step, cells) > 8.0 * wanted + 64.0) step *= 2.0;
    while (lattice_sites(edges, step, cells) < wanted) step *= 0.999;
}

double scene_gas_most_radius(uint64_t count, carom_vec3 edges) {
    uint64_t cells[3];
    lattice_cells(count, edges, cells);
    double a = edges.x / (double)cells[0], b = edges.y / (double)cells[1],
           c = edges.z / (double)cells[2];
    double nearest = fmin(carom_hypot(a, b), fmin(carom_hypot(b, c), carom_hypot(c, a)));
    nearest = fmin(0.5 * nearest, fmin(a, fmin(b, c)));
    return 0.5 * nearest * (1.0 - 1e-12);
}

/* Whether all sites of the lattice are far enough apart after scene_gas_keep_inside. */
static bool lattice_fits(uint64_t count, double radius, const carom_gas_def *def) {
    const double edges[3] = {def->edges.x, def->edges.y, def->edges.z};
    uint64_t cells[3];
    double half[3]; /* of a cell, after the compression */
    lattice_cells(count, def->edges, cells);
    for (int axis = 0; axis < 3; ++axis) {
        half[axis] = 0.5 * edges[axis] / (double)cells[axis];
        double span = edges[axis] - half[axis], room = edges[axis] - 2.0 * radius;
        if (def->periodic[axis] || room >= span) continue;
        if (!(room > 0.0)) return false;
        half[axis] *= room / span;
    }
    double nearest = fmin(half[0], fmin(half[1], half[2])) * 2.0;
    nearest = fmin(nearest, carom_hypot(half[0], half[1]));
    nearest = fmin(nearest, carom_hypot(half[1], half[2]));
    nearest = fmin(nearest, carom_hypot(half[2], half[0]));
    return 2.0 * radius <= nearest * (1.0 - 1e-9);
}

uint64_t scene_gas_most_count(double radius, const carom_gas_def *def) {
    uint64_t fits = 0, over = UINT64_C(1) << 27; /* as many as a gas can have */
    while (over - fits > 1) {
        uint64_t middle = fits + (over - fits) / 2;
        if (lattice_fits(middle, radius, def))
            fits = middle;
        else
            over = middle;
    }
    return fits;
}

static void stop_drift(carom_gas_sphere *spheres, uint64_t count) {
    carom_vec3 mean = {0.0, 0.0, 0.0};
    for (uint64_t i = 0; i < count; ++i) {
        mean.x += spheres[i].velocity.x / (double)count;
        mean.y += spheres[i].velocity.y / (double)count;
        mean.z += spheres[i].velocity.z / (double)count;
    }
    double square = 0.0;
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 *v = &spheres[i].velocity;
        v->x -= mean.x;
        v->y -= mean.y;
        v->z -= mean.z;
        square += v->x * v->x + v->y * v->y + v->z * v->z;
    }
    double scale = square > 0.0 ? sqrt(3.0 * (double)count / square) : 1.0;
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 *v = &spheres[i].velocity;
        v->x *= scale;
        v->y *= scale;
        v->z *= scale;
    }
}

carom_gas_sphere *scene_gas_lattice(uint64_t count, double radius, carom_vec3 edges,
                                    uint64_t seed) {
    static const double corner[4][3] = {
        {0.25, 0.25, 0.25}, {0.75, 0.75, 0.25}, {0.75, 0.25, 0.75}, {0.25, 0.75, 0.75}};
    if (count == 0 || count > SIZE_MAX / sizeof(carom_gas_sphere) ||
        !(radius <= scene_gas_most_radius(count, edges)))
        return NULL;
    uint64_t cells[3];
    lattice_cells(count, edges, cells);
    uint64_t sites = 4 * cells[0] * cells[1] * cells[2], taken = 0;
    carom_gas_sphere *spheres = malloc(count * sizeof(*spheres));
    if (spheres == NULL) return NULL;
    carom_random random = {seed};
    for (uint64_t site = 0; site < sites && taken < count; ++site) {
        double left = (double)(sites - site), needed = (double)(count - taken);
        if (carom_random_uniform(&random) * left >= needed) continue; /* subsets equally likely */
        uint64_t cell = site / 4;
        const double *offset = corner[site % 4];
        carom_gas_sphere *s = &spheres[taken++];
        *s = (carom_gas_sphere){.radius = radius, .mass = 1.0};
        s->position.x = ((double)(cell % cells[0]) + offset[0]) * (edges.x / (double)cells[0]);
        cell /= cells[0];
        s->position.y = ((double)(cell % cells[1]) + offset[1]) * (edges.y / (double)cells[1]);
        cell /= cells[1];
        s->position.z = ((double)cell + offset[2]) * (edges.z / (double)cells[2]);
        s->velocity.x = carom_random_normal(&random);
        s->velocity.y = carom_random_normal(&random);
        s->velocity.z = carom_random_normal(&random);
    }
    stop_drift(spheres, count);
    return spheres;
}

void scene_gas_keep_inside(carom_gas_sphere *spheres, uint64_t count, const carom_gas_def *def) {
    const double edges[3] = {def->edges.x, def->edges.y, def->edges.z};
    for (int axis = 0; axis < 3; ++axis) {
        double low = HUGE_VAL, high = -HUGE_VAL, radius = 0.0;
        for (uint64_t i = 0; i < count; ++i) {
            double x = (&spheres[i].position.x)[axis];
            low = fmin(low, x);
            high = fmax(high, x);
            radius = fmax(radius, spheres[i].radius);
        }
        double to_low = fmax(low, radius), to_high = fmin(high, edges[axis] - radius);
        bool one_layer = high == low && 2.0 * radius <= edges[axis];
        if (one_layer) to_low = fmin(to_low, edges[axis] - radius);
        if (def->periodic[axis] || (!one_layer && !(high > low && to_high > to_low))) continue;
        double factor = one_layer ? 0.0 : (to_high - to_low) / (high - low);
        for (uint64_t i = 0; i < count; ++i) {
            double *x = &(&spheres[i].position.x)[axis];
            *x = to_low + (*x - low) * factor;
        }
    }
}

/* ---- Mixtures of unlike radii ---------------------------------------------------------------- */

#define SCATTER_TRIES 20000 /* positions per sphere: then it is taken not to fit */
#define SCATTER_STEP  1024  /* spheres between two calls of progress: some milliseconds */
#define NO_SPHERE     UINT32_MAX

/* The spheres of one kind by the cells of a grid, whose edge is no less than their diameter. */
typedef struct scatter_grid {
    double radius;
    uint64_t size[3];
    uint32_t *head, *next; /* of a cell; of a sphere */
} scatter_grid;

typedef struct scatter_work {
    const carom_gas_def *def;
    carom_gas_sphere *spheres;
    scatter_grid grids[SCENE_GAS_MOST_KINDS]; /* the largest radius first */
    carom_progress_fn *progress;
    void *progress_user;
} scatter_work;

static bool scatter_begin(const scatter_work *work, scatter_grid *grid, double radius,
                          uint64_t count, uint64_t all) {
    const double edges[3] = {work->def->edges.x, work->def->edges.y, work->def->edges.z};
    double most = ceil(carom_cbrt((double)count)) + 1.0; /* cells along an axis */
    uint64_t cells = 1;
    grid->radius = radius;
    for (int axis = 0; axis < 3; ++axis) {
        double size = fmin(floor(edges[axis] / (2.0 * radius) * (1.0 - 1e-9)), most);
        grid->size[axis] = (uint64_t)fmax(size, 1.0);
        cells *= grid->size[axis];
    }
    grid->head = malloc(cells * sizeof(*grid->head));
    grid->next = malloc(all * sizeof(*grid->next));
    if (grid->head == NULL || grid->next == NULL) return false;
    for (uint64_t i = 0; i < cells; ++i) grid->head[i] = NO_SPHERE;
    return true;
}

static int64_t scatter_layer(const scatter_work *work, const scatter_grid *grid, int axis,
                             double x) {
    const double *edges = &work->def->edges.x;
    double at = floor(x / edges[axis] * (double)grid->size[axis]);
    return (int64_t)fmin(fmax(at, 0.0), (double)grid->size[axis] - 1.0);
}

static bool scatter_overlaps(const scatter_work *work, const carom_gas_sphere *a,
                             const carom_gas_sphere *b) {
    const double *edges = &work->def->edges.x, *x = &a->position.x, *y = &b->position.x;
    double square = 0.0, reach = (a->radius + b->radius) * (1.0 + 1e-9);
    for (int axis = 0; axis < 3; ++axis) {
        double d = fabs(x[axis] - y[axis]);
        if (work->def->periodic[axis]) d = fmin(d, fabs(edges[axis] - d));
        square += d * d;
    }
    return square < reach * reach;
}

/* Whether a sphere overlaps one of a kind that is no smaller. */
static bool scatter_meets(const scatter_work *work, const scatter_grid *grid,
                          const carom_gas_sphere *sphere) {
    int64_t at[3];
    for (int axis = 0; axis < 3; ++axis)
        at[axis] = scatter_layer(work, grid, axis, (&sphere->position.x)[axis]);
    for (int n = 0; n < 27; ++n) {
        const int step[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        uint64_t to[3];
        for (int axis = 0; axis < 3;
             ++axis) { /* a wall has no neighbour, but that is found apart */
            int64_t size = (int64_t)grid->size[axis];
            to[axis] = (uint64_t)((at[axis] + step[axis] + size) % size);
        }
        uint32_t i = grid->head[(to[2] * grid->size[1] + to[1]) * grid->size[0] + to[0]];
        for (; i != NO_SPHERE; i = grid->next[i])
            if (scatter_overlaps(work, sphere, &work->spheres[i])) return true;
    }
    return false;
}

static void scatter_file(const scatter_work *work, scatter_grid *grid, uint32_t i) {
    uint64_t cell = 0;
    for (int axis = 2; axis >= 0; --axis)
        cell = cell * grid->size[axis] +
               (uint64_t)scatter_layer(work, grid, axis, (&work->spheres[i].position.x)[axis]);
    grid->next[i] = grid->head[cell];
    grid->head[cell] = i;
}

/* Places sphere i, of the kind with this rank by radius, where it overlaps none. */
static bool scatter_insert(scatter_work *work, uint32_t rank, uint32_t i, carom_random *random) {
    const double *edges = &work->def->edges.x, radius = work->grids[rank].radius;
    carom_gas_sphere *s = &work->spheres[i];
    for (int tried = 0; tried < SCATTER_TRIES; ++tried) {
        bool meets = false;
        for (int axis = 0; axis < 3; ++axis) {
            double margin = work->def->periodic[axis] ? 0.0 : radius * (1.0 + 1e-9);
            double x = carom_random_between(random, margin, edges[axis] - margin);
            (&s->position.x)[axis] = x;
        }
        for (uint32_t k = 0; k <= rank && !meets; ++k)
            meets = scatter_meets(work, &work->grids[k], s);
        if (meets) continue;
        scatter_file(work, &work->grids[rank], i);
        return true;
    }
    return false;
}

/* Kinds by their radii, the largest first. */
static void rank_kinds(const scene_gas_kind *kinds, uint32_t kind_count, uint32_t *ranked) {
    for (uint32_t k = 0; k < kind_count; ++k) {
        uint32_t at = k;
        for (; at > 0 && kinds[ranked[at - 1]].radius < kinds[k].radius; --at)
            ranked[at] = ranked[at - 1];
        ranked[at] = k;
    }
}

/* A lattice between the walls; NULL where it does not fit. */
static carom_gas_sphere *scatter_lattice(const carom_gas_def *def, uint64_t count, double radius,
                                         uint64_t seed) {
    const double *edges = &def->edges.x;
    if (!lattice_fits(count, radius, def)) return NULL;
    carom_gas_sphere *lattice = scene_gas_lattice(count, radius, def->edges, seed);
    if (lattice == NULL) return NULL;
    scene_gas_keep_inside(lattice, count, def);
    for (uint64_t i = 0; i < count; ++i)
        for (int axis = 0; axis < 3; ++axis) {
            double x = (&lattice[i].position.x)[axis];
            if (def->periodic[axis] || (x >= radius && x <= edges[axis] - radius)) continue;
            free(lattice); /* one layer is not compressed */
            return NULL;
        }
    return lattice;
}

static bool scatter_is_cancelled(const scatter_work *work, uint64_t made, uint64_t count) {
    return made % SCATTER_STEP == 0 && work->progress != NULL &&
           work->progress(work->progress_user, "inserting spheres", (double)made / (double)count);
}

static carom_status scatter_all(scatter_work *work, uint64_t count, const scene_gas_kind *kinds,
                                uint32_t kind_count, uint64_t seed, uint8_t *kind_of) {
    uint64_t counts[SCENE_GAS_MOST_KINDS], made = 0;
    uint32_t ranked[SCENE_GAS_MOST_KINDS];
    carom_random random = {seed};
    count_kinds(count, kinds, kind_count, counts);
    rank_kinds(kinds, kind_count, ranked);
    for (uint32_t rank = 0; rank < kind_count; ++rank) {
        const uint32_t k = ranked[rank];
        const scene_gas_kind *kind = &kinds[k];
        if (!scatter_begin(work, &work->grids[rank], kind->radius, counts[k], count))
            return CAROM_NO_MEMORY;
        carom_gas_sphere *lattice = NULL;
        if (made == 0 && counts[k] != 0)
            lattice = scatter_lattice(work->def, counts[k], kind->radius, seed);
        carom_status status = CAROM_OK;
        for (uint64_t n = 0; n < counts[k] && status == CAROM_OK; ++n) {
            carom_gas_sphere *s = &work->spheres[made];
            *s = (carom_gas_sphere){.radius = kind->radius, .mass = kind->mass};
            if (lattice != NULL) s->position = lattice[n].position;
            if (lattice != NULL) scatter_file(work, &work->grids[rank], (uint32_t)made);
            if (lattice == NULL && !scatter_insert(work, rank, (uint32_t)made, &random))
                status = CAROM_BAD_INPUT;
            if (kind_of != NULL) kind_of[made] = (uint8_t)k;
            ++made;
            if (status == CAROM_OK && scatter_is_cancelled(work, made, count))
                status = CAROM_CANCELLED;
        }
        free(lattice);
        if (status != CAROM_OK) return status;
    }
    return CAROM_OK;
}

carom_status scene_gas_scatter(const carom_gas_def *def, uint64_t count,
                               const scene_gas_kind *kinds, uint32_t kind_count, uint64_t seed,
                               carom_progress_fn *progress, void *progress_user, uint8_t *kind_of,
                               carom_gas_sphere **spheres) {
    *spheres = NULL;
    if (count == 0 || count >= NO_SPHERE) return CAROM_BAD_INPUT;
    scatter_work work = {.def = def,
                         .spheres = malloc(count * sizeof(*work.spheres)),
                         .progress = progress,
                         .progress_user = progress_user};
    carom_status status = CAROM_NO_MEMORY;
    if (work.spheres != NULL) status = scatter_all(&work, count, kinds, kind_count, seed, kind_of);
    for (uint32_t k = 0; k < SCENE_GAS_MOST_KINDS; ++k) {
        free(work.grids[k].head);
        free(work.grids[k].next);
    }
    if (status == CAROM_OK)
        *spheres = work.spheres;
    else
        free(work.spheres);
    return status;
}

void scene_gas_set_speed(carom_gas_sphere *spheres, uint64_t count, double mean_speed) {
    double sum = 0.0;
    for (uint64_t i = 0; i < count; ++i)
        sum += carom_hypot(carom_hypot(spheres[i].velocity.x, spheres[i].velocity.y),
                           spheres[i].velocity.z);
    double scale = sum > 0.0 ? mean_speed * (double)count / sum : 0.0;
    for (uint64_t i = 0; i < count; ++i) {
        spheres[i].velocity.x *= scale;
        spheres[i].velocity.y *= scale;
        spheres[i].velocity.z *= scale;
    }
}
