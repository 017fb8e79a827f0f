// What programs use of the C++ library. The first argument chooses a case, a second one its broken variant.
#include <atomic>
#include <barrier>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <iostream>
#include <latch>
#include <semaphore>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

using namespace std;

static int plain;
static bool bad;

static void use_promise() {
    promise<int> made;
    future<int> result = made.get_future();
    thread other([&] {
        plain = 1;
        made.set_value(7);
    });
    assert(!bad || plain < 2);
    assert(result.get() == 7);
    assert(plain == 1);
    other.join();
}
static void use_async() {
    auto result = async(launch::async, [] {
        plain++;
        return 3;
    });
    if (bad)
        plain++;
    assert(result.get() == 3);
    plain++;
}
static void use_packaged_task() {
    packaged_task<int(int)> task([](int x) { return x + 1; });
    auto result = task.get_future();
    thread other(std::move(task), 4);
    assert(result.get() == (bad ? 4 : 5));
    other.join();
}
static void use_exception_ptr() {
    exception_ptr thrown;
    thread other([&] {
        try {
            throw runtime_error("x");
        } catch (...) {
            thrown = current_exception();
        }
    });
    if (!bad)
        other.join();
    bool is_caught = false;
    try {
        if (thrown)
            rethrow_exception(thrown);
    } catch (runtime_error &) {
        is_caught = true;
    }
    if (bad)
        other.join();
    assert(is_caught);
}
static void use_jthread() {
    atomic<int> ended{0};
    {
        jthread other([&](stop_token stop) {
            while (!stop.stop_requested())
                this_thread::yield();
            ended = 1;
        });
        assert(!bad || ended == 1);
    }
    assert(ended == 1);
}
static void use_semaphore() {
    counting_semaphore<3> semaphore(0);
    thread other([&] {
        plain = 1;
        semaphore.release();
    });
    if (!bad)
        semaphore.acquire();
    assert(plain == 1);
    other.join();
}
static void use_latch() {
    latch both(2);
    thread other([&] {
        plain = 1;
        both.count_down();
    });
    both.count_down();
    if (!bad)
        both.wait();
    assert(plain == 1);
    other.join();
}
static void use_barrier() {
    barrier<> both(2);
    thread other([&] {
        plain = 1;
        both.arrive_and_wait();
    });
    if (bad)
        (void)both.arrive();
    else
        both.arrive_and_wait();
    assert(plain == 1);
    other.join();
}
static void use_atomic_wait() {
    atomic<int> flag{0};
    thread other([&] {
        plain = 1;
        flag = 1;
        if (!bad)
            flag.notify_one();
    });
    flag.wait(0);
    assert(plain == 1);
    other.join();
}
static void use_streams() {
    thread other([] { cout << "a" << endl; });
    cout << "b " << 3.5 << endl;
    other.join();
    assert(!bad);
}
static void use_clocks() {
    auto start = chrono::steady_clock::now();
    thread other([] { this_thread::sleep_for(chrono::milliseconds(5)); });
    this_thread::sleep_for(chrono::seconds(2));
    auto passed = chrono::steady_clock::now() - start;
    assert(bad ? passed < chrono::seconds(1) : passed >= chrono::seconds(2));
    other.join();
}
static void use_shared_future() {
    promise<void> made;
    shared_future<void> result = made.get_future().share();
    thread other([result] {
        result.wait();
        assert(plain == 1);
    });
    plain = bad ? 0 : 1;
    made.set_value();
    other.join();
}

int main(int argc, char **argv) {
    void (*const cases[])() = {
        use_promise, use_async, use_packaged_task, use_exception_ptr, use_jthread, use_semaphore, use_latch, use_barrier,
        use_atomic_wait, use_streams, use_clocks, use_shared_future,
    };
    bad = argc > 2;
    cases[atoi(argv[1])]();
}
