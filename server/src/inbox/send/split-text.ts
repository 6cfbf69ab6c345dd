const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

// From the best place to cut to the worst. A cut stands at the end of the match: nothing is trimmed.
const borders: readonly RegExp[] = [/\n[^\S\n]*\n\s*/g, /\n/g, /[.!?…。！？]["'”’»)\]]*\s+|[。！？]/g, /\s+/g]

/**
 * Cuts a text into parts of at most `maxLength` UTF-16 units which, joined, are the text. Each part ends at the last
 * paragraph within reach, else at a line, a sentence, a space, and never inside a grapheme, unless one grapheme alone is
 * longer than that. A part is blank only where the text is blank for longer than `maxLength`.
 */
export function splitText(text: string, maxLength: number): string[] {
  const parts: string[] = []
  let rest = text
  while (rest.length > maxLength) {
    const cut = cutOf(rest, maxLength)
    parts.push(rest.slice(0, cut))
    rest = rest.slice(cut)
  }
  return [...parts, rest]
}

function cutOf(text: string, maxLength: number): number {
  const segments = graphemes.segment(text)
  const isBoundary = (at: number): boolean => segments.containing(at)?.index === at
  // The platform refuses a blank part: something to read must stand on both sides of the cut.
  const firstInk = text.search(/\S/)
  const lastInk = text.trimEnd().length - 1
  const furthest = firstInk < maxLength && lastInk > firstInk ? Math.min(maxLength, lastInk) : maxLength
  const nearest = firstInk < furthest ? firstInk + 1 : 1
  const reach = text.slice(0, furthest)

  for (const border of borders) {
    const ends = [...reach.matchAll(border)].map((match) => match.index + match[0].length)
    const cut = ends.findLast((end) => end >= nearest && isBoundary(end))
    if (cut !== undefined) return cut
  }
  const start = segments.containing(furthest)?.index ?? 0
  if (start >= nearest) return start
  return isLowSurrogate(text, maxLength) ? maxLength - 1 : maxLength
}

function isLowSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00
}
