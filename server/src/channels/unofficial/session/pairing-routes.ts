import { type Static, Type } from 'typebox'
import type { App } from '../../../base/route.ts'
import { type Member, roleCovers, type TeamGuard } from '../../../team/member.ts'
import { teamApi } from '../../../team/team-api.ts'
import type { StoredSession } from '../../connection/connection.ts'
import { connectionParams, connectionsPath } from '../../connection/connection-routes.ts'
import { pairSession, readSession, type SessionDeps, unpairSession } from './change-session.ts'
import { pairSchema, sessionSchema } from './schema.ts'
import type { Session } from './session.ts'

const path = `${connectionsPath}/:connectionId`
const oneSession = Type.Object({ session: sessionSchema })

/** The QR sessions of a workspace: members see how they are, admins pair them. */
export function channelSessionTeamRoutes(app: App, deps: SessionDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Connections')
  const answer = async (member: Member, connectionId: string) => {
    const { connection, session } = await readSession(deps, member.workspaceId, connectionId)
    const view = { mayPair: roleCovers(member.role, 'admin'), now: deps.clock.now() }
    return { session: presentSession(connection, session, view) }
  }
  api.get(`${path}/session`, 'member', {
    operationId: 'getConnectionSession',
    summary: 'Read the session of an unofficial connection',
    description:
      'What to scan or type is shown to admins only: whoever has it has the number. The live stream tells when to read it anew.',
    params: connectionParams,
    answers: { 200: oneSession },
    errors: [409],
    run: ({ member, params }) => answer(member, params.connectionId),
  })
  api.post(`${path}/pair`, 'admin', {
    operationId: 'pairConnection',
    summary: 'Pair an unofficial connection with a phone',
    description:
      'For admins. Asks for a QR code or for characters to type, which the session then shows. A phone that is linked is unlinked first, and once a phone is linked the risk has to be confirmed anew.',
    params: connectionParams,
    body: pairSchema,
    answers: { 202: oneSession },
    errors: [409],
    run: async ({ member, params, body }) => {
      const { connectionId } = params
      await pairSession(deps, member, connectionId, body)
      return answer(member, connectionId)
    },
  })
  api.post(`${path}/unpair`, 'admin', {
    operationId: 'unpairConnection',
    summary: 'Unlink the phone of an unofficial connection',
    description: 'For admins. Logs out and forgets the keys. The conversations stay to be read.',
    params: connectionParams,
    answers: { 202: oneSession },
    errors: [409],
    run: async ({ member, params }) => {
      const { connectionId } = params
      await unpairSession(deps, member, connectionId)
      return answer(member, connectionId)
    },
  })
}

/** A session for those who may see it. Who only works with the inbox is not shown what links a device to the number. */
function presentSession(
  { id, numberId }: Pick<StoredSession, 'id' | 'numberId'>,
  session: Session,
  { mayPair, now }: { mayPair: boolean; now: Date },
): Static<typeof sessionSchema> {
  const { pairing, shownUntil, wish } = session
  // Asked to be unlinked, a phone is none of ours any more, though the holder has yet to tell the network.
  const isLeaving = wish === 'unpair' || wish === 'pair'
  const isShown = mayPair && session.state === 'pairing' && shownUntil !== null && shownUntil > now
  return {
    state: session.state,
    reason: session.reason,
    stateChangedAt: session.stateChangedAt.toISOString(),
    paired: session.isPaired && !isLeaving,
    phone: numberId === id || wish === 'unpair' ? null : numberId,
    method: session.state === 'pairing' ? (pairing?.method ?? null) : null,
    qr: isShown && pairing?.method === 'qr' ? pairing.qr : null,
    pairingCode: isShown && pairing?.method === 'code' ? pairing.code : null,
    shownUntil: isShown ? shownUntil.toISOString() : null,
    nextAttemptAt: session.state === 'waiting' ? (session.nextAttemptAt?.toISOString() ?? null) : null,
  }
}
