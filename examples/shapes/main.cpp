/*
 * main.cpp: throws random points at a handful of shapes and compares areas with what was hit.
 *
 * usage: shapes [POINTS]. The generator has a fixed seed, so the same POINTS print the same lines.
 */
#include "shapes.h"

#include <cstdio>
#include <cstdlib>

using plane::Point;
using plane::Shape;

namespace
{

using Shapes = std::vector<std::unique_ptr<Shape>>;

const double side = 10; /* of the square that the points fall into */

Shapes make_shapes()
{
    Shapes shapes;

    shapes.push_back(std::make_unique<plane::Circle>(Point{4, 5}, 3));
    shapes.push_back(std::make_unique<plane::Rectangle>(Point{1, 2}, 6, 2.5));
    shapes.push_back(std::make_unique<plane::Polygon>(
        std::vector<Point>{{1, 1}, {9, 2}, {6, 5}, {8, 9}, {2, 7}}));
    return shapes;
}

template <unsigned Bits> double hit_area(const Shape &shape, int points)
{
    plane::Random<Bits> random(2);
    int hits = 0;

    for (int i = 0; i < points; i++) {
        double x = random.next() * side, y = random.next() * side;
        hits += shape.contains({x, y});
    }
    return hits * side * side / points;
}

double nearest_edges(int steps)
{
    double total = 0;

    for (int i = 0; i < steps; i++) {
        double t = static_cast<double>(i) / steps;
        total += plane::distance(plane::Segment{{0, t}, {1, 1 - t}},
                                 plane::Segment{{2, 1 + t}, {3, 2 - t}});
    }
    return total / steps;
}

} // namespace

int main(int argc, char **argv)
{
    int points = argc > 1 ? std::atoi(argv[1]) : 900000;
    Shapes shapes = make_shapes();

    for (const auto &shape : shapes)
        std::printf("area %7.4f  perimeter %7.4f  roundness %.4f  hit %7.4f and %7.4f\n",
                    shape->area(), shape->perimeter(), shape->roundness(),
                    hit_area<48>(*shape, points), hit_area<64>(*shape, points / 2));
    std::printf("sum of areas %.4f\n",
                plane::sum<double>(shapes, [](const auto &shape) { return shape->area(); }));
    std::printf("mean distance %.4f\n", nearest_edges(points / 4));
    return 0;
}
