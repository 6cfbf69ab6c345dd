import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { addTemplate } from '../../../../simulator/src/control-routes.ts'
import { demoTemplates } from '../../../../simulator/src/demo/demo-people.ts'
import { startSimulator } from '../../../../simulator/src/simulator.ts'
import { adaptersOf, inboxReceive, openFileOf } from '../../../src/app/inbox.ts'
import { shiftedClock, systemClock } from '../../../src/base/clock.ts'
import { partnerConnector } from '../../../src/channels/partner/call.ts'
import { sessionConnector } from '../../../src/channels/unofficial/send/connector.ts'
import { openTransports, startSessionWorker } from '../../../src/channels/unofficial/session/worker.ts'
import { wabaConnector } from '../../../src/channels/waba/sender.ts'
import { liveUpdatesTopic } from '../../../src/team/live-updates.ts'
import { atEnd, oncePerFile } from '../file-lifecycle.ts'
import type { NewUpload } from '../inbox/uploads.ts'
import { signedInMember } from '../member.ts'
import { freePort } from '../program/service.ts'
import { untilNotified } from '../until.ts'
import { type Answer, type CallOptions, callerOf, servedApp, testRuntime, testTeamToken } from '../world.ts'
import type { Loose, Phone, Rig, Stage } from './rigs.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type BehaviorWorld = Awaited<ReturnType<typeof behaviorWorld>>

let skippedMs = 0
let sends = 0

/** Creates a workspace on the test file's whole service, which exchanges real HTTP requests with a simulator. */
export async function behaviorWorld(rig: Rig) {
  const { app, runtime, simulator, onChange } = await sharedService()
  const asTeam = callerOf(app, testTeamToken)
  const made = await asTeam('POST', '/api/team/v1/workspaces', { body: { name: 'Behaviour' } })
  const workspaceId = made.body.workspace.id
  const home = `/api/team/v1/workspaces/${workspaceId}`
  const member = await signedInMember({ ...runtime, app, workspaceId })
  const scopes = ['inbox.read', 'inbox.write']
  const { body: key } = await asTeam('POST', `${home}/keys`, { body: { name: 'Agent', scopes } })
  const stage: Stage = {
    simulate: async (method, path, body) => {
      const answer = await fetch(`${simulator.url}/simulator/${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      assert.ok(answer.ok, `${method} ${path} answers ${answer.status}`)
      return answer.json()
    },
    simulatorUrl: simulator.url,
    settled: simulator.settled,
    acknowledge: async (connectionId) => {
      const answer = await member.call('POST', `/connections/${connectionId}/acknowledge`)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
    },
    connections: async (method, path, body) => {
      const answer = await asTeam(method, `${home}/connections${path}`, { body })
      assert.ok(answer.status < 300, JSON.stringify(answer.body))
      return answer.body
    },
    whenSession: (connectionId, isSo) =>
      untilNotified(
        (check) => runtime.db.subscribe(liveUpdatesTopic, check),
        async () => isSo((await stage.connections('GET', `/${connectionId}/session`)).session),
      ),
  }
  const call = callerOf(app, key.value)
  const agent = (method: Method, path: string, options?: CallOptions) => call(method, `/api/v1/inbox${path}`, options)
  return {
    ...stage,
    line: await rig.connect(stage),
    member,
    logLines: runtime.logLines,
    agentId: key.key.id as string,
    /** Calls the API with the agent's key, below `/api/v1/inbox`. */
    agent,
    /** Calls the API with the agent's key, below `/api/v2`; parses problem details as JSON. */
    verb: async (method: Method, path: string, options?: CallOptions): Promise<Answer> => {
      const answer = await call(method, `/api/v2${path}`, options)
      return typeof answer.body === 'string' ? { ...answer, body: JSON.parse(answer.body) } : answer
    },
    /** Calls the team API below the workspace. */
    team: (method: Method, path: string, body?: object) => asTeam(method, `${home}${path}`, { body }),
    /** Returns the conversation as the agent sees it; undefined if there is none. */
    conversation: async (phone: string): Promise<Loose> =>
      (await agent('GET', '/conversations', { query: { phone } })).body.conversations[0],
    /** Oldest first. */
    messages: async (id: string): Promise<Loose[]> =>
      (await agent('GET', `/conversations/${id}/messages`)).body.messages,
    /** Sends a text as the agent, with a new idempotency key unless one is given. */
    send: (id: string, text: string, idempotencyKey = `send-${++sends}`) =>
      agent('POST', `/conversations/${id}/messages`, {
        body: { kind: 'text', text },
        headers: { 'idempotency-key': idempotencyKey },
      }),
    sendAsMember: (id: string, body: object, idempotencyKey = `member-${++sends}`) =>
      member.call('POST', `/inbox/conversations/${id}/messages`, body, { 'idempotency-key': idempotencyKey }),
    /** Uploads a file of the member that no message uses. */
    upload: async (conversationId: string, { kind, type, bytes, name, more }: NewUpload): Promise<string> => {
      const reply = await app.inject({
        method: 'POST',
        url: `${home}/inbox/conversations/${conversationId}/uploads`,
        query: { kind, type, ...(name && { name }), ...(more?.seconds && { seconds: `${more.seconds}` }) },
        headers: { ...member.headers, 'content-type': 'application/octet-stream' },
        payload: bytes,
      })
      assert.equal(reply.statusCode, 201, reply.body)
      return reply.json().id
    },
    /** Returns payloads of the workspace's events with this name, oldest first. */
    events: async (name: string): Promise<Loose[]> =>
      (await call('GET', '/api/v1/events', { query: { events: name } })).body.events,
    /** Resolves when this many messages of the business have arrived on the phone. */
    arrived: (phone: Phone, count: number) =>
      untilNotified(onChange, async () => (await businessMessages(phone)).length === count),
    /** Advances the clocks of the service and the platform. */
    later: (ms: number) => stage.simulate('POST', 'clock', { advanceMs: ms }),
    /** Lets the session's wait for the network's answer to sends time out. */
    outwaitSession: () => {
      skippedMs += 60_000
    },
  }
}

/** Creates a conversation started by a customer. */
export async function beginConversation(w: BehaviorWorld): Promise<{ ana: Phone; id: string }> {
  const ana = await w.line.customer()
  await ana.writes('Olá')
  const { id } = await w.conversation(ana.phone)
  return { ana, id }
}

/** Returns messages of the business as the phone shows them. */
export const businessMessages = async (phone: Phone) => (await phone.screen()).filter(({ from }) => from === 'business')

/** Returns the texts that have not failed. */
export const deliveredTexts = async (phone: Phone) =>
  (await phone.chat()).filter(({ from }) => from === 'business').map(({ text }) => text)

/** Returns a ready-made file of the simulator. */
export const readyMadeFile = (name: string) =>
  readFileSync(new URL(`../../../../simulator/src/files/samples/${name}`, import.meta.url))

const sharedService = oncePerFile(async () => {
  const port = await freePort()
  const runtime = await testRuntime(shiftedClock(systemClock), { PARLEY_PORT: String(port) })
  const connectors = {
    ...{ waba: wabaConnector(runtime), partner: partnerConnector(runtime) },
    website: adaptersOf(runtime).website.connector,
    unofficial: sessionConnector({ ...runtime, elapsedMs: () => performance.now() + skippedMs, pollMs: 20 }),
  }
  const app = await servedApp({ ...runtime, connectors })
  await app.listen({ port, host: runtime.config.http.host })
  const [receive, openFile, transportOf] = [inboxReceive(runtime), openFileOf(runtime), openTransports(runtime)]
  const sessions = startSessionWorker({ ...runtime, receive, openFile, transportOf, random: () => 0 })
  const simulator = await startSimulator({
    ...{ port: 0, clock: runtime.clock, log: runtime.log, retryMs: [0, 0, 0] },
    ladder: { sentMs: 0, deliveredMs: 0, readMs: 0 },
  })
  const { platform } = simulator
  for (const template of demoTemplates) addTemplate(platform.world, template)
  const checks = new Set<() => void>()
  const { changed } = platform
  platform.changed = () => {
    changed()
    for (const check of checks) check()
  }
  const onChange = (check: () => void) => {
    checks.add(check)
    return () => checks.delete(check)
  }
  atEnd(async () => {
    await sessions.stop()
    await simulator.stop()
  })
  return { app, runtime, simulator, onChange }
})
