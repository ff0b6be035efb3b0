/* SPDX-License-Identifier: MIT */
/* demo.h: a section of the demo. Each engine adds one in a file demo_X.c, which defines
 * `const demo_part demo_X`; the build finds it there. */
#ifndef CAROM_CLI_DEMO_H
#define CAROM_CLI_DEMO_H

#include "cli/command.h"
#include "cli/display.h"
#include "cli/page.h"

typedef struct demo {
    cli *cli;
    page page;
    char result[160]; /* what the section found, one line for the terminal */
    char number[32];  /* the number that matters, such as "3.1 ms" */
    char words[240];  /* what it is, after the number on the page */
} demo;

/* Adds the scene of a display to the page, with a picture of it for browsers without WebGL; `alt`
 * says what is to be seen. Its answers and plots stand beside it. */
carom_status demo_show(demo *demo, const display *d, const char *alt);

/* The time that the answers of a display took, with three digits. */
void demo_tell_time(display *d, double seconds);

/* A shape by formula, ready for displays. All zero before it is opened; close it also after a
 * failure. */
typedef struct demo_shape {
    carom_mesh *mesh;
    carom_mesh_view view;
    display_mesh shown;
} demo_shape;

carom_status demo_shape_open(demo *demo, const carom_shape_def *def, const carom_pose *pose,
                             demo_shape *shape);
void demo_shape_close(demo_shape *shape);
/* Adds the shape to a display as a part with a name. */
display_item *demo_shape_add(display *d, demo_shape *shape, const char *name);

typedef struct demo_part {
    int order; /* position in the demo, that of README; the build reads it (cmake/lists.cmake) */
    const char *name, *what; /* in the terminal */
    const char *title;       /* of the section; NULL: the section that opens the page */
    const char *how;         /* it is answered */
    const char *peer;        /* other programs' number and where it comes from; NULL: none */
    const char *commands;    /* what makes such a scene, lines of a shell; tests run them */
    carom_status (*run)(demo *demo);
} demo_part;

#endif
