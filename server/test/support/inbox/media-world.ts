import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { fetchDeps } from '../../../src/app/inbox.ts'
import { newId } from '../../../src/base/id.ts'
import type { MediaKind } from '../../../src/channels/channel-event.ts'
import { encryptSettings } from '../../../src/channels/connection/queries.ts'
import type { MediaDetails } from '../../../src/inbox/media/media.ts'
import { decryptDetails, encryptDetails } from '../../../src/inbox/media/media.ts'
import { createMediaFetcher, type FetcherDeps } from '../../../src/inbox/media/media-fetcher.ts'
import type { Previews } from '../../../src/inbox/media/preview.ts'
import { wabaAt } from '../channels/connections.ts'
import { atEnd } from '../file-lifecycle.ts'
import { type FileServer, fileServer } from '../outgoing/file-server.ts'
import { type Answer, testTeamToken } from '../world.ts'
import { inboxWorld } from './inbox-world.ts'

/** File at the platform, by id; its metadata has address and size unless given. */
export interface PlatformFile {
  bytes: Buffer
  metadata?: object
  /** Replaces the answer to the request for its address. */
  describe?: (response: ServerResponse) => unknown
  /** Replaces the answer with its bytes. */
  serve?: (response: ServerResponse) => unknown
}

export type MediaWorld = Awaited<ReturnType<typeof mediaWorld>>

const noPreviews: Previews = { create: async () => null, close: async () => {} }

/** Creates a workspace whose official platform has files, with one conversation. Deletes rows of earlier tests. */
export async function mediaWorld() {
  const w = await inboxWorld()
  const { db, keyStore, clock, media, workspaceId, connectionId } = w
  await db.sql`delete from media`
  await media.writeMark('a mark')
  const files = new Map<string, PlatformFile>()
  const server = await fileServer(({ url = '' }, response) => answer(files, server, url, response))
  atEnd(() => server.close())
  const keyring = await keyStore.keyring(workspaceId)
  const settings = encryptSettings(keyring, connectionId, wabaAt(server.baseUrl).settings)
  await db.sql`update connections set settings = ${settings} where workspace_id = ${workspaceId}`
  const { id: conversationId }: { id: string } = await w.customerWrites('Hello')
  const row = async (id: string) => {
    const [found] = await db.sql`
      select state, failure, tries, due_at as "dueAt", lease_until as "leaseUntil", stored_as as "storedAs",
        preview_stored_as as "previewStoredAs", size_bytes::int as bytes, details
      from media
      where workspace_id = ${workspaceId}
        and id = ${id}`
    assert.ok(found, 'the row exists')
    return { ...found, details: decryptDetails(keyring, id, found.details) } as Answer['body']
  }
  const read = async (id: string, after = '') => {
    const url = `/api/team/v1/workspaces/${workspaceId}/inbox/media/${id}${after}`
    const { statusCode, rawPayload } = await w.app.inject({
      url,
      headers: { authorization: `Bearer ${testTeamToken}` },
    })
    assert.equal(statusCode, 200)
    return rawPayload
  }
  const deps = fetchDeps(w, noPreviews)
  const { waba } = deps.adapters
  // A small limit, so that tests exceed it quickly.
  if (waba.media !== undefined) deps.adapters.waba = { ...waba, media: { ...waba.media, maxDownloadBytes: 1_000_000 } }
  return {
    ...w,
    server,
    files,
    conversationId,
    /** Receives a customer's message with a file, which is not fetched yet. */
    coming: async (file: Partial<PlatformFile>, fileDetails: Partial<MediaDetails> & { kind?: MediaKind } = {}) => {
      const { kind = 'image', ...more } = fileDetails
      const [now, id] = [clock.now(), newId(clock.now())]
      const fileId = id.replaceAll('-', '')
      files.set(fileId, { bytes: Buffer.from(`file ${id}`), ...file })
      const details = encryptDetails(keyring, id, { source: { by: 'id', id: fileId }, realType: null, ...more })
      await db.sql`
        insert into media (
          workspace_id, id, conversation_id, connection_id, message_id, direction, kind, state, details, due_at,
          created_at, updated_at
        )
        values (
          ${workspaceId}, ${id}, ${conversationId}, ${connectionId}, ${newId(now)}, 'inbound', ${kind}, 'coming',
          ${details}, ${now}, ${now}, ${now}
        )`
      return id
    },
    fetcher: (more: Partial<FetcherDeps> = {}) => createMediaFetcher({ ...deps, random: () => 0, ...more }),
    row,
    content: read,
    preview: (id: string) => read(id, '/preview'),
    /** Names in the store. */
    stored: async () => (await media.list(null, 1_000)).map(({ name }) => name).sort(),
  }
}

export const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64')

function answer(files: Map<string, PlatformFile>, server: FileServer, url: string, response: ServerResponse): void {
  const id = url.split('/').at(-1) ?? ''
  const file = files.get(id)
  if (file === undefined) response.writeHead(404).end()
  else if (url.startsWith('/files/')) (file.serve ?? ((to) => to.end(file.bytes)))(response)
  else if (file.describe !== undefined) file.describe(response)
  else {
    const metadata = { url: `${server.baseUrl}/files/${id}`, file_size: file.bytes.length, ...file.metadata }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata))
  }
}
