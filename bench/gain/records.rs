//! Records of text: parsed, counted by word, sorted, and summed up by kinds that are known at run time
//! alone. For bench/gain.py: what an optimizer finds in a program of Rust.

use std::collections::HashMap;

trait Kind {
    fn weigh(&self, record: &Record) -> u64;
}
struct Short;
struct Long {
    factor: u64,
}
impl Kind for Short {
    fn weigh(&self, record: &Record) -> u64 {
        record.number
    }
}
impl Kind for Long {
    fn weigh(&self, record: &Record) -> u64 {
        record.words.iter().map(|w| w.len() as u64 * self.factor).sum()
    }
}

struct Record<'a> {
    number: u64,
    words: Vec<&'a str>,
}

/// A line is words and, at its end, a number with a dot; others are left out.
fn parse(text: &str) -> Vec<Record<'_>> {
    let mut records = Vec::new();
    for line in text.lines() {
        let mut words: Vec<&str> = line.split(' ').filter(|w| !w.is_empty()).collect();
        let Some(last) = words.pop() else { continue };
        let Some(digits) = last.strip_suffix('.') else { continue };
        let mut number = 0u64;
        let mut is_number = !digits.is_empty();
        for c in digits.bytes() {
            if c.is_ascii_digit() {
                number = number * 10 + u64::from(c - b'0');
            } else {
                is_number = false;
            }
        }
        if is_number {
            records.push(Record { number, words });
        }
    }
    records
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("records FILE ROUNDS");
    let rounds: u32 = arguments.next().and_then(|n| n.parse().ok()).expect("records FILE ROUNDS");
    let text = std::fs::read_to_string(path).expect("a text");
    let kinds: [Box<dyn Kind>; 2] = [Box::new(Short), Box::new(Long { factor: 3 })];
    let mut sum = 0u64;
    for round in 0..rounds {
        let mut records = parse(&text);
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for record in &records {
            for word in &record.words {
                *counts.entry(word).or_insert(0) += 1;
            }
        }
        let by_words = round % 4 == 3;
        records.sort_by(|a, b| match by_words {
            true => a.words.cmp(&b.words),
            false => a.number.cmp(&b.number),
        });
        for record in &records {
            let kind = &kinds[usize::from(record.number % 16 == 0)];
            sum = sum.wrapping_mul(31).wrapping_add(kind.weigh(record));
        }
        sum = sum.wrapping_add(counts.values().map(|&n| u64::from(n) * u64::from(n)).sum());
    }
    println!("{sum}");
}
