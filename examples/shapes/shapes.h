/*
 * shapes.h: points and plane shapes: a class with virtual functions, three shapes, two templates.
 *
 * Lengths have no unit. It refuses drawing and input; a polygon is taken as it is, simple or not.
 */
#ifndef SHAPES_H
#define SHAPES_H

#include <cstddef>
#include <memory>
#include <vector>

namespace plane
{

struct Point {
    double x, y;

    Point operator+(const Point &other) const
    {
        return {x + other.x, y + other.y};
    }
    Point operator-(const Point &other) const
    {
        return {x - other.x, y - other.y};
    }
    Point operator*(double factor) const
    {
        return {x * factor, y * factor};
    }
};

struct Segment {
    Point from, to;
};

/* Three functions of one name. */
double distance(const Point &a, const Point &b);
double distance(const Point &p, const Segment &segment);
double distance(const Segment &a, const Segment &b);

class Shape
{
  public:
    virtual ~Shape() = default;
    virtual double area() const = 0;
    virtual double perimeter() const = 0;
    virtual bool contains(const Point &p) const = 0;
    double roundness() const; /* 1 for a circle, less for all else */
};

class Circle : public Shape
{
  public:
    Circle(const Point &center, double radius) : center_(center), radius_(radius)
    {
    }
    double area() const override;
    double perimeter() const override;
    bool contains(const Point &p) const override;

  private:
    Point center_;
    double radius_;
};

class Polygon : public Shape
{
  public:
    explicit Polygon(std::vector<Point> corners) : corners_(std::move(corners))
    {
    }
    double area() const override;
    double perimeter() const override;
    bool contains(const Point &p) const override;

  protected:
    Segment edge(std::size_t i) const;
    std::vector<Point> corners_;
};

class Rectangle : public Polygon
{
  public:
    Rectangle(const Point &corner, double width, double height);
    double area() const override;

  private:
    double width_, height_;
};

/* The sum of measure(x) over the elements; T is what measure returns. */
template <typename T, typename Container, typename Measure>
T sum(const Container &container, Measure measure)
{
    T total{};
    for (const auto &element : container)
        total += measure(element);
    return total;
}

/* A small generator with a state of Bits bits: each instance draws another sequence. */
template <unsigned Bits> class Random
{
  public:
    explicit Random(unsigned long seed) : state_(seed)
    {
    }
    double next()
    {
        state_ = (state_ * 6364136223846793005UL + 1442695040888963407UL) & mask;
        return static_cast<double>(state_ >> (Bits - 20)) / (1 << 20);
    }

  private:
    static constexpr unsigned long mask = Bits == 64 ? ~0UL : (1UL << Bits % 64) - 1;
    unsigned long state_;
};

} // namespace plane

#endif
