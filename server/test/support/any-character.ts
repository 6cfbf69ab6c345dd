import fc from 'fast-check'

/** Every code point except surrogates. `unit: 'binary'` does the same but takes seconds to initialize. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .oneof(fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((point) => String.fromCodePoint(point))
