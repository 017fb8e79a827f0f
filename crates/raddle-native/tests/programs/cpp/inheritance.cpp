// Virtual calls, multiple and virtual inheritance, dynamic_cast, typeid, pure virtual tables.
#include <cstring>
#include <iostream>
#include <typeinfo>

struct Base { int b = 1; virtual ~Base() { std::cout << "~Base "; } virtual int f() const { return b; } };
struct Left : virtual Base { int l = 2; int f() const override { return l + b; } };
struct Right : virtual Base { int r = 3; virtual int g() const { return r; } };
struct Both : Left, Right { int f() const override { return l * 100 + r * 10 + b; } int g() const override { return -r; } };
struct Other { virtual ~Other() = default; };

int main() {
    Both both;
    Base *p = &both;
    Right *r = dynamic_cast<Right *>(p);
    Left *l = dynamic_cast<Left *>(r);
    std::cout << p->f() << ' ' << r->g() << ' ' << l->Left::f() << ' ' << (dynamic_cast<Other *>(p) == nullptr) << '\n';
    std::cout << typeid(*p).name() << ' ' << (typeid(*p) == typeid(Both)) << '\n';
    Base plain;
    try { dynamic_cast<Both &>(plain); } catch (const std::bad_cast &e) { std::cout << e.what() << '\n'; }
    int Both::*member = &Both::l;
    std::cout << both.*member << '\n';
    Base *heap = new Both;
    delete heap;
    std::cout << std::endl;
}
