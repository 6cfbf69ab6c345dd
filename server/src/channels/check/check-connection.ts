import { isDeepStrictEqual } from 'node:util'
import { conflict, tooManyRequests } from '../../base/errors.ts'
import { recordAudit } from '../../team/audit.ts'
import { adapterOf } from '../adapter.ts'
import { auditEntry, type ChangeAuthor, type ConnectionDeps, finishSetup } from '../connection/change-connection.ts'
import {
  connectionNotFound,
  isInSetup,
  isNumberTaken,
  type StoredConnection,
  stillInSetup,
} from '../connection/connection.ts'
import { listConnections, lockConnection, requireConnection } from '../connection/queries.ts'
import { reserve } from '../connection/registration.ts'
import type { AccountNumbers, CheckContext, ListedAccounts } from './adapter-steps.ts'
import { claimCheck, readCheck, storeHistoryRequests, storeReport } from './check-store.ts'
import { judgeConnection } from './general-steps.ts'
import { type CheckLine, type CheckReport, checkLine, isComplete, orderLines } from './report.ts'

export interface CheckDeps extends ConnectionDeps {
  /** URL at which platforms reach this service, without a trailing slash. */
  publicUrl: string
}

export interface CheckedConnection {
  connection: StoredConnection
  report: CheckReport
}

/** A step of connecting that Parley performs at the platform. */
export type SetupStep = { kind: 'subscribe' } | { kind: 'register'; pin: string } | { kind: 'history' }

/** Checks a connection at its platform, and stores the report. A connection in setup is used once every step works. */
export async function checkConnection(deps: CheckDeps, by: ChangeAuthor, id: string): Promise<CheckedConnection> {
  return examine(deps, by, await claim(deps, by, id), (lines) => lines)
}

/** Performs a step of connecting, then checks the connection. A step that fails is in the report. */
export async function performStep(
  deps: CheckDeps,
  by: ChangeAuthor,
  id: string,
  step: SetupStep,
): Promise<CheckedConnection> {
  const one = await claim(deps, by, id)
  const setup = adapterOf(deps.adapters, one).setup
  if (setup?.[stepFunctions[step.kind]] === undefined)
    throw conflict(`Connections of channel ${one.channel} do not have this step`)
  if (one.numberId === one.id) throw conflict('Choose the number first')
  // The platform sends them once, to the callback URL.
  if (step.kind === 'history' && isInSetup(one)) throw stillInSetup()
  const failed = await perform(deps, one, step)
  if (failed === null) {
    await deps.db.tx((tx) => recordAudit(tx, auditEntry(by, stepActions[step.kind], id), deps.clock.now()))
  }
  return examine(deps, by, one, (lines) => withResult(lines, step, failed))
}

/** Returns the lines with what the step itself has shown. */
function withResult(lines: CheckLine[], step: SetupStep, failed: CheckLine | null): CheckLine[] {
  if (failed !== null) return [...lines, failed]
  if (step.kind !== 'subscribe') return lines
  // The platform has just accepted our URL, even if it does not report URLs.
  return lines.map((line) => (line.code === 'callback_unknown' ? checkLine('webhook', 'subscribed') : line))
}

const stepFunctions = { subscribe: 'subscribe', register: 'register', history: 'requestHistory' } as const
const stepActions = {
  subscribe: 'connection.subscribed',
  register: 'connection.registered',
  history: 'connection.history-requested',
} as const

async function perform(deps: CheckDeps, one: StoredConnection, step: SetupStep): Promise<CheckLine | null> {
  const setup = adapterOf(deps.adapters, one).setup ?? {}
  switch (step.kind) {
    case 'subscribe':
      return (
        (await requireReservation(deps, one)) ?? (await setup.subscribe?.(one, callbackUrlOf(deps, one) ?? '')) ?? null
      )
    case 'register':
      return (await setup.register?.(one, step.pin)) ?? null
    case 'history': {
      const { history } = await readCheck(deps.db.sql, one)
      const requests = await setup.requestHistory?.(one, history, deps.clock.now())
      if (requests !== undefined) await deps.db.tx((tx) => storeHistoryRequests(tx, one, requests))
      // The refusal is stored with the request, so that it is still shown later.
      return null
    }
  }
}

/** Subscribing diverts the messages from where they went before, so the number must be known to be connected here. */
async function requireReservation(deps: CheckDeps, one: StoredConnection): Promise<CheckLine | null> {
  if (one.reservedAs !== null) return null
  const check = await adapterOf(deps.adapters, one).checkNumber(one)
  if (check.problem !== null) return checkLine('webhook', 'not_checked')
  return (await reserve(deps, one, check)) === null ? null : checkLine('number', 'number_elsewhere')
}

/** Returns the numbers that the connection's token can access, and which of them this workspace has connected. */
export async function listNumbers(
  deps: CheckDeps,
  by: ChangeAuthor,
  id: string,
  accountId: string | null,
): Promise<
  { ok: true; accounts: AccountNumbers[]; connected: ReadonlySet<string> } | Extract<ListedAccounts, { ok: false }>
> {
  const one = await claim(deps, by, id)
  const list = adapterOf(deps.adapters, one).setup?.listNumbers
  if (list === undefined) throw conflict(`Connections of channel ${one.channel} have no list of numbers`)
  const [listed, others] = await Promise.all([list(one, accountId), listOthers(deps, one)])
  return listed.ok ? { ...listed, connected: new Set(others.map(({ numberId }) => numberId)) } : listed
}

/** Counts the check and returns the connection. Throws 429 if there were too many. */
async function claim(deps: CheckDeps, { workspaceId }: ChangeAuthor, id: string): Promise<StoredConnection> {
  const waitMs = await deps.db.tx((tx) => claimCheck(tx, { workspaceId, id }, deps.clock.now()))
  if (waitMs === undefined) throw connectionNotFound()
  if (waitMs !== null)
    throw tooManyRequests('Checked too often. Wait a few seconds.', waitMs / 1000, { retryAfterMs: waitMs })
  return requireConnection(deps, workspaceId, id)
}

async function examine(
  deps: CheckDeps,
  by: ChangeAuthor,
  one: StoredConnection,
  complete: (lines: CheckLine[]) => CheckLine[],
): Promise<CheckedConnection> {
  const checkedAt = deps.clock.now()
  const context = await contextOf(deps, one, checkedAt)
  const found = complete(await adapterOf(deps.adapters, one).examine(one, context))
  const { connection, lines } = await finish(deps, by, one, found)
  const report: CheckReport = {
    checkedAt: checkedAt.toISOString(),
    lines: orderLines([...lines, ...judgeConnection(connection, deps.clock.now())]),
  }
  const keyring = await deps.keyStore.keyring(one.workspaceId)
  await deps.db.tx(async (tx) => {
    const current = await lockConnection(tx, keyring, one.workspaceId, one.id)
    // The settings were changed in the meantime: the report would be about others.
    if (current !== undefined && hasSameAccess(current, one)) await storeReport(tx, one, report)
  })
  return { connection, report }
}

/** Ends the setup if every step works. */
async function finish(deps: CheckDeps, by: ChangeAuthor, one: StoredConnection, lines: CheckLine[]) {
  if (!isInSetup(one) || !isComplete(lines)) return { connection: one, lines }
  try {
    return { connection: await finishSetup(deps, by, one), lines }
  } catch (error) {
    if (!isNumberTaken((error as Error).cause)) throw error
    return { connection: one, lines: [...lines, checkLine('number', 'number_elsewhere')] }
  }
}

const hasSameAccess = (a: StoredConnection, b: StoredConnection): boolean =>
  a.numberId === b.numberId && a.accountId === b.accountId && isDeepStrictEqual(a.settings, b.settings)

async function contextOf(deps: CheckDeps, one: StoredConnection, now: Date): Promise<CheckContext> {
  const [{ history }, others] = await Promise.all([readCheck(deps.db.sql, one), listOthers(deps, one)])
  const callbackUrl = callbackUrlOf(deps, one)
  const shared = others.filter((other) => isOfSameApp(other, one)).flatMap((other) => callbackUrlOf(deps, other) ?? [])
  const ownUrls = callbackUrl === null ? shared : [callbackUrl, ...shared]
  return { now, callbackUrl, ownUrls, createdAt: one.createdAt, history }
}

async function listOthers({ db, keyStore }: CheckDeps, { workspaceId, id }: StoredConnection) {
  const all = await keyStore.withKeyring(workspaceId, (keyring) => listConnections(db.sql, keyring, workspaceId))
  return all.filter((other) => other.id !== id)
}

// An app has one callback URL for all its numbers: a callback finds the connection of its number.
const isOfSameApp = (a: StoredConnection, b: StoredConnection): boolean =>
  a.channel === 'waba' && b.channel === 'waba' && a.settings.appSecret === b.settings.appSecret

function callbackUrlOf({ adapters, publicUrl }: CheckDeps, one: StoredConnection): string | null {
  const path = adapterOf(adapters, one).webhookPath(one)
  return path === null ? null : publicUrl + path
}
