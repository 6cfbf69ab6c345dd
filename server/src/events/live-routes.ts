import { Type } from 'typebox'
import { createSlotCounter } from '../base/async/slots.ts'
import { type ApiError, tooManyRequests, unavailable } from '../base/errors.ts'
import { type App, errors } from '../base/route.ts'
import { stopWaitBudget } from '../base/scheduling/work-context.ts'
import { fileText, maxHeadBytes, text } from '../base/schema-types.ts'
import { type Member, memberOf, type TeamGuard } from '../team/member.ts'
import { teamRoute, workspaceParams } from '../team/team-schema.ts'
import type { Live } from './live.ts'
import { parseFeedCursor } from './read-page.ts'
import { areaOf, type EventName } from './record.ts'

const maxStreamsOfMember = 20
const maxStreams = 2_000
const maxStreamsOfWorkspace = maxStreams / 4

/** Contents of the stream: names of events, and descriptions of live-only frames by name. */
export interface StreamContents {
  names: readonly EventName[]
  frames: Record<string, string>
}

export function liveTeamRoutes(app: App, live: Live, { names, frames }: StreamContents, guard: TeamGuard): void {
  const teamFrames = Object.entries(frames).map(([name, description]) => `\`${name}\`: ${description}`)
  const openStream = createStreamLimits()
  app.route({
    method: 'GET',
    url: '/api/team/v1/workspaces/:workspaceId/live',
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Live updates'),
      operationId: 'followEvents',
      summary: 'Follow the events of a workspace',
      description: `Server-sent events. Each has the event name as \`event\`, a cursor as \`id\`, and the JSON of \`GET /api/v1/events\` as \`data\`. Without \`after\` and \`Last-Event-ID\` the stream starts with new events. \`event: reset\` means that the cursor is too old, unknown, or more than 5,000 events behind, or that this process lost its database notifications: reload all data; the stream continues from there. A comment is sent every 15 seconds. Disconnects clients that do not read, and at once those whose session, token or membership has ended, or whose role has changed. At most ${maxStreamsOfMember} streams per member, and ${maxStreamsOfWorkspace} per workspace and process. Besides events there are live-only frames, without an id and not in the feed: reload what you show after a reconnection. ${teamFrames.join('; ')}.`,
      params: Type.Object(workspaceParams),
      headers: Type.Object({
        'last-event-id': Type.Optional(text(maxHeadBytes, 'The last `id`; browsers send it automatically.')),
      }),
      querystring: Type.Object(
        { after: Type.Optional(text(maxHeadBytes, 'The same for the first connection.')) },
        { additionalProperties: false },
      ),
      response: {
        200: { description: 'The stream.', content: { 'text/event-stream': { schema: Type.String(fileText) } } },
        ...errors(400, 401, 403, 404, 429, 503),
      },
    },
    handler: async (request, reply) => {
      const member = memberOf(request)
      const release = openStream(member)
      const { workspaceId } = member
      const cursor = request.headers['last-event-id'] || request.query.after
      stopWaitBudget()
      reply.hijack()
      const out = reply.raw
      out.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        // Keeps nginx and similar proxies from buffering the stream.
        'x-accel-buffering': 'no',
      })
      await live
        .addStream({
          workspaceId,
          out,
          userId: member.userId,
          sessionId: member.sessionId,
          tokenId: member.tokenId,
          after: cursor === undefined ? null : (parseFeedCursor(workspaceId, cursor) ?? 'unknown'),
          names: namesFor(member, names),
          readNames: async () => {
            const now = await guard.stillMember(request)
            return now === null ? null : namesFor(now, names)
          },
        })
        .finally(release)
    },
  })
}

function namesFor({ workspace }: Member, names: readonly EventName[]): EventName[] {
  const isOn = { leads: workspace.leadsEnabled, inbox: workspace.inboxEnabled }
  return names.filter((name) => isOn[areaOf(name)])
}

/** Creates the limits of open streams: per member, per workspace and in total. */
export function createStreamLimits(): (member: Pick<Member, 'userId' | 'tokenId' | 'workspaceId'>) => () => void {
  const acquireSlots = createSlotCounter()
  const tooManyInTotal = () => unavailable('Too many open streams. Try again shortly.')
  const ofMember = { most: maxStreamsOfMember, refusal: () => tooManyStreams('', maxStreamsOfMember) }
  const ofWorkspace = {
    most: maxStreamsOfWorkspace,
    refusal: () => tooManyStreams(' of this workspace', maxStreamsOfWorkspace),
  }
  return ({ userId, tokenId, workspaceId }) =>
    acquireSlots([
      { who: `member ${userId ?? tokenId ?? ''}`, ...ofMember },
      { who: `workspace ${workspaceId}`, ...ofWorkspace },
      { who: 'all', most: maxStreams, refusal: tooManyInTotal },
    ])
}

const tooManyStreams = (whose: string, count: number): ApiError =>
  tooManyRequests(`The limit of ${count} open streams${whose} is reached. Close one first.`, 10, {
    code: 'RATE_LIMITED',
  })
