// Manipulators of iostream for integers, floating point, width and fill.
#include <iomanip>
#include <iostream>

int main() {
    double values[] = {0, 1, -2.5, 3.14159265358979, 1e-7, 123456789.125, 1e100};
    for (double v : values) {
        std::cout << v << '|' << std::fixed << std::setprecision(3) << v << '|' << std::scientific << v << '|' << std::hexfloat << v
                  << std::defaultfloat << std::setprecision(6) << '\n';
        std::cout << std::setw(15) << std::setfill('*') << v << '|' << std::left << std::setw(15) << v << std::right << '|' << std::showpos << v
                  << std::noshowpos << std::setfill(' ') << '\n';
    }
    for (int i : {0, 255, -255, 65536}) {
        std::cout << std::hex << std::showbase << i << ' ' << std::oct << i << ' ' << std::dec << std::noshowbase << std::uppercase << std::hex << i
                  << std::nouppercase << std::dec << '\n';
    }
    std::cout << std::boolalpha << true << ' ' << false << std::noboolalpha << true << ' ' << 'c' << ' ' << "text" << ' ' << (void *)nullptr << std::endl;
    std::cerr << "to the standard error " << 5 << '\n';
    std::clog << "log\n";
}
