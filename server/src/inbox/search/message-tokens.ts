import { hash } from 'node:crypto'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { chinesePairs, grams } from '../../base/text/search-text.ts'
import type { MessageTerm, Phrase, Piece } from './search-terms.ts'
import { piecesOf } from './search-terms.ts'

/**
 * Messages of a workspace in one epoch, about: so many are found at once for a word that is in all of them. One that is in few
 * is looked for in each epoch.
 */
export const epochSize = 65_536

/** Under which a message is found that says this, in the epoch that it belongs to; none where it says no word. */
export function messageTokens(keyring: Keyring, text: string, epoch: number, version = keyring.indexVersion): number[] {
  return tokensOf(keyring, [...new Set(piecesOf(text).flatMap(indexKeys))], epoch, version)
}

/**
 * Tokens that every message has in which the term stands, for each version that they may be of; null where the term has none, as
 * a single Chinese character has.
 */
export function messageTermTokens(keyring: Keyring, { phrases }: MessageTerm, epoch: number): number[][] | null {
  const keys = [...new Set(phrases.flatMap(phraseKeys))]
  if (keys.length === 0) return null
  return keyring.indexVersions.map((version) => tokensOf(keyring, keys, epoch, version))
}

const [wordMark, prefixMark, longMark, unspacedMark, regionMark] = ['\u0004', '\u0005', '\u0006', '\u0007', '\u0008']

// What is shorter is its own prefix: a word has three keys at most.
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

/** Runs of two Chinese characters, and of three letters where others are among them. */
function unspacedKeys(text: string): string[] {
  const pairs = chinesePairs(text)
  const others = pairs.length === [...text].length - 1 ? [] : grams(text)
  return [...pairs, ...others].map((run) => `${unspacedMark}${run}`)
}

const [regionBits, wordBits] = [12, 20]
const maxKeyBytes = 12

/**
 * The upper bits are the same for all of an epoch of a workspace, and the next one's lie beside them. So whoever adds the newest
 * writes to a small part of the index. Of words that share the rest of the bits, candidates are opened in vain.
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
