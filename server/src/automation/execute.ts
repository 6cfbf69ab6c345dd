import pLimit from 'p-limit'
import type { Tx } from '../base/db.ts'
import { ApiError } from '../base/errors.ts'
import type { RunStep } from '../base/run-step.ts'
import type { ChangeTx } from '../inbox/conversation/conversation.ts'
import { currentFacts, readLeads, type Situation } from './facts.ts'
import { type CompiledRule, compileRule, readsLead, unmetBefore } from './judge.ts'
import { type ActionChecks, type ActionContext, act, NotDelivered } from './perform-action.ts'
import type { Action } from './rule-schema.ts'
import { listRules } from './rules.ts'
import { advanceRun, claimRuns, endRun, lockRun, postponeRun, type Run, type RunEnd, type SkipReason } from './runs.ts'
import { type RequestDeps, RequestFailed, sendRequest } from './send-request.ts'

/** Steps of the work on rules, after each of which a process can die. */
export const automationSteps = ['judge', 'record', 'claim', 'act', 'advance', 'end'] as const
export type AutomationStep = (typeof automationSteps)[number]

/** `sends`: dependencies of sends, with the steps of sends. */
export interface AutomationDeps extends RequestDeps {
  step: RunStep<AutomationStep>
  /** Called when a run has ended. */
  onEnd?: ((state: RunEnd['state']) => void) | undefined
}

/** Thrown by a check: the action was done before, by a process that died right after it. */
class AlreadyDone extends Error {}

/** Thrown by a check: the run must not go on. */
class NoLongerDue extends Error {
  readonly reason: SkipReason
  readonly condition: number | null

  constructor(reason: SkipReason, condition: number | null = null) {
    super(reason)
    this.reason = reason
    this.condition = condition
  }
}

const maxParallel = 8
const maxAttempts = 10
/** Grows with each attempt, to half an hour. */
const retryMs = 5_000
const maxRetryMs = 1_800_000

/** Does what is due in a workspace. Returns how many runs it worked on. `unreachable`: see `sendRequest`. */
export async function executeDue(
  deps: AutomationDeps,
  workspaceId: string,
  unreachable: Map<string, number>,
): Promise<number> {
  const { db, clock } = deps.sends
  const runs = await deps.step('claim', () => claimRuns(db, workspaceId, clock.now()))
  if (runs.length === 0) return 0
  const ruleIds = [...new Set(runs.map(({ ruleId }) => ruleId))]
  const rules = new Map((await listRules(db.sql, workspaceId, ruleIds)).map((rule) => [rule.id, compileRule(rule)]))
  const limit = pLimit(maxParallel)
  // What rules do in one conversation is done in their order.
  const bySubject = Map.groupBy(runs, ({ conversationId, leadId, id }) => conversationId ?? leadId ?? id)
  await Promise.all(
    [...bySubject.values()].map((group) =>
      limit(async () => {
        for (const run of group) await executeRun(deps, run, rules.get(run.ruleId), unreachable)
      }),
    ),
  )
  return runs.length
}

async function executeRun(
  deps: AutomationDeps,
  claimed: Run,
  compiled: CompiledRule | undefined,
  unreachable: Map<string, number>,
): Promise<void> {
  const { rule } = compiled ?? {}
  if (compiled === undefined || rule === undefined || !rule.enabled) return skip(deps, claimed, 'rule_off')
  if (rule.version !== claimed.ruleVersion) return skip(deps, claimed, 'rule_changed')
  let run = claimed
  for (const action of rule.actions.slice(claimed.step)) {
    const isGoingOn = await runAction(deps, run, compiled, action, unreachable)
    if (!isGoingOn) return
    run = { ...run, step: run.step + 1, attempts: 0 }
  }
  await end(deps, run, { state: 'done', code: null })
}

/** Does one action. Returns false if the run has ended or continues later. */
async function runAction(
  deps: AutomationDeps,
  run: Run,
  compiled: CompiledRule,
  action: Action,
  unreachable: Map<string, number>,
): Promise<boolean> {
  const { sends } = deps
  const { db, clock } = sends
  try {
    if (action.kind === 'wait') {
      const now = clock.now()
      const dueAt = new Date(now.getTime() + (action.minutes ?? 1) * 60_000)
      await deps.step('advance', () => db.tx((tx) => advanceRun(tx, run, now, dueAt)))
      return false
    }
    await deps.step('act', () =>
      action.kind === 'send_request'
        ? sendRequest(deps, { run, rule: compiled.rule, action }, checksOf(deps, run, compiled).send, unreachable)
        : act(sends, contextOf(deps, run, compiled), action),
    )
  } catch (error) {
    // Done by a process that died before it went on.
    if (error instanceof AlreadyDone) return true
    return afterFailure(deps, run, error)
  }
  if (isSend(action)) await deps.step('advance', () => db.tx((tx) => advanceRun(tx, run, clock.now())))
  return true
}

const isSend = ({ kind }: Action): boolean => kind === 'reply' || kind === 'send_template' || kind === 'send_request'

function contextOf(deps: AutomationDeps, run: Run, compiled: CompiledRule): ActionContext {
  const { workspaceId, id, ruleId, conversationId, leadId, eventId, step } = run
  return {
    ...{ workspaceId, conversationId, leadId, eventId },
    actor: { type: 'system', id: ruleId },
    authorName: null,
    key: `automation:${id}:${step}`,
    checks: checksOf(deps, run, compiled),
  }
}

/**
 * Judges again under the lock of what is changed, and counts the action as done in its transaction. A send or a request
 * only judges: it is counted when its outcome is known, and a repeat of it is recognized by its key.
 */
function checksOf({ sends }: AutomationDeps, run: Run, compiled: CompiledRule): ActionChecks {
  const { workspaceId } = run
  const claim = async (tx: Tx) => {
    if (!(await lockRun(tx, run))) throw new AlreadyDone()
  }
  const judge = async ({ tx, keyring, now }: Work, found: Pick<Situation, 'conversation' | 'lead'>) => {
    await claim(tx)
    const reader = { sql: tx, keyring, workspaceId }
    const { conversation } = found
    if (conversation !== null && hasWritten(run, compiled, conversation.inbound.newest))
      throw new NoLongerDue('customer_wrote')
    const [lead = null] =
      found.lead === null && run.leadId !== null ? await readLeads(reader, [run.leadId]) : [found.lead]
    const current = { conversation, lead, readsLead: readsLead(compiled), now }
    const condition = unmetBefore(compiled, run.step, await currentFacts(reader, current))
    if (condition !== null) throw new NoLongerDue('condition', condition)
  }
  const judgeAndAdvance = async (work: Work, found: Pick<Situation, 'conversation' | 'lead'>) => {
    await judge(work, found)
    await advanceRun(work.tx, run, work.now)
  }
  return {
    change: (work, conversation) => judgeAndAdvance(work, { conversation, lead: null }),
    send: (work, conversation) => judge(work, { conversation, lead: null }),
    lead: (tx, keyring, lead, now) => judgeAndAdvance({ tx, keyring, now }, { conversation: null, lead }),
    other: async (tx) => {
      await claim(tx)
      await advanceRun(tx, run, sends.clock.now())
    },
  }
}

type Work = Pick<ChangeTx, 'tx' | 'keyring' | 'now'>

/** Whether the customer has written since the event, and a wait before this action ends the run then. */
function hasWritten({ step, inboundId }: Run, { rule }: CompiledRule, newest: string | null): boolean {
  const endsThen = rule.actions.slice(0, step).some(({ endsIfCustomerWrites }) => endsIfCustomerWrites === true)
  return endsThen && newest !== null && (inboundId === null || newest > inboundId)
}

/** Codes with which the result of a send is only unknown yet. */
const unknownYet = 'NOT_RETRYABLE'

async function afterFailure(deps: AutomationDeps, run: Run, error: unknown): Promise<false> {
  const { log } = deps.sends
  const { workspaceId, conversationId } = run
  if (error instanceof NoLongerDue) {
    await end(deps, run, { state: 'skipped', code: error.reason, condition: error.condition })
    return false
  }
  const isRequest = error instanceof RequestFailed
  const code = isRequest ? error.code : codeOf(error)
  if (code !== null && code !== unknownYet && !isRequest) {
    await end(deps, run, { state: 'failed', code })
    return false
  }
  if (run.attempts >= maxAttempts) {
    await end(deps, run, { state: 'failed', code: code ?? 'INTERNAL' })
    if (!isRequest)
      log.error('gave up an automation action', { workspaceId, conversationId: conversationId ?? undefined }, error)
    return false
  }
  if (code === null)
    log.warn('automation action failed; retrying', { workspaceId, conversationId: conversationId ?? undefined }, error)
  const dueAt = new Date(deps.sends.clock.now().getTime() + Math.min(retryMs * 2 ** run.attempts, maxRetryMs))
  await deps.step('end', () => deps.sends.db.tx((tx) => postponeRun(tx, run, dueAt, code)))
  return false
}

/** Returns the code of a refusal, which stands; null for an error of the service, which is tried again. */
function codeOf(error: unknown): string | null {
  if (error instanceof NotDelivered) return 'NOT_DELIVERED'
  if (!(error instanceof ApiError) || error.statusCode >= 500) return isUndelivered(error) ? 'DELIVERY_FAILED' : null
  const code = error.data?.code
  return typeof code === 'string' ? code : `HTTP_${error.statusCode}`
}

/** The platform could not be reached, which stands too: the same key never sends again. */
const isUndelivered = (error: unknown): boolean => error instanceof ApiError && error.data?.code === 'DELIVERY_FAILED'

const skip = (deps: AutomationDeps, run: Run, reason: SkipReason) => end(deps, run, { state: 'skipped', code: reason })

async function end(deps: AutomationDeps, run: Run, how: RunEnd): Promise<void> {
  const { db, clock } = deps.sends
  const hasEnded = await deps.step('end', () => db.tx((tx) => endRun(tx, run, how, clock.now())))
  if (hasEnded) deps.onEnd?.(how.state)
}
