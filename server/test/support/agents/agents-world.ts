import assert from 'node:assert/strict'
import type { AgentTool } from '../../../src/agents/define-tool.ts'
import { basePath } from '../../../src/agents/http/routes.ts'
import { agentTools } from '../../../src/agents/tools/all-tools.ts'
import type { NewKeyInput } from '../../../src/auth/api-keys/change-key.ts'
import { newId } from '../../../src/base/id.ts'
import { compileCheck } from '../../../src/base/validation.ts'
import { replaceTemplates } from '../../../src/channels/templates/templates.ts'
import type { FakePlatform } from '../channels/fake-platform.ts'
import { type InboxWorld, inboxWorld } from '../inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../member.ts'
import type { Answer } from '../world.ts'

export interface AgentsWorld extends InboxWorld {
  agent: { id: string; value: string }
  /** Sends of the connection so far. */
  sent(): FakePlatform['sends']
  /** Another member takes over the conversation; returns the member. */
  takeOver(conversationId: string): Promise<TestMember>
  /** The member hands the conversation back to the agent. */
  handBack(member: TestMember, conversationId: string, note?: { summary: string; nextStep?: string }): Promise<void>
  /** Calls a tool over HTTP and checks its answer against the output schema. Defaults to the key of `agent`. */
  callTool(name: string, input?: Record<string, unknown>, key?: string): Promise<Answer>
}

/** Creates a workspace with a connection and an agent that gets new conversations. */
export async function agentsWorld(settings: Partial<NewKeyInput> = {}): Promise<AgentsWorld> {
  const w = await inboxWorld()
  const agent = await w.addKey({
    name: 'Support agent',
    scopes: ['inbox.read', 'inbox.write', 'leads.read', 'leads.write', 'knowledge.read'],
    ...{ answersNewConversations: true, quietSeconds: 0 },
    ...settings,
  })
  return {
    ...w,
    agent,
    sent: () => w.platform.sends.filter(({ connectionId }) => connectionId === w.connectionId),
    takeOver: async (id) => {
      const member = await signedInMember(w)
      assert.equal((await member.call('POST', `/inbox/conversations/${id}/take-over`)).status, 200)
      return member
    },
    handBack: async (member, id, note) => {
      const body = { keyId: agent.id, ...(note && { note }) }
      assert.equal((await member.call('POST', `/inbox/conversations/${id}/hand-back`, body)).status, 200)
    },
    callTool: async (name, input = {}, key = agent.value) => {
      const tool = findTool(name)
      const { method, path, query, body } = requestOf(tool, input)
      const answer = await w.call(method, path, { key, query, ...(method === 'GET' ? {} : { body }) })
      const isProblem = String(answer.headers['content-type']).startsWith('application/problem+json')
      if (isProblem) return { ...answer, body: JSON.parse(answer.body) }
      assert.deepEqual(checkOutput(tool, answer.body), [], `${name} answers what it promises`)
      return answer
    },
  }
}

export const template = { name: 'order_update', language: 'en_US', body_params: ['Ana'] }

/** Creates a workspace with an agent, whose connection has an approved template. */
export async function agentsWorldWithTemplate(): Promise<AgentsWorld> {
  const w = await agentsWorld()
  await addTemplate(w)
  return w
}

/** Adds an approved template with one parameter to the connection; returns its name and language. */
export async function addTemplate(w: InboxWorld, connectionId = w.connectionId) {
  const { body_params: _, ...named } = template
  const approved = {
    ...{ id: newId(w.clock.now()), ...named, category: 'UTILITY', status: 'APPROVED' },
    ...{ body: 'Hi {{1}}, your order left.', parameterNames: null, parameterCount: 1, bodyOnly: true, header: null },
  }
  await w.db.tx((tx) =>
    replaceTemplates(tx, { workspaceId: w.workspaceId, id: connectionId }, [approved], w.clock.now()),
  )
  return named
}

export function findTool(name: string): AgentTool {
  const tool = agentTools.find((one) => one.name === name)
  assert.ok(tool !== undefined, `a tool ${name}`)
  return tool
}

/** Returns the HTTP request for a tool's input. */
export function requestOf({ http: { method, path } }: AgentTool, input: Record<string, unknown>) {
  const rest = { ...input }
  const filled = path.replaceAll(/:(\w+)/g, (_all, name: string) => {
    const value = String(rest[name])
    delete rest[name]
    return encodeURIComponent(value)
  })
  const query = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]))
  return { method, path: `${basePath}${filled}`, query: method === 'GET' ? query : {}, body: rest }
}

const checks = new Map<string, ReturnType<typeof compileCheck>>()

/** Returns violations of the tool's output schema. */
export function checkOutput({ name, output }: AgentTool, answer: unknown) {
  const check = checks.get(name) ?? compileCheck(close(output))
  checks.set(name, check)
  return check(answer, name)
}

// An object schema with listed fields allows no others.
const close = (schema: object) =>
  JSON.parse(JSON.stringify(schema), (_name, value) =>
    value?.properties && !('additionalProperties' in value) ? { ...value, additionalProperties: false } : value,
  )
