/* SPDX-License-Identifier: MIT */
/* What the fragments of C in docs/ leave out: their variables, page by page (check_readme.sh).
 * FRAGMENT counts those of a page from 1. */
#include <carom/carom.h>

#ifndef PAGE_coming_from
extern carom_context *context;
extern carom_mesh_view view;
extern carom_pose pose_a, pose_b;
#endif

#ifdef PAGE_balls
extern carom_packing *packing;
extern carom_balls *a, *b;
extern carom_packing_overlap overlap;
#elif defined PAGE_broad
extern carom_bounds *boxes, *moved;
extern uint32_t *ids;
extern uint64_t n, count;
extern carom_broad *broad;
extern carom_pairs pairs, begun, ended;
#elif defined PAGE_gas
extern carom_gas_sphere *spheres;
extern uint64_t count;
extern carom_gas *gas;
extern carom_gas_event event;
extern carom_gas_spheres now;
#elif defined PAGE_grid
extern carom_soup *soup;
extern carom_pairs pairs;
extern carom_work work;
extern uint64_t bound;
extern carom_kfree k_free, other;
extern carom_kfree_most bounds;
#elif defined PAGE_pack
extern carom_packing *packing;
extern carom_cover *cover;
#if FRAGMENT == 1
extern carom_packing_spheres spheres;
#elif FRAGMENT == 2
extern carom_mesh_view mesh, moved;
extern carom_packing *deformed;
extern carom_tree *tree;
#else
extern carom_cover_spheres spheres;
#endif
#elif defined PAGE_scene
extern carom_scene_object_def *objects;
extern uint64_t count, moved_count;
extern uint32_t *ids, *moved;
extern carom_pose *poses;
extern carom_scene *scene;
extern carom_scene_contacts contacts;
extern carom_pairs begun, ended;
#elif defined PAGE_tree
extern carom_packing *packing;
extern carom_tree *tree, *a, *b;
extern carom_tree_result answer;
#elif defined PAGE_cuda
extern carom_soup *soup;
extern carom_broad *broad;
extern carom_cuda_convex_bodies bodies;
extern carom_cuda_convex_results results;
extern carom_bounds *boxes;
extern uint64_t count;
extern carom_scene *scene;
extern carom_pose *device_poses;
extern carom_cuda_scene_contacts contacts;
extern carom_cuda_pairs begun, ended;
#if FRAGMENT == 1
extern carom_pairs pairs;
#else
extern carom_cuda_pairs pairs;
#endif
#endif
