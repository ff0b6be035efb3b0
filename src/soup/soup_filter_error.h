/* SPDX-License-Identifier: MIT */
/* soup_filter_error.h: the constants of the filters' error bound for floats (those for doubles are
 * in triangle_filter.h), and of boxes in floats; on the CPU and on the GPU. */
#ifndef CAROM_SRC_SOUP_SOUP_FILTER_ERROR_H
#define CAROM_SRC_SOUP_SOUP_FILTER_ERROR_H

/* Of a product of three extents: 2^3 times the unit roundoff, 2^-24 (CAROM_ORIENT_ERROR). */
#define CAROM_FILTER_UNIT32 0x1p-21f

/* What underflow adds, in floats: above the subnormals, whose arithmetic is slow; the smallest
 * normal float is 2^-126. */
#define CAROM_FILTER_UNDERFLOW32 0x1p-120f

/* Of a coordinate: its conversion to a float and the sum with the margin are each off by 2^-24 of
 * it at most. The smallest normal float is added for those that underflow. */
#define CAROM_FILTER_BOX_MARGIN 0x1p-22f

#endif
