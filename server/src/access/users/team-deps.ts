import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import type { Vault } from '../../base/sealing/vault.ts'
import type { Passwords } from './passwords.ts'

/** What the team's verbs in this room act on. */
export interface TeamDeps {
  db: Db
  vault: Vault
  clock: Clock
  /** Of sessions, links, codes and guesses: browsers go by it, wherever the simulator has moved `clock` to. */
  wallClock: Clock
  /** How long a session lasts without being used. */
  sessionIdleMs: number
  passwords: Passwords
  /** Without a trailing slash: links begin with it. */
  publicUrl: string
  /** The client's address, as the operator's proxies tell it, or null when it cannot be told. */
  addressOf(request: IncomingMessage): string | null
}

/** Where a sign-in comes from. */
export interface Visitor {
  address: string | null
  device: string
  /** The session that the browser already has. */
  sessionToken: string | null
  /** What an earlier sign-in left in the browser. */
  deviceToken: string | null
}
