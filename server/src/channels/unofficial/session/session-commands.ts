import { act, endHold, type Hold, type HoldDeps, logoutLine, moveHold, openLine, releaseHold } from './held-session.ts'
import { blankPairing, type Session, type SessionCommand } from './session.ts'
import { LeaseLost } from './session-lease.ts'
import { deleteSession, findSession } from './session-queries.ts'
import { handleSocketEvent } from './socket-events.ts'

/** Runs the commands requested by members until none is left. */
export function runSessionCommands(deps: HoldDeps, hold: Hold): void {
  act(deps, hold, () => runSessionCommand(deps, hold))
}

/** Starts a claimed session: runs its pending command, otherwise opens its socket unless it is waiting. */
export function beginHold(deps: HoldDeps, hold: Hold): void {
  act(deps, hold, async () => {
    const { wish, state } = hold.session
    if (wish !== null) return runSessionCommand(deps, hold)
    if (state !== 'waiting' || isDue(deps, hold)) await openLine(deps, hold, handleSocketEvent)
  })
}

/** Reopens the socket when it is due. */
export function reopenWhenDue(deps: HoldDeps, hold: Hold): void {
  const isWaiting = () => hold.line === null && hold.session.state === 'waiting' && isDue(deps, hold)
  if (!isWaiting()) return
  act(deps, hold, async () => {
    if (isWaiting()) await openLine(deps, hold, handleSocketEvent)
  })
}

function isDue({ clock }: HoldDeps, { session }: Hold): boolean {
  return session.nextAttemptAt === null || session.nextAttemptAt <= clock.now()
}

async function runSessionCommand(deps: HoldDeps, hold: Hold): Promise<void> {
  const { lease } = hold
  const session = await deps.keyStore.withKeyring(lease.workspaceId, (keyring) =>
    findSession(deps.db.sql, keyring, lease),
  )
  if (session === undefined) throw new LeaseLost()
  hold.session = session
  if (session.wish === null) return
  await grant[session.wish](deps, hold)
  if (!hold.isOver && hold.session.wish !== null) await runSessionCommand(deps, hold)
}

const grant: Record<SessionCommand, (deps: HoldDeps, hold: Hold) => Promise<void>> = { open, pair, unpair }

async function open(deps: HoldDeps, hold: Hold): Promise<void> {
  await moveHold(deps, hold, (before) => ({ wish: without('open', before), attempt: 0 }))
  if (hold.line === null) await openLine(deps, hold, handleSocketEvent)
}

async function pair(deps: HoldDeps, hold: Hold): Promise<void> {
  await logoutLine(deps, hold)
  await moveHold(deps, hold, (before) => ({
    ...blankPairing(before),
    wish: without('pair', before),
    state: 'pairing',
    reason: 'pairing',
    forgets: true,
    isPaired: false,
  }))
  await openLine(deps, hold, handleSocketEvent)
}

async function unpair(deps: HoldDeps, hold: Hold): Promise<void> {
  await logoutLine(deps, hold)
  if (await deps.db.tx((tx) => deleteSession(tx, hold.lease))) return endHold(hold)
  await moveHold(deps, hold, (before) => ({
    ...blankPairing(before),
    pairing: null,
    wish: without('unpair', before),
    state: 'unpaired',
    reason: 'logged_out',
    forgets: true,
    isPaired: false,
    phone: null,
  }))
  if (hold.session.wish === null) await releaseHold(deps, hold)
}

/** Returns null if this command is done, otherwise the newer command, which remains pending. */
const without = (done: SessionCommand, { wish }: Session): SessionCommand | null => (wish === done ? null : wish)
