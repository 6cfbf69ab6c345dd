import { singleFlight } from '../../../base/async/single-flight.ts'
import type { AuthKey, AuthStore } from './auth-store.ts'
import type { BaileysPackage, Creds, SignalKeys } from './baileys-package.ts'

/** What makes a socket the device that it was. */
export interface Identity {
  creds: Creds
  keys: SignalKeys
  /** Writes the credentials as they are by then; calls that come meanwhile are one. */
  save(): Promise<void>
}

/** The identity that the store keeps; a new one, which the store then has, when no phone has linked it yet. */
export async function openIdentity(baileys: BaileysPackage, store: AuthStore): Promise<Identity> {
  const kept = await readCreds(baileys, store)
  const creds = kept ?? baileys.initAuthCreds()
  const save = singleFlight(() => store.writeCreds(JSON.stringify(creds, baileys.BufferJSON.replacer)))
  if (kept === null) await save()
  return { creds, keys: keysOf(baileys, store), save }
}

async function readCreds({ BufferJSON }: BaileysPackage, store: AuthStore): Promise<Creds | null> {
  const text = await store.readCreds()
  if (text === null) return null
  const creds = JSON.parse(text, BufferJSON.reviver) as Creds
  // A pairing by code names its phone before that has agreed: with such a name the network takes us for a device that it
  // knows, and refuses.
  return creds.account === undefined || creds.account === null ? null : creds
}

function keysOf({ BufferJSON, proto }: BaileysPackage, store: AuthStore): SignalKeys {
  const revive = (type: string, text: string): unknown => {
    const value: unknown = JSON.parse(text, BufferJSON.reviver)
    const isMessage = type === 'app-state-sync-key' && typeof value === 'object' && value !== null
    return isMessage ? proto.Message.AppStateSyncKeyData.fromObject(value) : value
  }
  return {
    get: async (type, ids) => {
      const kept = await store.readKeys(type, ids)
      return Object.fromEntries([...kept].map(([id, text]) => [id, revive(type, text)]))
    },
    set: async (data) => {
      const entries = Object.entries(data).flatMap(([type, values]) =>
        Object.entries(values ?? {}).map(([id, value]): AuthKey => {
          const isGone = value === null || value === undefined
          return { type, id, value: isGone ? null : JSON.stringify(value, BufferJSON.replacer) }
        }),
      )
      if (entries.length > 0) await store.writeKeys(entries)
    },
  }
}
