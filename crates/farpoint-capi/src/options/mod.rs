//! What C asks for, in structures that tell their size, so that later versions can add members.

mod run;

mod sample;

mod approximate;

mod matching;

mod search;

pub use approximate::farpoint_approximate_options;
pub use matching::farpoint_match_options;
pub use run::farpoint_run_options;
pub use sample::farpoint_sample_options;
pub use search::farpoint_search_options;
