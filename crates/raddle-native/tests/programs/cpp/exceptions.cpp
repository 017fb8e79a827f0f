// Exceptions: kinds of handlers, rethrow, nested exceptions, destructors on the way.
#include <iostream>
#include <stdexcept>
#include <string>

struct Guard { int n; ~Guard() { std::cout << "~" << n << ' '; } };

static void thrower(int kind) {
    Guard g{kind};
    switch (kind) {
    case 0: throw 42;
    case 1: throw std::runtime_error("runtime");
    case 2: throw std::string("string");
    case 3: throw "literal";
    case 4: throw Guard{100};
    case 5: std::string("x").at(7); break;
    case 6: delete[] new char[std::stoul("4611686018427387904")]; break;
    default: break;
    }
}

static void nested() {
    try { thrower(1); } catch (...) { std::throw_with_nested(std::logic_error("outer")); }
}

int main() {
    for (int i = 0; i < 8; i++) {
        try {
            Guard g{10 + i};
            thrower(i);
            std::cout << "nothing\n";
        } catch (int n) { std::cout << "int " << n << '\n';
        } catch (const std::string &s) { std::cout << s << '\n';
        } catch (const char *s) { std::cout << s << '\n';
        } catch (const std::out_of_range &e) { std::cout << "range\n";
        } catch (const std::exception &e) { std::cout << e.what() << '\n';
        } catch (...) { std::cout << "other\n"; }
    }
    try { nested(); } catch (const std::exception &e) {
        std::cout << e.what();
        try { std::rethrow_if_nested(e); } catch (const std::exception &inner) { std::cout << " in " << inner.what() << '\n'; }
    }
}
