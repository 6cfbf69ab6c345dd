import { type Static, Type } from 'typebox'
import type { Tx } from '../../../base/db.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import { invalid } from '../../../base/errors.ts'
import { parsePhone } from '../../../base/phone/phone.ts'
import type { App } from '../../../base/route.ts'
import { recordAudit } from '../../../team/audit.ts'
import { type Member, roleCovers, type TeamGuard } from '../../../team/member.ts'
import { teamApi } from '../../../team/team-api.ts'
import { auditEntry, type ChangeAuthor } from '../../connection/change-connection.ts'
import {
  type ConnectionKey,
  connectionNotFound,
  type StoredConnection,
  type StoredSession,
  sessionNotSupported,
} from '../../connection/connection.ts'
import { connectionParams, connectionsPath } from '../../connection/fields.ts'
import { findConnection, lockConnection } from '../../connection/queries.ts'
import type { CallbackDeps } from '../../store-callback.ts'
import { type PairInput, pairSchema, sessionSchema } from './schema.ts'
import { blankSession, type Pairing, type Session } from './session.ts'
import { findSession, lockOrCreateSession, storeCommand } from './session-queries.ts'
import { applyTransition, endPause, type SessionTransition } from './session-transition.ts'

export type SessionDeps = Pick<CallbackDeps, 'db' | 'keyStore' | 'clock'>

/**
 * Resumes a connection: it can send when its session is open, and a stopped session is started again. A session without
 * a linked phone must be paired.
 */
export async function resumeSession({ db, keyStore, clock }: SessionDeps, { workspaceId, id }: ConnectionKey) {
  await keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const now = clock.now()
      const before = await lockOrCreateSession(tx, keyring, { workspaceId, connectionId: id }, now)
      if (before === undefined) return
      await endPause(tx, before, now)
      const resumption = commandOnResume(before)
      if (resumption === null) return
      const { transition, pairing } = resumption
      await storeCommand(
        tx,
        keyring,
        await applyTransition(tx, keyring, before, transition, now),
        resumption.wish,
        pairing,
      )
    }),
  )
}

function commandOnResume({ state, reason, isPaired, wish: requested }: Session) {
  if (state !== 'stopped' || requested !== null) return null
  const connecting: SessionTransition = { state: 'connecting', reason: 'reconnecting' }
  if (isPaired) return { wish: 'open', transition: connecting, pairing: null } as const
  // The pairing had not reached the code.
  const isUntried = reason === 'baileys_missing'
  return isUntried
    ? ({ wish: 'pair', transition: pairingTransition, pairing: { method: 'qr', qr: null } } as const)
    : null
}

const pairingTransition: SessionTransition = { state: 'pairing', reason: 'pairing' }

/** Changes a connection's session for a member, under its lock. Throws 404, and 409 for another channel. */
async function changeSession(
  deps: SessionDeps,
  by: ChangeAuthor,
  connectionId: string,
  action: string,
  change: (tx: Tx, keyring: Keyring, before: Session, now: Date) => Promise<void>,
): Promise<void> {
  const { workspaceId } = by
  await deps.keyStore.withKeyring(workspaceId, (keyring) =>
    deps.db.tx(async (tx) => {
      const now = deps.clock.now()
      const before = await lockOrCreateSession(tx, keyring, { workspaceId, connectionId }, now)
      sessionConnectionOf(await lockConnection(tx, keyring, workspaceId, connectionId))
      if (before === undefined) throw connectionNotFound()
      await change(tx, keyring, before, now)
      await recordAudit(tx, auditEntry(by, action, connectionId), now)
    }),
  )
}

function sessionConnectionOf(one: StoredConnection | undefined): StoredSession {
  if (one === undefined) throw connectionNotFound()
  if (one.channel !== 'unofficial') throw sessionNotSupported()
  return one
}

function pairingOf(input: PairInput): Pairing {
  if (input.method === 'qr') return { method: 'qr', qr: null }
  const phone = input.phone === undefined ? null : parsePhone(input.phone)
  if (phone === null) throw invalid('phone', "must be the phone's number with country code")
  return { method: 'code', phone, code: null }
}

const path = `${connectionsPath}/:connectionId`
const oneSession = Type.Object({ session: sessionSchema })

/** Registers the session routes: members can read, admins can pair. */
export function channelSessionTeamRoutes(app: App, deps: SessionDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Connections')
  /** Returns the current session, also if it was never paired. */
  const readSession = async ({ workspaceId, role }: Member, connectionId: string) => {
    const view = { mayPair: roleCovers(role, 'admin'), now: deps.clock.now() }
    return deps.keyStore.withKeyring(workspaceId, async (keyring) => {
      const { sql } = deps.db
      const connection = sessionConnectionOf(await findConnection(sql, keyring, workspaceId, connectionId))
      const session = await findSession(sql, keyring, { workspaceId, connectionId })
      const blank = blankSession({ workspaceId, connectionId }, connection.createdAt)
      return { session: presentSession(connection, session ?? blank, view) }
    })
  }
  api.get(`${path}/session`, 'member', {
    operationId: 'getConnectionSession',
    summary: 'Read the session of an unofficial connection',
    description:
      'Pairing codes are returned to admins only, because a code gives access to the number. The live stream reports changes.',
    params: connectionParams,
    answers: { 200: oneSession },
    errors: [409],
    run: ({ member, params }) => readSession(member, params.connectionId),
  })
  api.post(`${path}/pair`, 'admin', {
    operationId: 'pairConnection',
    summary: 'Pair an unofficial connection with a phone',
    description:
      'Admins only. Requests a QR code or a code to type, which then appears in the session. Unlinks the current phone first. After pairing, the risk must be accepted again.',
    params: connectionParams,
    body: pairSchema,
    answers: { 202: oneSession },
    errors: [409],
    run: async ({ member, params, body }) => {
      const pairing = pairingOf(body)
      // Pairing blocks sends until the phone is linked.
      await changeSession(deps, member, params.connectionId, 'connection.pairing', async (tx, keyring, before, now) => {
        const after = await applyTransition(tx, keyring, { ...before, pairing }, pairingTransition, now)
        await storeCommand(tx, keyring, after, 'pair', pairing)
      })
      return readSession(member, params.connectionId)
    },
  })
  api.post(`${path}/unpair`, 'admin', {
    operationId: 'unpairConnection',
    summary: 'Unlink the phone of an unofficial connection',
    description: 'Admins only. Logs out and deletes the keys. The conversations remain readable.',
    params: connectionParams,
    answers: { 202: oneSession },
    errors: [409],
    run: async ({ member, params }) => {
      await changeSession(
        deps,
        member,
        params.connectionId,
        'connection.unpaired',
        async (tx, keyring, before, now) => {
          if (before.state === 'unpaired' && before.wish === null) return
          const after = await applyTransition(tx, keyring, before, { state: 'unpaired', reason: 'logged_out' }, now)
          await storeCommand(tx, keyring, after, 'unpair', null)
        },
      )
      return readSession(member, params.connectionId)
    },
  })
}

/** Returns a session for a member. Shows codes that link a device only to admins. */
function presentSession(
  { id, numberId }: Pick<StoredSession, 'id' | 'numberId'>,
  session: Session,
  { mayPair, now }: { mayPair: boolean; now: Date },
): Static<typeof sessionSchema> {
  const { pairing, shownUntil, wish } = session
  // After a request to unlink, the phone counts as unlinked, although the network may not have been informed yet.
  const isUnlinking = wish === 'unpair' || wish === 'pair'
  const isShown = mayPair && session.state === 'pairing' && shownUntil !== null && shownUntil > now
  return {
    state: session.state,
    reason: session.reason,
    stateChangedAt: session.stateChangedAt.toISOString(),
    paired: session.isPaired && !isUnlinking,
    phone: numberId === id || wish === 'unpair' ? null : numberId,
    method: session.state === 'pairing' ? (pairing?.method ?? null) : null,
    qr: isShown && pairing?.method === 'qr' ? pairing.qr : null,
    pairingCode: isShown && pairing?.method === 'code' ? pairing.code : null,
    shownUntil: isShown ? shownUntil.toISOString() : null,
    nextAttemptAt: session.state === 'waiting' ? (session.nextAttemptAt?.toISOString() ?? null) : null,
  }
}
