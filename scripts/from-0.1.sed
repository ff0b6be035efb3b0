# SPDX-License-Identifier: MIT
# Converts C sources that call Carom 0.1 to the names of 0.2:
#     sed -E -z -i.orig -f scripts/from-0.1.sed FILE...
# docs/from-0.1.md lists every name, and what no script can convert: the compiler finds the rest.
# -z: a file is one record, so that a call may be spread over lines. ARGUMENT below stands for an
# expression without commas outside of one pair of brackets.

# ---- Functions -----------------------------------------------------------------------------------
s/\bcarom_balls_overlap_many\b/carom_balls_overlap_batch/g
s/\bcarom_(balls|tree)_any\b/carom_\1_meet/g
s/\bcarom_soup_(self|cross)_within_(count|each)\b/carom_soup_\1_\2_within/g
s/\bcarom_soup_(self|cross)_within_any\b/carom_soup_\1_meet_within/g
s/\bcarom_soup_(self|cross)_within\b/carom_soup_\1_pairs_within/g
s/\bcarom_soup_(self|cross)_any\b/carom_soup_\1_meet/g
s/\bcarom_(broad|scene)_update\b/carom_\1_commit/g
s/\bcarom_broad_frame\b/carom_broad_step/g
s/\bcarom_broad_nearest\b/carom_broad_closest_points/g
s/\bcarom_convex_find_toi\b/carom_convex_advance/g
s/\bcarom_convex_find_tois\b/carom_convex_advance_batch/g
s/\bcarom_soup_cross_toi\b/carom_soup_cross_advance/g
s/\bcarom_soup_k_free\b/carom_kfree_measure/g
s/\bcarom_k_free_get_bounds\b/carom_kfree_bound/g
s/\bcarom_balls_(lens|toi)(_value)?\b/carom_ball_\1\2/g
s/\bcarom_motion_get_pose\b/carom_motion_evaluate/g
s/\bcarom_(packing|cover|gas)_get_(spheres|cells)\b/carom_\1_list_\2/g
s/\bcarom_gas_get_sphere\b/carom_gas_find_sphere/g
s/\bcarom_cuda_convex_pairs\b/carom_cuda_convex_batch/g
s/\bcarom_solid_patches\b/carom_solid_overlap_patches/g
s/\bcarom_convex_manifold\b/carom_convex_contacts/g

# ---- Types and enumerators -----------------------------------------------------------------------
s/\bcarom_overlap\b/carom_solid_result/g
s/\bcarom_overlap_def\b/carom_solid_query_def/g
s/\bcarom_overlap_query\b/carom_solid_pair/g
s/\bcarom_patch(es|es_free)?\b/carom_solid_patch\1/g
s/\bcarom_tree_answer\b/carom_tree_result/g
s/\bcarom_convex_def\b/carom_convex_query_def/g
s/\bcarom_convex_cache\b/carom_convex_hint/g
s/\bcarom_balls_meeting\b/carom_balls_pair/g
s/\bcarom_convex_moving\b/carom_convex_moving_pair/g
s/\bcarom_(convex|soup)_toi\b/carom_advance/g
s/\bcarom_contact\b/carom_convex_contact/g
s/\bcarom_manifold\b/carom_convex_manifold/g
s/\bcarom_object_(def|kind(_name|_from_name)?)\b/carom_scene_object_\1/g
s/\bCAROM_OBJECT_KIND_/CAROM_SCENE_OBJECT_KIND_/g
s/\bcarom_contact_method(_name|_from_name)?\b/carom_scene_contact_method\1/g
s/\bCAROM_CONTACT_METHOD_/CAROM_SCENE_CONTACT_METHOD_/g
s/\bcarom_(degenerate|impact_kind|segment_kind)(_name|_from_name)?\b/carom_soup_\1\2/g
s/\bCAROM_(DEGENERATE|IMPACT_KIND|SEGMENT_KIND)_/CAROM_SOUP_\1_/g
s/\bcarom_k_free\b/carom_kfree/g
s/\bcarom_support_fn\b/carom_convex_support_fn/g
s/\bcarom_gas_kind(_name|_from_name)?\b/carom_gas_event_kind\1/g
s/\bCAROM_GAS_KIND_/CAROM_GAS_EVENT_KIND_/g
s/\bcarom_balls_kind(_name|_from_name)?\b/carom_balls_pair_kind\1/g
s/\bCAROM_BALLS_KIND_/CAROM_BALLS_PAIR_KIND_/g
s/\bcarom_k_free_bounds\b/carom_kfree_most/g
s/\bcarom_pack_(method|format)(_name|_from_name)?\b/carom_packing_\1\2/g
s/\bcarom_pack_(sphere|cell)(s|s_free)?\b/carom_packing_\1\2/g
s/\bCAROM_PACK_(METHOD|FORMAT)_/CAROM_PACKING_\1_/g
s/\bcarom_property_type(_name|_from_name)?\b/carom_mesh_property_type\1/g
s/\bCAROM_PROPERTY_TYPE_/CAROM_MESH_PROPERTY_TYPE_/g
s/\bcarom_triangulate_def\b/carom_mesh_triangulate_def/g
s/\bcarom_cuda_(shapes|bodies|results)(_create|_destroy|_free)?\b/carom_cuda_convex_\1\2/g
s/\bcarom_(soup|broad|scene|convex)_hit\b/carom_hit/g

# ---- Constants -----------------------------------------------------------------------------------
s/\bCAROM_(NO_FACE|NO_BOX|NO_OBJECT|MESH_NONE)\b/CAROM_NONE/g
s/\bCAROM_ON_SURFACE\b/CAROM_SOUP_ON_SURFACE/g
s/\bCAROM_MANIFOLD_POINTS\b/CAROM_CONVEX_MOST_CONTACTS/g
s/\bCAROM_COVER_MOST\b/CAROM_COVER_MOST_SPHERES/g

# ---- Fields --------------------------------------------------------------------------------------
s/\.no_bounds\b/.skip_limits/g
s/\.narrow_bounds\b/.narrow_limits/g
s/\.no_shares\b/.skip_shares/g
s/\.volume_lower\b/.volume.lower/g
s/\.volume_upper\b/.volume.upper/g
s/->volume_lower\b/->volume.lower/g
s/->volume_upper\b/->volume.upper/g
s/\.separation = /.reach = /g

# ---- Getters take no context ---------------------------------------------------------------------
s/\b(carom_(soup|solid|hull|broad|scene|packing|cover|tree|balls|gas)_get_info)\(\s*[^,()]+,\s*/\1(/g

# ---- Meshes enter a def by pointer ---------------------------------------------------------------
s/\bcarom_mesh_get_view\(([^,]+),\s*&(\w+((->|\.)\w+)*)\.mesh\)/carom_mesh_get_view(\1, (carom_mesh_view *)(\2.mesh = \&(carom_mesh_view){0}))/g
s/\.mesh\s*=\s*\{/.mesh = \&(carom_mesh_view){/g
s/\.mesh\s*=\s*(\w+((->|\.)\w+|\[[^]]*\])*)([,;}])/.mesh = \&\1\4/g
s/\.mesh\s*=\s*(\w+\([^()]*\))([,;}])/.mesh = (carom_mesh_view[]){\1}\2/g
s/\.mesh\s*=\s*\*(\w+)([,;}])/.mesh = \1\2/g
s/\.mesh = &((\w+(->|\.))+mesh)([,;}])/.mesh = \1\4/g
s/\.mesh = &NULL/.mesh = NULL/g

# ---- Spheres enter a gas by its def; a def that is const needs a hand ----------------------------
s/\bcarom_gas_create\(([^,()]+),\s*([^,()]+),\s*([^,()]+),\s*([^,()]+),\s*([^,()]+)\)/((\2)->spheres = (\3), (\2)->sphere_count = (\4), carom_gas_create(\1, \2, \5))/g

# ---- Fields of variables by their usual names ----------------------------------------------------
s/\btoi\.(lower|upper)\b/toi.time.\1/g
s/\bgap\.(lower|upper)\b/gap.distance.\1/g
s/\b(hit|h)\.hit\b/(\1.id != CAROM_NONE)/g
s/\b(hit|h)\.inside\b/(\1.distance == 0.0)/g
s/\b(hit|h)\.t\b/\1.distance/g

# ---- A format for every file ---------------------------------------------------------------------
s/\bcarom_(mesh|packing)_load\(([^,]+),([^,]+),(\s*)/carom_\1_load(\2,\3, CAROM_\U\1\E_FORMAT_GUESS,\4/g
s/\bcarom_packing_load_memory\(([^,]+),([^,]+),([^,]+),(\s*)/carom_packing_load_memory(\1,\2,\3, CAROM_PACKING_FORMAT_GUESS,\4/g
s/\bcarom_(tree|gas)_load\(([^,]+),([^,]+),(\s*)/carom_\1_load(\2,\3, CAROM_\U\1\E_FORMAT_GUESS,\4/g
s/\bcarom_tree_load_memory\(([^,]+),([^,]+),([^,]+),(\s*)/carom_tree_load_memory(\1,\2,\3, CAROM_TREE_FORMAT_GUESS,\4/g
s/\bcarom_(tree|gas)_save(_memory)?\(([^,]+),([^,]+),(\s*)/carom_\1_save\2(\3,\4, CAROM_\U\1\E_FORMAT_GUESS,\5/g

# ---- Rays in arrays ------------------------------------------------------------------------------
s/\bcarom_convex_ray\(([^,]+),([^,]+),([^,]+),([^,]+),(\s*)/carom_convex_cast_rays(\1,\2,\3,\4, 1,\5/g
s/\bcarom_convex_ray\b/carom_convex_cast_rays/g

# ---- A hint enters a query by its def: def, cache, result become def, result ---------------------
s/\b(carom_convex_(meet|distance|depth)\(([^,()]*(\([^()]*\))?[^,()]*,){5})\s*NULL,\s*NULL,/\1 NULL,/g
s/\b(carom_convex_(meet|distance|depth)\(([^,()]*(\([^()]*\))?[^,()]*,){5})\s*NULL,\s*([^,()]+),/\1 \&(carom_convex_query_def){.hint = \5},/g
s/\b(carom_convex_(meet|distance|depth)\(([^,()]*(\([^()]*\))?[^,()]*,){5})\s*([^,()]+),\s*NULL,/\1 \5,/g
s/\b(carom_convex_contacts\(([^,()]*(\([^()]*\))?[^,()]*,){6})\s*(&[^,()]+),/\1 \&(carom_convex_query_def){.hint = \4},/g

# ---- A def stands after the other parameters -----------------------------------------------------
s/\b(carom_balls_(pairs|count|meet)\((([^,()]*(\([^()]*\))?[^,()]*,){5}))(\s*[^,()]+),(\s*[^,()]+),/\1\7,\6,/g
s/\b(carom_balls_bound\((([^,()]*(\([^()]*\))?[^,()]*,){3}))(\s*[^,()]+),(\s*[^,()]+),/\1\6,\5,/g
