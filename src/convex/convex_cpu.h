/* SPDX-License-Identifier: MIT */
/* convex_cpu.h: queries compiled per instruction set. */
#ifndef CAROM_SRC_CONVEX_CPU_H
#define CAROM_SRC_CONVEX_CPU_H

#include "base/context.h"
#include "base/isa.h"
#include "convex/convex_hull.h"
#include "convex/convex_query_item.h"

/* Answers one query. The arena gives workspace to large hulls; CAROM_NO_MEMORY when it cannot. */
CAROM_CPU_DECLARE(carom_status, carom_convex_query, const carom_convex_question_item *q,
                  carom_convex_question question, carom_convex_learned *cache, carom_arena *arena,
                  carom_convex_result *result);

/* The depth of a pair whose cores overlap, after the search for their distance left it open: the
 * rest of carom_convex_query. */
CAROM_CPU_DECLARE(carom_status, carom_convex_deepen, const carom_convex_question_item *q,
                  carom_convex_work *work, carom_arena *arena, carom_convex_result *result);

/* Answers up to CAROM_CONVEX_MANY queries for depths: as carom_convex_query answers each, in less
 * time (convex_many_cpu.c). */
#define CAROM_CONVEX_MANY 32u
CAROM_CPU_DECLARE(carom_status, carom_convex_depth_many, const carom_convex_question_item *items,
                  uint32_t count, carom_arena *arena, carom_convex_result *results);

/* Finds the face of a hull, which has one, whose normal, turned by the frame, is best aligned with
 * the direction d of about unit length: the first of equals. */
CAROM_CPU_DECLARE(void, carom_hull_best_face, const carom_hull_faces *faces,
                  const carom_frame *frame, carom_vec3 d, carom_hull_best *best);

/* Finds the seeds of a hull: the farthest vertex for the middle of each cell of its cube map. */
CAROM_CPU_DECLARE(void, carom_hull_find_seeds, const carom_hull_view *hull, uint32_t *seeds);

#endif
