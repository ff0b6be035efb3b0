/* SPDX-License-Identifier: MIT */
/* Which share of a long campaign this process runs. */
#include "tests/support/campaign.h"

#include <stdio.h>
#include <stdlib.h>

bool campaign_is_long(void) {
    const char *value = getenv("CAROM_LONG");
    return value != NULL && value[0] != '\0' && value[0] != '0';
}

bool campaign_has(uint64_t number) {
    const char *value = getenv("CAROM_PART");
    if (value == NULL || value[0] == '\0') return true;
    unsigned first = 0, last = 0, parts = 0;
    char rest;
    if (sscanf(value, "%u-%u/%u%c", &first, &last, &parts, &rest) != 3) {
        last = 0;
        if (sscanf(value, "%u/%u%c", &first, &parts, &rest) == 2) last = first;
    }
    if (first < 1 || last < first || last > parts) {
        fprintf(stderr,
                "CAROM_PART is \"%s\"; it should be like 3/16, from 1/16 to 16/16, or 3-5/16\n",
                value);
        exit(2);
    }
    return number % parts >= first - 1 && number % parts <= last - 1;
}
