// std::string and string_view: short and long strings, searching, replacing, conversions.
#include <iostream>
#include <string>
#include <string_view>

int main() {
    std::string s = "short";
    for (int i = 0; i < 6; i++) s += s.substr(0, 3) + std::to_string(i);
    s.insert(4, "<inserted>").replace(0, 2, "SH").erase(20, 3);
    std::string_view v = s;
    std::cout << s << ' ' << s.find("ort") << ' ' << s.rfind('5') << ' ' << s.find_first_of("0123456789") << ' ' << v.substr(3, 9) << '\n';
    std::cout << std::stoi("77") << std::stol("-5") << std::stod("2.5e1") << std::stoul("ff", nullptr, 16) << ' ' << (s.compare("SI") < 0) << '\n';
    try { std::stoi("none"); } catch (const std::invalid_argument &e) { std::cout << e.what() << '\n'; }
    try { std::stoi("99999999999"); } catch (const std::out_of_range &e) { std::cout << e.what() << '\n'; }
    std::u16string u = u"wide";
    std::wstring w(5, L'w');
    std::string big(10000, 'x');
    big.resize(20000, 'y');
    std::cout << u.size() << w.size() << big.find('y') << (s < big) << '\n';
}
