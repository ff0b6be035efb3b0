/* SPDX-License-Identifier: MIT */
/* Two trees in their poses: the items of tree_posed_pair_item.h, on the CPU. */
#include "tree/tree_posed_pair_item.h"

carom_tree_posed_pair carom_tree_pose(const carom_tree_pair *pair) {
    return carom_tree_pose_item(pair);
}
