import { type AgentsWorld, addTemplate, agentsWorld } from './agents-world.ts'

export const template = { name: 'order_update', language: 'en_US', body_params: ['Ana'] }

/** A workspace with an agent, whose connection has an approved template. */
export async function withTemplate(): Promise<AgentsWorld> {
  const w = await agentsWorld()
  await addTemplate(w)
  return w
}
