import assert from 'node:assert/strict'
import type { NewKeyInput } from '../../../src/access/keys/change.ts'
import { type ClientWorld, clientWorld } from '../client/client-world.ts'
import { installedNodes } from './installed-nodes.ts'
import type { Item, NodeType } from './node-type.ts'
import { type Given, standIn } from './stand-in.ts'

export interface N8nWorld extends ClientWorld {
  node(name: string): NodeType
  /** What a node is called on, with the world's key. */
  context(node: NodeType, given?: Partial<Given>): object
  /** Runs the node of actions; answers its items. */
  run(parameters: Record<string, unknown> | Record<string, unknown>[], given?: Partial<Given>): Promise<Item[]>
  pauses: number[]
}

/** A workspace, a key, and the nodes in an n8n that has both. */
export async function n8nWorld(settings: Partial<NewKeyInput> = {}): Promise<N8nWorld> {
  const w = await clientWorld(settings)
  const installed = await installedNodes()
  const node: N8nWorld['node'] = (name) => {
    const found = installed.nodes.get(name)
    assert.ok(found !== undefined, `a node ${name}`)
    return found
  }
  const credentials = { parleyApi: { baseUrl: `${w.url}/`, apiKey: w.agent.value } }
  const context: N8nWorld['context'] = (of, given = {}) => standIn(installed, of, { credentials, ...given })
  return {
    ...w,
    node,
    context,
    pauses: installed.pauses,
    run: async (parameters, given = {}) => {
      const actions = node('parley')
      const [items = []] = (await actions.execute?.call(context(actions, { parameters, ...given }))) ?? []
      return items
    },
  }
}
