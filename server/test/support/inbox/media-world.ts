import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { fetchDeps } from '../../../src/app/inbox.ts'
import { newId } from '../../../src/base/id.ts'
import { sealSettings } from '../../../src/channels/connection/sealed.ts'
import type { MediaKind } from '../../../src/channels/message-detail.ts'
import type { MediaDetails, MediaState } from '../../../src/inbox/media/media.ts'
import { createMediaFetcher, type FetcherDeps, type MediaFetcher } from '../../../src/inbox/media/media-fetcher.ts'
import type { Previews } from '../../../src/inbox/media/preview.ts'
import { openDetails, openFileKeys, sealDetails } from '../../../src/inbox/media/sealed-media.ts'
import { openFile } from '../../../src/media/sealed-file.ts'
import { wabaAt } from '../channels/connections.ts'
import { atEnd } from '../file-end.ts'
import { type FileServer, fileServer } from '../outgoing/file-server.ts'
import { type InboxWorld, inboxWorld } from './inbox-world.ts'

/** What the platform has by an id. */
export interface PlatformFile {
  bytes: Buffer
  /** What is said of it; the address and the size unless given. */
  said?: object
  /** In place of the answer to the question where it is. */
  describe?: (response: ServerResponse) => unknown
  /** In place of the bytes. */
  serve?: (response: ServerResponse) => unknown
}

export interface MediaRow {
  state: MediaState
  failure: string | null
  tries: number
  dueAt: Date | null
  leaseUntil: Date | null
  storedAs: string | null
  previewStoredAs: string | null
  bytes: number | null
  details: MediaDetails
  fileKey: Buffer | null
}

export interface MediaWorld extends InboxWorld {
  server: FileServer
  /** By id. */
  files: Map<string, PlatformFile>
  conversationId: string
  /** A customer's message with a file, as its row is written with it. */
  coming(file: Partial<PlatformFile>, told?: Partial<MediaDetails> & { kind?: MediaKind }): Promise<string>
  fetcher(more?: Partial<FetcherDeps>): MediaFetcher
  row(id: string): Promise<MediaRow>
  /** The file of a row, out of the store. */
  content(id: string): Promise<Buffer>
  preview(id: string): Promise<Buffer>
  /** Names in the store. */
  stored(): Promise<string[]>
}

export const noPreviews: Previews = { make: async () => null, close: async () => {} }

/** A workspace whose official number's platform has files, with one conversation. Rows of tests before it are gone. */
export async function mediaWorld(): Promise<MediaWorld> {
  const w = await inboxWorld()
  const { db, vault, clock, workspaceId, connectionId } = w
  await db.sql`delete from media`
  await w.media.writeMark('a mark')
  const files = new Map<string, PlatformFile>()
  const server = await fileServer(({ url = '' }, response) => answer(files, server, url, response))
  atEnd(() => server.close())
  const keyring = await vault.keyring(workspaceId)
  await db.sql`
    update connections
    set settings = ${sealSettings(keyring, connectionId, wabaAt(server.baseUrl).settings)}
    where workspace_id = ${workspaceId}`
  const { id: conversationId } = await w.customerWrites('Hello')
  const row = async (id: string): Promise<MediaRow> => {
    const [found] = await db.sql<(Omit<MediaRow, 'details'> & { details: Buffer })[]>`
      select state, failure, tries, due_at as "dueAt", lease_until as "leaseUntil", stored_as as "storedAs",
        preview_stored_as as "previewStoredAs", size_bytes::int as bytes, details, file_key as "fileKey"
      from media
      where workspace_id = ${workspaceId}
        and id = ${id}`
    assert.ok(found, 'the row is there')
    return { ...found, details: openDetails(keyring, id, found.details) }
  }
  const read = async (storedAs: string | null, key: Buffer | undefined, bytes: number | undefined) => {
    assert.ok(storedAs !== null && key !== undefined && bytes !== undefined)
    const pieces: Buffer[] = []
    const opened = openFile({ id: storedAs, key, bytes }, { start: 0, end: bytes }, (start, end) =>
      w.media.open(storedAs, start, end),
    )
    for await (const piece of opened) pieces.push(Buffer.from(piece))
    return Buffer.concat(pieces)
  }
  const keysOf = async (id: string) => {
    const one = await row(id)
    assert.ok(one.fileKey, one.failure ?? one.state)
    return { ...one, keys: openFileKeys(keyring, id, one.fileKey) }
  }
  const deps = fetchDeps(w, noPreviews)
  const { waba } = deps.adapters
  // What is too much is so soon.
  if (waba.media !== undefined) deps.adapters.waba = { ...waba, media: { ...waba.media, fetchBytes: 1_000_000 } }
  return {
    ...w,
    server,
    files,
    conversationId,
    coming: async (file, { kind = 'image', ...told } = {}) => {
      const id = newId(clock.now())
      const fileId = id.replaceAll('-', '')
      files.set(fileId, { bytes: Buffer.from(`file ${id}`), ...file })
      const details: MediaDetails = { source: { by: 'id', id: fileId }, realType: null, ...told }
      const now = clock.now()
      await db.sql`
        insert into media (
          workspace_id, id, conversation_id, connection_id, message_id, direction, kind, state, details, due_at,
          created_at, updated_at
        )
        values (
          ${workspaceId}, ${id}, ${conversationId}, ${connectionId}, ${newId(now)}, 'inbound', ${kind}, 'coming',
          ${sealDetails(keyring, id, details)}, ${now}, ${now}, ${now}
        )`
      return id
    },
    fetcher: (more = {}) => createMediaFetcher({ ...deps, random: () => 0, ...more }),
    row,
    content: async (id) => {
      const { storedAs, bytes, keys } = await keysOf(id)
      return read(storedAs, keys.file, bytes ?? undefined)
    },
    preview: async (id) => {
      const { previewStoredAs, keys } = await keysOf(id)
      return read(previewStoredAs, keys.preview?.key, keys.preview?.bytes)
    },
    stored: async () => (await w.media.list(null, 1_000)).map(({ name }) => name).sort(),
  }
}

export const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64')

function answer(files: Map<string, PlatformFile>, server: FileServer, url: string, response: ServerResponse): void {
  const id = url.split('/').at(-1) ?? ''
  const file = files.get(id)
  if (file === undefined) {
    response.writeHead(404).end()
  } else if (url.startsWith('/files/')) {
    if (file.serve === undefined) response.end(file.bytes)
    else file.serve(response)
  } else if (file.describe !== undefined) {
    file.describe(response)
  } else {
    const said = { url: `${server.baseUrl}/files/${id}`, file_size: file.bytes.length, ...file.said }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  }
}
