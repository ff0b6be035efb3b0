/* SPDX-License-Identifier: MIT */
/* kdet_models.h: Figures 5 and 6 of kDet (2017): k and height of many meshes. */
#ifndef CAROM_BENCH_KDET_MODELS_H
#define CAROM_BENCH_KDET_MODELS_H

#include "bench/papers.h"

/* Each mesh as a row, and pictures of the two with the largest k and the largest height. */
bool kdet_models_worst(papers_plot *plot);
/* What Tukey's box plots show: quartiles and whiskers of k, by number of faces. */
bool kdet_models_boxes(papers_plot *plot);

#endif
