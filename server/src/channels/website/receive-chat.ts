import { badRequest, unavailable, unprocessable } from '../../base/errors.ts'
import type { ChannelEvent, MessageDetail } from '../channel-event.ts'
import type { StoredWebsite } from '../connection/connection.ts'
import { optionsOf } from '../interactive-options.ts'
import { type CallbackDeps, storeReceived } from '../store-callback.ts'
import { buildDetail, createNotice, limitText } from '../untrusted-values.ts'
import { visitorFileTypes } from './adapter.ts'
import {
  addToChat,
  type ChatContent,
  derivedId,
  externalIdOf,
  findInChat,
  findUnmarked,
  markInChat,
  storeFile,
} from './chat-log.ts'
import type { VisitorProfile } from './identity.ts'
import { customerOf, type Visitor } from './visitors.ts'

export const maxMessageLength = 4000

export interface VisitorMessage {
  clientId: string
  text: string
  /** The message with options, and the id of the chosen one. */
  chosen?: { messageId: string; optionId: string }
}

/**
 * Stores a visitor's message in the inbox, then in the chat. A repeat with the same `clientId` changes nothing, so the
 * widget sends again until it gets an answer. Returns the message's id.
 */
export async function receiveMessage(
  deps: CallbackDeps,
  connection: StoredWebsite,
  visitor: Visitor,
  { clientId, text: given, chosen }: VisitorMessage,
): Promise<string> {
  const answer = chosen === undefined ? null : await findOption(deps, visitor, chosen)
  const text = answer?.title ?? limitText(given, maxMessageLength)
  if (text === null) throw badRequest('The message has no text. Write something.')
  const about = answer && { id: answer.messageId, text: answer.text }
  const quoted = about && { externalId: externalIdOf(about.id), text: about.text }
  const detail = buildDetail({ quoted, chosen: answer?.optionId ?? null })
  return store(deps, connection, visitor, { clientId, text, ...(about && { about }) }, { kind: 'text', detail })
}

/** Only an option that this visitor was given can be chosen. */
async function findOption(
  { db, keyStore }: CallbackDeps,
  visitor: Visitor,
  { messageId, optionId }: NonNullable<VisitorMessage['chosen']>,
) {
  const message = await keyStore.withKeyring(visitor.workspaceId, (keyring) =>
    findInChat(db.sql, keyring, visitor, messageId),
  )
  const { choices, text = '' } = message?.content ?? {}
  const option = choices && optionsOf(choices).find(({ id }) => id === optionId)
  if (option === undefined) throw unprocessable('This option is not offered in the chat. Reload the page.')
  return { messageId, optionId, title: option.title, text: text.slice(0, 200) }
}

/** Stores a visitor's file in the same way. Its content decides what it is, whatever its name says. */
export async function receiveFile(
  deps: CallbackDeps,
  connection: StoredWebsite,
  visitor: Visitor,
  { clientId, name, bytes }: { clientId: string; name: string | null; bytes: Buffer },
): Promise<string> {
  const { workspaceId, id: visitorId } = visitor
  const { fileTypeFromBuffer } = await import('file-type')
  const mimeType = (await fileTypeFromBuffer(bytes).catch(() => undefined))?.mime ?? ''
  const kind = visitorFileTypes.get(mimeType)
  if (kind === undefined) throw unprocessable('Only JPEG, PNG and WebP images and PDF files can be sent.')
  const id = derivedId(visitorId, clientId)
  const keyring = await deps.keyStore.keyring(workspaceId)
  const at = deps.clock.now()
  const isStored = await deps.db.tx((tx) => storeFile(tx, keyring, { workspaceId, visitorId, id, bytes, at }))
  if (!isStored) throw unavailable('Too many files are waiting. Send it again in a few minutes.', undefined, 60)
  const file = { kind, name: cleanFileName(name), mimeType, size: bytes.length }
  const media = {
    ...{ ...file, source: { by: 'id', id } as const, sha256: null, width: null, height: null },
    ...{ seconds: null, waveform: null, thumbnail: null, isAnimated: false },
  }
  const content = { clientId, text: '', file: { ...file, id: null } }
  return store(deps, connection, visitor, content, { kind, detail: buildDetail({ media }) })
}

/** Returns a name without folders and control characters, which could forge a path or a header. */
export const cleanFileName = (name: string | null): string | null =>
  limitText(name?.replaceAll(/[\p{Cc}\p{Cf}"\\/:*?<>|]/gu, ' ').replaceAll(/ {2,}/g, ' '), 120)

async function store(
  deps: CallbackDeps,
  connection: StoredWebsite,
  visitor: Visitor,
  content: ChatContent & { clientId: string },
  { kind, detail }: { kind: 'text' | 'image' | 'document'; detail: MessageDetail | null },
): Promise<string> {
  const id = derivedId(visitor.id, content.clientId)
  const at = deps.clock.now()
  const message: ChannelEvent = {
    ...{ type: 'message', externalId: externalIdOf(id), customer: customerOf(visitor), kind, text: content.text, at },
    ...{ referral: null, opensWindow: true, ...(detail !== null && { detail }) },
  }
  // First the inbox, which knows repeats by their id: what the visitor sees as sent has reached the team.
  await storeReceived(deps, connection, new Map([[connection, [...introductionOf(visitor, at), message]]]))
  const keyring = await deps.keyStore.keyring(visitor.workspaceId)
  await deps.db.tx((tx) => addToChat(tx, keyring, visitor, { id, direction: 'inbound', content, at }))
  return id
}

/** Tells the team with the first message what is known of the visitor, and who says so. */
function introductionOf(visitor: Visitor, at: Date): ChannelEvent[] {
  const { id, profile, lastSeq } = visitor
  const { userId, email, phone } = profile
  const known = [userId, profile.name, email, phone === null ? null : `+${phone}`].filter((each) => each !== null)
  if (lastSeq > 0 || known.length === 0) return []
  const who = userId === null ? 'The visitor entered (not verified)' : 'Signed in on the website'
  return [createNotice(`${externalIdOf(id)}.visitor`, customerOf(visitor), `${who}: ${known.join(', ')}`, at)]
}

/** Tells the inbox that the visitor's device has, or the visitor has read, the team's messages up to a number. */
export async function receiveMark(
  deps: CallbackDeps,
  connection: StoredWebsite,
  visitor: Visitor,
  mark: { upTo: number; status: 'delivered' | 'read' },
): Promise<void> {
  const { workspaceId } = visitor
  const at = deps.clock.now()
  const messages = await deps.keyStore.withKeyring(workspaceId, (keyring) =>
    findUnmarked(deps.db.sql, keyring, visitor, mark),
  )
  if (messages.length === 0) return
  const { status } = mark
  const events = messages.map(
    ({ id, content: { correlator = null } }): ChannelEvent => ({
      ...{ type: 'status', externalId: externalIdOf(id), status, errorCode: null, at, correlator },
      customer: customerOf(visitor),
    }),
  )
  await storeReceived(deps, connection, new Map([[connection, events]]))
  const ids = messages.map(({ id }) => id)
  await deps.db.tx((tx) => markInChat(tx, workspaceId, ids, status))
}

/** A person who can become a lead. */
export type VisitorLead = Pick<VisitorProfile, 'name' | 'email' | 'phone'>
