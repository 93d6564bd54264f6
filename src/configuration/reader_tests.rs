//! What files set, and which files are read.

use super::{Configuration, ConfigurationSettings};

/// Returns the variables of a configuration with their texts, and the problems.
fn read(text: &str, settings: &ConfigurationSettings) -> String {
    let (configuration, problems) = Configuration::read_files(&[("main".to_owned(), text.into())], settings);
    let entries = configuration.entries().iter();
    let entries = entries.map(|entry| format!("{} = {}", entry.name, configuration.raw_value(entry)));
    entries.chain(problems.into_iter().map(|problem| problem.message)).collect::<Vec<_>>().join("; ")
}

/// Local files are read below a root only: those of the machine that runs this are another pool's.
#[test]
fn local_files_are_read_below_a_root() {
    let root = std::env::temp_dir().join(format!("classad-local-{}", std::process::id()));
    let folder = root.join("etc/d");
    std::fs::create_dir_all(folder.join("below")).unwrap();
    for (name, text) in [
        ("20", "B = of 20\nA = of 20"),
        ("10", "A = of 10\nC = of 10"),
        ("90~", "A = backup"),
        (".95", "A = hidden"),
        ("#96", "A = of an editor"),
        ("97.rpmsave", "A = saved"),
        ("98.rpmnew", "A = new"),
        ("below/99", "A = below"),
        ("../local", "C = local\ninclude : d/../more"),
        ("../more", "D = more"),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let rooted = ConfigurationSettings { root: Some(root.clone()), ..ConfigurationSettings::default() };
    let (absolute, bare) = (folder.display().to_string(), ConfigurationSettings::default());
    let found = [
        read("D = /etc\nLOCAL_CONFIG_DIR = $(D)/d\nA = 1", &rooted),
        read("LOCAL_CONFIG_DIR = /etc/d\nLOCAL_CONFIG_FILE = /etc/none, /etc/local\nA = 1", &rooted),
        read("LOCAL_CONFIG_FILE = /../etc/../../etc/none\nA = 1", &rooted),
        read(&format!("LOCAL_CONFIG_DIR = {absolute}\nA = 1"), &bare),
        read(&format!("LOCAL_CONFIG_FILE = {absolute}/../local\nA = 1"), &bare),
    ];
    std::fs::remove_dir_all(&root).unwrap();
    assert_eq!(
        found,
        [
            "D = /etc; LOCAL_CONFIG_DIR = $(D)/d; A = of 20; C = of 10; B = of 20".to_owned(),
            "LOCAL_CONFIG_DIR = /etc/d; LOCAL_CONFIG_FILE = /etc/none, /etc/local; A = of 20; C = local; B = of 20; D = more"
                .to_owned(),
            "LOCAL_CONFIG_FILE = /../etc/../../etc/none; A = 1".to_owned(),
            format!("LOCAL_CONFIG_DIR = {absolute}; A = 1"),
            format!("LOCAL_CONFIG_FILE = {absolute}/../local; A = 1"),
        ]
    );
}

#[test]
fn statements_of_files() {
    for (text, expected) in [
        ("A = 1\nA = 2", "A = 2"),
        ("A = 1\nA = $(A) 2", "A = 1 2"),
        ("[Heading]\nA = 1", "A = 1"),
        ("A : 1", "A = 1; `:` for `=` is obsolete"),
        ("A = 1 \\\n 2", "A = 1 2"),
        ("A @=end\n  1\n 2\n@end\nB = 3", "A = 1\n 2; B = 3"),
        ("A @=end\n@end", "A = "),
        ("if true\nA = 1\nelse\nA = 2\nendif", "A = 1"),
        ("if false\nA = 1\nelse\nA = 2\nendif", "A = 2"),
        ("if true\nA = 1", "A = 1; this `if` has no `endif`"),
        ("a b = 1", "this line does not define a variable"),
        ("A", "this line does not define a variable"),
        ("error : no $(X:value)", "no value"),
        ("use POLICY : Nothing_", "there is no POLICY:Nothing_ to use"),
        ("A = \u{fffd}", "A = \u{fffd}"),
    ] {
        assert_eq!(read(text, &ConfigurationSettings::default()), expected, "{text}");
    }
    let files = [("main".to_owned(), b"A = \xff\nB = \xfe".to_vec())];
    let (configuration, problems) = Configuration::read_files(&files, &ConfigurationSettings::default());
    assert_eq!(configuration.entries().iter().map(|entry| configuration.raw_value(entry)).collect::<String>(), "??");
    let starts: Vec<usize> = problems.iter().map(|problem| problem.range.start).collect();
    assert_eq!(starts, [4]);
}

/// HTCondor's limits (`Parse_macros` and `Parse_config_string` of its config.cpp).
#[test]
fn files_are_nested_19_deep_and_statements_20() {
    let root = std::env::temp_dir().join(format!("classad-nested-{}", std::process::id()));
    std::fs::create_dir_all(&root).unwrap();
    let settings = ConfigurationSettings { root: Some(root.clone()), ..ConfigurationSettings::default() };
    let nested = |depth: usize, last: &str| {
        for file in 1..=depth {
            let text = if file == depth { last.to_owned() } else { format!("include : /{}", file + 1) };
            std::fs::write(root.join(file.to_string()), text).unwrap();
        }
        read("include : /1", &settings)
    };
    let found = [nested(19, "A = 1"), nested(20, "A = 1")];
    // The second one stands for a further `use`.
    let [plain, nesting] = ["Submit", "get_htcondor_submit"].map(|role| format!("use ROLE : {role}\nA = 1"));
    let [deepest, too_deep, shallow] = [nested(19, &plain), nested(19, &nesting), nested(10, &nesting)];
    std::fs::remove_dir_all(&root).unwrap();
    assert_eq!(found, ["A = 1", "files include each other, or are nested too deeply"]);
    let refusal = "`use` is nested too deeply";
    assert!(too_deep.contains(refusal), "{too_deep}");
    for text in [deepest, shallow] {
        assert!(!text.contains(refusal) && text.contains("DAEMON_LIST") && text.contains("A = 1"), "{text}");
    }
}
