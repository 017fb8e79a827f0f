// Engines and distributions of <random>.
#include <iostream>
#include <random>

int main() {
    std::mt19937 a(5);
    std::mt19937_64 b(6);
    std::minstd_rand c(7);
    std::uniform_int_distribution<int> die(1, 6);
    std::normal_distribution<double> normal(10, 2);
    std::discrete_distribution<int> weighted{1, 2, 3};
    std::cout.precision(15);
    for (int i = 0; i < 15; i++) std::cout << a() << ' ' << b() << ' ' << c() << ' ' << die(a) << ' ' << normal(b) << ' ' << weighted(c) << '\n';
    std::shuffle_order_engine<std::minstd_rand, 16> s(1);
    std::cout << s() << ' ' << std::generate_canonical<double, 53>(a) << '\n';
}
