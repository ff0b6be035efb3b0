/* SPDX-License-Identifier: MIT */
/* Every other format through assimp. The library is loaded when first needed, so that programs that
 * never use it do not pay for loading its ten megabytes.
 *
 * Faces stay polygons and vertices are not joined (no post-processing). Each mesh is added once per
 * node that refers to it, transformed by the matrices of that node and its ancestors. A node with
 * meshes is a part; its name is its path below the root, as the names of nodes repeat. */
#include <inttypes.h>

#include "base/platform.h"
#include "geom/length.h"
#include "mesh/mesh_3mf.h"
#include "mesh/mesh_format.h"

#ifdef CAROM_HAVE_ASSIMP
#include <assimp/cimport.h>
#include <assimp/scene.h>

typedef struct assimp {
    const struct aiScene *(*import_file)(const char *path, unsigned flags);
    const struct aiScene *(*import_memory)(const char *bytes, unsigned size, unsigned flags,
                                           const char *hint);
    void (*release)(const struct aiScene *scene);
    const char *(*error)(void);
} assimp;

static bool mesh_assimp_find(void *library, const char *name, void *to) {
    void *symbol = carom_os_library_find(library, name);
    memcpy(to, &symbol, sizeof(symbol)); /* C has no cast from object to function pointer */
    return symbol != NULL;
}

/* The library is never unloaded: loading it again would cost as much each time. */
static bool open_assimp(assimp *a) {
    char why[8];
    void *library = carom_os_library_open(CAROM_ASSIMP_LIBRARY, why, sizeof(why));
    return library != NULL && mesh_assimp_find(library, "aiImportFile", &a->import_file) &&
           mesh_assimp_find(library, "aiImportFileFromMemory", &a->import_memory) &&
           mesh_assimp_find(library, "aiReleaseImport", &a->release) &&
           mesh_assimp_find(library, "aiGetErrorString", &a->error);
}

/* ---- Conversion of a scene to a mesh --------------------------------------------------------- */

typedef struct matrix { /* rows of x' = m x */
    double m[3][4];
} matrix;

static const matrix mesh_assimp_identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

static matrix mesh_assimp_multiply(const matrix *a, const struct aiMatrix4x4 *t) {
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

static double mesh_assimp_row(const double r[4], const struct aiVector3D *v) {
    return ((r[0] * (double)v->x + r[1] * (double)v->y) + r[2] * (double)v->z) + r[3];
}

static carom_status mesh_assimp_add_mesh(carom_builder *builder, const struct aiMesh *mesh,
                                         const matrix *m) {
    uint64_t base = builder->points.count;
    if (base + mesh->mNumVertices > CAROM_MESH_MOST_VERTICES)
        return carom_fail(builder->context, CAROM_TOO_LARGE, "%s: more than %" PRIu32 " vertices",
                          builder->name, CAROM_MESH_MOST_VERTICES);
    for (unsigned i = 0; i < mesh->mNumVertices && !builder->stopped; ++i) {
        const struct aiVector3D *v = &mesh->mVertices[i];
        carom_vec3 p = {mesh_assimp_row(m->m[0], v), mesh_assimp_row(m->m[1], v),
                        mesh_assimp_row(m->m[2], v)};
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

/* ---- Names ----------------------------------------------------------------------------------- */

#define LONGEST_PATH 4096u /* bytes; of a longer path the end is kept */

/* The scene's nodes and what is known about their names. */
typedef struct names {
    carom_builder *builder;
    carom_3mf model; /* empty for other formats */
    char path[LONGEST_PATH];
} names;

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* The name of one node. The nodes that assimp adds for the pivots of FBX have none. */
static const char *node_name(names *n, const struct aiScene *scene, const struct aiNode *node) {
    const char *name = node->mName.data;
    if (strstr(name, "_$AssimpFbx$_") != NULL) return "";
    if (n->model.ids.begins.count != 0 && starts_with(name, "Object_")) {
        const char *title = carom_3mf_name(n->builder, &n->model, name + strlen("Object_"));
        if (title != NULL) return title;
    }
    if (*name == '\0' && node->mNumMeshes != 0) name = scene->mMeshes[node->mMeshes[0]]->mName.data;
    return name;
}

/* Writes the path from its end; returns its beginning. */
static const char *path_of(names *n, const struct aiScene *scene, const struct aiNode *node) {
    char *at = n->path + LONGEST_PATH;
    for (; node != NULL; node = node->mParent) {
        bool is_root = node->mParent == NULL, is_last = at == n->path + LONGEST_PATH;
        const char *name = is_root && !is_last ? "" : node_name(n, scene, node);
        size_t length = strlen(name), space = (size_t)(at - n->path);
        if (length == 0) continue;
        if (length + 1 > space) break;
        if (!is_last) *--at = '/';
        at -= length;
        memcpy(at, name, length);
    }
    return at;
}

static void begin_part(names *n, const struct aiScene *scene, const struct aiNode *node) {
    bool has_faces = false;
    for (unsigned i = 0; i < node->mNumMeshes; ++i) {
        unsigned types = scene->mMeshes[node->mMeshes[i]]->mPrimitiveTypes;
        has_faces = has_faces || (types & (aiPrimitiveType_TRIANGLE | aiPrimitiveType_POLYGON));
    }
    if (!has_faces) return;
    const char *path = path_of(n, scene, node);
    carom_builder_add_part(n->builder, path, (size_t)(n->path + LONGEST_PATH - path));
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* A node on the traversal stack, and the product of its ancestors' matrices. */
typedef struct waiting {
    const struct aiNode *node;
    matrix above;
} waiting;
CAROM_ARRAY(waiting_nodes, waiting);

static carom_status add_nodes(names *n, const struct aiScene *scene, waiting_nodes *stack) {
    carom_builder *builder = n->builder;
    const carom_allocator *allocator = &builder->context->allocator;
    waiting root = {scene->mRootNode, mesh_assimp_identity};
    if (!waiting_nodes_push(stack, allocator, root)) return carom_builder_fail_memory(builder);
    while (stack->count != 0 && !builder->stopped) {
        waiting w = stack->data[--stack->count];
        matrix m = mesh_assimp_multiply(&w.above, &w.node->mTransformation);
        begin_part(n, scene, w.node);
        for (unsigned i = 0; i < w.node->mNumMeshes; ++i)
            CAROM_TRY(mesh_assimp_add_mesh(builder, scene->mMeshes[w.node->mMeshes[i]], &m));
        for (unsigned i = w.node->mNumChildren; i-- > 0;) {
            waiting child = {w.node->mChildren[i], m};
            if (!waiting_nodes_push(stack, allocator, child))
                return carom_builder_fail_memory(builder);
        }
    }
    return CAROM_OK;
}

/* The 3MF reader of assimp 5.2 frees the textures itself, and releasing the scene would free them
 * again. */
static void forget_textures(const carom_builder *builder, const struct aiScene *scene) {
    struct aiScene *mutable = (struct aiScene *)(uintptr_t)scene;
    if (!carom_name_ends(builder->name, ".3mf")) return;
    mutable->mNumTextures = 0;
    mutable->mTextures = NULL;
}

/* The file extension ("gltf" of box.gltf.gz), from which assimp chooses a reader. */
static void hint_of(const char *name, char *hint, size_t size) {
    size_t length = strlen(name), begin = (size_t)(carom_os_file_name(name) - name);
    if (carom_name_is_gzip(name)) length -= 3;
    for (size_t i = begin; i < length; ++i)
        if (name[i] == '.') begin = i + 1;
    size_t count = CAROM_MIN(length - begin, size - 1);
    memcpy(hint, name + begin, count);
    hint[count] = '\0';
}

/* The factor of an FBX file, centimetres per unit. */
static double fbx_metres(const struct aiScene *scene) {
    const struct aiMetadata *data = scene->mMetaData;
    for (unsigned i = 0; data != NULL && i < data->mNumProperties; ++i) {
        const struct aiMetadataEntry *entry = &data->mValues[i];
        if (strcmp(data->mKeys[i].data, "UnitScaleFactor") != 0) continue;
        if (entry->mType == AI_DOUBLE) return 0.01 * *(const double *)entry->mData;
        if (entry->mType == AI_FLOAT) return 0.01 * (double)*(const float *)entry->mData;
    }
    return 0.0;
}

/* The unit of the positions, and for 3MF the names. glTF is in metres; assimp scales COLLADA to
 * metres in the root's matrix. */
static carom_status read_units(names *n, const struct aiScene *scene, carom_source source) {
    carom_builder *builder = n->builder;
    CAROM_TRY(carom_name_ends(builder->name, ".3mf") ? carom_3mf_read(builder, source, &n->model)
                                                     : CAROM_OK);
    if (carom_name_ends(builder->name, ".gltf") || carom_name_ends(builder->name, ".glb") ||
        carom_name_ends(builder->name, ".dae"))
        builder->metres = 1.0;
    else if (carom_name_ends(builder->name, ".3mf"))
        builder->metres = n->model.metres;
    else if (carom_name_ends(builder->name, ".fbx"))
        builder->metres = fbx_metres(scene);
    return CAROM_OK;
}

static carom_status add_scene(carom_builder *builder, const struct aiScene *scene,
                              carom_source source) {
    const carom_allocator *allocator = &builder->context->allocator;
    waiting_nodes stack = {0};
    names *n = carom_allocate(allocator, 1, sizeof(*n));
    if (n == NULL) return carom_builder_fail_memory(builder);
    *n = (names){.builder = builder};
    carom_status status = read_units(n, scene, source);
    if (status == CAROM_OK) status = add_nodes(n, scene, &stack);
    waiting_nodes_release(&stack, allocator);
    carom_3mf_release(builder, &n->model);
    carom_release(allocator, n);
    return status;
}

carom_status carom_read_assimp(carom_builder *builder, const char *path, carom_source source) {
    assimp a;
    if (!open_assimp(&a))
        return carom_fail(builder->context, CAROM_UNSUPPORTED,
                          "%s: this format needs assimp, and " CAROM_ASSIMP_LIBRARY
                          " is not installed; without it there are " CAROM_NATIVE_FORMATS,
                          builder->name);
    if (source.size == 0) /* builds of assimp that check their arguments would abort */
        return carom_fail(builder->context, CAROM_BAD_FILE, "%s: the file is empty", builder->name);
    char hint[16];
    hint_of(builder->name, hint, sizeof(hint));
    if (path == NULL && source.size > UINT32_MAX)
        return carom_fail(builder->context, CAROM_TOO_LARGE,
                          "%s: %" PRIu64 " bytes are too many for assimp", builder->name,
                          source.size);
    const struct aiScene *scene =
        path != NULL ? a.import_file(path, 0)
                     : a.import_memory((const char *)source.bytes, (unsigned)source.size, 0, hint);
    if (scene != NULL) forget_textures(builder, scene);
    if (scene == NULL || scene->mRootNode == NULL) {
        carom_status status =
            carom_fail(builder->context, CAROM_BAD_FILE, "%s: assimp says: %s", builder->name,
                       scene != NULL ? "the scene is empty" : a.error());
        if (scene != NULL) a.release(scene);
        return status;
    }
    carom_status status = add_scene(builder, scene, source);
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
