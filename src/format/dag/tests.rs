use super::{begins_dag, read_dag};
use crate::syntax::{Style, print_ad};

fn items(text: &str) -> Vec<String> {
    let item = |item| match item {
        Ok(entry) => {
            let entry: crate::format::AdEntry = entry;
            String::from_utf8(print_ad(&entry.ad, Style::New)).unwrap()
        }
        Err(problem) => {
            let problem: crate::format::Problem = problem;
            format!("{}: {}", &text[problem.range], problem.message)
        }
    };
    read_dag(text.as_bytes()).map(item).collect()
}

#[test]
fn nodes_have_what_the_file_says_of_them() {
    let dag = "# c\nparent A child B C\nJOB A a.sub DIR in \\\n  NOOP\nJob B @=end\n  # c\n  executable = b.sh\n\n  queue\n@end NOOP\nSUBMIT-DESCRIPTION d {\n  JOB X\n}\n\
        SUBDAG EXTERNAL C c.dag DONE\nRETRY ALL_NODES 3 UNLESS-EXIT 2\nVARS A x=\"1 \\\"2\\\"\" y=\"z\"\n\
        SCRIPT DEFER 4 60 PRE B pre.sh $JOB\nDOT a.dot\nPRIORITY B -5\n";
    let expected = [
        "[ MyType = \"DagNode\"; Node = \"A\"; NodeType = \"JOB\"; SubmitFile = \"a.sub\"; Dir = \"in\"; Noop = true; \
         Retry = 3; Parents = { }; Children = { \"B\", \"C\" }; Vars = [ x = \"1 \\\"2\\\"\"; y = \"z\" ] ]",
        "[ MyType = \"DagNode\"; Node = \"B\"; NodeType = \"JOB\"; SubmitDescription = \"executable = b.sh\\nqueue\"; Noop = true; \
         Retry = 3; PreScript = \"pre.sh $JOB\"; Priority = -5; Parents = { \"A\" }; Children = { } ]",
        "[ MyType = \"DagNode\"; Node = \"C\"; NodeType = \"SUBDAG\"; DagFile = \"c.dag\"; Done = true; Retry = 3; \
         Parents = { \"A\" }; Children = { } ]",
    ];
    assert_eq!(items(dag), expected);
}

#[test]
fn mistakes_have_their_places() {
    for (line, expected) in [
        ("JOB B", "the submit file of the node is missing"),
        ("JOB", "the name of the node is missing"),
        ("JOB A b.sub", "node A is defined twice"),
        ("JOB B b.sub x", "`x` is not an option of a node"),
        ("SUBDAG B b.dag", "the word `EXTERNAL` is missing after `SUBDAG`"),
        ("PARENT A", "the word `CHILD` is missing after `PARENT`"),
        ("PARENT CHILD A", "a parent and a child must be named"),
        ("PARENT A CHILD Z", "there is no node Z in this file"),
        ("RETRY A", "a value is missing after `RETRY A`"),
        ("RETRY A x", "`x` is not a whole number"),
        ("VARS A x=1", "`x=1` is not a variable"),
        ("VARS A x=\"1", "a string in this line does not end"),
        ("SCRIPT MID A x", "`MID` is not `PRE`, `POST` or `HOLD`"),
        ("SCRIPT PRE", "a script needs `PRE`, `POST` or `HOLD`, and a node"),
        ("JOBS A a.sub", "`JOBS` is not a command of a DAG file"),
        ("JOB B @=end", "the line `@end` that ends this description is missing"),
        ("JOB B {", "the line `}` that ends this description is missing"),
    ] {
        let found = items(&format!("JOB A a.sub\n{line}\n"));
        assert_eq!((found.len(), &*found[0]), (2, &*format!("{line}: {expected}")));
    }
}

#[test]
fn dependencies_are_bounded() {
    let nodes = (0..2000).map(|number| format!("JOB n{number} a.sub\n")).collect::<Vec<_>>().concat();
    let names = (0..2000).map(|number| format!(" n{number}")).collect::<Vec<_>>().concat();
    let found = items(&format!("{nodes}PARENT{names} CHILD{names}\n"));
    assert!(found.len() == 2001 && found[0].contains("more than 1000000 dependencies"), "{}", found[0]);
    let found = items(&format!("{nodes}{}", "RETRY ALL_NODES 1\n".repeat(1000)));
    assert_eq!(found.len(), 2500);
}

#[test]
fn only_commands_begin_a_dag() {
    for (line, expected) in [
        ("JOB A a.sub", true),
        ("Parent A Child B", true),
        ("JOB = 1", false),
        ("Config : x", false),
        ("job", false),
        ("node 1 is down", true),
        ("Name = 1", false),
    ] {
        assert_eq!(begins_dag(line.as_bytes()), expected, "{line}");
    }
}
