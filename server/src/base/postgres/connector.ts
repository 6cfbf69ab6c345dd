import type pg from 'pg'
import type { DatabaseAddress } from './address/address.ts'
import { connect, type SessionSettings } from './connect.ts'

export type Connect = (signal?: AbortSignal) => Promise<pg.Client>

/** Opens sessions with the host that did last time, and when that one fails, with the first of the others that will do. */
export function connector(address: DatabaseAddress, settings: SessionSettings): Connect {
  let { hosts } = address
  return async (signal) => {
    const client = await connect({ ...address, hosts }, settings, signal)
    const used = address.hosts.find(({ host, port }) => host === client.host && port === client.port)
    if (used !== undefined) hosts = [used, ...address.hosts.filter((host) => host !== used)]
    return client
  }
}
