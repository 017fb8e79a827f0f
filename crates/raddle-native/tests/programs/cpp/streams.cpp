// stringstream reading and writing, getline, stream state, user-defined inserters and extractors.
#include <iostream>
#include <sstream>
#include <string>

struct Point { int x, y; };
static std::ostream &operator<<(std::ostream &o, const Point &p) { return o << '(' << p.x << ',' << p.y << ')'; }
static std::istream &operator>>(std::istream &i, Point &p) { char a, b, c; return i >> a >> p.x >> b >> p.y >> c; }

int main() {
    std::istringstream in("12 3.5 word (4,5) 0x1f\nsecond line\nthird bad");
    int n; double d; std::string w, line; Point p{}; int hex;
    in >> n >> d >> w >> p >> std::hex >> hex;
    std::cout << n << ' ' << d << ' ' << w << ' ' << p << ' ' << hex << '\n';
    std::getline(in, line);
    std::getline(in, line);
    std::cout << line << '\n';
    in >> w >> std::dec >> n;
    std::cout << in.fail() << in.eof() << '\n';
    in.clear();
    in >> w;
    std::cout << w << '\n';
    std::ostringstream out;
    for (int i = 0; i < 300; i++) out << i << ';';
    std::cout << out.str().size() << ' ' << out.str().substr(200, 20) << '\n';
    std::string token;
    int tokens = 0;
    for (std::istringstream t(out.str()); std::getline(t, token, ';');) tokens += std::stoi(token);
    std::cout << tokens << ' ' << (std::cin.peek() == EOF) << '\n';
    in.exceptions(std::ios::failbit);
    try { in >> n; } catch (const std::ios_base::failure &) { std::cout << "failure\n"; }
}
