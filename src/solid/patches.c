/* SPDX-License-Identifier: MIT */
#include "solid/query.h"

CAROM_RESULT_FILL(carom_patches);
CAROM_RESULT_DEFINE_FREE(carom_patches);
