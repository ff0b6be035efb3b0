/* SPDX-License-Identifier: MIT */
/* scene_report.h: a clash report, and the files it is written to. */
#ifndef CAROM_CLI_SCENE_REPORT_H
#define CAROM_CLI_SCENE_REPORT_H

#include "cli/output.h"
#include "cli/scene_parts.h"

/* How two parts clash. */
typedef enum scene_relation {
    SCENE_TOUCHING = 0, /* they touch, without overlapping */
    SCENE_CROSSING,     /* faces cross, and one of the two is open: there is no volume */
    SCENE_PROTRUDING,   /* both are closed, and a part of each is in the other */
    SCENE_ENCLOSED,     /* one is inside the other */
    SCENE_DUPLICATE,    /* the same triangles in the same place */
    SCENE_CLOSE,        /* apart, but closer than the clearance */
    SCENE_POSSIBLE,     /* of a packing, whose spheres are too few to decide */
    SCENE_RELATIONS
} scene_relation;

const char *scene_relation_name(scene_relation relation);

typedef struct scene_clash {
    uint64_t a, b; /* indices of parts */
    scene_relation relation;
    carom_scene_contact contact;
    bool has_volume;
} scene_clash;

typedef struct scene_report {
    const scene_parts *parts;
    scene_clash *clashes; /* sorted by the numbers of the parts */
    uint64_t count;
    uint64_t counts[SCENE_RELATIONS];
    uint64_t pairs; /* of boxes that overlap */
    double clearance;
    bool depth;
    double prepare_s, query_s;
} scene_report;

/* Where a clash is: its first point, or the middle of the part that is inside. */
carom_vec3 scene_clash_point(const scene_report *report, const scene_clash *clash);

/* Each writes the whole report to an open file. */
void scene_write_csv(const scene_report *report, FILE *out);
carom_status scene_write_bcf(const scene_report *report, FILE *out);
carom_status scene_write_html(const scene_report *report, FILE *out);

/* The keys of the report in an open JSON object. */
void scene_put_json(const scene_report *report, json *j);

#endif
