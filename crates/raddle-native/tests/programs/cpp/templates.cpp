// Templates: variadics, fold expressions, compile-time values, CRTP, specialisation.
#include <array>
#include <iostream>
#include <type_traits>

template <class... T> auto sum(T... t) { return (t + ... + 0); }
template <int N> struct Fib { static constexpr long value = Fib<N - 1>::value + Fib<N - 2>::value; };
template <> struct Fib<0> { static constexpr long value = 0; };
template <> struct Fib<1> { static constexpr long value = 1; };
template <class D> struct Shape { double twice() const { return 2 * static_cast<const D *>(this)->area(); } };
struct Square : Shape<Square> { double s; explicit Square(double s) : s(s) {} double area() const { return s * s; } };
template <class T> const char *kind() {
    if constexpr (std::is_integral_v<T>) return "integral";
    else if constexpr (std::is_floating_point_v<T>) return "floating";
    else return "other";
}
constexpr auto table = [] { std::array<int, 16> a{}; for (int i = 0; i < 16; i++) a[i] = i * i; return a; }();

int main() {
    std::cout << sum(1, 2.5, 'a', 4L) << ' ' << Fib<60>::value << ' ' << Square(3).twice() << ' ' << table[15] << '\n';
    std::cout << kind<int>() << kind<float>() << kind<char *>() << '\n';
}
