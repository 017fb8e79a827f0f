// any, optional, variant, tuple and structured bindings.
#include <any>
#include <iostream>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

struct Visitor {
    std::string operator()(int i) const { return "int " + std::to_string(i); }
    std::string operator()(double d) const { return "double " + std::to_string(d); }
    std::string operator()(const std::string &s) const { return "string " + s; }
};

static std::optional<int> half(int n) { return n % 2 ? std::nullopt : std::optional(n / 2); }

int main() {
    std::variant<int, double, std::string> v = 3;
    for (int i = 0; i < 3; i++) {
        std::cout << std::visit(Visitor{}, v) << '\n';
        if (i == 0) v = 2.5;
        else v = std::string("text long enough to be on the heap");
    }
    try { std::get<int>(v); } catch (const std::bad_variant_access &e) { std::cout << e.what() << '\n'; }
    std::any a = std::string("any");
    try { std::any_cast<int>(a); } catch (const std::bad_any_cast &e) { std::cout << e.what() << '\n'; }
    std::cout << std::any_cast<std::string>(a) << ' ' << half(8).value() << ' ' << half(7).value_or(-1) << '\n';
    try { half(1).value(); } catch (const std::bad_optional_access &e) { std::cout << e.what() << '\n'; }
    auto [x, y, z] = std::make_tuple(1, "two", 3.5);
    std::cout << x << y << z << '\n';
}
