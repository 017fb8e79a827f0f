// function, bind, lambdas with captures, member pointers, recursion through std::function.
#include <functional>
#include <iostream>
#include <map>
#include <string>

struct Account {
    long balance = 0;
    void add(long n) { balance += n; }
    long get() const { return balance; }
};

int main() {
    std::function<long(int)> fib = [&](int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); };
    std::map<std::string, std::function<double(double, double)>> ops{{"+", std::plus<>{}}, {"*", std::multiplies<>{}}};
    ops["-"] = [](double a, double b) { return a - b; };
    for (auto &[name, f] : ops) std::cout << name << f(7, 3) << ' ';
    Account a;
    void (Account::*add)(long) = &Account::add;
    (a.*add)(5);
    auto ten = std::bind(&Account::add, &a, std::placeholders::_1);
    ten(10);
    auto counter = [n = 0]() mutable { return ++n; };
    counter();
    std::cout << std::mem_fn(&Account::get)(a) << ' ' << fib(15) << ' ' << counter() << '\n';
    try { std::function<void()>()(); } catch (const std::bad_function_call &e) { std::cout << e.what() << '\n'; }
}
