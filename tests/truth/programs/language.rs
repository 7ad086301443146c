//! Rust: a generic function in two instances behind a trait object, three to one.
use std::arch::asm;
use std::fs::OpenOptions;
use std::io::Write;

extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

fn cpu_s() -> f64 {
    let mut t = [0i64; 2];
    unsafe { clock_gettime(2, &mut t) };
    t[0] as f64 + t[1] as f64 * 1e-9
}

/// What no compiler looks through.
#[inline(always)]
fn opaque(mut x: u64) -> u64 {
    unsafe { asm!("/* {0} */", inout(reg) x) };
    x
}

#[inline(never)]
fn three_parts(steps: u32) -> u64 {
    (0..steps).fold(1u64, |x, i| opaque(x.wrapping_mul(6364136223846793005) + i as u64))
}

#[inline(never)]
fn one_part(steps: u32) -> u64 {
    (0..steps).fold(3u64, |x, i| opaque(x.wrapping_mul(2862933555777941757) ^ i as u64))
}

fn tell(line: String) {
    let path = std::env::var("TRUTH").unwrap();
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    writeln!(file, "{}", line).unwrap();
}

fn spend(name: &str, work: &dyn Fn(u32) -> u64, seconds: f64) {
    let begun = cpu_s();
    while cpu_s() - begun < seconds {
        opaque(work(200000));
    }
    tell(format!("self {} {:.9}", name, cpu_s() - begun));
}

fn main() {
    for _ in 0..4 {
        spend("three_parts", &three_parts, 0.09);
        spend("one_part", &one_part, 0.03);
    }
    tell(format!("cpu - {:.9}", cpu_s()));
}
