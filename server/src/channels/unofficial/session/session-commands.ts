import {
  endHeldSession,
  enqueueAction,
  type HeldSession,
  logoutSocket,
  openSocket,
  releaseHeldSession,
  type SessionWorkerDeps,
  updateSession,
} from './held-session.ts'
import { blankPairing, type Session, type SessionCommand } from './session.ts'
import { LeaseLostError } from './session-lease.ts'
import { deleteSession, findSession } from './session-queries.ts'
import { handleSocketEvent } from './socket-events.ts'

/** Runs the commands requested by members until none is left. */
export function runSessionCommands(deps: SessionWorkerDeps, held: HeldSession): void {
  enqueueAction(deps, held, () => runSessionCommand(deps, held))
}

/** Starts a claimed session: runs its pending command, otherwise opens its socket unless it is waiting. */
export function startHeldSession(deps: SessionWorkerDeps, held: HeldSession): void {
  enqueueAction(deps, held, async () => {
    const { wish, state } = held.session
    if (wish !== null) return runSessionCommand(deps, held)
    if (state !== 'waiting' || isDue(deps, held)) await openSocket(deps, held, handleSocketEvent)
  })
}

/** Reopens the socket when it is due. */
export function reopenWhenDue(deps: SessionWorkerDeps, held: HeldSession): void {
  const isWaiting = () => held.socketState === null && held.session.state === 'waiting' && isDue(deps, held)
  if (!isWaiting()) return
  enqueueAction(deps, held, async () => {
    if (isWaiting()) await openSocket(deps, held, handleSocketEvent)
  })
}

function isDue({ clock }: SessionWorkerDeps, { session }: HeldSession): boolean {
  return session.nextAttemptAt === null || session.nextAttemptAt <= clock.now()
}

async function runSessionCommand(deps: SessionWorkerDeps, held: HeldSession): Promise<void> {
  const { lease } = held
  const session = await deps.keyStore.withKeyring(lease.workspaceId, (keyring) =>
    findSession(deps.db.sql, keyring, lease),
  )
  if (session === undefined) throw new LeaseLostError()
  held.session = session
  if (session.wish === null) return
  await commandHandlers[session.wish](deps, held)
  if (!held.isOver && held.session.wish !== null) await runSessionCommand(deps, held)
}

const commandHandlers: Record<SessionCommand, (deps: SessionWorkerDeps, held: HeldSession) => Promise<void>> = {
  open,
  pair,
  unpair,
}

async function open(deps: SessionWorkerDeps, held: HeldSession): Promise<void> {
  await updateSession(deps, held, (before) => ({ wish: remainingCommand('open', before), attempt: 0 }))
  if (held.socketState === null) await openSocket(deps, held, handleSocketEvent)
}

async function pair(deps: SessionWorkerDeps, held: HeldSession): Promise<void> {
  await logoutSocket(deps, held)
  await updateSession(deps, held, (before) => ({
    ...blankPairing(before),
    wish: remainingCommand('pair', before),
    state: 'pairing',
    reason: 'pairing',
    forgets: true,
    isPaired: false,
  }))
  await openSocket(deps, held, handleSocketEvent)
}

async function unpair(deps: SessionWorkerDeps, held: HeldSession): Promise<void> {
  await logoutSocket(deps, held)
  if (await deps.db.tx((tx) => deleteSession(tx, held.lease))) return endHeldSession(held)
  await updateSession(deps, held, (before) => ({
    ...blankPairing(before),
    pairing: null,
    wish: remainingCommand('unpair', before),
    state: 'unpaired',
    reason: 'logged_out',
    forgets: true,
    isPaired: false,
    phone: null,
  }))
  if (held.session.wish === null) await releaseHeldSession(deps, held)
}

/** Returns null if this command is done, otherwise the newer command, which remains pending. */
const remainingCommand = (completed: SessionCommand, { wish }: Session): SessionCommand | null =>
  wish === completed ? null : wish
