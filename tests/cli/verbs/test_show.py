"""`whorl show`: the tree of loops and branches, the program as text, and how nodes run natively."""

from onnx_text import model

from whorl import save
from whorl.ir.parse import parse_module

NEST = model("""
    main (int64 days, float[n, 3] plan, float start, bool is_dry) => (float stock, float[days, k] used, float[3] sums) {
        go = Constant<value = bool {1}> ()
        [each_day] stock, used = Loop (days, go, start) <
            body = day (int64 d, bool on, float s) => (bool on_out, float s_out, float[k] row) {
                row = Gather(plan, d)
                take = ReduceSum<keepdims = 0>(row)
                [watering] s_out = If (is_dry) <
                    then_branch = dry () => (float t) { t = Sub(s, take) },
                    else_branch = wet () => (float e) { e = Identity(s) }
                >
                zero = Constant<value = float {0}> ()
                on_out = Greater(s_out, zero)
            }
        >
        nothing = Constant<value = float[3] {0, 0, 0}> ()
        [total] sums, seen = Scan (nothing, plan) <num_scan_inputs = 1, scan_input_directions = [1],
            scan_output_directions = [1], body = add (float[3] a, float[3] x) => (float[3] b, float[3] c) {
                b = Add(a, x)
                c = Neg(b)
            }
        >
    }""")


SHOWN = """\
input   days: int64[]
input   plan: float32[n, 3]
input   start: float32[]
input   is_dry: bool[]
output  stock: float32[]
output  used: float32[used.0, 3]
output  sums: float32[3]

Loop 'each_day': 5 nodes in the body
  trip count  value of days
  condition   go at the start, then on_out of the body
  carried     s: float32[]
  captured    plan: float32[n, 3]
  captured    is_dry: bool[]
  collected   row: float32[3] on axis 0
    If 'watering': on is_dry
      captured    s: float32[]
      captured    take: float32[]
      gives       s_out: float32[]
      then_branch: 1 nodes
      else_branch: 1 nodes
Loop 'total': 2 nodes in the body
  trip count  n
  condition   none
  carried     a: float32[3]
  scanned     plan: float32[n, 3] by axis 0, last first, slice float32[3]
  collected   c: float32[3] on axis 0, prepended

13 nodes
      3 Constant
      2 Loop
      1 Gather
      1 ReduceSum
      1 If
      1 Sub
      1 Identity
      1 Greater
      1 Add
      1 Neg
"""


def test_show_prints_loops_and_branches_as_a_tree(whorl, saved):
    report = whorl("show", saved(NEST))
    assert (report.code, report.err) == (0, "")
    assert report.out == SHOWN


def test_show_marks_what_is_not_needed(whorl, saved):
    proto = model("""
        main (float x, float step) => (float y) <float step = {2}> {
            three = Constant<value = int64 {3}> ()
            go = Constant<value = bool {1}> ()
            y = Loop (three, go, x) <body = b (int64 i, bool on, float a) => (bool on_out, float c) {
                on_out = Identity(on)
                c = Cast<to = 1>(i)
            }>
        }""")
    lines = whorl("show", saved(proto)).out.splitlines()
    assert "input   step: float32[] (has a default)" in lines
    assert "  trip count  3" in lines and "  condition   always true" in lines
    assert "  carried     a: float32[] (not used in the body)" in lines


def test_show_of_a_model_without_control_flow_says_so(whorl, saved):
    report = whorl("show", saved(model("main (float x) => (float y) { y = Neg(x) }")))
    assert report.out == (
        "input   x: float32[]\noutput  y: float32[]\n\nno loops and no branches\n\n1 nodes\n      1 Neg\n"
    )


def test_show_text_prints_the_program_and_cuts_large_constants(whorl, saved):
    weights = ", ".join(["0"] * 100)
    text = whorl(
        "show",
        saved(model(f"main () => (float[100] w) {{ w = Constant<value = float[100] {{{weights}}}> () }}")),
        "--text",
    ).out
    assert "..." in text and len(text) < 500
    program = whorl("show", saved(NEST), "--text").out
    assert "Gather" in program and "body" in program


def test_show_json_is_one_document(whorl, saved):
    path = saved(NEST)
    report = whorl("show", path, "--json")
    keys = {"inputs", "defaults", "states", "outputs", "nodes", "ops", "control_flow"}
    assert report.code == 0 and set(report.document) == keys
    loop, scan = report.document["control_flow"]
    assert (loop["kind"], loop["name"], loop["inside"][0]["kind"]) == ("Loop", "each_day", "If")
    assert scan["scanned"][0] == {
        "name": "plan",
        "type": "float32[n, 3]",
        "slice": "float32[3]",
        "axis": 0,
        "reverse": True,
        "part": 1,
    }
    both = whorl("show", path, "--json", "--text").document
    assert both["text"].rstrip("\n") == whorl("show", path, "--text").out.rstrip("\n")


PARTS = """
main(%x: float32[6, 2]) {
  %last: float32[2, 2], %all: float32[6, 2] = Loop "pairs" (_, _, %x)
    {scanned = (Scanned(keep_axis = True, part = 2, reverse = True),), last = 1,
    collected = (Collected(stack = False, part = 2),)}
  body(%i: int64[], %go: bool[], %rows: float32[2, 2]) {
    %doubled: float32[2, 2] = Add(%rows, %rows)
    return %go, %doubled, %doubled
  }
  return last = %last, all = %all
}
"""


def test_show_tells_parts_concatenation_and_last_values(whorl, tmp_path):
    save(parse_module(PARTS), tmp_path / "m.xml")
    assert (
        """Loop 'pairs': 2 nodes in the body
  trip count  3
  condition   none
  scanned     x: float32[6, 2] by axis 0, last first, 2 at a time, slice float32[2, 2]
  collected   doubled_2: float32[2, 2] along axis 0
  last        doubled: float32[2, 2]
"""
        in whorl("show", tmp_path / "m.xml").out
    )


def test_show_reads_what_the_options_say(whorl, saved):
    assert whorl("show", saved(NEST), "--max-depth", "1").code == 3
    assert whorl("show", saved(NEST), "--max-depth", "2").code == 0
    proto = model("""
        main (int64 n, float x) => (float y) {
            y = Loop (n, "", x) <body = b (int64 i, bool on, float a) => (bool on_out, float c) {
                on_out = Identity(on)
                c = Exp(a)
            }>
        }""")
    assert "  condition   none\n" in whorl("show", saved(proto)).out
    assert "  condition   always true\n" in whorl("show", saved(proto), "--condition-when-omitted", "honour").out


def test_option_of_the_run_that_show_does_not_make_is_refused(whorl, saved):
    report = whorl("show", saved(NEST), "--input", "days=3")
    text = "whorl: --input is for the run that --native makes\n  fix: add --native\n"
    assert (report.code, report.out, report.err) == (2, "", text)
    report = whorl("show", saved(NEST), "--text", "--native")
    text = "whorl: --text prints the program, --native how it runs\n  fix: choose one of them\n"
    assert (report.code, report.out, report.err) == (2, "", text)


MIXED = model("""
    main (float[4, 4] x, int64 steps, string[2] names) => (float[4, 4] y, float[k, 2] u, string[2] q) {
        a = Neg(x)
        b = Exp(a)
        c = Abs(b)
        [roll] y = Loop (steps, "", c) <body = step (int64 i, bool go, float[4, 4] h) => (bool on, float[4, 4] h2) {
            on = Identity(go)
            last = Constant<value_ints = [2]> ()
            parts = Unsqueeze(h, last)
            [back] signals = DFT<inverse = 1>(parts)
            h2 = ReduceSum<keepdims = 0>(signals, last)
        }>
        bands = Constant<value_int = 2> () rate = Constant<value_int = 16000> ()
        low = Constant<value_float = 0.0> () high = Constant<value_float = 1.0> ()
        [once] u = MelWeightMatrix(bands, steps, rate, low, high)
        [text] q = Loop (steps, "", names) <body = same (int64 i, bool go, string[2] s) => (bool on, string[2] t) {
            on = Identity(go)
            t = StringNormalizer <case_change_action="UPPER"> (s)
        }>
    }""")


def test_show_native_tells_how_each_node_runs_and_why(whorl, saved):
    report = whorl("show", saved(MIXED), "--native", "--input", "steps=3")
    assert (report.code, report.err) == (0, "")
    assert (
        report.out
        == """\
input   x: float32[4, 4]
input   steps: int64[]
input   names: string[2]

native      Neg 'a' to Loop 'roll' (9 nodes)
  calls back for DFT 'back': no native form for their types and shapes
interpreted MelWeightMatrix 'once': MelWeightMatrix has no native form
interpreted Loop 'text' (3 nodes): StringNormalizer reads what strings say
    interpreted Identity 'on': it ran too seldom to be worth compiling
    interpreted StringNormalizer 't': 's' is string[2]
"""
    )


def test_show_native_as_json(whorl, saved):
    verdicts = whorl("show", saved(MIXED), "--native", "--input", "steps=3", "--json").document["nodes"]
    assert [(v["title"], v["how"]) for v in verdicts if "Loop" in v["title"]] == [
        ("Neg 'a' to Loop 'roll'", "native"),
        ("Loop 'text'", "interpreted"),
    ]
    assert next(v["calls"] for v in verdicts if v["title"] == "Neg 'a' to Loop 'roll'") == ["DFT 'back'"]
