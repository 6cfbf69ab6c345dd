import { newId } from '../../../src/base/id.ts'
import { replaceTemplates } from '../../../src/channels/templates/templates.ts'
import { type AgentsWorld, agentsWorld } from './agents-world.ts'

export const template = { name: 'order_update', language: 'en_US', body_params: ['Ana'] }

/** A workspace with an agent, whose connection has an approved template. */
export async function withTemplate(): Promise<AgentsWorld> {
  const w = await agentsWorld()
  await w.db.tx((tx) =>
    replaceTemplates(
      tx,
      w.workspaceId,
      w.connectionId,
      [
        {
          id: newId(w.clock.now()),
          name: 'order_update',
          language: 'en_US',
          category: 'UTILITY',
          status: 'APPROVED',
          body: 'Hi {{1}}, your order left.',
          parameterNames: null,
          parameterCount: 1,
          bodyOnly: true,
          header: null,
        },
      ],
      w.clock.now(),
    ),
  )
  return w
}
