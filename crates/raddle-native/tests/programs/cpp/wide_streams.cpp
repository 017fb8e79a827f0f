// Wide and narrow conversions, wostringstream, codecvt of the C locale, locale facets.
#include <iostream>
#include <locale>
#include <sstream>

struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

int main() {
    std::wostringstream w;
    w << L"wide " << 42 << L' ' << 2.5;
    std::wstring s = w.str();
    std::cout << s.size() << ' ' << std::string(s.begin(), s.end()) << '\n';
    std::ostringstream o;
    o.imbue(std::locale(std::locale::classic(), new Comma));
    o << 1234567 << ' ' << 1234.5;
    std::cout << o.str() << ' ' << std::locale().name() << ' ' << std::isalpha('x', std::locale::classic()) << '\n';
    try { std::locale bad("no_SUCH.locale"); } catch (const std::runtime_error &e) { std::cout << e.what() << '\n'; }
}
