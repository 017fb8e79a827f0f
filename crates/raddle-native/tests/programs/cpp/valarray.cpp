// valarray, complex and numeric limits.
#include <complex>
#include <iostream>
#include <limits>
#include <valarray>

int main() {
    std::valarray<double> v(20);
    for (int i = 0; i < 20; i++) v[i] = i * 0.5 - 3;
    std::valarray<double> w = std::sin(v) * v + std::pow(v, 2.0);
    w[std::slice(0, 5, 4)] = -1.0;
    std::cout << w.sum() << ' ' << w.min() << ' ' << w.max() << '\n';
    std::complex<double> z(1, -2), p = 1;
    for (int i = 0; i < 10; i++) p = p * z / 2.0 + std::exp(std::complex<double>(0, i));
    std::cout << p << ' ' << std::abs(p) << ' ' << std::arg(p) << '\n';
    std::cout << std::numeric_limits<float>::epsilon() << ' ' << std::numeric_limits<long>::max() << ' ' << std::numeric_limits<long double>::digits << '\n';
}
