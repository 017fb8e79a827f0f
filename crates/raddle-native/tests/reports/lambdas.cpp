// Templates and lambdas: two workers count without a lock.
#include <functional>
#include <thread>
#include <utility>

template <typename T>
struct Counter {
  T value{};
  void add(T amount) { value += amount; }
};

template <typename F>
void repeat(int times, F action) {
  for (int i = 0; i < times; i++) action(i);
}

int main() {
  Counter<long> hits;
  auto count = [&hits] { repeat(2, [&hits](int amount) { hits.add(amount); }); };
  std::thread first(count), second(std::ref(count));
  first.join();
  second.join();
}
