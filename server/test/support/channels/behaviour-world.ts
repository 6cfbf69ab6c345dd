import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createMemoryLimiter } from '../../../src/access/rate-limit/rate-limit-memory.ts'
import { buildApp } from '../../../src/app/app.ts'
import { gaugesOf } from '../../../src/app/gauges.ts'
import { inboxReceive, openFileOf } from '../../../src/app/inbox.ts'
import type { Runtime } from '../../../src/app/runtime.ts'
import { shiftedClock, systemClock } from '../../../src/base/clock.ts'
import { createLog } from '../../../src/base/log.ts'
import type { App } from '../../../src/base/route.ts'
import { openVault } from '../../../src/base/sealing/vault.ts'
import { partnerConnector } from '../../../src/channels/partner/call.ts'
import { sessionConnector } from '../../../src/channels/unofficial/send/connector.ts'
import { openTransports, startSessions } from '../../../src/channels/unofficial/session/worker.ts'
import { wabaConnector } from '../../../src/channels/waba/sender.ts'
import { loadConfig } from '../../../src/config.ts'
import { createSequencer } from '../../../src/events/sequencer.ts'
import { createMetrics } from '../../../src/http/ops/metrics.ts'
import { demoTemplates } from '../../../src/simulator/demo/demo-templates.ts'
import { type Simulator, startSimulator } from '../../../src/simulator/simulator.ts'
import { addTemplate } from '../../../src/simulator/template-routes.ts'
import { type ContractCheck, checkAnswers } from '../contract/contract.ts'
import { testDatabase } from '../database.ts'
import { atEnd, oncePerFile } from '../file-end.ts'
import { fastPaces } from '../inbox/send-deps.ts'
import type { NewUpload } from '../inbox/uploads.ts'
import { markedStore } from '../media/marked-store.ts'
import { signedInMember, type TestMember } from '../member.ts'
import { openTestOutgoing } from '../outgoing/outgoing.ts'
import { freePort } from '../program/service.ts'
import { type Answer, type CallOptions, callerOf, testTeamToken } from '../world.ts'
import type { Line, Phone, Rig, Stage } from './rigs.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** A workspace with a number of the rig's channel, an agent, and people beside it. */
export interface BehaviourWorld {
  line: Line
  agentId: string
  /** The agent's call, below `/api/v1/inbox`. */
  agent(method: Method, path: string, options?: CallOptions): Promise<Answer>
  /** The agent's call, below `/api/v2`; a problem is read as JSON. */
  verb(method: Method, path: string, options?: CallOptions): Promise<Answer>
  /** The team's call, below the workspace. */
  team(method: Method, path: string, body?: object): Promise<Answer>
  /** A member's call, below the workspace. */
  member: TestMember
  /** The conversation with this phone, as the agent sees it; undefined when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  conversation(phone: string): Promise<any>
  /** Oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  messages(conversationId: string): Promise<any[]>
  /** The agent sends a text; a key of its own each time unless given. */
  send(conversationId: string, text: string, idempotencyKey?: string): Promise<Answer>
  /** The member sends, by a key of its own each time unless given. */
  sendAsMember(conversationId: string, body: object, idempotencyKey?: string): Promise<Answer>
  /** A file of the member that no message has taken. */
  upload(conversationId: string, file: NewUpload): Promise<string>
  /** Payloads of the workspace's events with this name, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  events(name: string): Promise<any[]>
  /** Resolves when nothing is on its way any more. */
  settled(): Promise<void>
  /** The time goes on by so much, for the service and the platform. */
  later(ms: number): Promise<void>
  /** A session has waited long enough for the network's word on what has left. */
  outwaitSession(): void
  /** Calls the simulator; throws unless the answer is a success. */
  simulate: Stage['simulate']
  logLines: string[]
}

interface Theatre {
  app: App
  runtime: Runtime
  simulator: Simulator
  logLines: string[]
}

let skippedMs = 0
let sends = 0

/** A fresh workspace on the whole service of this test file, which talks with a simulator by real HTTP both ways. */
export async function behaviourWorld(rig: Rig): Promise<BehaviourWorld> {
  const { app, runtime, simulator, logLines } = await theatre()
  const asTeam = callerOf(app, testTeamToken)
  const made = await asTeam('POST', '/api/team/v1/workspaces', { body: { name: 'Behaviour' } })
  const workspaceId = made.body.workspace.id
  const home = `/api/team/v1/workspaces/${workspaceId}`
  const member = await signedInMember({ ...runtime, app, workspaceId })
  const scopes = ['inbox.read', 'inbox.write']
  const { body: agent } = await asTeam('POST', `${home}/keys`, { body: { name: 'Agent', scopes } })
  const simulate: Stage['simulate'] = async (method, path, body) => {
    const answer = await fetch(`${simulator.url}/simulator/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    assert.ok(answer.ok, `${method} ${path} answers ${answer.status}`)
    return answer.json()
  }
  const line = await rig.connect({
    simulate,
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
  })
  const call = callerOf(app, agent.value)
  const asAgent: BehaviourWorld['agent'] = (method, path, options) => call(method, `/api/v1/inbox${path}`, options)
  return {
    line,
    member,
    simulate,
    logLines,
    agentId: agent.key.id,
    agent: asAgent,
    verb: async (method, path, options) => {
      const answer = await call(method, `/api/v2${path}`, options)
      return typeof answer.body === 'string' ? { ...answer, body: JSON.parse(answer.body) } : answer
    },
    team: (method, path, body) => asTeam(method, `${home}${path}`, body === undefined ? {} : { body }),
    conversation: async (phone) => (await asAgent('GET', '/conversations', { query: { phone } })).body.conversations[0],
    messages: async (id) => (await asAgent('GET', `/conversations/${id}/messages`)).body.messages,
    send: (id, text, idempotencyKey = `send-${++sends}`) =>
      asAgent('POST', `/conversations/${id}/messages`, {
        body: { kind: 'text', text },
        headers: { 'idempotency-key': idempotencyKey },
      }),
    sendAsMember: (id, body, key = `member-${++sends}`) =>
      member.call('POST', `/inbox/conversations/${id}/messages`, body, { 'idempotency-key': key }),
    upload: async (conversationId, { kind, type, bytes, name, more }) => {
      const query = {
        kind,
        type,
        ...(name !== undefined && { name }),
        ...(more?.seconds && { seconds: `${more.seconds}` }),
      }
      const reply = await app.inject({
        method: 'POST',
        url: `${home}/inbox/conversations/${conversationId}/uploads`,
        query,
        headers: { ...member.headers, 'content-type': 'application/octet-stream' },
        payload: bytes,
      })
      assert.equal(reply.statusCode, 201, reply.body)
      return reply.json().id
    },
    events: async (name) => {
      const { body } = await call('GET', '/api/v1/events', { query: { events: name } })
      return body.events
    },
    settled: simulator.settled,
    later: (ms) => simulate('POST', 'clock', { advanceMs: ms }),
    outwaitSession: () => {
      skippedMs += 60_000
    },
  }
}

/** A conversation that a customer has begun. */
export async function begun(w: BehaviourWorld): Promise<{ ana: Phone; id: string }> {
  const ana = await w.line.customer()
  await ana.writes('Olá')
  const { id } = await w.conversation(ana.phone)
  return { ana, id }
}

/** What the business sent, as the phone shows it. */
export const ours = async (phone: Phone) => (await phone.screen()).filter(({ from }) => from === 'business')

/** The bytes of a file that the simulator's phones have. */
export const made = (name: string) =>
  readFileSync(new URL(`../../../src/simulator/files/made/${name}`, import.meta.url))

const theatre = oncePerFile(async (): Promise<Theatre> => {
  const { db } = await testDatabase()
  const clock = shiftedClock(systemClock)
  const logLines: string[] = []
  const log = createLog('debug', { write: (line) => logLines.push(line) })
  const port = await freePort()
  const config = loadConfig({
    PARLEY_PORT: String(port),
    PARLEY_INBOX_RATE_LIMIT: '0',
    PARLEY_TEAM_TOKEN: testTeamToken,
  })
  const vault = openVault(db, { current: Buffer.alloc(32, 7) }, clock)
  const outgoing = openTestOutgoing()
  const runtime: Runtime = {
    config,
    log,
    clock,
    db,
    vault,
    limiter: createMemoryLimiter(clock),
    metrics: createMetrics(gaugesOf({ db, clock, log }, 10)),
    sequencer: createSequencer(db),
    outgoing,
    media: await markedStore(),
    pacesOf: () => fastPaces,
    connectors: {
      waba: wabaConnector({ outgoing, clock }),
      partner: partnerConnector({ outgoing, clock }),
      unofficial: sessionConnector({
        ...{ db, vault, clock },
        pollMs: 20,
        elapsedMs: () => performance.now() + skippedMs,
      }),
    },
  }
  await runtime.vault.ensureInstanceSecrets()
  let answers: ContractCheck | undefined
  const app = await buildApp(runtime, (server) => {
    answers = checkAnswers(server)
  })
  await app.listen({ port, host: config.http.host })
  const transportOf = openTransports(runtime)
  const sessionDeps = { ...runtime, receive: inboxReceive(runtime), openFile: openFileOf(runtime), transportOf }
  const sessions = startSessions({ ...sessionDeps, random: () => 0 })
  const simulator = await startSimulator({
    port: 0,
    clock,
    log,
    ladder: { sentMs: 0, deliveredMs: 0, readMs: 0 },
    retryMs: [0, 0, 0],
  })
  for (const template of demoTemplates) addTemplate(simulator.platform.world, template)
  atEnd(async () => {
    await sessions.stop()
    await simulator.stop()
    await app.close()
    runtime.outgoing.close()
    answers?.assertNone()
  })
  return { app, runtime, simulator, logLines }
})
