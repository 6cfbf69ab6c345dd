import assert from 'node:assert/strict'
import type { EventEmitter } from 'node:events'
import type { NewKeyInput } from '../../../src/auth/api-keys/change-key.ts'
import { type ClientWorld, clientWorld } from '../client/client-world.ts'
import { loadedNodes } from './loaded-nodes.ts'
import { createNodeContext, type NodeInput } from './node-context.ts'
import type { Item, NodeType } from './node-type.ts'

export interface N8nWorld extends ClientWorld {
  node(name: string): NodeType
  /** Returns the execution context of a node, with the world's key. */
  context(node: NodeType, given?: Partial<NodeInput>): object
  /** Runs the node of actions; returns its items. */
  run(parameters: Record<string, unknown> | Record<string, unknown>[], given?: Partial<NodeInput>): Promise<Item[]>
  paused: EventEmitter
  /** Messages sent to the customers of this world. */
  sent(): Message[]
}

type Message = N8nWorld['platform']['sends'][number]['order']['message']

/** Returns the parameters of an operation on a conversation. */
export const about = (operation: string, conversationId: string, fields: object = {}) => ({
  resource: 'conversation',
  operation,
  conversationId,
  ...fields,
})

/** Creates a workspace, a key, and the nodes in an n8n with its credentials. */
export async function n8nWorld(settings: Partial<NewKeyInput> = {}): Promise<N8nWorld> {
  const w = await clientWorld(settings)
  const loaded = await loadedNodes()
  const node: N8nWorld['node'] = (name) => {
    const found = loaded.nodes.get(name)
    assert.ok(found !== undefined, `a node ${name}`)
    return found
  }
  const credentials = { parleyApi: { baseUrl: `${w.url}/`, apiKey: w.agent.value } }
  const context: N8nWorld['context'] = (of, given = {}) => createNodeContext(loaded, of, { credentials, ...given })
  return {
    ...w,
    node,
    context,
    paused: loaded.paused,
    sent: () =>
      w.platform.sends.filter(({ connectionId }) => connectionId === w.connectionId).map(({ order }) => order.message),
    run: async (parameters, given = {}) => {
      const actions = node('parley')
      const [items = []] = (await actions.execute?.call(context(actions, { parameters, ...given }))) ?? []
      return items
    },
  }
}
