"""Where nodes with branches or a body stand."""

from passes.programs import read

from whorl.passes.locations import locations_of


def test_location_names_what_is_around_from_the_inside_out():
    module = read("""main(%n: int64[], %c: bool[], %x: float32[2]) {
      %r: float32[2] = Loop "steps" (%n, _, %x, %c) {carried = 1}
      body(%i: int64[], %g: bool[], %s: float32[2], %d: bool[]) {
        %t: float32[2] = If "pick" (%d, %s)
        then(%a: float32[2]) {
          %b: float32[2] = Neg(%a)
          return %b
        }
        else(%a: float32[2]) {
          return %a
        }
        return %g, %t
      }
      return r = %r
    }""")
    assert sorted(locations_of(module).values()) == ["If 'pick' in body of Loop 'steps'", "Loop 'steps'"]
