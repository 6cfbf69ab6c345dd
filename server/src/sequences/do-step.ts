import { ApiError } from '../base/errors.ts'
import type { RunStep } from '../base/run-step.ts'
import { findOrCreateConversation } from '../inbox/assignment/find-or-create-conversation.ts'
import { type ChangeTx, type Conversation, inWorkspace } from '../inbox/conversation/conversation.ts'
import { sendMessage } from '../inbox/send/send.ts'
import { parseSendCommand } from '../inbox/send/send-command.ts'
import type { SendDeps, Sender } from '../inbox/send/send-deps.ts'
import { ownerMismatch, windowClosed } from '../inbox/send/send-errors.ts'
import type { Lead } from '../leads/lead/lead.ts'
import { bodyOf } from './fill-step.ts'
import {
  endWaiting,
  insertStep,
  lockWaiting,
  markSending,
  noteLateFailures,
  postponeRun,
  type Run,
  runColumns,
  type StepResult,
  storeProgress,
} from './run.ts'
import {
  type AfterStep,
  afterRefusal,
  afterStep,
  dueOf,
  type EndReason,
  endReason,
  pauseAfter,
  type RunFacts,
} from './run-rules.ts'
import { findConversationOf, type Plan, readFacts, readLead, readPlan } from './subject.ts'

/** Steps of the work on runs, after each of which a process can die. */
export const sequenceSteps = ['claim', 'open', 'send', 'end', 'skip', 'settle'] as const
export type SequenceWork = (typeof sequenceSteps)[number]

export interface SequenceSendDeps {
  /** Dependencies of sends, with the steps of sends. */
  sends: SendDeps
  step: RunStep<SequenceWork>
}

/** Does the step of a run, unless its message was reserved before; then stores the result, if that is known. */
export async function workOn(deps: SequenceSendDeps, workspaceId: string, run: Run): Promise<void> {
  try {
    const plan = await withReader(deps, workspaceId, (reader) => readPlan(reader, run))
    const isSent = run.messageId !== null || (await doStep(deps, workspaceId, run, plan))
    if (!isSent) return
    if (await deps.step('settle', () => settle(deps, workspaceId, run, plan))) await review(deps, workspaceId, [run.id])
  } catch (error) {
    // The lease ends, and the next run of the job tries again.
    deps.sends.log.warn('failed to do a step of a sequence; retrying in 2 min', { workspaceId }, error)
  }
}

const withReader = <T>(
  { sends: { db, keyStore } }: SequenceSendDeps,
  workspaceId: string,
  work: (reader: Parameters<typeof readPlan>[0]) => Promise<T>,
): Promise<T> => keyStore.withKeyring(workspaceId, (keyring) => work({ sql: db.sql, keyring, workspaceId }))

/** Thrown by the check: the step was done, or the run ended, meanwhile. */
class RunMoved extends Error {}

/** Thrown by the check: the run must not go on. */
class RunOver extends Error {
  readonly reason: EndReason

  constructor(reason: EndReason) {
    super(reason)
    this.reason = reason
  }
}

/** Does the step that is due. Returns whether a message may have been reserved. */
async function doStep(deps: SequenceSendDeps, workspaceId: string, run: Run, plan: Plan): Promise<boolean> {
  const { db, clock } = deps.sends
  const step = plan.steps[run.step]
  if (step === undefined) return end(deps, workspaceId, run, 'finished')
  const opensAt = dueOf(clock.now(), { waitMinutes: 0, businessHours: step.businessHours }, plan.hours)
  if (opensAt > clock.now()) {
    return postpone(deps, workspaceId, run, { nextAt: opensAt, dueAt: opensAt, heldBy: null })
  }
  try {
    if (!plan.canSend) throw new ApiError(409, 'The inbox is not available', { data: { code: 'INBOX_UNAVAILABLE' } })
    if (run.step > 0) await db.tx((tx) => noteLateFailures(tx, workspaceId, tx`r.id = ${run.id}`))
    const { lead, conversation, last } = await readSubject(deps, workspaceId, run, plan)
    const pausedUntil = pauseAfter(last[0])
    if (pausedUntil !== null && pausedUntil > clock.now()) {
      return postpone(deps, workspaceId, run, { nextAt: pausedUntil, dueAt: pausedUntil, heldBy: null })
    }
    const body = bodyOf(step, lead, plan.workspaceName)
    const conversationId = await deps.step('open', () =>
      open(deps, workspaceId, run, plan, { lead, conversation, body }),
    )
    await deps.step('send', () => send(deps, workspaceId, run, plan, { conversationId, body }))
    return true
  } catch (error) {
    return afterFailure(deps, workspaceId, run, plan, error)
  }
}

/** Reads whom the step is for; ends the run without a send if it is over. */
function readSubject(
  deps: SequenceSendDeps,
  workspaceId: string,
  run: Run,
  plan: Plan,
): Promise<{ lead: Lead; conversation: Conversation | null; last: RunFacts['last'] }> {
  return withReader(deps, workspaceId, async (reader) => {
    const lead = await readLead(reader, run)
    const phone = lead?.phone ?? null
    const conversation = phone === null ? null : await findConversationOf(reader, plan.connectionId, phone)
    const facts = await readFacts(reader, run, plan, lead, conversation)
    const reason = endReason(run, facts)
    if (reason !== null || lead === null) throw new RunOver(reason ?? 'lead_gone')
    return { lead, conversation, last: facts.last }
  })
}

/** Returns the conversation to send in. A template can begin one, a text cannot. */
async function open(
  deps: SequenceSendDeps,
  workspaceId: string,
  run: Run,
  { connectionId }: Plan,
  { lead, conversation, body }: { lead: Lead; conversation: Conversation | null; body: object },
): Promise<string> {
  if (conversation !== null) return conversation.id
  const command = parseSendCommand(body, 'whole')
  if (command.kind !== 'template') throw windowClosed()
  const start = { connectionId, phone: lead.phone ?? '', template: command }
  return (await findOrCreateConversation(deps.sends, senderOf(workspaceId, run), start)).conversation.id
}

/** The sequence speaks for the workspace, also to customers of agents. */
const senderOf = (workspaceId: string, { sequenceId }: Run): Sender => ({
  ...{ workspaceId, connectionIds: [], actor: { type: 'system', id: sequenceId } },
  reachesAgents: true,
})

/** Idempotency key of a step. */
const keyOf = ({ id, step }: Run): string => `sequence:${id}:${step}`

async function send(
  { sends }: SequenceSendDeps,
  workspaceId: string,
  run: Run,
  plan: Plan,
  { conversationId, body }: { conversationId: string; body: object },
): Promise<void> {
  await sendMessage(sends, senderOf(workspaceId, run), {
    ...{ conversationId, idempotencyKey: keyOf(run), body, syntax: 'whole' as const },
    // Values that fill the text may have changed since an attempt that died.
    identity: { step: keyOf(run) },
    check: async ({ tx, keyring }, conversation) => {
      if (!(await lockWaiting(tx, workspaceId, run))) throw new RunMoved()
      const reader = { sql: tx, keyring, workspaceId }
      const facts = await readFacts(reader, run, plan, await readLead(reader, run), conversation)
      const reason = endReason(run, facts)
      if (reason !== null) throw new RunOver(reason)
      // Nobody speaks between an agent and a customer who waits for it.
      const { owner, unansweredSince } = conversation
      if (owner.type === 'agent' && unansweredSince !== null) throw ownerMismatch(owner)
    },
    reserved: ({ tx, now }, message) => markSending(tx, workspaceId, run, message, now),
  })
}

async function afterFailure(
  deps: SequenceSendDeps,
  workspaceId: string,
  run: Run,
  plan: Plan,
  error: unknown,
): Promise<boolean> {
  if (error instanceof RunMoved) return false
  if (error instanceof RunOver) return end(deps, workspaceId, run, error.reason)
  const code = codeOf(error)
  if (code === null) throw error
  // It was reserved: the message tells its result.
  if (code === 'NOT_RETRYABLE' || code === 'DELIVERY_FAILED') return true
  const now = deps.sends.clock.now()
  const dueAt = run.dueAt ?? now
  const next = afterRefusal(code, dueAt, now)
  if (next === 'skip') return skip(deps, workspaceId, run, plan, code)
  if ('end' in next) return end(deps, workspaceId, run, next.end)
  return postpone(deps, workspaceId, run, { nextAt: next.retryAt, dueAt, heldBy: code.slice(0, 60) })
}

/** Returns the code of a refusal; null for an error of the service. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null
  const code = error.data?.code
  if (error.statusCode >= 500) return code === 'DELIVERY_FAILED' ? code : null
  return typeof code === 'string' ? code : `HTTP_${error.statusCode}`
}

async function end(deps: SequenceSendDeps, workspaceId: string, run: Run, reason: EndReason): Promise<false> {
  const { db, clock } = deps.sends
  await deps.step('end', () => db.tx((tx) => endWaiting(tx, workspaceId, run, reason, clock.now())))
  return false
}

async function postpone(
  deps: SequenceSendDeps,
  workspaceId: string,
  run: Run,
  to: Parameters<typeof postponeRun>[3],
): Promise<false> {
  await deps.step('end', () => deps.sends.db.tx((tx) => postponeRun(tx, workspaceId, run, to)))
  return false
}

async function skip(deps: SequenceSendDeps, workspaceId: string, run: Run, plan: Plan, code: string): Promise<false> {
  const { db, clock } = deps.sends
  const result: StepResult = { state: 'skipped', code: code.slice(0, 100), messageId: null }
  await deps.step('skip', () =>
    db.tx(async (tx) => {
      if (!(await lockWaiting(tx, workspaceId, run))) return
      const now = clock.now()
      await insertStep(tx, workspaceId, run, result, now)
      const next = afterStep(run, plan.steps, now, plan.hours)
      await storeProgress(tx, workspaceId, run, progressOf(run, next), now)
    }),
  )
  return false
}

const progressOf = ({ step }: Run, next: AfterStep) =>
  'end' in next ? { step: step + 1, end: next.end } : { step: step + 1, dueAt: next.dueAt }

/** Stores the result of the step's message once it has one, and goes on. Returns whether it did. */
function settle(deps: SequenceSendDeps, workspaceId: string, { id }: Run, plan: Plan): Promise<boolean> {
  return inWorkspace(deps.sends, workspaceId, async ({ tx, now }: ChangeTx) => {
    const [run] = await tx<Run[]>`
      select ${runColumns(tx)}
      from sequence_runs r
      where r.workspace_id = ${workspaceId}
        and r.id = ${id}
        and r.state = 'active'
        and r.message_id is not null
      for update`
    if (run === undefined) return false
    const [message] = await tx<{ status: string; code: string | null }[]>`
      select status, error_code as code
      from messages
      where workspace_id = ${workspaceId}
        and id = ${run.messageId}`
    if (message === undefined || message.status === 'pending') return false
    const isFailed = message.status === 'failed'
    const [step] = await tx<{ at: Date }[]>`
      update sequence_run_steps
      set state = ${isFailed ? 'failed' : 'sent'},
        code = ${isFailed ? message.code : null}
      where workspace_id = ${workspaceId}
        and run_id = ${id}
        and step = ${run.step}
      returning created_at as at`
    const next = afterStep(run, plan.steps, step?.at ?? now, plan.hours)
    await storeProgress(tx, workspaceId, run, progressOf(run, next), now)
    return true
  })
}

/** Ends these runs if the customer has answered, or another reason ends them. */
export async function review(deps: SequenceSendDeps, workspaceId: string, runIds: readonly string[]): Promise<number> {
  const runs = await deps.sends.db.sql<Run[]>`
    select ${runColumns(deps.sends.db.sql)}
    from sequence_runs r
    where r.workspace_id = ${workspaceId}
      and r.id = any (${[...runIds]}::uuid[])
      and r.state = 'active'
      and r.message_id is null`
  let count = 0
  for (const run of runs) {
    const plan = await withReader(deps, workspaceId, (reader) => readPlan(reader, run))
    try {
      await readSubject(deps, workspaceId, run, plan)
    } catch (error) {
      if (!(error instanceof RunOver)) throw error
      await end(deps, workspaceId, run, error.reason)
      count++
    }
  }
  return count
}
