import { type Static, Type } from 'typebox'
import { type App, errors } from '../../../base/route.ts'
import { type Member, memberOf, roleCovers, type TeamGuard } from '../../../team/member.ts'
import { teamRoute } from '../../../team/team-schema.ts'
import type { StoredSession } from '../../connection/connection.ts'
import { connectionParams, connectionsPath } from '../../connection/team-routes.ts'
import { pairSession, readSession, type SessionDeps, unpairSession } from './change-session.ts'
import { pairSchema, sessionSchema } from './schema.ts'
import type { Session } from './session.ts'

type Guard = Pick<TeamGuard, 'member'>

const path = `${connectionsPath}/:connectionId`
const oneSession = Type.Object({ session: sessionSchema })

/** The QR sessions of a workspace: members see how they are, admins pair them. */
export function channelSessionTeamRoutes(app: App, deps: SessionDeps, guard: Guard): void {
  const answer = async (member: Member, connectionId: string) => {
    const { connection, session } = await readSession(deps, member.workspaceId, connectionId)
    const view = { mayPair: roleCovers(member.role, 'admin'), now: deps.clock.now() }
    return { session: presentSession(connection, session, view) }
  }
  readRoute(app, guard, answer)
  pairRoute(app, deps, guard, answer)
  unpairRoute(app, deps, guard, answer)
}

type AnswerSession = (member: Member, connectionId: string) => Promise<{ session: ReturnType<typeof presentSession> }>

function readRoute(app: App, guard: Guard, answer: AnswerSession): void {
  app.route({
    method: 'GET',
    url: `${path}/session`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Connections'),
      operationId: 'getConnectionSession',
      summary: 'Read the session of an unofficial connection',
      description:
        'What to scan or type is shown to admins only: whoever has it has the number. The live stream tells when to read it anew.',
      params: connectionParams,
      response: { 200: oneSession, ...errors(400, 401, 403, 404, 409) },
    },
    handler: (request) => answer(memberOf(request), request.params.connectionId),
  })
}

function pairRoute(app: App, deps: SessionDeps, guard: Guard, answer: AnswerSession): void {
  app.route({
    method: 'POST',
    url: `${path}/pair`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Connections'),
      operationId: 'pairConnection',
      summary: 'Pair an unofficial connection with a phone',
      description:
        'For admins. Asks for a QR code or for characters to type, which the session then shows. A phone that is linked is unlinked first, and once a phone is linked the risk has to be confirmed anew.',
      params: connectionParams,
      body: pairSchema,
      response: { 202: oneSession, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request, reply) => {
      const member = memberOf(request)
      const { connectionId } = request.params
      await pairSession(deps, member, connectionId, request.body)
      return reply.code(202).send(await answer(member, connectionId))
    },
  })
}

function unpairRoute(app: App, deps: SessionDeps, guard: Guard, answer: AnswerSession): void {
  app.route({
    method: 'POST',
    url: `${path}/unpair`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Connections'),
      operationId: 'unpairConnection',
      summary: 'Unlink the phone of an unofficial connection',
      description: 'For admins. Logs out and forgets the keys. The conversations stay to be read.',
      params: connectionParams,
      response: { 202: oneSession, ...errors(400, 401, 403, 404, 409) },
    },
    handler: async (request, reply) => {
      const member = memberOf(request)
      const { connectionId } = request.params
      await unpairSession(deps, member, connectionId)
      return reply.code(202).send(await answer(member, connectionId))
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
