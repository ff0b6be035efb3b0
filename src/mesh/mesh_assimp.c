/* SPDX-License-Identifier: MIT */
/* Every other format through assimp. The library is loaded when first needed, so that programs that
 * never use it do not pay for loading its ten megabytes.
 *
 * Faces stay polygons and vertices are not joined (no post-processing). Each mesh is added once per
 * node that refers to it, transformed by the matrices of that node and its ancestors. */
#include <inttypes.h>

#include "geom/length.h"
#include "mesh/mesh_format.h"

#ifdef CAROM_HAVE_ASSIMP
#include <assimp/cimport.h>
#include <assimp/scene.h>
#include <dlfcn.h>

typedef struct assimp {
    const struct aiScene *(*import_file)(const char *path, unsigned flags);
    const struct aiScene *(*import_memory)(const char *bytes, unsigned size, unsigned flags,
                                           const char *hint);
    void (*release)(const struct aiScene *scene);
    const char *(*error)(void);
} assimp;

static bool find(void *library, const char *name, void *to) {
    void *symbol = dlsym(library, name);
    memcpy(to, &symbol, sizeof(symbol)); /* C has no cast from object to function pointer */
    return symbol != NULL;
}

/* The library is never unloaded: loading it again would cost as much each time. */
static bool open_assimp(assimp *a) {
    void *library = dlopen(CAROM_ASSIMP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return library != NULL && find(library, "aiImportFile", &a->import_file) &&
           find(library, "aiImportFileFromMemory", &a->import_memory) &&
           find(library, "aiReleaseImport", &a->release) &&
           find(library, "aiGetErrorString", &a->error);
}

/* ---- Conversion of a scene to a mesh --------------------------------------------------------- */

typedef struct matrix { /* rows of x' = m x */
    double m[3][4];
} matrix;

static const matrix identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

static matrix multiply(const matrix *a, const struct aiMatrix4x4 *t) {
    const double b[3][4] = {{(double)t->a1, (double)t->a2, (double)t->a3, (double)t->a4},
                            {(double)t->b1, (double)t->b2, (double)t->b3, (double)t->b4},
                            {(double)t->c1, (double)t->c2, (double)t->c3, (double)t->c4}};
    matrix product;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 4; ++c)
            product.m[r][c] =
                ((a->m[r][0] * b[0][c] + a->m[r][1] * b[1][c]) + a->m[r][2] * b[2][c]) +
                (c == 3 ? a->m[r][3] : 0.0);
    return product;
}

static double row(const double r[4], const struct aiVector3D *v) {
    return ((r[0] * (double)v->x + r[1] * (double)v->y) + r[2] * (double)v->z) + r[3];
}

static carom_status add_mesh(carom_builder *builder, const struct aiMesh *mesh, const matrix *m) {
    uint64_t base = builder->points.count;
    if (base + mesh->mNumVertices > CAROM_MESH_MOST_VERTICES)
        return carom_fail(builder->context, CAROM_TOO_LARGE, "%s: more than %" PRIu32 " vertices",
                          builder->name, CAROM_MESH_MOST_VERTICES);
    for (unsigned i = 0; i < mesh->mNumVertices && !builder->stopped; ++i) {
        const struct aiVector3D *v = &mesh->mVertices[i];
        carom_vec3 p = {row(m->m[0], v), row(m->m[1], v), row(m->m[2], v)};
        if (!carom_vec_finite(p))
            return carom_fail(builder->context, CAROM_BAD_FILE,
                              "%s: vertex %" PRIu64 " has a coordinate that is not finite",
                              builder->name, base + i);
        carom_builder_add_point(builder, p);
    }
    for (unsigned f = 0; f < mesh->mNumFaces && !builder->stopped; ++f) {
        uint64_t begin = builder->corners.count;
        for (unsigned c = 0; c < mesh->mFaces[f].mNumIndices; ++c) {
            unsigned vertex = mesh->mFaces[f].mIndices[c];
            if (vertex >= mesh->mNumVertices)
                return carom_fail(builder->context, CAROM_BAD_FILE,
                                  "%s: face %u of a mesh names vertex %u, it has %u", builder->name,
                                  f, vertex, mesh->mNumVertices);
            carom_builder_add_corner(builder, (uint32_t)(base + vertex));
        }
        carom_builder_end_face(builder, begin);
    }
    return CAROM_OK;
}

/* A node on the traversal stack, and the product of its ancestors' matrices. */
typedef struct waiting {
    const struct aiNode *node;
    matrix above;
} waiting;
CAROM_ARRAY(waiting_nodes, waiting);

static carom_status add_nodes(carom_builder *builder, const struct aiScene *scene,
                              waiting_nodes *stack) {
    const carom_allocator *allocator = &builder->context->allocator;
    waiting root = {scene->mRootNode, identity};
    if (!waiting_nodes_push(stack, allocator, root)) return carom_builder_fail_memory(builder);
    while (stack->count != 0 && !builder->stopped) {
        waiting w = stack->data[--stack->count];
        matrix m = multiply(&w.above, &w.node->mTransformation);
        for (unsigned i = 0; i < w.node->mNumMeshes; ++i)
            CAROM_TRY(add_mesh(builder, scene->mMeshes[w.node->mMeshes[i]], &m));
        for (unsigned i = w.node->mNumChildren; i-- > 0;) {
            waiting child = {w.node->mChildren[i], m};
            if (!waiting_nodes_push(stack, allocator, child))
                return carom_builder_fail_memory(builder);
        }
    }
    return CAROM_OK;
}

/* The file extension ("gltf" of box.gltf.gz), from which assimp chooses a reader. */
static void hint_of(const char *name, char *hint, size_t size) {
    size_t length = strlen(name), begin = 0;
    if (carom_name_is_gzip(name)) length -= 3;
    for (size_t i = 0; i < length; ++i)
        if (name[i] == '.' || name[i] == '/') begin = i + 1;
    size_t count = CAROM_MIN(length - begin, size - 1);
    memcpy(hint, name + begin, count);
    hint[count] = '\0';
}

carom_status carom_read_assimp(carom_builder *builder, const char *path, carom_source source) {
    assimp a;
    if (!open_assimp(&a))
        return carom_fail(builder->context, CAROM_UNSUPPORTED,
                          "%s: this format needs assimp, and " CAROM_ASSIMP_LIBRARY
                          " is not installed; without it there are " CAROM_NATIVE_FORMATS,
                          builder->name);
    char hint[16];
    hint_of(builder->name, hint, sizeof(hint));
    if (path == NULL && source.size > UINT32_MAX)
        return carom_fail(builder->context, CAROM_TOO_LARGE,
                          "%s: %" PRIu64 " bytes are too many for assimp", builder->name,
                          source.size);
    const struct aiScene *scene =
        path != NULL ? a.import_file(path, 0)
                     : a.import_memory((const char *)source.bytes, (unsigned)source.size, 0, hint);
    if (scene == NULL || scene->mRootNode == NULL) {
        carom_status status =
            carom_fail(builder->context, CAROM_BAD_FILE, "%s: assimp says: %s", builder->name,
                       scene != NULL ? "the scene is empty" : a.error());
        if (scene != NULL) a.release(scene);
        return status;
    }
    waiting_nodes stack = {0};
    carom_status status = add_nodes(builder, scene, &stack);
    waiting_nodes_release(&stack, &builder->context->allocator);
    a.release(scene);
    return status;
}

#else

carom_status carom_read_assimp(carom_builder *builder, const char *path, carom_source source) {
    (void)path;
    (void)source;
    return carom_fail(builder->context, CAROM_UNSUPPORTED,
                      "%s: this build, made without assimp, reads " CAROM_NATIVE_FORMATS
                      " alone; convert the file, or build where assimp is installed",
                      builder->name);
}

#endif
