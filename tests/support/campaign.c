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
    unsigned part = 0, parts = 0;
    char rest;
    if (sscanf(value, "%u/%u%c", &part, &parts, &rest) != 2 || part < 1 || part > parts) {
        fprintf(stderr, "CAROM_PART is \"%s\"; it should be like 3/16, from 1/16 to 16/16\n",
                value);
        exit(2);
    }
    return number % parts == part - 1;
}
