/* SPDX-License-Identifier: MIT */
/* sequence.h: frames of soups that deform and break: the scenes of kDet's Table 1, remade.
 *
 * The number of triangles and which vertices they join stay the same over all frames of a
 * sequence; any frame can be had at any time. Everything is made by formula or simulated by the
 * code beside this header, with the same bits on every machine. */
#ifndef CAROM_SCENES_SEQUENCE_H
#define CAROM_SCENES_SEQUENCE_H

#include "carom/carom.h"

typedef enum scene_kind {
    SCENE_EXPLODING = 0, /* a figure of shards explodes when a ball hits it */
    SCENE_WHIRLING,      /* a cloth lies on a turning ball */
    SCENE_BODIES,        /* dozens of balls fly about in a box and collide */
    SCENE_FUNNEL,        /* a ball pushes a cloth through a funnel */
    SCENE_CHAIR,         /* a cloth falls over a chair of long tubes */
    SCENE_BREAKING,      /* a figure falls on another and breaks into shards */
    SCENE_DRAPED,        /* a cloth falls on a figure */
    SCENE_KIND_COUNT
} scene_kind;

/* "exploding", "whirling" ... */
const char *scene_kind_name(scene_kind kind);

/* A range of vertices that moves as a whole. */
typedef struct scene_part {
    uint64_t first, count;
    carom_pose *poses; /* one per frame; NULL: at rest */
} scene_part;

/* A cloth: a fine grid of vertices on a spline surface, whose control points are simulated. */
typedef struct scene_sheet {
    uint64_t first;       /* its first vertex */
    uint32_t cells[2];    /* of the fine grid; one vertex more in each direction */
    uint32_t points[2];   /* of the control points */
    carom_vec3 *controls; /* those of frame 0, then of frame 1 ... */
} scene_sheet;

typedef struct scene_sequence {
    scene_kind kind;
    uint32_t frame_count;
    uint64_t vertex_count, triangle_count;
    uint32_t (*corners)[3];

    /* Where vertices are. */
    carom_vec3 *rest;
    scene_part *parts;
    uint32_t part_count;
    scene_sheet sheet;
    bool has_sheet;

    /* While it is made. */
    uint64_t vertex_room, triangle_room;
    uint32_t part_room;
    bool failed; /* no memory */
} scene_sequence;

#define SCENE_LEAST_TRIANGLES UINT64_C(4000) /* that every kind can be made of */

/* Makes a sequence of exactly that many triangles and frames: SCENE_LEAST_TRIANGLES or more of the
 * first, one or more of the second. False when there is no memory; free it in any case. */
bool scene_sequence_make(scene_kind kind, uint64_t triangles, uint32_t frames,
                         scene_sequence *sequence);
void scene_sequence_free(scene_sequence *sequence);

/* Writes the positions of all vertices in a frame. Any thread. */
void scene_sequence_frame(const scene_sequence *sequence, uint32_t frame, float (*positions)[3]);

#endif
