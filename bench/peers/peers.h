/* SPDX-License-Identifier: MIT */
/* peers.h: what the peers' module offers, as plain C. */
#ifndef CAROM_BENCH_PEERS_H
#define CAROM_BENCH_PEERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sorts words by their low 32 bits, equal ones in order. */
typedef void peer_sort_fn(uint64_t *words, size_t count);
__attribute__((visibility("default"))) peer_sort_fn peer_std_stable_sort;

#ifdef __cplusplus
}
#endif

#endif
