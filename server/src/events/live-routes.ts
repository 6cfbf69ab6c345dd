import { Type } from 'typebox'
import { type ApiError, tooManyRequests, unavailable } from '../base/errors.ts'
import { type App, errors } from '../base/route.ts'
import { stopWaitBudget } from '../base/scheduling/work-context.ts'
import { fileText, maxHeadBytes, text } from '../base/schema-types.ts'
import { type Member, memberOf, type TeamGuard } from '../team/member.ts'
import { teamRoute, workspaceParams } from '../team/team-schema.ts'
import type { Live } from './live.ts'
import { createPlaces } from './long-poll.ts'
import { parseFeedCursor } from './read-page.ts'
import { areaOf, type EventName } from './record.ts'

const maxStreamsOfMember = 20
const maxStreams = 2_000
/** What one workspace may have of them. */
const maxStreamsOfWorkspace = maxStreams / 4

/** What the stream may carry: every event, and what beside them each frame of the team's own tells. */
export interface StreamContents {
  names: readonly EventName[]
  frames: Record<string, string>
}

/** The stream that the web app lives on. */
export function liveTeamRoutes(app: App, live: Live, { names, frames }: StreamContents, guard: TeamGuard): void {
  const teamFrames = Object.entries(frames).map(([name, describesFrames]) => `\`${name}\`: ${describesFrames}`)
  const openStream = createStreamLimits()
  app.route({
    method: 'GET',
    url: '/api/team/v1/workspaces/:workspaceId/live',
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Live updates'),
      operationId: 'followEvents',
      summary: 'Follow the events of a workspace',
      description: `Server-sent events. Each has the event's name as \`event\`, a cursor as \`id\`, and as \`data\` the same JSON as in \`GET /api/v1/events\`. Without \`after\` and \`Last-Event-ID\` the stream begins with what comes from now on. \`event: reset\` says that the place is too old, unknown, or more than 5,000 events behind, or that this process was cut off from the news of others: load everything anew, the stream goes on from there. A comment comes every 15 seconds. A client that does not read is disconnected, and at once one whose session, token or membership has ended, or whose role has changed. At most ${maxStreamsOfMember} streams a member, and ${maxStreamsOfWorkspace} a workspace of each process. Beside the events there are frames for the pages that are open, without an id and in no feed: after a reconnection load what is shown anew. ${teamFrames.join('; ')}.`,
      params: Type.Object(workspaceParams),
      headers: Type.Object({
        'last-event-id': Type.Optional(text(maxHeadBytes, 'The last `id`; browsers send it by themselves.')),
      }),
      querystring: Type.Object(
        { after: Type.Optional(text(maxHeadBytes, 'The same, for the first connection.')) },
        { additionalProperties: false },
      ),
      response: {
        200: { description: 'The stream.', content: { 'text/event-stream': { schema: Type.String(fileText) } } },
        ...errors(400, 401, 403, 404, 429, 503),
      },
    },
    handler: async (request, reply) => {
      const member = memberOf(request)
      const leave = openStream(member)
      const { workspaceId } = member
      const place = request.headers['last-event-id'] || request.query.after
      stopWaitBudget()
      reply.hijack()
      const out = reply.raw
      out.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        // Proxies of the nginx kind would gather what is meant to arrive at once.
        'x-accel-buffering': 'no',
      })
      await live
        .addStream({
          workspaceId,
          out,
          userId: member.userId,
          sessionId: member.sessionId,
          tokenId: member.tokenId,
          after: place === undefined ? null : (parseFeedCursor(workspaceId, place) ?? 'unknown'),
          names: namesFor(member, names),
          readNames: async () => {
            const now = await guard.stillMember(request)
            return now === null ? null : namesFor(now, names)
          },
        })
        .finally(leave)
    },
  })
}

function namesFor({ workspace }: Member, names: readonly EventName[]): EventName[] {
  const isOn = { leads: workspace.leadsEnabled, inbox: workspace.inboxEnabled }
  return names.filter((name) => isOn[areaOf(name)])
}

/** Each member, each workspace and all together have so many streams at most. */
export function createStreamLimits(): (member: Pick<Member, 'userId' | 'tokenId' | 'workspaceId'>) => () => void {
  const places = createPlaces()
  const full = () => unavailable('Too many streams are open at the moment. Try again shortly.')
  const ofMember = { most: maxStreamsOfMember, refusal: () => tooManyStreams('', maxStreamsOfMember) }
  const ofWorkspace = {
    most: maxStreamsOfWorkspace,
    refusal: () => tooManyStreams(' of this workspace', maxStreamsOfWorkspace),
  }
  return ({ userId, tokenId, workspaceId }) =>
    places([
      { who: `member ${userId ?? tokenId ?? ''}`, ...ofMember },
      { who: `workspace ${workspaceId}`, ...ofWorkspace },
      { who: 'all', most: maxStreams, refusal: full },
    ])
}

const tooManyStreams = (whose: string, count: number): ApiError =>
  tooManyRequests(`There are ${count} open streams${whose} already. Close one first.`, 10, { code: 'RATE_LIMITED' })
