// std::regex: match, search, replace, iteration, error.
#include <iostream>
#include <regex>
#include <string>

int main() {
    std::string text = "alice@example.org, bob@test.com and 42 others";
    std::regex mail(R"((\w+)@(\w+)\.(com|org))");
    for (std::sregex_iterator i(text.begin(), text.end(), mail), end; i != end; ++i) std::cout << (*i)[1] << " at " << (*i)[2] << '\n';
    std::cout << std::regex_replace(text, mail, "<$1>") << '\n';
    std::cout << std::regex_match("2024-02-29", std::regex(R"(\d{4}-\d\d-\d\d)")) << std::regex_search(text, std::regex("^bob")) << '\n';
    try { std::regex bad("(unclosed"); } catch (const std::regex_error &e) { std::cout << "error " << (e.code() == std::regex_constants::error_paren) << '\n'; }
}
