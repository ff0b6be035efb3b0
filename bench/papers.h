/* SPDX-License-Identifier: MIT */
/* papers.h: the figures of the papers that Carom implements, measured anew.
 *
 * A figure is a table (rows of a series, its columns the same in every row) and panels that draw
 * columns of it as curves. `carom bench papers` runs the figures and writes each as CSV and SVG;
 * docs/papers.md sets the results beside what was printed. Figures take their input from a lab,
 * which keeps solids and packings that several of them share. */
#ifndef CAROM_BENCH_PAPERS_H
#define CAROM_BENCH_PAPERS_H

#include "carom/carom.h"
#include "cli/platform.h"

#define PAPERS_MOST_COLUMNS  12
#define PAPERS_MOST_PANELS   7
#define PAPERS_MOST_NOTES    24
#define PAPERS_MOST_PICTURES 8

/* ---- What a figure is ------------------------------------------------------------------------ */

typedef struct papers_plot papers_plot;

typedef enum papers_scale {
    PAPERS_LOGARITHMIC = 0, /* without values that are not positive */
    PAPERS_LINEAR,
    PAPERS_STACKED /* linear; bars, each column on top of those before it */
} papers_scale;

/* Curves of the columns [y, y_end) over column x, one for each series. */
typedef struct papers_panel {
    const char *title, *x_label, *y_label;
    uint32_t x, y, y_end;
    const char *only; /* series that begin with this; NULL: all */
    bool linear_x;    /* else logarithmic */
    papers_scale scale_y;
} papers_panel;

/* Which of our numbers is compared with a printed one. */
typedef enum papers_statistic {
    PAPERS_MEAN = 0, /* over the rows of a series */
    PAPERS_MOST,     /* of them */
    PAPERS_LAST,     /* that with the largest x, column 0 */
    PAPERS_EACH      /* every row, with the number printed for it */
} papers_statistic;

/* A number that a paper prints, and where ours is. */
typedef struct papers_printed {
    const char *what, *unit; /* what: NULL ends a list */
    const char *series;      /* of our rows; NULL: each */
    uint32_t column;
    papers_statistic statistic;
    double value;               /* that is printed, but for PAPERS_EACH: */
    uint32_t printed_column;    /* of the same row; 0: */
    const char *printed_series; /* the same column of the row of this series with the same x */
    uint32_t printed_at; /* for PAPERS_EACH, the column with the x that it is printed for: a row of
                            another x, as of a small input, is not compared; 0: any */
} papers_printed;

/* A row of the table: ours, printed, ratio. */
typedef struct papers_comparison {
    char what[112];
    const char *unit;
    double ours, printed;
} papers_comparison;

#define PAPERS_MOST_COMPARISONS 128

typedef struct papers_figure {
    const char *name;    /* "weller2013-fig6", of the command and of its files */
    const char *what;    /* it shows */
    const char *printed; /* what the paper says of it, and on what machine */
    const char *columns[PAPERS_MOST_COLUMNS + 1]; /* ended by NULL */
    papers_panel panels[PAPERS_MOST_PANELS + 1];  /* ended by one without a title */
    bool (*run)(papers_plot *plot);               /* false: a call failed */
    bool has_device;                              /* some of its rows are of a GPU */
    const papers_printed *numbers;                /* that are printed; NULL: none */
} papers_figure;

/* Each is defined as `const papers_paper papers_X` in a file papers_X.c; the build finds it. */
typedef struct papers_paper {
    int order; /* the year; the build reads it (cmake/lists.cmake) */
    const char *name, *title;
    const papers_figure *figures;
    uint32_t figure_count;
} papers_paper;

extern const papers_paper *const papers_all[]; /* ended by NULL */

/* ---- The lab --------------------------------------------------------------------------------- */

#define PAPERS_MOST_SOLIDS   24
#define PAPERS_MOST_PACKINGS 64
#define PAPERS_MOST_KEPT     24 /* the rows of kDet's Table 1 are 16 */

/* A closed mesh in doubles: the middle of its box is the origin, its diagonal is 2. */
typedef struct papers_solid {
    char name[32];
    carom_mesh *mesh;
    carom_mesh_view view;
} papers_solid;

typedef struct papers_lab {
    bool quick;                       /* small inputs, for tests: seconds for all figures */
    carom_context *serial, *parallel; /* one thread, all threads */
    carom_context *device;            /* NULL where there is no GPU */
    bool device_only;                 /* rows of the GPU are wanted, and no others */
    bool stand_ins;                   /* a model was not there */
    papers_solid solids[PAPERS_MOST_SOLIDS];
    uint32_t solid_count;
    struct {
        const papers_solid *solid;
        uint64_t requested;
        carom_packing_method method;
        carom_packing *packing;
    } packings[PAPERS_MOST_PACKINGS];
    uint32_t packing_count;
    struct {
        char name[32];
        void *data;
        void (*destroy)(void *data);
    } kept[PAPERS_MOST_KEPT];
    uint32_t kept_count;
} papers_lab;

/* Opens a lab; false when there is no memory for it, or no GPU where the backend is that. Then only
 * the rows of the GPU are measured: the CPU is used to check them. Close it in any case. */
bool papers_lab_open(papers_lab *lab, const carom_context_def *def, bool quick);
void papers_lab_close(papers_lab *lab);

/* The model in a file of $CAROM_MODELS/watertight or ../shared/models/watertight, or where it
 * is not there, and in quick runs, a shape that stands for it. An empty file: always the shape.
 * NULL: it failed. */
const papers_solid *papers_get_solid(papers_lab *lab, const char *file, const char *name,
                                     const carom_shape_def *stand_in);

/* Its packing of that many spheres, with shares, by our octree without its certificate. NULL: it
 * failed. */
const carom_packing *papers_get_packing(papers_lab *lab, const papers_solid *solid, uint64_t count);
/* The same by another method. */
const carom_packing *papers_get_packing_by(papers_lab *lab, const papers_solid *solid,
                                           uint64_t count, carom_packing_method method);

/* What several figures of a run show is measured once: data that an earlier one has kept by that
 * name, or NULL. */
void *papers_get_kept(const papers_lab *lab, const char *name);
/* Keeps data, which the lab destroys when it is closed. False: there is no space, and it is not
 * kept. */
bool papers_keep(papers_lab *lab, const char *name, void *data, void (*destroy)(void *data));

/* ---- Results --------------------------------------------------------------------------------- */

/* What a row was measured on. */
typedef enum papers_backend {
    PAPERS_ONE_THREAD = 0,
    PAPERS_ALL_THREADS,
    PAPERS_GPU,
    PAPERS_IN_PRINT /* a number of the paper */
} papers_backend;

/* "CPU, 1 thread" and so on. */
const char *papers_backend_name(papers_backend backend);
papers_backend papers_backend_of(const papers_lab *lab, const carom_context *context);

/* What a row measures: columns of every CSV, after the series. */
typedef struct papers_source {
    const char *algorithm; /* that gave the numbers, without a comma: docs/papers.md names it */
    papers_backend backend;
    uint64_t triangles; /* of the input as it was measured; 0: it has none (boxes, spheres) */
} papers_source;

typedef struct papers_row {
    char series[64], algorithm[48];
    papers_backend backend;
    uint64_t triangles;
    double values[PAPERS_MOST_COLUMNS];
} papers_row;

/* Balls, or a mesh where there are none. */
typedef struct papers_picture {
    char caption[80];
    carom_ball *balls;
    uint8_t *colours;
    uint32_t count;
    carom_mesh *mesh;
} papers_picture;

struct papers_plot {
    papers_lab *lab;
    const papers_figure *figure;
    papers_row *rows;
    uint32_t row_count, row_capacity;
    papers_picture pictures[PAPERS_MOST_PICTURES];
    uint32_t picture_count;
    char notes[PAPERS_MOST_NOTES][200];
    uint32_t note_count;
    papers_comparison comparisons[PAPERS_MOST_COMPARISONS];
    uint32_t comparison_count;
    double seconds, processor; /* that the figure took, by the clock and of all threads together */
    bool failed;               /* no memory, or a value that is not finite */
};

/* Runs a figure. Without a GPU, rows that were recorded on one follow, with their date. Free the
 * plot in any case. False: papers_plot_reason says why. */
bool papers_run(papers_lab *lab, const papers_figure *figure, papers_plot *plot);
void papers_plot_free(papers_plot *plot);
const char *papers_plot_reason(const papers_plot *plot);

/* Adds a row, with as many values as the figure has columns; all are finite, and names fit. A
 * column named `polygons` or `triangles` is what was measured: the row fails where it differs from
 * source->triangles. Rows measured on the GPU are kept for machines without one
 * (bench/papers_device.csv). */
void papers_add(papers_plot *plot, const papers_source *source, const char *series,
                const double *values);

PLATFORM_PRINTF(2, 3) void papers_note(papers_plot *plot, const char *format, ...);

/* Adds a picture of the largest spheres of one packing, or of two with the second in a pose. */
void papers_add_balls(papers_plot *plot, const char *caption, const carom_packing *a,
                      const carom_packing *b, const carom_pose *pose_b);
/* Adds a picture of balls, each of one of four colours, and takes both arrays, of malloc. */
void papers_add_coloured(papers_plot *plot, const char *caption, carom_ball *balls,
                         uint8_t *colours, uint32_t count);
/* Adds a picture of a mesh, and takes it. */
void papers_add_mesh(papers_plot *plot, const char *caption, carom_mesh *mesh);

/* ---- Time ------------------------------------------------------------------------------------ */

/* The clock by which a context is timed, in seconds: the processor's for one thread, as others keep
 * the machine busy; else the wall's. */
double papers_now(const papers_lab *lab, const carom_context *context);

/* Runs something once to warm up, then several times; returns the shortest time in seconds, as
 * other work on the machine can only add to it, or a negative number when a run returned false.
 * Processor time where the context is the lab's for one thread, else by the clock. */
double papers_best_seconds(const papers_lab *lab, const carom_context *context,
                           bool (*run)(void *input), void *input, int turns);

#endif
