import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { withTimeout } from '../async/loop.ts'
import { type Names, planOf, type Step } from './exchange.ts'
import { DatabaseError } from './failures.ts'

/** How a session is used: what stands before the server may not let all of it through. */
export interface SessionMode {
  readonly names: Names
  /**
   * Whether a request may be sent before the one ahead of it is answered, outside a transaction. PgBouncer before 1.21
   * takes its server back at that answer even if it has passed on a part of the next request, and gives the rest of that
   * to another one.
   */
  readonly isPipelined: boolean
  /** Sent along at the beginning of each transaction, for its time, and before a single statement. */
  readonly settings: readonly Step[]
  /** The same before a script. */
  readonly preface: string
}

/** With the server itself. */
export const direct: SessionMode = { names: 'own', isPipelined: true, settings: [], preface: '' }

const findingMs = 5_000
/** It finds itself among the statements that the server has prepared. */
const ownNames = 'select name from pg_prepared_statements where statement = $1'
const settingsNow = 'select name, setting from pg_settings where name = any($1)'

type Settings = Readonly<Record<string, string>>

/**
 * Finds out what a pooler keeps for us: names of statements, and `wanted` as settings of its sessions, which it refuses in
 * a greeting. Leaves nothing behind at the server.
 */
export async function findSessionMode(client: pg.Client, wanted: Settings): Promise<SessionMode> {
  client.on('error', () => undefined)
  try {
    return await withTimeout(findingMs, () => askSessionMode(client, wanted))
  } catch (error) {
    client.connection.stream.destroy()
    throw error
  }
}

async function askSessionMode(client: pg.Client, wanted: Settings): Promise<SessionMode> {
  const name = `parley_${randomBytes(8).toString('hex')}`
  // A transaction has one server, whatever the pooler does otherwise.
  const [, settings, found] = await Promise.all([
    client.query('begin'),
    client.query<{ name: string; setting: string }>(settingsNow, [Object.keys(wanted)]),
    client.query<{ name: string }>({ name, text: ownNames, values: [ownNames] }).catch(unlessRefused),
  ])
  const known = found?.rows.map((row) => row.name) ?? []
  // Where the server knows our very name, nobody has given it one that is the same on every server.
  const isPassedOn = known.includes(name)
  await client.query(isPassedOn ? `deallocate "${name}"; rollback` : 'rollback')
  const now = new Map(settings.rows.map((row) => [row.name, row.setting]))
  const missing = Object.entries(wanted).filter(([setting, value]) => now.get(setting) !== value)
  const names = known.length > 0 && !isPassedOn ? 'shared' : 'none'
  return { names, isPipelined: names === 'shared', ...limitsOf(missing) }
}

function unlessRefused(error: unknown): null {
  if (error instanceof DatabaseError && error.severity === 'ERROR') return null
  throw error
}

function limitsOf(missing: readonly [name: string, value: string][]): Pick<SessionMode, 'settings' | 'preface'> {
  if (missing.length === 0) return { settings: [], preface: '' }
  const textOf = (parts: readonly string[]) => `select ${parts.join(', ')}`
  const bound = missing.map((_, n) => `set_config($${2 * n + 1}, $${2 * n + 2}, true)`)
  const written = missing.map(([name, value]) => `set_config('${name}', '${value}', true)`)
  return {
    settings: [{ plan: planOf({ text: textOf(bound), types: [] }), values: missing.flat() }],
    preface: `${textOf(written)}; `,
  }
}
