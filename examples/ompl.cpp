// SPDX-License-Identifier: MIT
// Plans with OMPL (Debian's libompl-dev): a state validity checker and a motion validator over a
// robot. OMPL's own validator samples a motion every few degrees; this one proves it for every time
// between, so that a path is free as a whole. The tests build it where OMPL is installed:
//
//   c++ ompl.cpp $(pkg-config --cflags --libs carom ompl eigen3) -std=c++17
#include <carom/carom.h>
#include <ompl/base/MotionValidator.h>
#include <ompl/base/StateValidityChecker.h>
#include <ompl/base/spaces/RealVectorStateSpace.h>
#include <ompl/base/terminationconditions/IterationTerminationCondition.h>
#include <ompl/geometric/SimpleSetup.h>
#include <ompl/geometric/planners/rrt/RRTConnect.h>
#include <ompl/util/RandomNumbers.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace ob = ompl::base;
namespace og = ompl::geometric;

namespace {

void must(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    std::fprintf(stderr, "%s\n", carom_context_message(context));
    std::exit(EXIT_FAILURE);
}

// A robot with its context, which serves one thread at a time: planners with several threads need a
// context for each. The robot itself may be shared.
struct arm {
    carom_context *context = nullptr;
    carom_robot *robot = nullptr;
    carom_robot_query query = {};
    unsigned dof = 0;

    arm() = default;
    arm(const arm &) = delete;
    arm &operator=(const arm &) = delete;
    ~arm() {
        carom_robot_destroy(robot);
        carom_context_destroy(context);
    }
};

const double *values_of(const ob::State *state) {
    return state->as<ob::RealVectorStateSpace::StateType>()->values;
}

class validity_checker : public ob::StateValidityChecker {
  public:
    validity_checker(const ob::SpaceInformationPtr &space, std::shared_ptr<arm> arm)
        : ob::StateValidityChecker(space), arm_(std::move(arm)) {
    }

    bool isValid(const ob::State *state) const override {
        carom_robot_result result;
        must(arm_->context, carom_robot_check(arm_->context, arm_->robot, values_of(state), 1,
                                              &arm_->query, &result));
        return si_->satisfiesBounds(state) && result.verdict == CAROM_ROBOT_VERDICT_FREE;
    }

    // The least distance to a collision, a lower bound.
    double clearance(const ob::State *state) const override {
        carom_robot_gap gap;
        must(arm_->context, carom_robot_clearance(arm_->context, arm_->robot, values_of(state), 1,
                                                  &arm_->query, &gap));
        return gap.distance.lower;
    }

  private:
    std::shared_ptr<arm> arm_;
};

class motion_validator : public ob::MotionValidator {
  public:
    motion_validator(const ob::SpaceInformationPtr &space, std::shared_ptr<arm> arm)
        : ob::MotionValidator(space), arm_(std::move(arm)) {
    }

    bool checkMotion(const ob::State *from, const ob::State *to) const override {
        return free_until(from, to) >= 1.0;
    }

    // Where it is blocked, the last state that is proved to be reached.
    bool checkMotion(const ob::State *from, const ob::State *to,
                     std::pair<ob::State *, double> &last) const override {
        last.second = free_until(from, to);
        if (last.second >= 1.0) return true;
        if (last.first != nullptr)
            si_->getStateSpace()->interpolate(from, to, last.second, last.first);
        return false;
    }

  private:
    double free_until(const ob::State *from, const ob::State *to) const {
        carom_robot_motion_result result;
        must(arm_->context, carom_robot_motion(arm_->context, arm_->robot, values_of(from),
                                               values_of(to), 1, &arm_->query, &result));
        bool is_free = result.verdict == CAROM_ROBOT_VERDICT_FREE;
        ++(is_free ? valid_ : invalid_);
        return is_free ? 1.0 : result.free_until;
    }

    std::shared_ptr<arm> arm_;
};

// A base and four links of 0.4 m that turn about z and y in turn, and a wall beside them.
std::shared_ptr<arm> make_arm() {
    auto made = std::make_shared<arm>();
    carom_robot_shape box = {}, wall = {};
    box.kind = wall.kind = CAROM_ROBOT_SHAPE_KIND_BOX;
    box.pose.t = {0.0, 0.0, 0.2};
    box.half = {0.05, 0.05, 0.18};
    wall.pose.t = {0.5, 0.0, 0.6};
    wall.half = {0.3, 0.02, 0.6};
    made->dof = 4;
    made->query.margin = 0.005;
    std::vector<carom_robot_link> links(made->dof + 1, carom_robot_link{"link", &box, 1});
    std::vector<carom_robot_joint> joints(made->dof);
    for (unsigned i = 0; i < made->dof; ++i) {
        joints[i] = {};
        joints[i].kind = CAROM_ROBOT_JOINT_KIND_REVOLUTE;
        joints[i].parent = i;
        joints[i].child = i + 1;
        joints[i].origin.t = {0.0, 0.0, 0.4};
        joints[i].axis = {0.0, i % 2 == 1 ? 1.0 : 0.0, i % 2 == 0 ? 1.0 : 0.0};
        joints[i].lower = -2.5;
        joints[i].upper = 2.5;
    }
    carom_robot_def def = {};
    def.links = links.data();
    def.link_count = made->dof + 1;
    def.joints = joints.data();
    def.joint_count = made->dof;
    def.spheres = 40;
    carom_context_def of_context = {};
    of_context.threads = 1;
    must(nullptr, carom_context_create(&of_context, &made->context));
    must(made->context, carom_robot_create(made->context, &def, &made->robot));
    must(made->context, carom_robot_add_objects(made->context, made->robot, &wall, 1, nullptr));
    return made;
}

} // namespace

int main() {
    auto robot = make_arm();
    ompl::RNG::setSeed(1);
    auto space = std::make_shared<ob::RealVectorStateSpace>(robot->dof);
    ob::RealVectorBounds bounds(robot->dof);
    must(robot->context,
         carom_robot_get_limits(robot->robot, bounds.low.data(), bounds.high.data()));
    space->setBounds(bounds);

    og::SimpleSetup setup(space);
    const ob::SpaceInformationPtr &info = setup.getSpaceInformation();
    info->setStateValidityChecker(std::make_shared<validity_checker>(info, robot));
    info->setMotionValidator(std::make_shared<motion_validator>(info, robot));
    ob::ScopedState<ob::RealVectorStateSpace> start(space), goal(space);
    const double from[] = {0.6, 1.2, 0.0, 0.0}, to[] = {-0.6, 1.2, 0.0, 0.0};
    for (unsigned i = 0; i < robot->dof; ++i) {
        start[i] = from[i];
        goal[i] = to[i];
    }
    setup.setStartAndGoalStates(start, goal);
    auto planner = std::make_shared<og::RRTConnect>(info);
    planner->setRange(0.3); // radians: the longest edge
    setup.setPlanner(planner);
    setup.setup();

    std::printf("the straight motion is %s\n",
                info->checkMotion(start.get(), goal.get()) ? "free" : "blocked");
    ob::IterationTerminationCondition rounds(20000); // no clock: the same path in every run
    if (setup.solve(rounds) != ob::PlannerStatus::EXACT_SOLUTION) return EXIT_FAILURE;
    const og::PathGeometric &path = setup.getSolutionPath();
    for (size_t i = 0; i + 1 < path.getStateCount(); ++i)
        if (!info->checkMotion(path.getState(i), path.getState(i + 1))) return EXIT_FAILURE;
    std::printf("a path of %zu configurations, each motion between them proved to be free\n",
                path.getStateCount());
    return EXIT_SUCCESS;
}
