/**
 * Whether a text has more characters than that, as a schema's `maxLength` counts them: one for an emoji of two units. A
 * text that is far too long is not walked through.
 */
export function isLonger(text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || [...text].length > max)
}

/** What is wrong with the length of a text, or null. */
export function lengthProblem(text: string, max: number): string | null {
  return isLonger(text, max) ? `must have at most ${max} characters` : null
}
