import { limitConcurrency } from '../../../base/async/concurrency-limit.ts'
import { objectOf, readJson, textOf } from '../../waba/json.ts'
import type { AuthStore } from './auth-store.ts'

/** What the device is and how far its keys have moved on, as far as that is stored. */
export interface Memory {
  /** What shows the network who we are; null before the device was linked. */
  read(): Promise<Credentials | null>
  /** Stores who we are from now on. */
  become(creds: unknown): Promise<void>
  /** Moves the keys on, as the real ones do with each message. Rejects, and stays, when that cannot be stored. */
  advance(): Promise<void>
  ratchet(): number
}

interface Credentials {
  device: string
  secret: string
  phone: string
  ratchet: number
}

const type = 'ratchet'
const id = 'self'

export function openMemory(auth: AuthStore): Memory {
  let ratchet = 0
  // One after another: two that move on at once would store the same step.
  const inTurn = limitConcurrency({ atOnce: 1 })
  return {
    ratchet: () => ratchet,
    read: async () => {
      const creds = readCreds(await auth.readCreds())
      if (creds === null) return null
      const stored = Number((await auth.readKeys(type, [id])).get(id))
      // Lost keys are older than the network's, which says so.
      ratchet = Number.isSafeInteger(stored) && stored > 0 ? stored : 0
      return { ...creds, ratchet }
    },
    become: async (creds) => {
      await auth.writeCreds(JSON.stringify(creds))
      await auth.writeKeys([{ type, id, value: '0' }])
      ratchet = 0
    },
    advance: () =>
      inTurn(async () => {
        await auth.writeKeys([{ type, id, value: String(ratchet + 1) }])
        ratchet += 1
      }),
  }
}

function readCreds(text: string | null): Omit<Credentials, 'ratchet'> | null {
  if (text === null) return null
  const { device, secret, phone } = objectOf(readJson(text))
  const [deviceText, secretText, phoneText] = [textOf(device), textOf(secret), textOf(phone)]
  if (deviceText === null || secretText === null || phoneText === null) return null
  return { device: deviceText, secret: secretText, phone: phoneText }
}
