//! Tests of Rust programs that use threads and locks of the standard library, without changes for Raddle.

#![allow(static_mut_refs)]

use std::sync::atomic::Ordering::*;
use std::sync::atomic::*;
use std::sync::*;
use std::thread;
static M: Mutex<u32> = Mutex::new(0);
fn threads(n: u32, f: fn(u32)) {
    let t: Vec<_> = (0..n).map(|i| thread::spawn(move || f(i))).collect();
    for t in t {
        t.join().unwrap();
    }
}
#[test]
fn mutex2() {
    threads(2, |_| {
        *M.lock().unwrap() += 1;
    });
    assert_eq!(*M.lock().unwrap(), 2);
}
#[test]
fn mutex3() {
    threads(3, |_| {
        *M.lock().unwrap() += 1;
    });
    assert_eq!(*M.lock().unwrap(), 3);
}
#[test]
fn try_lock() {
    threads(2, |_| {
        if let Ok(mut g) = M.try_lock() {
            *g += 1
        }
    });
    let n = *M.lock().unwrap();
    assert!(n == 1 || n == 2);
}
#[test]
fn try_lock_bad() {
    threads(2, |_| {
        if let Ok(mut g) = M.try_lock() {
            *g += 1
        }
    });
    let n = *M.lock().unwrap();
    assert!(n == 2);
}
#[test]
fn try_and_lock() {
    threads(2, |i| {
        if i == 0 {
            *M.lock().unwrap() += 1
        } else if let Ok(mut g) = M.try_lock() {
            *g += 1
        }
    });
    let n = *M.lock().unwrap();
    assert!(n == 1 || n == 2);
}
#[test]
fn self_deadlock() {
    let _a = M.lock().unwrap();
    let _b = M.lock().unwrap();
}
static N: Mutex<u32> = Mutex::new(0);
#[test]
fn abba() {
    threads(2, |i| {
        if i == 0 {
            let _a = M.lock();
            let _b = N.lock();
        } else {
            let _a = N.lock();
            let _b = M.lock();
        }
    })
}
static R: RwLock<u32> = RwLock::new(0);
#[test]
fn rw() {
    threads(2, |i| {
        if i == 0 {
            *R.write().unwrap() += 1
        } else {
            let g = R.read().unwrap();
            assert!(*g < 2)
        }
    })
}
#[test]
fn rw2r() {
    threads(3, |i| {
        if i == 0 {
            *R.write().unwrap() += 1
        } else {
            let g = R.read().unwrap();
            assert!(*g < 2)
        }
    })
}
#[test]
fn rr() {
    threads(2, |_| {
        let g = R.read().unwrap();
        assert!(*g == 0)
    })
}
#[test]
fn ww() {
    threads(2, |_| {
        *R.write().unwrap() += 1;
    });
    assert_eq!(*R.read().unwrap(), 2);
}
static O: OnceLock<u32> = OnceLock::new();
#[test]
fn once() {
    threads(2, |i| {
        let v = *O.get_or_init(|| i);
        assert_eq!(v, *O.get().unwrap());
    })
}
static C: Condvar = Condvar::new();
#[test]
fn condvar() {
    threads(2, |i| {
        if i == 0 {
            let mut g = M.lock().unwrap();
            while *g == 0 {
                g = C.wait(g).unwrap()
            }
        } else {
            *M.lock().unwrap() = 1;
            C.notify_one();
        }
    })
}
#[test]
fn lost_wakeup() {
    static F: AtomicBool = AtomicBool::new(false);
    threads(2, |i| {
        if i == 0 {
            if !F.load(SeqCst) {
                let g = M.lock().unwrap();
                drop(C.wait(g).unwrap())
            }
        } else {
            F.store(true, SeqCst);
            C.notify_one();
        }
    })
}
#[test]
fn two_waiters_one_notify() {
    threads(3, |i| {
        if i < 2 {
            let mut g = M.lock().unwrap();
            while *g == 0 {
                g = C.wait(g).unwrap()
            }
        } else {
            *M.lock().unwrap() = 1;
            C.notify_one();
        }
    })
}
#[test]
fn two_waiters_notify_all() {
    threads(3, |i| {
        if i < 2 {
            let mut g = M.lock().unwrap();
            while *g == 0 {
                g = C.wait(g).unwrap()
            }
        } else {
            *M.lock().unwrap() = 1;
            C.notify_all();
        }
    })
}
#[test]
fn wait_timeout() {
    threads(2, |i| {
        if i == 0 {
            let g = M.lock().unwrap();
            let (g, t) = C.wait_timeout(g, std::time::Duration::from_millis(5)).unwrap();
            let _ = (g, t);
        } else {
            *M.lock().unwrap() = 1;
            C.notify_one();
        }
    })
}
#[test]
fn park() {
    static F: AtomicBool = AtomicBool::new(false);
    let m = thread::current();
    let t = thread::spawn(move || {
        F.store(true, Release);
        m.unpark()
    });
    while !F.load(Acquire) {
        thread::park()
    }
    t.join().unwrap();
}
#[test]
fn park_once() {
    let m = thread::current();
    let t = thread::spawn(move || m.unpark());
    thread::park();
    t.join().unwrap();
}
#[test]
fn park_forever() {
    thread::park();
}
#[test]
fn scope() {
    let x = AtomicU32::new(0);
    thread::scope(|s| {
        s.spawn(|| x.fetch_add(1, Relaxed));
        s.spawn(|| x.fetch_add(1, Relaxed));
    });
    assert_eq!(x.into_inner(), 2);
}
#[test]
fn scope_empty() {
    thread::scope(|s| {
        s.spawn(|| {});
    });
}
#[test]
fn scope_empty3() {
    thread::scope(|s| {
        s.spawn(|| {});
        s.spawn(|| {});
        s.spawn(|| {});
    });
}
#[test]
fn scope_panics() {
    let r = std::panic::catch_unwind(|| {
        thread::scope(|s| {
            s.spawn(|| panic!());
            s.spawn(|| {});
        })
    });
    assert!(r.is_err());
}
#[test]
fn scope_park() {
    let m = thread::current();
    thread::scope(|s| {
        s.spawn(move || m.unpark());
        thread::park();
    });
}
#[test]
fn scope_race() {
    let mut v = [0u32; 2];
    let p = &mut v as *mut [u32; 2] as usize;
    thread::scope(|s| {
        s.spawn(move || unsafe { (*(p as *mut [u32; 2]))[0] = 1 });
        s.spawn(move || unsafe { (*(p as *mut [u32; 2]))[0] = 2 });
    });
}
#[test]
fn barrier() {
    static B: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));
    threads(2, |_| {
        B.wait();
    })
}
#[test]
fn mpsc() {
    let (s, r) = mpsc::channel();
    let s2 = s.clone();
    let a = thread::spawn(move || s.send(1).unwrap());
    let b = thread::spawn(move || s2.send(2).unwrap());
    let x: i32 = r.iter().sum();
    assert_eq!(x, 3);
    a.join().unwrap();
    b.join().unwrap();
}
#[test]
fn mpsc1() {
    let (s, r) = mpsc::channel();
    let a = thread::spawn(move || s.send(1).unwrap());
    assert_eq!(r.recv(), Ok(1));
    a.join().unwrap();
}
#[test]
fn sync_channel() {
    let (s, r) = mpsc::sync_channel(1);
    let a = thread::spawn(move || {
        s.send(1).unwrap();
        s.send(2).unwrap()
    });
    assert_eq!(r.recv(), Ok(1));
    assert_eq!(r.recv(), Ok(2));
    a.join().unwrap();
}
#[test]
fn local() {
    thread_local! {static L: std::cell::RefCell<Vec<u32>> = const { std::cell::RefCell::new(vec![]) }}
    threads(2, |i| {
        L.with(|l| l.borrow_mut().push(i));
        L.with(|l| assert_eq!(l.borrow().len(), 1));
    })
}
#[test]
fn static_mut() {
    static mut X: u32 = 0;
    threads(2, |_| unsafe { X += 1 })
}
#[test]
fn println() {
    threads(2, |i| println!("hello {i}"))
}
#[test]
fn map() {
    let mut m = std::collections::HashMap::new();
    m.insert(1, 2);
    threads(2, |i| {
        let mut m = std::collections::HashMap::new();
        m.insert(i, 2);
    });
    assert_eq!(m[&1], 2);
}
#[test]
fn sleep() {
    threads(2, |_| thread::sleep(std::time::Duration::from_millis(1)))
}
#[test]
fn detached() {
    thread::spawn(|| ());
}
#[test]
fn poison() {
    let r = thread::spawn(|| {
        let _g = M.lock().unwrap();
        panic!("p")
    })
    .join();
    assert!(r.is_err());
    assert!(M.lock().is_err());
}
#[test]
#[should_panic(expected = "abc")]
fn should() {
    threads(1, |_| ());
    panic!("xabcx")
}
#[test]
#[should_panic(expected = "abc")]
fn should_bad() {
    panic!("other")
}
#[test]
#[should_panic]
fn should_none() {}
#[test]
fn result() -> Result<(), String> {
    Err("bad".into())
}
#[test]
fn arc() {
    let a = Arc::new(1);
    let b = a.clone();
    let t = thread::spawn(move || drop(b));
    drop(a);
    t.join().unwrap();
}
#[test]
fn uaf() {
    let a = Box::into_raw(Box::new(1)) as usize;
    let t = thread::spawn(move || unsafe { drop(Box::from_raw(a as *mut i32)) });
    unsafe {
        std::ptr::read_volatile(a as *const i32);
    }
    t.join().unwrap();
}
#[test]
fn spin() {
    static F: AtomicBool = AtomicBool::new(false);
    threads(2, |i| {
        if i == 0 {
            while !F.load(Acquire) {
                std::hint::spin_loop()
            }
        } else {
            F.store(true, Release)
        }
    })
}
#[test]
fn spinlock() {
    static F: AtomicBool = AtomicBool::new(false);
    static mut X: u32 = 0;
    threads(3, |_| {
        while F.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
            std::hint::spin_loop()
        }
        unsafe { X += 1 };
        F.store(false, Release)
    })
}
#[test]
fn livelock() {
    static F: AtomicBool = AtomicBool::new(false);
    threads(1, |_| {
        while !F.load(Acquire) {
            std::hint::spin_loop()
        }
    })
}
#[test]
fn park_after_scope() {
    let main = thread::current();
    let thread = thread::spawn(move || main.unpark());
    thread::scope(|s| {
        s.spawn(|| {});
    });
    thread::park();
    thread.join().unwrap();
}
#[test]
fn try_read_then_read() {
    // The writer has the lock while another thread tries to read, then it reads what was written.
    let saw = thread::spawn(|| {
        let first = R.try_read().is_err();
        let value = *R.read().unwrap();
        (first, value)
    });
    *R.write().unwrap() += 1;
    assert_ne!(saw.join().unwrap(), (true, 1));
}
#[test]
fn try_lock_then_lock() {
    let saw = thread::spawn(|| {
        let first = M.try_lock().is_err();
        let value = *M.lock().unwrap();
        (first, value)
    });
    *M.lock().unwrap() += 1;
    assert_ne!(saw.join().unwrap(), (true, 1));
}
#[test]
fn moved_atomic() {
    let x = Box::new((AtomicU32::new(5), AtomicU32::new(6)));
    let y = Arc::new(*x);
    let z = y.clone();
    let t = thread::spawn(move || z.0.fetch_add(1, Relaxed));
    y.0.fetch_add(1, Relaxed);
    t.join().unwrap();
    assert_eq!(y.0.load(Relaxed), 7);
    let v: Vec<AtomicU32> = (0..100).map(AtomicU32::new).collect();
    let v = Arc::new(v);
    let w = v.clone();
    thread::spawn(move || w[3].store(1, Release)).join().unwrap();
    let mut v = Arc::try_unwrap(v).unwrap();
    v.push(AtomicU32::new(1));
    assert_eq!(v[3].load(Relaxed), 1);
}
