/* SPDX-License-Identifier: MIT */
/* defects.h: what is wrong with a surface: boundary loops, non-manifold edges and vertices, flipped
 * faces, faces that meet; found, printed and shown. */
#ifndef CAROM_CLI_DEFECTS_H
#define CAROM_CLI_DEFECTS_H

#include "cli/display.h"

/* Initialise with {0}. */
typedef struct defects {
    bool has_holes, has_pairs; /* what was searched for */
    carom_repair_loops loops;
    carom_numbers loop_vertices;
    carom_pairs edges;      /* non-manifold */
    carom_numbers vertices; /* at which surfaces touch */
    carom_numbers flipped;
    uint64_t twisted;
    carom_pairs pairs; /* of faces that meet */
} defects;

/* Searches for all but pairs; for pairs. */
carom_status defects_find_holes(cli *cli, const carom_mesh_view *view, defects *d);
carom_status defects_find_pairs(cli *cli, const carom_mesh_view *view, defects *d);
void defects_free(defects *d);

/* Words: lines of a table, with what was searched for. */
void defects_print(const defects *d);

/* JSON: the keys `holes` and `pairs`, null where that was not searched for. */
void defects_print_json(json *j, const defects *d);

/* A loop as an object of JSON, a line of words. */
void defects_print_loop(const carom_repair_loop *loop, const uint32_t *vertices);
void defects_print_loop_json(json *j, const carom_repair_loop *loop, const uint32_t *vertices);

/* Marks every face that has a part in a defect; `marked` has a byte per face of the view. False:
 * no memory. */
bool defects_mark_faces(const defects *d, const carom_mesh_view *view, uint8_t *marked);

#endif
