//! Calls about time. Clocks start at fixed times and advance by a microsecond per reading of the thread.

use super::{Answer, Call, Effect, success};

const CLOCK_REALTIME: [u64; 3] = [0, 5, 8];
const NANOSECONDS: u64 = 1_000_000_000;

fn now(call: &mut Call<'_>, is_realtime: bool) -> [u64; 2] {
    let now = call.kernel.clock(call.thread, is_realtime);
    [now / NANOSECONDS, now % NANOSECONDS]
}

pub(super) fn clock_gettime(call: &mut Call<'_>) -> Answer {
    let [clock, buffer, ..] = call.args;
    let time = now(call, CLOCK_REALTIME.contains(&clock));
    call.store_words(buffer, &time)?;
    success()
}

pub(super) fn clock_getres(call: &mut Call<'_>) -> Answer {
    let buffer = call.args[1];
    if buffer != 0 {
        call.store_words(buffer, &[0, 1])?;
    }
    success()
}

pub(super) fn gettimeofday(call: &mut Call<'_>) -> Answer {
    let buffer = call.args[0];
    let [seconds, nanoseconds] = now(call, true);
    if buffer != 0 {
        call.store_words(buffer, &[seconds, nanoseconds / 1000])?;
    }
    success()
}

pub(super) fn time(call: &mut Call<'_>) -> Answer {
    let buffer = call.args[0];
    let [seconds, _] = now(call, true);
    if buffer != 0 {
        call.store_words(buffer, &[seconds])?;
    }
    Ok(Effect::Return(seconds))
}

/// Sleeping lets time pass for the thread and lets others run.
fn sleep(call: &mut Call<'_>, request: u64) -> Answer {
    let (seconds, nanoseconds) =
        (call.load_word(request)?, call.load_word(request.wrapping_add(8))?);
    let total = seconds.saturating_mul(NANOSECONDS).saturating_add(nanoseconds);
    call.kernel.advance_clock(call.thread, total);
    Ok(Effect::Yield)
}

pub(super) fn nanosleep(call: &mut Call<'_>) -> Answer {
    sleep(call, call.args[0])
}

pub(super) fn clock_nanosleep(call: &mut Call<'_>) -> Answer {
    if call.args[1] != 0 {
        return call.refuse("sleeping until an absolute time is not modelled");
    }
    sleep(call, call.args[2])
}
