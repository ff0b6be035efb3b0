/* SPDX-License-Identifier: MIT */
/* carom.h: includes the whole public API. */
#ifndef CAROM_H
#define CAROM_H

#include "carom/balls.h"
#include "carom/base.h"
#include "carom/broad.h"
#include "carom/convex.h"
#include "carom/cuda.h"
#include "carom/gas.h"
#include "carom/geom.h"
#include "carom/grid.h"
#include "carom/mesh.h"
#include "carom/pack.h"
#include "carom/result.h"
#include "carom/scene.h"
#include "carom/shapes.h"
#include "carom/solid.h"
#include "carom/soup.h"
#include "carom/tree.h"

#endif
