//! Input and output of ads: sources, selective loading, match records, atomic rewriting.

pub mod accounts;
pub mod ad_blocks;
pub mod ad_copy;
pub mod ad_map;
pub mod atomic_write;
pub mod block_pipeline;
pub mod cases;
pub mod configuration;
pub mod dump_time;
pub mod file_part;
pub mod held_ads;
pub mod history_files;
pub mod input;
pub mod match_records;
pub mod named_ad;
pub mod new_files;
pub mod part_plan;
pub mod partial;
pub mod parties;
pub mod selective_load;
pub mod slip_notes;
pub mod source;
pub mod unseen_names;
pub mod user_maps;
pub mod wanted_ads;
pub mod what_if;
