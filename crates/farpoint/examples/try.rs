use farpoint::*;
use std::time::Instant;
fn load(name: &str, n: usize) -> Vec<[f32; 3]> {
    if let Some(rest) = name.strip_prefix("bin:") {
        let mut it = rest.split(':');
        let cols: usize = it.next().unwrap().parse().unwrap();
        let bytes = std::fs::read(it.next().unwrap()).unwrap();
        let f: Vec<f32> =
            bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        return f.chunks_exact(cols).map(|r| [r[0], r[1], r[2]]).collect();
    }
    farpoint_generate::generate(name.parse().unwrap(), n, 1)
}
fn sum(v: &[usize]) -> u64 {
    v.iter().fold(0xcbf29ce484222325, |h, &x| (h ^ x as u64).wrapping_mul(0x100000001b3))
}
fn cpu() -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse::<f64>()
        .unwrap()
        / 1e9
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let pts = load(&a[1], a[2].parse().unwrap());
    let m: usize = match a[3].parse::<f64>().unwrap() {
        r if r < 1.0 => (pts.len() as f64 * r).ceil() as usize,
        m => m as usize,
    };
    let threads: usize = a[4].parse().unwrap();
    let reps: usize = a[5].parse().unwrap();
    for alg in a[6].split(',') {
        let alg: Algorithm = alg.parse().unwrap();
        let mut best = f64::MAX;
        let mut s = None;
        let mut bc = f64::MAX;
        for _ in 0..reps {
            let t = Instant::now();
            let c = cpu();
            let r = Sampler::count(m).algorithm(alg).threads(threads).sample(&pts).unwrap();
            best = best.min(t.elapsed().as_secs_f64());
            bc = bc.min(cpu() - c);
            s = Some(r);
        }
        let s = s.unwrap();
        if a.len() > 7 {
            let mut bt = f64::MAX;
            let mut line = String::new();
            for _ in 0..reps {
                let st = Sampler::count(m)
                    .algorithm(alg)
                    .threads(threads)
                    .statistics(true)
                    .sample(&pts)
                    .unwrap()
                    .statistics
                    .unwrap();
                let q = &st.seconds;
                let tot = q.copy + q.build + q.single + q.collect + q.solve + q.update;
                if tot < bt {
                    bt = tot;
                    line = format!(
                        "  copy {:.2} build {:.2} single {:.2} collect {:.2} solve {:.2} update {:.2}; bands {} cand {} tested {} pruned {} dist {} eff {}",
                        q.copy * 1e3,
                        q.build * 1e3,
                        q.single * 1e3,
                        q.collect * 1e3,
                        q.solve * 1e3,
                        q.update * 1e3,
                        st.bands,
                        st.band_points,
                        st.regions_tested,
                        st.regions_pruned,
                        st.distance_evaluations,
                        st.effective_updates
                    );
                }
            }
            println!("{line}");
        }
        print!("cpu {:8.3} ", bc * 1e3);
        println!(
            "{:9} {:>9.3} ms  {:016x} cover {:.6} n {} m {}",
            alg.name(),
            best * 1e3,
            sum(&s.indices),
            s.covering_radius(),
            pts.len(),
            m
        );
    }
}
