"""`whorl cache`: shows and clears the folder of compiled code."""

from whorl.codegen import cache


def test_cache_is_shown_and_cleared(whorl, tmp_path, monkeypatch):
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path / "code"))
    cache.write("a", b"code")
    size = 32 + len(b"code")
    assert whorl("cache").out == f"{tmp_path}/code: 1 entries, {size} bytes\n"
    assert whorl("cache", "--clear").out == f"removed 1 entries\n{tmp_path}/code: 0 entries, 0 bytes\n"
    monkeypatch.setenv("WHORL_CACHE", "")
    assert whorl("cache", "--json").document == {"folder": "", "entries": 0, "bytes": 0, "removed": 0}
