/* SPDX-License-Identifier: MIT */
/* carom.hpp: carom.h for C++17, header only: owners of what Carom creates, and of result arrays.
 *
 *   auto context = carom::context::create();
 *   carom_soup_def def{};
 *   def.mesh = &view;
 *   auto soup = carom::soup::create(*context, def);
 *   carom::pairs pairs;
 *   if (!soup || soup->self_pairs(*context, pairs) != CAROM_OK) puts(context->message());
 *   for (const carom_pair &pair : pairs) ...
 *
 * The classes have the names of the C types, and methods those of the C functions without the
 * prefix; carom/X.h says what they do. What differs:
 *
 *   - Owners and result arrays are moved, not copied, and free what they own.
 *   - A method that creates something or computes one answer returns carom::result, which is true
 *     when there is a value; a method that fills an array or an answer per item, or that changes
 *     something, returns carom_status. Nothing is thrown.
 *   - Where C takes NULL for a default, a def or pose that is `{}` does the same.
 *   - Arrays are spans. A span for answers that is shorter than that of the questions is a caller's
 *     bug, as NULL is.
 *
 * Nothing here allocates memory. What has no method, such as the calls of cuda.h, takes get(). */
#ifndef CAROM_CAROM_HPP
#define CAROM_CAROM_HPP

#include <type_traits>
#include <utility>

#include "carom/carom.h"

namespace carom {

/* ---- Spans and results ----------------------------------------------------------------------- */

/* Items that are next to each other in memory; from a pointer and a number, an array, or whatever
 * has data() and size(). Borrows them. data() of none is NULL. */
template <class T> class span {
    T *data_ = nullptr;
    uint64_t size_ = 0;

  public:
    constexpr span() = default;
    constexpr span(T *data, uint64_t size) : data_(size != 0 ? data : nullptr), size_(size) {
    }
    template <size_t N> constexpr span(T (&items)[N]) : data_(items), size_(N) {
    }
    template <class C, class = std::enable_if_t<
                           std::is_convertible_v<decltype(std::declval<C &>().data()), T *>>>
    constexpr span(C &&items) : span(items.data(), items.size()) {
    }

    constexpr T *data() const {
        return data_;
    }
    constexpr uint64_t size() const {
        return size_;
    }
    constexpr T *begin() const {
        return data_;
    }
    constexpr T *end() const {
        return data_ + size_;
    }
    constexpr T &operator[](uint64_t i) const {
        return data_[i];
    }
};

/* A value, or why there is none. */
template <class T> struct [[nodiscard]] result {
    carom_status status = CAROM_OK;
    T value{};

    explicit operator bool() const {
        return status == CAROM_OK;
    }
    T &operator*() & {
        return value;
    }
    const T &operator*() const & {
        return value;
    }
    T &&operator*() && {
        return std::move(value);
    }
    T *operator->() {
        return &value;
    }
    const T *operator->() const {
        return &value;
    }
};

/* A result array of C. Calls that fill it reuse its memory. */
template <class Array, void (*free_array)(Array *)> class array {
    Array array_{};

  public:
    using value_type = std::remove_pointer_t<decltype(Array::data)>;

    array() = default;
    array(array &&other) noexcept : array_(std::exchange(other.array_, Array{})) {
    }
    array &operator=(array &&other) noexcept {
        std::swap(array_, other.array_);
        return *this;
    }
    ~array() {
        free_array(&array_);
    }

    value_type *data() {
        return array_.data;
    }
    const value_type *data() const {
        return array_.data;
    }
    uint64_t size() const {
        return array_.count;
    }
    bool empty() const {
        return array_.count == 0;
    }
    value_type *begin() {
        return array_.data;
    }
    value_type *end() {
        return array_.data + array_.count;
    }
    const value_type *begin() const {
        return array_.data;
    }
    const value_type *end() const {
        return array_.data + array_.count;
    }
    value_type &operator[](uint64_t i) {
        return array_.data[i];
    }
    const value_type &operator[](uint64_t i) const {
        return array_.data[i];
    }
    Array *get() {
        return &array_;
    } /* for calls of C */
};

using pairs = array<carom_pairs, carom_pairs_free>;
using numbers = array<carom_numbers, carom_numbers_free>;
using bytes = array<carom_bytes, carom_bytes_free>;
using soup_segments = array<carom_soup_segments, carom_soup_segments_free>;
using soup_ray_hits = array<carom_soup_ray_hits, carom_soup_ray_hits_free>;
using soup_impacts = array<carom_soup_impacts, carom_soup_impacts_free>;
using soup_near_pairs = array<carom_soup_near_pairs, carom_soup_near_pairs_free>;
using solid_patches = array<carom_solid_patches, carom_solid_patches_free>;
using solid_vertex_forces = array<carom_solid_vertex_forces, carom_solid_vertex_forces_free>;
using packing_spheres = array<carom_packing_spheres, carom_packing_spheres_free>;
using packing_cells = array<carom_packing_cells, carom_packing_cells_free>;
using cover_spheres = array<carom_cover_spheres, carom_cover_spheres_free>;
using gas_spheres = array<carom_gas_spheres, carom_gas_spheres_free>;
using scene_contacts = array<carom_scene_contacts, carom_scene_contacts_free>;

/* Owns what C creates and destroys; may own nothing. */
template <class T, void (*destroy)(T *)> class owner {
    T *owned_ = nullptr;

  public:
    using raw = T;

    owner() = default;
    explicit owner(T *owned) : owned_(owned) {
    }
    owner(owner &&other) noexcept : owned_(other.release()) {
    }
    owner &operator=(owner &&other) noexcept {
        std::swap(owned_, other.owned_);
        return *this;
    }
    ~owner() {
        destroy(owned_);
    }

    explicit operator bool() const {
        return owned_ != nullptr;
    }
    T *get() const {
        return owned_;
    }
    T *release() {
        return std::exchange(owned_, nullptr);
    }
};

namespace detail {

/* Calls a function of C that creates something. */
template <class Class, class Create, class... Arguments>
result<Class> make(Create *create, Arguments... arguments) {
    typename Class::raw *made = nullptr;
    carom_status status = create(arguments..., &made);
    return {status, Class(made)};
}

/* Calls a function of C that gives one answer. */
template <class T, class Query, class... Arguments>
result<T> answer(Query *query, Arguments... arguments) {
    result<T> r;
    r.status = query(arguments..., &r.value);
    return r;
}

/* Where count answers fit; else NULL, which the call reports as a caller's bug. */
template <class T> T *room(span<T> answers, uint64_t count) {
    return answers.size() >= count ? answers.data() : nullptr;
}

/* The items, where there is an id for each or none at all; else NULL, as above. */
template <class T, class Id> const T *with_ids(span<const T> items, span<Id> ids) {
    return ids.size() == 0 || ids.size() >= items.size() ? items.data() : nullptr;
}

} // namespace detail

/* ---- Context --------------------------------------------------------------------------------- */

class context : public owner<carom_context, carom_context_destroy> {
  public:
    using owner::owner;
    static result<context> create(const carom_context_def &def = {}) {
        return detail::make<context>(carom_context_create_abi, CAROM_ABI, &def);
    }
    /* Of the last failed call; where there is no context, why it could not be created. */
    const char *message() const {
        return carom_context_message(get());
    }
    result<carom_context_info> get_info() const {
        return detail::answer<carom_context_info>(carom_context_get_info, get());
    }
    result<carom_work> get_work() const {
        return detail::answer<carom_work>(carom_context_get_work, get());
    }
    carom_status trim() {
        return carom_context_trim(get());
    }
};

/* ---- Meshes ---------------------------------------------------------------------------------- */

class mesh : public owner<carom_mesh, carom_mesh_destroy> {
  public:
    using owner::owner;
    static result<mesh> create(context &c, const carom_mesh_view &view) {
        return detail::make<mesh>(carom_mesh_create, c.get(), &view);
    }
    static result<mesh> load(context &c, const char *path,
                             carom_mesh_format format = CAROM_MESH_FORMAT_GUESS) {
        return detail::make<mesh>(carom_mesh_load, c.get(), path, format);
    }
    static result<mesh> load_memory(context &c, span<const uint8_t> file,
                                    carom_mesh_format format = CAROM_MESH_FORMAT_GUESS,
                                    const char *name = nullptr) {
        return detail::make<mesh>(carom_mesh_load_memory, c.get(), file.data(), file.size(), format,
                                  name);
    }
    static result<mesh> weld(context &c, const carom_mesh_view &view) {
        return detail::make<mesh>(carom_mesh_weld, c.get(), &view);
    }
    static result<mesh> weld_parts(context &c, const carom_mesh_view &view) {
        return detail::make<mesh>(carom_mesh_weld_parts, c.get(), &view);
    }
    static result<mesh> triangulate(context &c, const carom_mesh_view &view,
                                    const carom_mesh_triangulate_def &def = {}) {
        carom_mesh *made = nullptr;
        carom_status status = carom_mesh_triangulate(c.get(), &view, &def, &made, nullptr);
        return {status, mesh(made)};
    }
    /* Valid until the mesh is destroyed. Of nothing: all zero. */
    carom_mesh_view get_view() const {
        carom_mesh_view view{};
        if (get() != nullptr) (void)carom_mesh_get_view(get(), &view);
        return view;
    }
    result<carom_mesh_origin> get_origin() const {
        return detail::answer<carom_mesh_origin>(carom_mesh_get_origin, get());
    }
};

inline result<mesh> shape_make(context &c, const carom_shape_def &def = {}) {
    return detail::make<mesh>(carom_shape_make, c.get(), &def);
}
inline carom_status mesh_check(context &c, const carom_mesh_view &view) {
    return carom_mesh_check(c.get(), &view);
}
inline result<carom_bounds> mesh_bounds(context &c, const carom_mesh_view &view) {
    return detail::answer<carom_bounds>(carom_mesh_bounds, c.get(), &view);
}
inline result<carom_mesh_report> mesh_inspect(context &c, const carom_mesh_view &view) {
    return detail::answer<carom_mesh_report>(carom_mesh_inspect, c.get(), &view);
}
inline carom_status mesh_save(context &c, const carom_mesh_view &view, const char *path,
                              carom_mesh_format format = CAROM_MESH_FORMAT_GUESS) {
    return carom_mesh_save(c.get(), &view, format, path);
}
inline carom_status mesh_save_memory(context &c, const carom_mesh_view &view,
                                     carom_mesh_format format, bytes &file) {
    return carom_mesh_save_memory(c.get(), &view, format, file.get());
}

/* ---- Soups ----------------------------------------------------------------------------------- */

class soup : public owner<carom_soup, carom_soup_destroy> {
  public:
    using owner::owner;
    static result<soup> create(context &c, const carom_soup_def &def) {
        return detail::make<soup>(carom_soup_create, c.get(), &def);
    }
    result<carom_soup_info> get_info() const {
        return detail::answer<carom_soup_info>(carom_soup_get_info, get());
    }
    carom_status update(context &c, const carom_mesh_view &mesh) {
        return carom_soup_update(c.get(), get(), &mesh);
    }
    result<uint32_t> add(context &c, const carom_mesh_view &mesh) {
        return detail::answer<uint32_t>(carom_soup_add, c.get(), get(), &mesh);
    }
    carom_status remove(context &c, span<const uint32_t> faces) {
        return carom_soup_remove(c.get(), get(), faces.data(), faces.size());
    }
    carom_status self_pairs(context &c, pairs &found) const {
        return carom_soup_self_pairs(c.get(), get(), found.get());
    }
    result<uint64_t> self_count(context &c) const {
        return detail::answer<uint64_t>(carom_soup_self_count, c.get(), get());
    }
    result<bool> self_meet(context &c) const {
        return detail::answer<bool>(carom_soup_self_meet, c.get(), get());
    }
    carom_status cross_pairs(context &c, const carom_pose &pose_a, const soup &b,
                             const carom_pose &pose_b, pairs &found) const {
        return carom_soup_cross_pairs(c.get(), get(), &pose_a, b.get(), &pose_b, found.get());
    }
    result<uint64_t> cross_count(context &c, const carom_pose &pose_a, const soup &b,
                                 const carom_pose &pose_b) const {
        return detail::answer<uint64_t>(carom_soup_cross_count, c.get(), get(), &pose_a, b.get(),
                                        &pose_b);
    }
    result<bool> cross_meet(context &c, const carom_pose &pose_a, const soup &b,
                            const carom_pose &pose_b) const {
        return detail::answer<bool>(carom_soup_cross_meet, c.get(), get(), &pose_a, b.get(),
                                    &pose_b);
    }
    carom_status self_pairs_within(context &c, double reach, pairs &found) const {
        return carom_soup_self_pairs_within(c.get(), get(), reach, found.get());
    }
    result<uint64_t> self_count_within(context &c, double reach) const {
        return detail::answer<uint64_t>(carom_soup_self_count_within, c.get(), get(), reach);
    }
    result<bool> self_meet_within(context &c, double reach) const {
        return detail::answer<bool>(carom_soup_self_meet_within, c.get(), get(), reach);
    }
    carom_status cross_pairs_within(context &c, const carom_pose &pose_a, const soup &b,
                                    const carom_pose &pose_b, double reach, pairs &found) const {
        return carom_soup_cross_pairs_within(c.get(), get(), &pose_a, b.get(), &pose_b, reach,
                                             found.get());
    }
    result<uint64_t> cross_count_within(context &c, const carom_pose &pose_a, const soup &b,
                                        const carom_pose &pose_b, double reach) const {
        return detail::answer<uint64_t>(carom_soup_cross_count_within, c.get(), get(), &pose_a,
                                        b.get(), &pose_b, reach);
    }
    result<bool> cross_meet_within(context &c, const carom_pose &pose_a, const soup &b,
                                   const carom_pose &pose_b, double reach) const {
        return detail::answer<bool>(carom_soup_cross_meet_within, c.get(), get(), &pose_a, b.get(),
                                    &pose_b, reach);
    }
    result<carom_soup_gap> cross_distance(context &c, const carom_pose &pose_a, const soup &b,
                                          const carom_pose &pose_b, double limit = 0.0) const {
        return detail::answer<carom_soup_gap>(carom_soup_cross_distance, c.get(), get(), &pose_a,
                                              b.get(), &pose_b, limit);
    }
    carom_status self_gaps(context &c, span<const carom_pair> of, span<carom_soup_gap> gaps) const {
        return carom_soup_self_gaps(c.get(), get(), of.data(), of.size(),
                                    detail::room(gaps, of.size()));
    }
    carom_status cross_gaps(context &c, const carom_pose &pose_a, const soup &b,
                            const carom_pose &pose_b, span<const carom_pair> of,
                            span<carom_soup_gap> gaps) const {
        return carom_soup_cross_gaps(c.get(), get(), &pose_a, b.get(), &pose_b, of.data(),
                                     of.size(), detail::room(gaps, of.size()));
    }
    carom_status self_segments(context &c, span<const carom_pair> of,
                               soup_segments &segments) const {
        return carom_soup_self_segments(c.get(), get(), of.data(), of.size(), segments.get());
    }
    carom_status cross_segments(context &c, const carom_pose &pose_a, const soup &b,
                                const carom_pose &pose_b, span<const carom_pair> of,
                                soup_segments &segments) const {
        return carom_soup_cross_segments(c.get(), get(), &pose_a, b.get(), &pose_b, of.data(),
                                         of.size(), segments.get());
    }
    result<uint64_t> self_bound(context &c) const {
        return detail::answer<uint64_t>(carom_soup_self_bound, c.get(), get());
    }
    result<uint64_t> cross_bound(context &c, const soup &b) const {
        return detail::answer<uint64_t>(carom_soup_cross_bound, c.get(), get(), b.get());
    }

    /* carom/soup_points.h */
    carom_status closest_points(context &c, span<const carom_vec3> points,
                                span<carom_hit> hits) const {
        return carom_soup_closest_points(c.get(), get(), points.data(), points.size(),
                                         detail::room(hits, points.size()));
    }
    carom_status cast_rays(context &c, span<const carom_ray> rays, span<carom_hit> hits) const {
        return carom_soup_cast_rays(c.get(), get(), rays.data(), rays.size(),
                                    detail::room(hits, rays.size()));
    }
    carom_status query_rays(context &c, span<const carom_ray> rays, soup_ray_hits &hits) const {
        return carom_soup_query_rays(c.get(), get(), rays.data(), rays.size(), hits.get());
    }
    carom_status winding(context &c, span<const carom_vec3> points, span<int32_t> windings) const {
        return carom_soup_winding(c.get(), get(), points.data(), points.size(),
                                  detail::room(windings, points.size()));
    }
    carom_status winding_fractions(context &c, span<const carom_vec3> points,
                                   span<double> windings) const {
        return carom_soup_winding_fractions(c.get(), get(), points.data(), points.size(),
                                            detail::room(windings, points.size()));
    }
    carom_status signed_distances(context &c, span<const carom_vec3> points,
                                  span<double> distances) const {
        return carom_soup_signed_distances(c.get(), get(), points.data(), points.size(),
                                           detail::room(distances, points.size()), nullptr);
    }

    /* carom/soup_motion.h */
    result<carom_advance> cross_advance(context &c, const carom_motion &motion_a, const soup &b,
                                        const carom_motion &motion_b,
                                        const carom_advance_def &def = {}) const {
        return detail::answer<carom_advance>(carom_soup_cross_advance, c.get(), get(), &motion_a,
                                             b.get(), &motion_b, &def);
    }
    carom_status self_impacts(context &c, const carom_mesh_view &end, soup_impacts &impacts) const {
        return carom_soup_self_impacts(c.get(), get(), &end, impacts.get());
    }
    result<carom_soup_impact> self_first_impact(context &c, const carom_mesh_view &end) const {
        return detail::answer<carom_soup_impact>(carom_soup_self_first_impact, c.get(), get(),
                                                 &end);
    }
    carom_status cross_impacts(context &c, const carom_mesh_view *end, const soup &b,
                               const carom_mesh_view *end_b, soup_impacts &impacts) const {
        return carom_soup_cross_impacts(c.get(), get(), end, b.get(), end_b, impacts.get());
    }
    result<carom_soup_impact> cross_first_impact(context &c, const carom_mesh_view *end,
                                                 const soup &b,
                                                 const carom_mesh_view *end_b) const {
        return detail::answer<carom_soup_impact>(carom_soup_cross_first_impact, c.get(), get(), end,
                                                 b.get(), end_b);
    }
    carom_status self_near(context &c, double reach, soup_near_pairs &pairs) const {
        return carom_soup_self_near(c.get(), get(), reach, pairs.get());
    }
    carom_status cross_near(context &c, const carom_pose &pose_a, const soup &b,
                            const carom_pose &pose_b, double reach, soup_near_pairs &pairs) const {
        return carom_soup_cross_near(c.get(), get(), &pose_a, b.get(), &pose_b, reach, pairs.get());
    }
    result<carom_soup_step> self_safe_step(context &c, const carom_mesh_view &end,
                                           double minimum) const {
        return detail::answer<carom_soup_step>(carom_soup_self_safe_step, c.get(), get(), &end,
                                               minimum);
    }
    result<carom_soup_step> cross_safe_step(context &c, const carom_mesh_view *end, const soup &b,
                                            const carom_mesh_view *end_b, double minimum) const {
        return detail::answer<carom_soup_step>(carom_soup_cross_safe_step, c.get(), get(), end,
                                               b.get(), end_b, minimum);
    }
    /* distances have space for the vertices of their soups */
    carom_status self_safe_distances(context &c, double reach, double minimum,
                                     span<double> distances) const {
        return carom_soup_self_safe_distances(c.get(), get(), reach, minimum, distances.data());
    }
    carom_status cross_safe_distances(context &c, const carom_pose &pose_a, const soup &b,
                                      const carom_pose &pose_b, double reach, double minimum,
                                      span<double> distances_a, span<double> distances_b) const {
        return carom_soup_cross_safe_distances(c.get(), get(), &pose_a, b.get(), &pose_b, reach,
                                               minimum, distances_a.data(), distances_b.data());
    }

    /* carom/kfree.h */
    result<carom_kfree> kfree_measure(context &c, numbers *counts = nullptr) const {
        result<carom_kfree> r;
        carom_numbers *to = counts != nullptr ? counts->get() : nullptr;
        r.status = carom_kfree_measure(c.get(), get(), &r.value, to);
        return r;
    }
};

inline carom_status soup_cross_meet_batch(context &c, span<const carom_soup_pair> of,
                                          span<bool> meet) {
    return carom_soup_cross_meet_batch(c.get(), of.data(), of.size(),
                                       detail::room(meet, of.size()));
}
inline carom_status soup_cross_distance_batch(context &c, span<const carom_soup_pair> of,
                                              span<carom_soup_gap> gaps, double limit = 0.0) {
    return carom_soup_cross_distance_batch(c.get(), of.data(), of.size(), limit,
                                           detail::room(gaps, of.size()));
}
inline result<carom_kfree_most> kfree_bound(context &c, const carom_kfree &a,
                                            const carom_kfree &b) {
    return detail::answer<carom_kfree_most>(carom_kfree_bound, c.get(), &a, &b);
}

/* ---- Solids ---------------------------------------------------------------------------------- */

class solid : public owner<carom_solid, carom_solid_destroy> {
  public:
    using owner::owner;
    static result<solid> create(context &c, const carom_solid_def &def) {
        return detail::make<solid>(carom_solid_create, c.get(), &def);
    }
    result<carom_solid_info> get_info() const {
        return detail::answer<carom_solid_info>(carom_solid_get_info, get());
    }
    carom_status update(context &c, const carom_mesh_view &positions) {
        return carom_solid_update(c.get(), get(), &positions);
    }
    result<carom_solid_result> overlap(context &c, const carom_pose &pose_a, const solid &b,
                                       const carom_pose &pose_b,
                                       const carom_solid_query_def &def = {}) const {
        return detail::answer<carom_solid_result>(carom_solid_overlap, c.get(), get(), &pose_a,
                                                  b.get(), &pose_b, &def);
    }
    carom_status overlap_patches(context &c, const carom_pose &pose_a, const solid &b,
                                 const carom_pose &pose_b, solid_patches &patches) const {
        return carom_solid_overlap_patches(c.get(), get(), &pose_a, b.get(), &pose_b,
                                           patches.get());
    }
    carom_status overlap_gradient(context &c, const carom_pose &pose_a, const solid &b,
                                  const carom_pose &pose_b, solid_vertex_forces &on_a,
                                  solid_vertex_forces &on_b) const {
        return carom_solid_overlap_gradient(c.get(), get(), &pose_a, b.get(), &pose_b, on_a.get(),
                                            on_b.get());
    }
};

inline carom_status solid_overlap_batch(context &c, span<const carom_solid_pair> of,
                                        span<carom_solid_result> results,
                                        const carom_solid_query_def &def = {}) {
    return carom_solid_overlap_batch(c.get(), of.data(), of.size(), &def,
                                     detail::room(results, of.size()));
}

/* ---- Convex shapes --------------------------------------------------------------------------- */

class hull : public owner<carom_hull, carom_hull_destroy> {
  public:
    using owner::owner;
    static result<hull> create(context &c, const carom_hull_def &def) {
        return detail::make<hull>(carom_hull_create, c.get(), &def);
    }
    result<carom_hull_info> get_info() const {
        return detail::answer<carom_hull_info>(carom_hull_get_info, get());
    }
    result<mesh> to_mesh(context &c) const {
        return detail::make<mesh>(carom_hull_to_mesh, c.get(), get());
    }
    /* The hull as a shape, which borrows it. */
    carom_convex shape() const {
        carom_convex convex{};
        convex.kind = CAROM_CONVEX_KIND_HULL;
        convex.borrowed_hull = get();
        return convex;
    }
};

inline result<bool> convex_meet(context &c, const carom_convex &a, const carom_pose &pose_a,
                                const carom_convex &b, const carom_pose &pose_b,
                                const carom_convex_query_def &def = {}) {
    return detail::answer<bool>(carom_convex_meet, c.get(), &a, &pose_a, &b, &pose_b, &def);
}
inline result<carom_convex_result> convex_distance(context &c, const carom_convex &a,
                                                   const carom_pose &pose_a, const carom_convex &b,
                                                   const carom_pose &pose_b,
                                                   const carom_convex_query_def &def = {}) {
    return detail::answer<carom_convex_result>(carom_convex_distance, c.get(), &a, &pose_a, &b,
                                               &pose_b, &def);
}
inline result<carom_convex_result> convex_depth(context &c, const carom_convex &a,
                                                const carom_pose &pose_a, const carom_convex &b,
                                                const carom_pose &pose_b,
                                                const carom_convex_query_def &def = {}) {
    return detail::answer<carom_convex_result>(carom_convex_depth, c.get(), &a, &pose_a, &b,
                                               &pose_b, &def);
}
inline result<carom_convex_manifold> convex_contacts(context &c, const carom_convex &a,
                                                     const carom_pose &pose_a,
                                                     const carom_convex &b,
                                                     const carom_pose &pose_b, double reach = 0.0,
                                                     const carom_convex_query_def &def = {}) {
    return detail::answer<carom_convex_manifold>(carom_convex_contacts, c.get(), &a, &pose_a, &b,
                                                 &pose_b, reach, &def);
}
inline carom_status convex_cast_rays(context &c, const carom_convex &shape, const carom_pose &pose,
                                     span<const carom_ray> rays, span<carom_hit> hits) {
    return carom_convex_cast_rays(c.get(), &shape, &pose, rays.data(), rays.size(),
                                  detail::room(hits, rays.size()));
}
inline result<carom_advance> convex_advance(context &c, const carom_convex &a,
                                            const carom_motion &motion_a, const carom_convex &b,
                                            const carom_motion &motion_b,
                                            const carom_advance_def &def = {}) {
    return detail::answer<carom_advance>(carom_convex_advance, c.get(), &a, &motion_a, &b,
                                         &motion_b, &def);
}
inline result<carom_convex_most> convex_bound(context &c, const carom_convex &a,
                                              const carom_convex &b) {
    return detail::answer<carom_convex_most>(carom_convex_bound, c.get(), &a, &b);
}
inline carom_status convex_meet_batch(context &c, span<const carom_convex_pair> of,
                                      span<bool> results, const carom_convex_query_def &def = {}) {
    return carom_convex_meet_batch(c.get(), of.data(), of.size(), &def,
                                   detail::room(results, of.size()));
}
inline carom_status convex_distance_batch(context &c, span<const carom_convex_pair> of,
                                          span<carom_convex_result> results,
                                          const carom_convex_query_def &def = {}) {
    return carom_convex_distance_batch(c.get(), of.data(), of.size(), &def,
                                       detail::room(results, of.size()));
}
inline carom_status convex_depth_batch(context &c, span<const carom_convex_pair> of,
                                       span<carom_convex_result> results,
                                       const carom_convex_query_def &def = {}) {
    return carom_convex_depth_batch(c.get(), of.data(), of.size(), &def,
                                    detail::room(results, of.size()));
}
inline carom_status convex_advance_batch(context &c, span<const carom_convex_moving_pair> of,
                                         span<carom_advance> results,
                                         const carom_advance_def &def = {}) {
    return carom_convex_advance_batch(c.get(), of.data(), of.size(), &def,
                                      detail::room(results, of.size()));
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

class broad : public owner<carom_broad, carom_broad_destroy> {
  public:
    using owner::owner;
    static result<broad> create(context &c, const carom_broad_def &def = {}) {
        return detail::make<broad>(carom_broad_create, c.get(), &def);
    }
    result<carom_broad_info> get_info() const {
        return detail::answer<carom_broad_info>(carom_broad_get_info, get());
    }
    /* An id for each box; no ids: 0, 1, 2 ... */
    carom_status move(context &c, span<const uint32_t> ids, span<const carom_bounds> boxes) {
        return carom_broad_move(c.get(), get(), ids.data(), detail::with_ids(boxes, ids),
                                boxes.size());
    }
    carom_status set_filters(context &c, span<const uint32_t> ids,
                             span<const carom_broad_filter> filters) {
        return carom_broad_set_filters(c.get(), get(), ids.data(), detail::with_ids(filters, ids),
                                       filters.size());
    }
    /* `ids` may be empty. */
    carom_status add(context &c, span<const carom_bounds> boxes, span<uint32_t> ids = {}) {
        return carom_broad_add(c.get(), get(), detail::with_ids(boxes, ids), boxes.size(),
                               ids.data());
    }
    carom_status remove(context &c, span<const uint32_t> ids) {
        return carom_broad_remove(c.get(), get(), ids.data(), ids.size());
    }
    carom_status commit(context &c) {
        return carom_broad_commit(c.get(), get());
    }
    carom_status step(context &c, carom::pairs &found, carom::pairs &begun, carom::pairs &ended) {
        return carom_broad_step(c.get(), get(), found.get(), begun.get(), ended.get());
    }
    carom_status pairs(context &c, carom::pairs &found) const {
        return carom_broad_pairs(c.get(), get(), found.get());
    }
    carom_status query_boxes(context &c, span<const carom_bounds> boxes,
                             carom::pairs &found) const {
        return carom_broad_query_boxes(c.get(), get(), boxes.data(), boxes.size(), found.get());
    }
    carom_status query_rays(context &c, span<const carom_ray> rays, carom::pairs &found) const {
        return carom_broad_query_rays(c.get(), get(), rays.data(), rays.size(), found.get());
    }
    carom_status cast_rays(context &c, span<const carom_ray> rays, span<carom_hit> hits) const {
        return carom_broad_cast_rays(c.get(), get(), rays.data(), rays.size(),
                                     detail::room(hits, rays.size()));
    }
    carom_status closest_points(context &c, span<const carom_vec3> points,
                                span<carom_hit> hits) const {
        return carom_broad_closest_points(c.get(), get(), points.data(), points.size(),
                                          detail::room(hits, points.size()));
    }
};

/* ---- Packings and covers --------------------------------------------------------------------- */

class packing : public owner<carom_packing, carom_packing_destroy> {
  public:
    using owner::owner;
    static result<packing> create(context &c, const carom_packing_def &def) {
        return detail::make<packing>(carom_packing_create, c.get(), &def);
    }
    static result<packing> load(context &c, const char *path,
                                carom_packing_format format = CAROM_PACKING_FORMAT_GUESS) {
        return detail::make<packing>(carom_packing_load, c.get(), path, format);
    }
    static result<packing> load_memory(context &c, span<const uint8_t> file,
                                       carom_packing_format format = CAROM_PACKING_FORMAT_GUESS,
                                       const char *name = nullptr) {
        return detail::make<packing>(carom_packing_load_memory, c.get(), file.data(), file.size(),
                                     format, name);
    }
    carom_status save(context &c, const char *path,
                      carom_packing_format format = CAROM_PACKING_FORMAT_GUESS) const {
        return carom_packing_save(c.get(), get(), format, path);
    }
    carom_status save_memory(context &c, carom_packing_format format, bytes &file) const {
        return carom_packing_save_memory(c.get(), get(), format, file.get());
    }
    result<carom_packing_info> get_info() const {
        return detail::answer<carom_packing_info>(carom_packing_get_info, get());
    }
    carom_status list_spheres(context &c, packing_spheres &spheres) const {
        return carom_packing_list_spheres(c.get(), get(), spheres.get());
    }
    carom_status list_cells(context &c, packing_cells &cells) const {
        return carom_packing_list_cells(c.get(), get(), cells.get());
    }
};

class cover : public owner<carom_cover, carom_cover_destroy> {
  public:
    using owner::owner;
    static result<cover> create(context &c, const carom_cover_def &def) {
        return detail::make<cover>(carom_cover_create, c.get(), &def);
    }
    result<carom_cover_info> get_info() const {
        return detail::answer<carom_cover_info>(carom_cover_get_info, get());
    }
    carom_status list_spheres(context &c, cover_spheres &spheres) const {
        return carom_cover_list_spheres(c.get(), get(), spheres.get());
    }
    carom_status list_cells(context &c, packing_cells &cells) const {
        return carom_cover_list_cells(c.get(), get(), cells.get());
    }
};

inline result<carom_cover_measure> cover_measure_spheres(context &c, const carom_cover_def &def,
                                                         span<const carom_ball> spheres) {
    return detail::answer<carom_cover_measure>(carom_cover_measure_spheres, c.get(), &def,
                                               spheres.data(), spheres.size());
}

/* ---- Sphere trees and balls ------------------------------------------------------------------ */

class tree : public owner<carom_tree, carom_tree_destroy> {
  public:
    using owner::owner;
    static result<tree> create(context &c, const carom_tree_def &def) {
        return detail::make<tree>(carom_tree_create, c.get(), &def);
    }
    static result<tree> load(context &c, const char *path,
                             carom_tree_format format = CAROM_TREE_FORMAT_GUESS) {
        return detail::make<tree>(carom_tree_load, c.get(), path, format);
    }
    static result<tree> load_memory(context &c, span<const uint8_t> file,
                                    carom_tree_format format = CAROM_TREE_FORMAT_GUESS,
                                    const char *name = nullptr) {
        return detail::make<tree>(carom_tree_load_memory, c.get(), file.data(), file.size(), format,
                                  name);
    }
    carom_status save(context &c, const char *path,
                      carom_tree_format format = CAROM_TREE_FORMAT_GUESS) const {
        return carom_tree_save(c.get(), get(), format, path);
    }
    carom_status save_memory(context &c, carom_tree_format format, bytes &file) const {
        return carom_tree_save_memory(c.get(), get(), format, file.get());
    }
    result<carom_tree_info> get_info() const {
        return detail::answer<carom_tree_info>(carom_tree_get_info, get());
    }
    result<bool> meet(context &c, const carom_pose &pose_a, const tree &b, const carom_pose &pose_b,
                      const carom_tree_query_def &def = {}) const {
        return detail::answer<bool>(carom_tree_meet, c.get(), get(), &pose_a, b.get(), &pose_b,
                                    &def);
    }
    result<carom_packing_overlap> overlap(context &c, const carom_pose &pose_a, const tree &b,
                                          const carom_pose &pose_b,
                                          const carom_tree_query_def &def = {}) const {
        return detail::answer<carom_packing_overlap>(carom_tree_overlap, c.get(), get(), &pose_a,
                                                     b.get(), &pose_b, &def);
    }
    result<carom_tree_gap> distance(context &c, const carom_pose &pose_a, const tree &b,
                                    const carom_pose &pose_b,
                                    const carom_tree_query_def &def = {}) const {
        return detail::answer<carom_tree_gap>(carom_tree_distance, c.get(), get(), &pose_a, b.get(),
                                              &pose_b, &def);
    }
    result<carom_tree_result> query(context &c, const carom_pose &pose_a, const tree &b,
                                    const carom_pose &pose_b,
                                    const carom_tree_query_def &def = {}) const {
        return detail::answer<carom_tree_result>(carom_tree_query, c.get(), get(), &pose_a, b.get(),
                                                 &pose_b, &def);
    }
    carom_status faces(context &c, const carom_pose &pose_a, const tree &b,
                       const carom_pose &pose_b, numbers &faces_a, numbers &faces_b,
                       const carom_tree_query_def &def = {}) const {
        return carom_tree_faces(c.get(), get(), &pose_a, b.get(), &pose_b, &def, faces_a.get(),
                                faces_b.get());
    }
};

inline carom_status tree_overlap_batch(context &c, span<const carom_tree_pair> of,
                                       span<carom_packing_overlap> results,
                                       const carom_tree_query_def &def = {}) {
    return carom_tree_overlap_batch(c.get(), of.data(), of.size(), &def,
                                    detail::room(results, of.size()));
}
inline carom_status tree_distance_batch(context &c, span<const carom_tree_pair> of,
                                        span<carom_tree_gap> results,
                                        const carom_tree_query_def &def = {}) {
    return carom_tree_distance_batch(c.get(), of.data(), of.size(), &def,
                                     detail::room(results, of.size()));
}
inline carom_status tree_query_batch(context &c, span<const carom_tree_pair> of,
                                     span<carom_tree_result> results,
                                     const carom_tree_query_def &def = {}) {
    return carom_tree_query_batch(c.get(), of.data(), of.size(), &def,
                                  detail::room(results, of.size()));
}

class balls : public owner<carom_balls, carom_balls_destroy> {
  public:
    using owner::owner;
    static result<balls> create(context &c, const carom_balls_def &def) {
        return detail::make<balls>(carom_balls_create, c.get(), &def);
    }
    result<carom_balls_info> get_info() const {
        return detail::answer<carom_balls_info>(carom_balls_get_info, get());
    }
    carom_status update(context &c, span<const carom_packing_sphere> spheres, double volume) {
        return carom_balls_update(c.get(), get(), spheres.data(), spheres.size(), volume);
    }
    result<carom_packing_overlap> overlap(context &c, const carom_pose &pose_a, const balls &b,
                                          const carom_pose &pose_b,
                                          const carom_balls_query_def &def = {}) const {
        return detail::answer<carom_packing_overlap>(carom_balls_overlap, c.get(), get(), &pose_a,
                                                     b.get(), &pose_b, &def);
    }
    carom_status pairs(context &c, const carom_pose &pose_a, const balls &b,
                       const carom_pose &pose_b, carom_balls_pair_kind kind, carom::pairs &found,
                       const carom_balls_query_def &def = {}) const {
        return carom_balls_pairs(c.get(), get(), &pose_a, b.get(), &pose_b, kind, &def,
                                 found.get());
    }
    result<uint64_t> count(context &c, const carom_pose &pose_a, const balls &b,
                           const carom_pose &pose_b, carom_balls_pair_kind kind,
                           const carom_balls_query_def &def = {}) const {
        return detail::answer<uint64_t>(carom_balls_count, c.get(), get(), &pose_a, b.get(),
                                        &pose_b, kind, &def);
    }
    result<bool> meet(context &c, const carom_pose &pose_a, const balls &b,
                      const carom_pose &pose_b, carom_balls_pair_kind kind,
                      const carom_balls_query_def &def = {}) const {
        return detail::answer<bool>(carom_balls_meet, c.get(), get(), &pose_a, b.get(), &pose_b,
                                    kind, &def);
    }
    result<carom_balls_most> bound(context &c, const balls &b, carom_balls_pair_kind kind,
                                   const carom_balls_query_def &def = {}) const {
        return detail::answer<carom_balls_most>(carom_balls_bound, c.get(), get(), b.get(), kind,
                                                &def);
    }
};

inline carom_status balls_overlap_batch(context &c, span<const carom_balls_pair> of,
                                        span<carom_packing_overlap> results,
                                        const carom_balls_query_def &def = {}) {
    return carom_balls_overlap_batch(c.get(), of.data(), of.size(), &def,
                                     detail::room(results, of.size()));
}

/* ---- Moving spheres -------------------------------------------------------------------------- */

class gas : public owner<carom_gas, carom_gas_destroy> {
  public:
    using owner::owner;
    static result<gas> create(context &c, const carom_gas_def &def) {
        return detail::make<gas>(carom_gas_create, c.get(), &def);
    }
    static result<gas> load(context &c, const char *path,
                            carom_gas_format format = CAROM_GAS_FORMAT_GUESS) {
        return detail::make<gas>(carom_gas_load, c.get(), path, format, nullptr);
    }
    static result<gas> load_memory(context &c, span<const uint8_t> file,
                                   carom_gas_format format = CAROM_GAS_FORMAT_GUESS,
                                   const char *name = nullptr) {
        return detail::make<gas>(carom_gas_load_memory, c.get(), file.data(), file.size(), format,
                                 name, nullptr);
    }
    carom_status save(context &c, const char *path,
                      carom_gas_format format = CAROM_GAS_FORMAT_GUESS) const {
        return carom_gas_save(c.get(), get(), format, path);
    }
    carom_status save_memory(context &c, carom_gas_format format, bytes &file) const {
        return carom_gas_save_memory(c.get(), get(), format, file.get());
    }
    result<carom_gas_info> get_info() const {
        return detail::answer<carom_gas_info>(carom_gas_get_info, get());
    }
    /* `ids` may be empty. */
    carom_status add(context &c, span<const carom_gas_sphere> spheres, span<uint32_t> ids = {}) {
        return carom_gas_add(c.get(), get(), detail::with_ids(spheres, ids), spheres.size(),
                             ids.data());
    }
    carom_status set(context &c, span<const uint32_t> ids, span<const carom_gas_sphere> spheres) {
        return carom_gas_set(c.get(), get(), detail::room(ids, spheres.size()), spheres.data(),
                             spheres.size());
    }
    carom_status remove(context &c, span<const uint32_t> ids) {
        return carom_gas_remove(c.get(), get(), ids.data(), ids.size());
    }
    result<carom_gas_event> next(context &c, double until) {
        return detail::answer<carom_gas_event>(carom_gas_next, c.get(), get(), until);
    }
    /* Calls on_event(event) after each event; it returns true to stop. */
    template <class Function> carom_status advance(context &c, double until, Function &&on_event) {
        using function = std::remove_reference_t<Function>;
        auto call = [](void *user, const carom_gas_event *event) -> bool {
            return (*static_cast<function *>(user))(*event);
        };
        return carom_gas_advance(c.get(), get(), until, call, &on_event);
    }
    carom_status advance(context &c, double until) {
        return carom_gas_advance(c.get(), get(), until, nullptr, nullptr);
    }
    double get_time() const {
        return carom_gas_get_time(get());
    }
    carom_status list_spheres(context &c, gas_spheres &spheres) const {
        return carom_gas_list_spheres(c.get(), get(), spheres.get());
    }
    result<carom_gas_sphere> find_sphere(context &c, uint32_t id) const {
        return detail::answer<carom_gas_sphere>(carom_gas_find_sphere, c.get(), get(), id);
    }
    result<carom_gas_measures> measure(context &c) const {
        return detail::answer<carom_gas_measures>(carom_gas_measure, c.get(), get());
    }
    carom_status reset_measures(context &c) {
        return carom_gas_reset_measures(c.get(), get());
    }
    result<double> overlap(context &c) const {
        return detail::answer<double>(carom_gas_overlap, c.get(), get());
    }
    carom_status count_distances(context &c, double step, double *weights, uint64_t count) const {
        return carom_gas_count_distances(c.get(), get(), step, weights, count);
    }
};

/* ---- Scenes ---------------------------------------------------------------------------------- */

class scene : public owner<carom_scene, carom_scene_destroy> {
  public:
    using owner::owner;
    static result<scene> create(context &c, const carom_scene_def &def = {}) {
        return detail::make<scene>(carom_scene_create, c.get(), &def);
    }
    result<carom_scene_info> get_info() const {
        return detail::answer<carom_scene_info>(carom_scene_get_info, get());
    }
    /* `ids` may be empty. */
    carom_status add(context &c, span<const carom_scene_object_def> objects,
                     span<uint32_t> ids = {}) {
        return carom_scene_add(c.get(), get(), detail::with_ids(objects, ids), objects.size(),
                               ids.data());
    }
    /* An id for each object; no ids: 0, 1, 2 ... */
    carom_status move(context &c, span<const uint32_t> ids, span<const carom_pose> poses) {
        return carom_scene_move(c.get(), get(), ids.data(), detail::with_ids(poses, ids),
                                poses.size());
    }
    carom_status set_filters(context &c, span<const uint32_t> ids,
                             span<const carom_broad_filter> filters) {
        return carom_scene_set_filters(c.get(), get(), ids.data(), detail::with_ids(filters, ids),
                                       filters.size());
    }
    carom_status remove(context &c, span<const uint32_t> ids) {
        return carom_scene_remove(c.get(), get(), ids.data(), ids.size());
    }
    carom_status set_ignored(context &c, span<const carom_pair> of, bool ignored) {
        return carom_scene_set_ignored(c.get(), get(), of.data(), of.size(), ignored);
    }
    carom_status commit(context &c) {
        return carom_scene_commit(c.get(), get());
    }
    carom_status step(context &c, scene_contacts &contacts) {
        return carom_scene_step(c.get(), get(), contacts.get(), nullptr, nullptr);
    }
    carom_status step(context &c, scene_contacts &contacts, pairs &begun, pairs &ended) {
        return carom_scene_step(c.get(), get(), contacts.get(), begun.get(), ended.get());
    }
    carom_status query_objects(context &c, span<const carom_scene_object_def> objects,
                               scene_contacts &contacts) const {
        return carom_scene_query_objects(c.get(), get(), objects.data(), objects.size(),
                                         contacts.get());
    }
    carom_status cast_rays(context &c, span<const carom_ray> rays, span<carom_hit> hits) const {
        return carom_scene_cast_rays(c.get(), get(), rays.data(), rays.size(),
                                     detail::room(hits, rays.size()));
    }
    carom_status closest_points(context &c, span<const carom_vec3> points,
                                span<carom_hit> hits) const {
        return carom_scene_closest_points(c.get(), get(), points.data(), points.size(),
                                          detail::room(hits, points.size()));
    }
};

} // namespace carom

#endif
