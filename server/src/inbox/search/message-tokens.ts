import { hash } from 'node:crypto'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { chinesePairs, grams } from '../../base/text/search-text.ts'
import type { MessageTerm, Phrase, Piece } from './search-terms.ts'
import { piecesOf } from './search-terms.ts'

/** Approximate messages per epoch. A common word finds this many at once; a rare one is searched in each. */
export const epochSize = 65_536

/** Returns the index tokens of a text in an epoch; empty if it has no words. */
export function messageTokens(keyring: Keyring, text: string, epoch: number, version = keyring.indexVersion): number[] {
  return tokensOf(keyring, [...new Set(piecesOf(text).flatMap(indexKeys))], epoch, version)
}

/**
 * Returns, for each index version, tokens that every matching message has; null if the term has none, such as a single
 * Chinese character.
 */
export function messageTermTokens(keyring: Keyring, { phrases }: MessageTerm, epoch: number): number[][] | null {
  const keys = [...new Set(phrases.flatMap(phraseKeys))]
  if (keys.length === 0) return null
  return keyring.indexVersions.map((version) => tokensOf(keyring, keys, epoch, version))
}

const [wordMark, prefixMark, longMark, unspacedMark, regionMark] = ['\u0004', '\u0005', '\u0006', '\u0007', '\u0008']

// Shorter words equal their prefix, so a word has at most three keys.
function indexKeys({ text, isUnspaced }: Piece): string[] {
  if (isUnspaced) return unspacedKeys(text)
  const letters = [...text]
  const prefixes = [3, 5].flatMap((length) => (letters.length >= length ? prefixKey(letters, length) : []))
  return letters.length === 3 || letters.length === 5 ? prefixes : [...prefixes, wordKey(text)]
}

function phraseKeys({ pieces, isOpen }: Phrase): string[] {
  return pieces.flatMap(({ text, isUnspaced }, n) => {
    if (isUnspaced) return unspacedKeys(text)
    const letters = [...text]
    if (isOpen && n === pieces.length - 1) return prefixKey(letters, letters.length < 5 ? 3 : 5)
    return letters.length === 3 || letters.length === 5 ? prefixKey(letters, letters.length) : wordKey(text)
  })
}

const prefixKey = (letters: readonly string[], length: number) => `${prefixMark}${letters.slice(0, length).join('')}`
const wordKey = (word: string) => `${wordMark}${word}`

/** Returns pairs of Chinese characters, and runs of three letters if there are other scripts. */
function unspacedKeys(text: string): string[] {
  const pairs = chinesePairs(text)
  const others = pairs.length === [...text].length - 1 ? [] : grams(text)
  return [...pairs, ...others].map((run) => `${unspacedMark}${run}`)
}

const [regionBits, wordBits] = [12, 20]
const maxKeyBytes = 12

/**
 * The upper bits are the same for all tokens of an epoch in a workspace and adjacent for the next epoch, so that
 * inserts of new messages touch a small part of the index. Words that share the other bits cause false candidates.
 */
function tokensOf(keyring: Keyring, keys: readonly string[], epoch: number, version: number): number[] {
  const [start = 0] = keyring.tokens([regionMark], version)
  const region = ((start >>> wordBits) + epoch) & ((1 << regionBits) - 1)
  const salt = String.fromCharCode(epoch & 0x7f, (epoch >> 7) & 0x7f)
  const tokens = keyring.tokens(
    keys.map((key) => salt + shortened(key)),
    version,
  )
  const own = tokens.map((token) => (region << wordBits) | (token & ((1 << wordBits) - 1)))
  return [...new Set(own)].sort((a, b) => a - b)
}

function shortened(key: string): string {
  if (key.length * 3 <= maxKeyBytes || Buffer.byteLength(key) <= maxKeyBytes) return key
  return longMark + hash('sha256', key, 'base64url').slice(0, maxKeyBytes - 1)
}
