// SPDX-License-Identifier: MIT
// manifold-3d in Node, through pipes; see manifold.mjs. There when node and the package are.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>
#include <limits>

#include "bench/peers/peers.h"

namespace {

constexpr const char *script = "bench/peers/manifold.mjs"; // from where `make bench` runs

struct child {
    pid_t id;
    int to, from;
};

bool give(int to, const void *bytes, size_t size) {
    const char *at = static_cast<const char *>(bytes);
    while (size != 0) {
        ssize_t sent = write(to, at, size);
        if (sent <= 0) return false;
        at += sent;
        size -= size_t(sent);
    }
    return true;
}

bool receive(int from, double *value) {
    char *at = reinterpret_cast<char *>(value);
    for (size_t size = sizeof(*value); size != 0;) {
        ssize_t got = read(from, at, size);
        if (got <= 0) return false;
        at += got;
        size -= size_t(got);
    }
    return true;
}

} // namespace

void *peer_manifold_overlap_prepare(const peer_mesh *mesh) {
    int to[2], from[2];
    if (access(script, R_OK) != 0 || pipe(to) != 0) return nullptr;
    if (pipe(from) != 0) {
        close(to[0]), close(to[1]);
        return nullptr;
    }
    std::signal(SIGPIPE, SIG_IGN);
    pid_t id = fork();
    if (id == 0) {
        dup2(to[0], 0), dup2(from[1], 1);
        for (int end : {to[0], to[1], from[0], from[1]}) close(end);
        execlp("node", "node", script, static_cast<char *>(nullptr));
        _exit(127);
    }
    close(to[0]), close(from[1]);
    auto *c = new child{id, to[1], from[0]};
    const uint32_t sizes[2] = {uint32_t(mesh->vertex_count), uint32_t(mesh->triangle_count)};
    double ready = 0;
    if (id > 0 && give(c->to, sizes, sizeof(sizes)) &&
        give(c->to, mesh->positions, mesh->vertex_count * 12) &&
        give(c->to, mesh->corners, mesh->triangle_count * 12) && receive(c->from, &ready) &&
        ready == 1)
        return c;
    peer_manifold_overlap_release(c);
    return nullptr;
}

void peer_manifold_overlap_release(void *prepared) {
    auto *c = static_cast<child *>(prepared);
    close(c->to), close(c->from); // it ends when its input does
    if (c->id > 0) waitpid(c->id, nullptr, 0);
    delete c;
}

double peer_manifold_overlap(void *prepared, const double *pose) {
    auto *c = static_cast<child *>(prepared);
    double volume;
    if (give(c->to, pose, 12 * sizeof(double)) && receive(c->from, &volume)) return volume;
    return std::numeric_limits<double>::quiet_NaN();
}
