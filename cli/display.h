/* SPDX-License-Identifier: MIT */
/* display.h: what a command shows of its result: parts, contacts, spheres, curves, arrows, lists,
 * answers, plots. A command fills a display once; it is written as GLB (display_glb.c), as a page
 * (display_html.c) or as a picture (paint.c).
 *
 * Filling never fails: when there is no memory, `no_memory` is set, what follows is left out, and
 * writing returns CAROM_NO_MEMORY. */
#ifndef CAROM_CLI_DISPLAY_H
#define CAROM_CLI_DISPLAY_H

#include "cli/command.h"

typedef enum display_kind {
    DISPLAY_PART = 0, /* triangles: a part of a mesh */
    DISPLAY_PATCH,    /* triangles: the faces of one contact, over their part */
    DISPLAY_REGION,   /* triangles: the closed surface of an overlap */
    DISPLAY_SPHERES,
    DISPLAY_POINTS,
    DISPLAY_CURVE, /* segments */
    DISPLAY_EDGES, /* segments: edges of a mesh */
    DISPLAY_ARROW,
    DISPLAY_KINDS
} display_kind;

const char *display_kind_name(display_kind kind);

typedef struct display_colour {
    uint8_t r, g, b, a;
} display_colour;

/* A number or a text with its name, as it is to be printed. */
typedef struct display_number {
    char *label, *text; /* text NULL: the value */
    double value;
    char *unit, *bound; /* NULL: none */
} display_number;

typedef struct display_numbers {
    display_number *data;
    uint64_t count, capacity;
} display_numbers;

typedef struct display_item {
    display_kind kind;
    char *name;
    uint64_t index;                  /* among all items */
    uint64_t number;                 /* among those of its kind */
    const struct display_item *part; /* the part that it belongs to; or NULL */
    uint32_t contact;                /* CAROM_NONE: it belongs to no contact */
    carom_vec3 *points;              /* corners, centres, ends of segments */
    uint64_t point_count, point_capacity;
    uint32_t *corners; /* of triangles and segments; NULL: the points in their order */
    uint64_t corner_count, corner_capacity;
    uint32_t *faces; /* of each triangle, its face in the file; NULL: its own number */
    uint64_t face_count, face_capacity;
    double *radii; /* of spheres */
    uint64_t radius_count, radius_capacity;
    display_colour *colours; /* of each triangle or sphere; or NULL */
    uint64_t colour_count, colour_capacity;
    double *values; /* of each triangle or sphere, for the legend; or NULL */
    uint64_t value_count, value_capacity;
    display_colour colour;
    bool ghost;   /* see-through */
    bool overlay; /* drawn over what has the same depth */
    display_numbers numbers;
    carom_vec3 from, vector; /* of an arrow */
    bool moves;              /* from one pose to the other, from the first to the last time of the
                                display: along a line, turning at constant speed */
    carom_pose path[2];      /* with unit quaternions */
    carom_pose *poses;       /* where it is at each time of the display, with unit quaternions;
                                NULL: along `path` */
    uint64_t pose_count, pose_capacity;
    bool timed;          /* it is shown from one time of the display until before another only */
    uint64_t shown[2];   /* the indices of these times */
    carom_vec3 **frames; /* point_count positions at each time of the display; or NULL */
    uint64_t frame_count, frame_capacity;
} display_item;

#define DISPLAY_MOST_LIT 8

/* A row of a list: cells, and what to light. */
typedef struct display_row {
    char *id;                                    /* for links; NULL: its place in the list */
    char **cells;                                /* as many as the list has columns */
    const display_item *items[DISPLAY_MOST_LIT]; /* NULL after the last */
    carom_vec3 at;
    double radius;
} display_row;

typedef struct display_list {
    char *title, **columns;
    uint64_t column_count;
    display_row *rows;
    uint64_t row_count, row_capacity;
    uint64_t total; /* how many there are, where only the first of them have rows; 0: all have */
} display_list;

typedef struct display_series {
    char *name;
    double *x, *y;
    uint64_t count;
} display_series;

typedef struct display_plot {
    char *title, *x, *y;
    display_series *series;
    uint64_t series_count, series_capacity;
} display_plot;

typedef struct display {
    cli *cli;
    char *title;
    double metres; /* the length of a unit; 0: not known */
    char up;       /* 'x', 'y' or 'z': the axis of the files that points up */
    display_item **items;
    uint64_t item_count, item_capacity;
    uint64_t numbers[DISPLAY_KINDS]; /* items of each kind */
    display_numbers answers;
    display_list *lists;
    uint64_t list_count, list_capacity;
    display_plot *plots;
    uint64_t plot_count, plot_capacity;
    char *legend, *legend_unit; /* of the values; NULL: there is none */
    double legend_low, legend_high;
    double *times; /* of the frames, or the ends of a motion */
    uint64_t time_count, time_capacity;
    uint64_t still; /* which of the times a picture shows, where items have poses or are timed */
    char *glb;      /* the page shows this GLB file instead; NULL: the items */
    size_t glb_size;
    char *report;      /* JSON of a clash report, for a page with a panel of its own; NULL: none */
    carom_vec3 box;    /* edges of a periodic box at the origin; 0: none */
    display_item lost; /* stands for items for which there was no memory */
    bool no_memory;
} display;

/* ---- Filling --------------------------------------------------------------------------------- */

/* The title is that of the page: the answer in one line. Texts are copied everywhere. */
void display_begin(display *d, cli *cli, const char *title);
void display_free(display *d);
void display_set_title(display *d, const char *title);

/* Items stay where they are. */
display_item *display_add(display *d, display_kind kind, const char *name);
void display_rename(display *d, display_item *item, const char *name);
void display_add_point(display *d, display_item *item, carom_vec3 p);
void display_add_sphere(display *d, display_item *item, carom_vec3 centre, double radius);
void display_add_segment(display *d, display_item *item, carom_vec3 p, carom_vec3 q);
void display_add_triangle(display *d, display_item *item, const carom_vec3 p[3], uint32_t face);
void display_add_value(display *d, display_item *item, double value);
void display_add_colour(display *d, display_item *item, display_colour colour);
/* Copies the positions of one more frame. */
void display_add_frame(display *d, display_item *item, const carom_vec3 *points, uint64_t count);
void display_add_time(display *d, double time);
/* Adds where the item is at one more time. */
void display_add_pose(display *d, display_item *item, carom_pose pose);
/* Shows the item only from a time of the display, by its index, until before another one; after the
 * last one it stays. The page of `carom demo` follows that, other pages show such items always. */
void display_show_during(display_item *item, uint64_t from, uint64_t until);
void display_add_arrow(display *d, const char *name, carom_vec3 from, carom_vec3 vector,
                       const char *unit);

/* Numbers of an item, shown where it is picked; answers of the display, shown first. */
void display_tell(display *d, display_numbers *to, const char *label, double value,
                  const char *unit);
void display_tell_count(display *d, display_numbers *to, const char *label, uint64_t value);
void display_tell_text(display *d, display_numbers *to, const char *label, const char *text);
/* A bound of the last one. */
void display_bound(display *d, display_numbers *to, const char *bound);

display_list *display_add_list(display *d, const char *title, const char *const *columns,
                               uint64_t count);
/* `items` may be NULL; `radius` is that of what is to be seen around `at`. */
void display_add_row(display *d, display_list *list, const char *const *cells,
                     const display_item *const items[DISPLAY_MOST_LIT], carom_vec3 at,
                     double radius);
/* Names the last row of a list, for links. */
void display_set_row_id(display *d, display_list *list, const char *id);

display_plot *display_add_plot(display *d, const char *title, const char *x, const char *y);
void display_add_series(display *d, display_plot *plot, const char *name, const double *x,
                        const double *y, uint64_t count);

void display_set_legend(display *d, const char *label, const char *unit, double low, double high);
/* The colour of a value: dark blue at the low end of the legend to yellow at its high end. */
display_colour display_value_colour(const display *d, double value);

/* ---- Meshes ---------------------------------------------------------------------------------- */

/* A mesh as triangles. */
typedef struct display_mesh {
    carom_mesh *made;     /* where polygons were split or vertices welded */
    carom_mesh_view view; /* triangles */
    carom_numbers faces;  /* of the triangles; empty: their own numbers */
    uint64_t *first;      /* of each face of the file, its first triangle; NULL: its own number */
    uint64_t face_count;  /* of the file */
    double matrix[12];
    display_item **parts; /* of each part, once it was added */
} display_mesh;

/* Splits polygons, and welds vertices where there are too many; the view stays the caller's and
 * must stay. The pose may be NULL. Close it also after a failure. */
carom_status display_mesh_open(cli *cli, const carom_mesh_view *view, bool fan,
                               const carom_pose *pose, display_mesh *mesh);
void display_mesh_close(display_mesh *mesh);

/* Adds one item per part, called by its name or, where it has none, by that of the file. */
void display_add_mesh(display *d, display_mesh *mesh, const char *path);

/* The item of the part of a face of the file, after display_add_mesh. */
display_item *display_mesh_part(const display_mesh *mesh, uint32_t face);
/* Adds the triangles of a face of the file to an item. */
void display_add_face(display *d, display_item *item, const display_mesh *mesh, uint32_t face);
carom_vec3 display_mesh_point(const display_mesh *mesh, uint32_t vertex);

/* Adds the faces of the file that are marked as patches of one contact, one per part; at most
 * `most` of these go to `items`. Their number. */
int display_add_marked(display *d, const display_mesh *mesh, const uint8_t *marked,
                       const char *name, uint32_t contact, const display_item **items, int most);

/* Adds a box, sphere, capsule or cylinder as a part, posed by a 3 x 4 matrix. */
carom_status display_add_convex(display *d, const carom_convex *shape, const double matrix[12],
                                const char *name);

/* Adds the spheres of a packing, coloured by their radii where nothing else has a legend. */
carom_status display_add_packing(display *d, const carom_packing *packing, const char *path);

/* ---- What writers need ----------------------------------------------------------------------- */

/* The points of a triangle or segment: `each` is 3 or 2. */
static inline uint32_t display_corner(const display_item *item, uint64_t corner) {
    return item->corners != NULL ? item->corners[corner] : (uint32_t)corner;
}

static inline uint64_t display_corner_count(const display_item *item) {
    return item->corners != NULL ? item->corner_count : item->point_count;
}

static inline bool display_has_triangles(const display_item *item) {
    return item->kind <= DISPLAY_REGION;
}

static inline bool display_has_segments(const display_item *item) {
    return item->kind >= DISPLAY_CURVE;
}

static inline carom_vec3 display_posed(const double m[12], carom_vec3 p) {
    return (carom_vec3){m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3],
                        m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
                        m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
}

/* Where a picture shows an item that moves, and whether it shows it at all. */
const carom_pose *display_still_pose(const display *d, const display_item *item);
bool display_still_shows(const display *d, const display_item *item);

/* The pose with a quaternion of length 1. */
carom_pose display_unit_pose(carom_pose pose);

/* The colour of a triangle or sphere. */
display_colour display_item_colour(const display *d, const display_item *item, uint64_t element);

/* A unit normal for each corner of the triangles, smooth over edges that are not sharp; free with
 * free(). `points` are in place of the item's. NULL: no memory. */
carom_vec3 *display_normals(const display_item *item, const carom_vec3 *points);

/* The box of all that is shown, frames included; 0 to 0 when there is nothing. */
carom_bounds display_bounds(const display *d);

/* "mm", "m" ...; "" where it is not known. */
const char *display_unit(const display *d);

/* ---- Writing --------------------------------------------------------------------------------- */

/* The endings of the files of displays. */
#define DISPLAY_ENDINGS "html", "glb", "png"

/* Writes the display in the format of that ending. False, after reporting it, when that failed. */
bool display_save(display *d, const char *path, const char *format);

/* Writes the scene of a page: base64 of GLB, gzipped where the tool has zlib. */
carom_status display_write_scene(const display *d, FILE *out);

/* Writes the plots, for "svg". */
carom_status display_write_svg(const display *d, FILE *out);

/* Whether the format is one of those. */
bool display_has_format(const char *format);

#endif
