import { type Loose, objectOf } from '../../waba/json.ts'

const wrappers = [
  'ephemeralMessage',
  'viewOnceMessage',
  'viewOnceMessageV2',
  'viewOnceMessageV2Extension',
  'documentWithCaptionMessage',
  'editedMessage',
  'associatedChildMessage',
  'lottieStickerMessage',
  'deviceSentMessage',
]
const deepest = 8

/** What a message holds below wrappers that say how it is shown rather than what it says. */
export function unwrap(message: unknown): Loose {
  let content = objectOf(message)
  for (let depth = 0; depth < deepest; depth++) {
    const wrapper = wrappers.find((name) => 'message' in objectOf(content[name]))
    if (wrapper === undefined) return content
    content = objectOf(objectOf(content[wrapper]).message)
  }
  return {}
}

// They come beside a message, or by themselves to carry keys.
const beside = new Set([
  'messageContextInfo',
  'senderKeyDistributionMessage',
  'fastRatchetKeySenderKeyDistributionMessage',
])

/** The names of the kinds that are in it; more than one is unheard of. */
export function kindsOf(content: Loose): string[] {
  return Object.keys(content).filter(
    (kind) => content[kind] !== null && content[kind] !== undefined && !beside.has(kind),
  )
}

export function isEmpty(content: Loose): boolean {
  return kindsOf(content).length === 0
}
