import { foldText } from './search-text.ts'

/** Limits of a list of keywords, and of each keyword. */
export const [maxKeywords, maxKeywordLength] = [50, 30]

/** Returns letters and digits only, without case and accents: `¡Párar!` and `PARAR` are one word. */
export function foldKeyword(text: string): string {
  return foldText(text).replace(/[^\p{L}\p{N}]+/gu, '')
}
