import { loadLater } from '../base/load-later.ts'
import {
  type ChannelEvent,
  type ContactCard,
  type Customer,
  type MessageDetail,
  type MessageKind,
  maxCards,
  maxPhones,
  type Place,
} from './channel-event.ts'
import { type JsonObject, objectOf, textOf, tokenOf } from './waba/json.ts'

// Validation of untrusted values, shared by the parsers of all channels: a value is within its limits or absent.

export const maxTextLength = 65_536

/** Returns text of at most `maxLength` characters, without cutting one in two; null for other types and empty text. */
export function limitText(value: unknown, maxLength: number): string | null {
  if (typeof value !== 'string') return null
  return (
    textOf(value.slice(0, maxLength * 2))
      ?.slice(0, maxLength)
      .toWellFormed()
      .trim() || null
  )
}

/** Returns an integer from 0 to `max`, given as number, text or two 32-bit halves; otherwise null. */
export function parseCount(value: unknown, max: number): number | null {
  const token = typeof value === 'object' && value !== null ? joinHalves(value) : tokenOf(value)
  if (token === null || token === '') return null
  const count = Number(token)
  return Number.isSafeInteger(count) && count >= 0 && count <= max ? count : null
}

function joinHalves(value: { low?: unknown; high?: unknown }): string | null {
  const { low, high } = value
  return typeof low === 'number' && typeof high === 'number' ? String(high * 2 ** 32 + (low >>> 0)) : null
}

const typeShape = /^[a-z0-9][a-z0-9.+-]{0,63}\/[a-z0-9][a-z0-9.+-]{0,63}$/
const fileTypes = loadLater<typeof import('file-type')>('file-type')
// Types that people commonly send, besides those that can be detected from a file's first bytes.
const commonTypes = new Set<string>([
  ...['text/plain', 'text/csv', 'text/html', 'text/markdown', 'text/xml', 'text/rtf', 'text/x-vcard'],
  ...['application/json', 'application/xml', 'application/zip', 'application/msword', 'application/ogg'],
  ...['application/vnd.ms-excel', 'application/vnd.ms-powerpoint', 'image/svg+xml', 'image/jpg'],
  ...['audio/mp3', 'audio/wav', 'audio/x-wav', 'audio/webm', 'audio/opus'],
])
const emoji = /\p{RGI_Emoji}/v

/** Returns a common type unchanged, others as `application/octet-stream`: strangers may write anything. */
export const toKnownMimeType = (type: string): string =>
  commonTypes.has(type) || fileTypes().supportedMimeTypes.has(type) ? type : 'application/octet-stream'

/** Returns the first emoji of a text, even without its variation selector (U+FE0F); empty if there is none. */
export function firstEmoji(text: string): string {
  const start = text.slice(0, 64)
  return emoji.exec(start)?.[0] ?? emoji.exec(`${start.trim()}\ufe0f`)?.[0]?.replace(/\ufe0f$/, '') ?? ''
}

/** Normalizes a MIME type: `Image/JPEG; charset=x` becomes `image/jpeg`. */
export function parseKnownMimeType(value: unknown): string | null {
  const [type = ''] = (limitText(value, 200) ?? '').toLowerCase().split(';')
  return typeShape.test(type.trim()) ? toKnownMimeType(type.trim()) : null
}

/** Reads bytes given as `Uint8Array`, base64 or serialized JSON; null if empty or longer than `maxBytes`. */
export function parseBytes(value: unknown, maxBytes: number): Buffer | null {
  const bytes = value instanceof Uint8Array ? value : decodeBytes(value, maxBytes)
  return bytes === null || bytes.length === 0 || bytes.length > maxBytes ? null : Buffer.from(bytes)
}

function decodeBytes(value: unknown, maxBytes: number): Buffer | null {
  if (typeof value === 'string') return value.length > maxBytes * 2 ? null : Buffer.from(value, 'base64')
  if (typeof value !== 'object' || value === null || !('data' in value)) return null
  const { data } = value
  if (typeof data === 'string') return decodeBytes(data, maxBytes)
  const isBytes = Array.isArray(data) && data.length <= maxBytes && data.every((one) => Number.isInteger(one))
  return isBytes ? Buffer.from(data) : null
}

/** Returns a SHA-256 digest in base64; null if invalid. */
export function parseSha256Bytes(value: unknown): string | null {
  const bytes = parseBytes(value, 32)
  return bytes?.length === 32 ? bytes.toString('base64') : null
}

const isWithin = (value: unknown, limit: number): value is number =>
  typeof value === 'number' && Math.abs(value) <= limit

/** Returns null for coordinates out of range. */
export function parsePlace(place: {
  latitude: unknown
  longitude: unknown
  name: unknown
  address: unknown
  isLive: boolean
}): Place | null {
  const { latitude, longitude, name, address, isLive } = place
  if (!isWithin(latitude, 90) || !isWithin(longitude, 180)) return null
  return { latitude, longitude, name: limitText(name, 1000), address: limitText(address, 1000), isLive }
}

/** Returns a place as text: its labels, otherwise its coordinates; empty without both. */
export function placeText(labels: readonly unknown[], latitude: unknown, longitude: unknown): string {
  const shown = labels.map(textOf).filter((label) => label !== null)
  if (shown.length > 0) return shown.join(', ')
  return typeof latitude === 'number' && typeof longitude === 'number' ? `${latitude}, ${longitude}` : ''
}

interface RawCard {
  name: unknown
  organisation: unknown
  phones: readonly { phone: unknown; label: unknown }[]
  emails: readonly unknown[]
}

/** Returns the first 20 cards, each with at most 10 phones and 10 e-mail addresses; null if there are none. */
export function parseCards(given: readonly RawCard[]): ContactCard[] | null {
  const cards = given.slice(0, maxCards).map(({ name, organisation, phones, emails }) => ({
    name: limitText(name, 255) ?? '',
    organisation: limitText(organisation, 255),
    phones: phones.slice(0, maxPhones).flatMap(({ phone, label }) => {
      const written = limitText(phone, 50)
      return written === null ? [] : [{ phone: written, label: limitText(label, 50) }]
    }),
    emails: emails.slice(0, maxPhones).flatMap((email) => limitText(email, 255) ?? []),
  }))
  return cards.length === 0 ? null : cards
}

/** Returns the parts that are present; null if there are none. */
export function buildDetail(parts: { [K in keyof MessageDetail]: MessageDetail[K] | null }): MessageDetail | null {
  const given = Object.entries(parts).filter(([, part]) => part !== null && part !== false)
  return given.length === 0 ? null : Object.fromEntries(given)
}

/** A customer's call that has ended, as reported by the platform. */
interface EndedCall {
  isVideo: boolean
  outcome: 'answered' | 'missed' | 'declined'
  /** Duration; null if unknown. */
  seconds: number | null
}

/** Returns the text of the `system` message that records a call. The web app translates it. It needs no reply. */
export function callNotice({ isVideo, outcome, seconds }: EndedCall): string {
  const call = isVideo ? 'video call' : 'call'
  if (outcome !== 'answered') return `${outcome === 'missed' ? 'Missed' : 'Declined'} ${call}`
  const length = seconds === null || seconds <= 0 ? '' : ` (${formatDuration(seconds)})`
  return `${call[0]?.toUpperCase()}${call.slice(1)}${length}`
}

/** Formats a duration: `2:05`, `1:00:09`. */
function formatDuration(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60]
  const pad = (n: number) => String(n).padStart(2, '0')
  return hours === 0 ? `${minutes}:${pad(rest)}` : `${hours}:${pad(minutes)}:${pad(rest)}`
}

/** Content of a message, in our kinds. */
export interface Content {
  kind: MessageKind
  text: string
  detail?: MessageDetail
}

export const contentOf = (kind: MessageKind, text: string | null): Content | null =>
  text === null ? null : { kind, text }

/** Returns the content for an unsupported message. Includes its type only if that is a plain word. */
export function unsupported(name: string | null): Content {
  const what = name !== null && /^[a-z][a-z_]{0,39}$/.test(name) ? `: ${name}` : ''
  return { kind: 'system', text: `Message of a kind that cannot be shown${what}` }
}

/** Creates a system message that needs no reply. */
export function createNotice(externalId: string, customer: Customer, text: string, at: Date): ChannelEvent {
  return { type: 'message', externalId, customer, kind: 'system', text, at, referral: null, opensWindow: false }
}

/** Creates an edit event. Rejects content that cannot be shown, so that it does not replace content that can. */
export function createEdit(content: Content | null, revised: Omit<RevisionEvent, 'type' | 'text'>): ParsedItem {
  if (content === null || content.kind === 'system') return 'edit without content'
  return { type: 'edited', ...revised, text: content.text.slice(0, maxTextLength).toWellFormed() }
}

type RevisionEvent = Extract<ChannelEvent, { originalId: string }>

/** Result of parsing an item: events, and for each part without an event a reason without values. */
export type ParsedItem = ChannelEvent | string | (ChannelEvent | string)[]

/** Parses items one by one. An error in our code skips one item: the platform retries all items or none. */
export function parseItems(
  items: readonly unknown[],
  read: (item: JsonObject) => ParsedItem,
): (ChannelEvent | string)[] {
  return items.flatMap((item) => {
    try {
      return read(objectOf(item))
    } catch {
      return 'item that could not be parsed'
    }
  })
}
