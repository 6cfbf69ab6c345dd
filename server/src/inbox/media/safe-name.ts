const maxBytes = 255
/** Longer ones are no ending but a part of the name. */
const maxEndingBytes = 20
const maxRead = 1_000

/**
 * A name as it may be shown, saved and written into a header: its last part alone, without what is not seen, what turns the
 * direction of writing around, and what file systems take for something else. Null when nothing is left of it.
 */
export function safeName(told: string): string | null {
  // From its end, since there is what says what it is.
  const [last = ''] = told.slice(-maxRead).toWellFormed().split(/[\\/]/).slice(-1)
  const clean = last
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\uFFFD]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/\s/g, ' ')
  const name = cut(withoutEnds(clean))
  return name === '' ? null : name
}

/** Neither hidden nor of an ending that a system leaves out. Letter by letter: a pattern may look at each end often. */
function withoutEnds(name: string): string {
  let [start, end] = [0, name.length]
  while (start < end && '. '.includes(name.charAt(start))) start++
  while (end > start && '. '.includes(name.charAt(end - 1))) end--
  return name.slice(start, end)
}

function cut(name: string): string {
  if (Buffer.byteLength(name) <= maxBytes) return name
  const dot = name.lastIndexOf('.')
  const isEnding = dot > 0 && Buffer.byteLength(name.slice(dot)) <= maxEndingBytes
  const ending = isEnding ? name.slice(dot) : ''
  let front = ''
  let left = maxBytes - Buffer.byteLength(ending)
  for (const letter of isEnding ? name.slice(0, dot) : name) {
    left -= Buffer.byteLength(letter)
    if (left < 0) break
    front += letter
  }
  return withoutEnds(front) + ending
}
