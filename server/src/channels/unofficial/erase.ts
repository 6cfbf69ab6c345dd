import type { Sql, Tx } from '../../base/db.ts'
import { type ErasedCustomer, type ErasureScope, type ErasureStep, finishedStep } from '../../base/erasure.ts'
import { phoneClass, phoneVariants } from '../../base/phone/phone-variants.ts'
import { unnested } from '../../base/postgres/rows.ts'
import { parseJid } from './parse/jid.ts'
import { decryptContent } from './send/sends.ts'
import { keyDigest } from './transport/encrypted-auth-store.ts'

const batchSize = 500
/** Maximum device number of a person on the network; the phone is 0. */
const maxDevices = 100

/** Position of the next step: a session, and the send id to continue after. */
interface ErasePosition {
  connectionId: string
  after: string
}

/**
 * Erases the customer's data from the workspace's QR sessions: sends to them, and keys named by their addresses. The
 * network negotiates new keys if the customer writes again.
 */
export async function eraseFromSessions(tx: Tx, scope: ErasureScope, place: string | null): Promise<ErasureStep> {
  const position =
    place === null ? await nextSession(tx, scope.workspaceId, null) : (JSON.parse(place) as ErasePosition)
  if (position === null) return finishedStep
  const { sends, last } = await eraseSends(tx, scope, position)
  if (last !== null) return { removed: { sessionRows: sends }, position: JSON.stringify({ ...position, after: last }) }
  const keys = await eraseKeys(tx, scope, position.connectionId)
  const next = await nextSession(tx, scope.workspaceId, position)
  return { removed: { sessionRows: sends + keys }, position: next === null ? null : JSON.stringify(next) }
}

async function nextSession(sql: Sql, workspaceId: string, after: ErasePosition | null): Promise<ErasePosition | null> {
  const [session] = await sql<{ connection_id: string }[]>`
    select connection_id
    from channel_sessions
    where workspace_id = ${workspaceId}
      and (${after === null} or connection_id > ${after?.connectionId ?? null}::uuid)
    order by connection_id
    limit 1`
  return session === undefined ? null : { connectionId: session.connection_id, after: '' }
}

// The recipient is encrypted, so every send is decrypted. Sends are deleted after three days, so there are few.
async function eraseSends(
  tx: Tx,
  { workspaceId, keyring, customer }: ErasureScope,
  { connectionId, after }: ErasePosition,
): Promise<{ sends: number; last: string | null }> {
  const rows = await tx<{ id: string; content: Buffer; is_over: boolean }[]>`
    select id, content, state not in ('waiting', 'claimed') as is_over
    from session_sends
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and id > ${after}
    order by id
    limit ${batchSize}`
  const theirs = rows.filter(({ id, content, is_over: isOver }) => {
    const opened = decryptContent(keyring, connectionId, id, content)
    // A file upload does not name its recipient; it is no longer needed once it has ended.
    return 'jid' in opened ? isOf(customer, opened.jid) : isOver
  })
  await tx`
    delete from session_sends
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and id = any (${theirs.map(({ id }) => id)}::text[])`
  return { sends: theirs.length, last: rows.length === batchSize ? (rows.at(-1)?.id ?? null) : null }
}

function isOf({ phones, userIds }: ErasedCustomer, address: string): boolean {
  const jid = parseJid(address)
  if (jid === null) return false
  if (jid.lid !== null) return userIds.includes(jid.lid)
  const own = phoneClass(jid.phone)
  return phones.some((phone) => phoneClass(phone) === own)
}

async function eraseKeys(
  tx: Tx,
  { workspaceId, keyring, customer }: ErasureScope,
  connectionId: string,
): Promise<number> {
  const keys = listKeyNames(customer).map(([type, id]) => ({
    type,
    digest: keyDigest(keyring, connectionId, type, id),
  }))
  const erased = await tx`
    delete from session_keys k
    using ${unnested(keys, { text: ['type', 'digest'] })}
    where k.workspace_id = ${workspaceId}
      and k.connection_id = ${connectionId}
      and k.type = n.type
      and k.digest = n.digest`
  return erased.count
}

/** Returns the names of a person's keys on the network: by phone, or by the id that hides it (`…_1`). */
function listKeyNames({ phones, userIds }: ErasedCustomer): [type: string, id: string][] {
  const lids = userIds.flatMap((userId) => (userId.endsWith('@lid') ? userId.slice(0, -'@lid'.length) : []))
  const numbers = [...new Set(phones.flatMap(phoneVariants))]
  const users = [
    ...numbers.map((number) => [number, number] as const),
    ...lids.map((lid) => [lid, `${lid}_1`] as const),
  ]
  const byDevice = users.flatMap(([, signal]) =>
    Array.from({ length: maxDevices }, (_, device) => `${signal}.${device}`).flatMap((id): [string, string][] => [
      ['session', id],
      ['identity-key', id],
    ]),
  )
  const jids = [...numbers.map((number) => `${number}@s.whatsapp.net`), ...lids.map((lid) => `${lid}@lid`)]
  return [
    ...byDevice,
    ...users.map(([user]): [string, string] => ['device-list', user]),
    ...numbers.map((number): [string, string] => ['lid-mapping', number]),
    ...lids.map((lid): [string, string] => ['lid-mapping', `${lid}_reverse`]),
    ...jids.map((jid): [string, string] => ['tctoken', jid]),
  ]
}
