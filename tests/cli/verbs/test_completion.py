"""`whorl completion`: scripts that complete verbs and options."""

import subprocess

import pytest

pytest.importorskip("shtab")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_names_verbs_and_options(whorl, shell):
    report = whorl("completion", shell)
    assert report.code == 0
    assert all(word in report.out for word in ("deloop", "max-iterations", "completion"))
    assert whorl("completion", shell, "--json").document == {"shell": shell, "script": report.out.removesuffix("\n")}


def test_bash_completes_a_verb(whorl, tmp_path):
    script = tmp_path / "whorl.bash"
    script.write_text(whorl("completion", "bash").out)
    typing = f"source {script}; COMP_WORDS=(whorl del); COMP_CWORD=1; _shtab_whorl; echo ${{COMPREPLY[*]}}"
    done = subprocess.run(["bash", "-c", typing], capture_output=True, text=True, check=True)
    assert done.stdout == "deloop\n"


def test_unknown_shell_is_refused(whorl):
    assert whorl("completion", "tortoise").code == 2
