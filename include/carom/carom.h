/* SPDX-License-Identifier: MIT */
/* carom.h: includes the whole public API, in the order in which it is best read. */
#ifndef CAROM_H
#define CAROM_H

/* Sorted by use, not by name. */
/* clang-format off */
#include "carom/base.h"
#include "carom/geom.h"
#include "carom/result.h"
#include "carom/mesh.h"
#include "carom/shapes.h"
#include "carom/grid.h"
#include "carom/soup.h"
#include "carom/soup_points.h"
#include "carom/soup_motion.h"
#include "carom/parts.h"
#include "carom/kfree.h"
#include "carom/repair.h"
#include "carom/solid.h"
#include "carom/convex.h"
#include "carom/broad.h"
#include "carom/pack.h"
#include "carom/cover.h"
#include "carom/tree.h"
#include "carom/balls.h"
#include "carom/query.h"
#include "carom/gas.h"
#include "carom/scene.h"
#include "carom/robot.h"
#include "carom/urdf.h"
#include "carom/cuda.h"
/* clang-format on */

#endif
