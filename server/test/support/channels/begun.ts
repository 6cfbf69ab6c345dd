import { readFileSync } from 'node:fs'
import type { BehaviourWorld } from './behaviour-world.ts'
import type { Phone } from './channel-rig.ts'

/** The bytes of a file that the simulator's phones have. */
export const made = (name: string) =>
  readFileSync(new URL(`../../../src/simulator/files/made/${name}`, import.meta.url))

/** A conversation that a customer has begun. */
export async function begun(w: BehaviourWorld): Promise<{ ana: Phone; id: string }> {
  const ana = await w.line.customer()
  await ana.writes('Olá')
  const { id } = await w.conversation(ana.phone)
  return { ana, id }
}

/** What the business sent, as the phone shows it. */
export const ours = async (phone: Phone) => (await phone.screen()).filter(({ from }) => from === 'business')
