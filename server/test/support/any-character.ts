import fc from 'fast-check'

/** Every code point that is no half of one. `unit: 'binary'` does the same, and takes seconds to begin with. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .oneof(fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((point) => String.fromCodePoint(point))
