/* SPDX-License-Identifier: MIT */
/* tree_surface_cuda.h: the surfaces of two posed trees, as searches on the GPU see them, included
 * by tree_cuda.cu alone.
 *
 * A node is named by its level and its index there. The bounds of two cylinders are those of
 * tree_surface_cpu.c, with all of them in the fixed tree's frame. */
#ifndef CAROM_SRC_TREE_TREE_SURFACE_CUDA_H
#define CAROM_SRC_TREE_TREE_SURFACE_CUDA_H

#define TREE_CUDA_LEVEL_SHIFT 28u /* of the level in a name; level 0 has at most 2^26 nodes */
#define TREE_CUDA_INDEX_MASK  ((1u << TREE_CUDA_LEVEL_SHIFT) - 1u)
static_assert(CAROM_TREE_SURFACE_LEVELS <= 1u << (32u - TREE_CUDA_LEVEL_SHIFT), "levels");
static_assert(CAROM_TREE_TRIANGLES_MAX / CAROM_TREE_CYLINDERS <= TREE_CUDA_INDEX_MASK, "indices");

/* Lengths whose squares are far from the ends of the range of doubles. */
#define TREE_CUDA_LENGTH_MIN 0x1p-300

struct tree_cuda_cylinder {
    float x, y, z, axis_x, axis_y, axis_z, radius, height;
};

static __device__ inline uint32_t tree_cuda_name(uint32_t level, uint32_t index) {
    return level << TREE_CUDA_LEVEL_SHIFT | index;
}

static __device__ inline uint32_t tree_cuda_level(uint32_t name) {
    return name >> TREE_CUDA_LEVEL_SHIFT;
}

static __device__ inline uint32_t tree_cuda_root_name(const carom_tree *tree) {
    return tree_cuda_name(tree->surface.level_count - 1, 0);
}

/* Cylinder `lane` of a node. */
static __device__ inline tree_cuda_cylinder
tree_cuda_lane(const carom_tree_surface &s, uint32_t level, uint32_t index, uint32_t lane) {
    const carom_tree_cylinders &n = s.nodes[s.level_start[level] + index];
    return {n.x[lane],      n.y[lane],      n.z[lane],      n.axis_x[lane],
            n.axis_y[lane], n.axis_z[lane], n.radius[lane], n.height[lane]};
}

/* A child of a node, or the node itself, whose x is NaN past the last. */
static __device__ inline tree_cuda_cylinder
tree_cuda_cylinder_of(const carom_tree *tree, uint32_t name, bool opened, uint32_t lane) {
    const carom_tree_surface &s = tree->surface;
    uint32_t level = tree_cuda_level(name), index = name & TREE_CUDA_INDEX_MASK;
    if (opened) return tree_cuda_lane(s, level, index, lane);
    tree_cuda_cylinder whole;
    if (level + 1 < s.level_count) {
        whole = tree_cuda_lane(s, level + 1, index / CAROM_TREE_CYLINDERS,
                               index % CAROM_TREE_CYLINDERS);
    } else { /* the ball around all */
        float radius = (float)s.radius * (1.0f + CAROM_TREE_FLOAT_SLACK);
        whole = {(float)s.centre.x,
                 (float)s.centre.y,
                 (float)s.centre.z,
                 0.0f,
                 0.0f,
                 1.0f,
                 radius,
                 radius};
    }
    if (lane != 0) whole.x = NAN;
    return whole;
}

/* A cylinder of the moving tree in the fixed tree's frame. */
static __device__ inline tree_cuda_cylinder tree_cuda_turned(const carom_tree_posed_pair &p,
                                                             const tree_cuda_cylinder &c) {
    const float *m = p.turn, *r = p.rotation;
    return {m[0] * c.x + m[1] * c.y + m[2] * c.z + p.move[0],
            m[3] * c.x + m[4] * c.y + m[5] * c.z + p.move[1],
            m[6] * c.x + m[7] * c.y + m[8] * c.z + p.move[2],
            r[0] * c.axis_x + r[1] * c.axis_y + r[2] * c.axis_z,
            r[3] * c.axis_x + r[4] * c.axis_y + r[5] * c.axis_z,
            r[6] * c.axis_x + r[7] * c.axis_y + r[8] * c.axis_z,
            c.radius * p.scale,
            c.height * p.scale};
}

/* How far both cylinders reach along a direction. */
static __device__ inline float tree_cuda_reach(const tree_cuda_cylinder &a,
                                               const tree_cuda_cylinder &b, float x, float y,
                                               float z) {
    return carom_tree_reach_along(x * a.axis_x + y * a.axis_y + z * a.axis_z, a.radius, a.height) +
           carom_tree_reach_along(x * b.axis_x + y * b.axis_y + z * b.axis_z, b.radius, b.height);
}

/* A lower bound of the distance of two cylinders, less the offset; and, where the trees are not
 * far apart, an upper bound of that of any two of their points. NaN past the last child. */
static __device__ inline float tree_cuda_apart(const tree_cuda_pose &p, const tree_cuda_cylinder &a,
                                               const tree_cuda_cylinder &b, float *most) {
    float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z, margin = p.pair.surface_margin;
    float bound = -HUGE_VALF;
    *most = HUGE_VALF;
    if (p.aimed) {
        const float *u = p.toward;
        bound = u[0] * x + u[1] * y + u[2] * z - tree_cuda_reach(a, b, u[0], u[1], u[2]) - margin;
    }
    if (p.pair.far) return bound;
    float d = sqrtf(x * x + y * y + z * z);
    float shrink = CAROM_TREE_DIRECTION_LENGTH / (d + CAROM_TREE_LEAST_LENGTH);
    float along = d * CAROM_TREE_DIRECTION_LENGTH -
                  tree_cuda_reach(a, b, x * shrink, y * shrink, z * shrink) - margin;
    *most = d + a.radius + a.height + b.radius + b.height + margin;
    return bound > along ? bound : along;
}

/* As tree_cuda_opened, of surfaces: the node of the higher level is opened, or both. */
struct tree_cuda_opened_surfaces {
    const carom_tree *fixed, *moving;
    uint32_t name_fixed, name_moving, lane;
    bool opens_fixed, opens_moving;
    tree_cuda_cylinder cylinder;

    __device__ void open(const carom_tree_posed_pair &p, uint32_t of_fixed, uint32_t of_moving,
                         tree_cuda_cylinder *others) {
        unsigned thread = threadIdx.x % CAROM_WARP;
        uint32_t level_fixed = tree_cuda_level(of_fixed), level_moving = tree_cuda_level(of_moving);
        fixed = p.fixed;
        moving = p.moving;
        name_fixed = of_fixed;
        name_moving = of_moving;
        lane = thread % CAROM_TREE_CYLINDERS;
        opens_fixed = level_fixed >= level_moving;
        opens_moving = level_moving >= level_fixed;
        cylinder = tree_cuda_cylinder_of(fixed, of_fixed, opens_fixed, lane);
        __syncwarp();
        if (thread < CAROM_TREE_CYLINDERS)
            others[thread] =
                tree_cuda_turned(p, tree_cuda_cylinder_of(moving, of_moving, opens_moving, thread));
        __syncwarp();
    }
    /* Whether children are triangles. */
    __device__ bool leaves() const {
        return (name_fixed | name_moving) >> TREE_CUDA_LEVEL_SHIFT == 0;
    }
    __device__ static uint32_t child(uint32_t name, bool opened, uint32_t lane) {
        uint32_t level = tree_cuda_level(name), index = name & TREE_CUDA_INDEX_MASK;
        if (!opened) return name;
        index = index * CAROM_TREE_CYLINDERS + lane;
        return level == 0 ? index : tree_cuda_name(level - 1, index);
    }
    __device__ uint32_t child_fixed() const {
        return child(name_fixed, opens_fixed, lane);
    }
    __device__ uint32_t child_moving(uint32_t other) const {
        return child(name_moving, opens_moving, other);
    }
};

/* ---- Triangles ------------------------------------------------------------------------------- */

static __device__ inline void tree_cuda_corners(const carom_tree *tree,
                                                const carom_spheres_transform &transform,
                                                uint32_t triangle, carom_vec3 corners[3]) {
    const carom_tree_surface &s = tree->surface;
    for (int i = 0; i < 3; ++i)
        corners[i] = carom_spheres_pose_centre(
            &transform, s.vertices[s.corners[3 * (uint64_t)triangle + (unsigned)i]]);
}

/* The nearest points of two triangles, of a and b. */
static __device__ inline void tree_cuda_nearest(const carom_tree_posed_pair &p, uint32_t a,
                                                uint32_t b, carom_closest *closest) {
    carom_vec3 of_a[3], of_b[3];
    tree_cuda_corners(p.a, p.world.transform[0], a, of_a);
    tree_cuda_corners(p.b, p.world.transform[1], b, of_b);
    carom_near_triangles(of_a, of_b, closest);
}

/* Compares cylinders along the way between two points from now on, as set_direction of
 * tree_surface_cpu.c. */
static __device__ inline void tree_cuda_aim(tree_cuda_pose *p, const carom_closest &closest) {
    carom_vec3 way = carom_vec_sub(closest.b, closest.a);
    double length = carom_vec_length(way);
    if (p->pair.far || !(length > TREE_CUDA_LENGTH_MIN)) return;
    const double *r = carom_tree_fixed_transform(&p->pair)->frame.r;
    carom_vec3 d = carom_vec_scale(way, (p->pair.swapped ? -1.0 : 1.0) / length);
    p->toward[0] = (float)((r[0] * d.x + r[3] * d.y) + r[6] * d.z) * CAROM_TREE_DIRECTION_LENGTH;
    p->toward[1] = (float)((r[1] * d.x + r[4] * d.y) + r[7] * d.z) * CAROM_TREE_DIRECTION_LENGTH;
    p->toward[2] = (float)((r[2] * d.x + r[5] * d.y) + r[8] * d.z) * CAROM_TREE_DIRECTION_LENGTH;
    p->aimed = true;
}

#endif
