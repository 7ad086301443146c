/*
 * shapes.cpp: the measures of the shapes that shapes.h declares.
 *
 * Nothing here allocates but the corners of a rectangle; nothing prints.
 */
#include "shapes.h"

#include <algorithm>
#include <cmath>

namespace plane
{

namespace
{

const double pi = 3.14159265358979323846;

double dot(const Point &a, const Point &b)
{
    return a.x * b.x + a.y * b.y;
}

double cross(const Point &a, const Point &b)
{
    return a.x * b.y - a.y * b.x;
}

std::vector<Point> corners(const Point &p, double width, double height)
{
    return {p, p + Point{width, 0}, p + Point{width, height}, p + Point{0, height}};
}

} // namespace

double distance(const Point &a, const Point &b)
{
    Point d = b - a;

    return std::sqrt(dot(d, d));
}

double distance(const Point &p, const Segment &segment)
{
    Point along = segment.to - segment.from;
    double length2 = dot(along, along);
    double t = length2 > 0 ? dot(p - segment.from, along) / length2 : 0;

    return distance(p, segment.from + along * std::clamp(t, 0.0, 1.0));
}

/* Of segments that do not cross: the least distance from an end of one to the other. */
double distance(const Segment &a, const Segment &b)
{
    return std::min(
        {distance(a.from, b), distance(a.to, b), distance(b.from, a), distance(b.to, a)});
}

double Shape::roundness() const
{
    return 4 * pi * area() / (perimeter() * perimeter());
}

double Circle::area() const
{
    return pi * radius_ * radius_;
}

double Circle::perimeter() const
{
    return 2 * pi * radius_;
}

bool Circle::contains(const Point &p) const
{
    return distance(center_, p) <= radius_;
}

Segment Polygon::edge(std::size_t i) const
{
    return {corners_[i], corners_[(i + 1) % corners_.size()]};
}

double Polygon::area() const
{
    double twice = 0;

    for (std::size_t i = 0; i < corners_.size(); i++)
        twice += cross(edge(i).from, edge(i).to);
    return std::fabs(twice) / 2;
}

double Polygon::perimeter() const
{
    double length = 0;

    for (std::size_t i = 0; i < corners_.size(); i++)
        length += distance(edge(i).from, edge(i).to);
    return length;
}

/* Counts the edges that a ray to the right crosses. */
bool Polygon::contains(const Point &p) const
{
    bool inside = false;

    for (std::size_t i = 0; i < corners_.size(); i++) {
        Segment side = edge(i);
        if ((side.from.y > p.y) == (side.to.y > p.y))
            continue;
        if (p.x < side.from.x +
                      (p.y - side.from.y) / (side.to.y - side.from.y) * (side.to.x - side.from.x))
            inside = !inside;
    }
    return inside;
}

Rectangle::Rectangle(const Point &corner, double width, double height)
    : Polygon(corners(corner, width, height)), width_(width), height_(height)
{
}

double Rectangle::area() const
{
    return width_ * height_;
}

} // namespace plane
