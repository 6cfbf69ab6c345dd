import { setTimeout as wait } from 'node:timers/promises'
import { ApiError } from '../../base/errors.ts'
import type { RecordedRun, Turn } from '../scenario/recorded-run.ts'
import type { Scenario, Step } from '../scenario/scenario-schema.ts'
import type { RunDeps, Sandbox } from './prepare-sandbox.ts'
import { listSandboxCalls } from './sandbox-calls.ts'
import { findConversation, type Marks, readMarks, readState, recordOf } from './sandbox-state.ts'
import { type SimulatedCustomer, SimulatorRefusal } from './simulated-customers.ts'

/** How fast a run goes, and how long it waits. */
export interface RunSpeed {
  /** Divides the pauses of scripts. */
  speed: number
  /** How long the agent may take to react before the script continues. */
  answerSeconds: number
}

const pollEveryMs = 150
const arrivesWithinMs = 15_000
/** After a reaction the agent may still be writing: silence of this length ends the turn. */
const calmMs = 700
/** How long people's conversations are watched for an agent that does not leave them alone. */
const watchMs = 1500
const maxLingerMs = 6000
const maxScenarioMs = 10 * 60_000
const pricesWithinMs = 3000

/** A script cannot be played; the message says why. */
class ScriptProblem extends Error {}

/** A conversation that is being played. */
interface Play {
  deps: RunDeps
  sandbox: Sandbox
  scenario: Scenario
  pace: RunSpeed
  signal: AbortSignal
  customer: SimulatedCustomer
  /** Null before the customer has written. */
  conversationId: string | null
  /** Messages that the customer has sent. */
  sent: number
  turns: Turn[]
  startedAt: Date
  /** What was found last. */
  marks: Marks | null
}

/** A customer whose lead and history exist. */
export type PreparedPlay = Omit<Play, 'signal' | 'pace'>

/** Creates the starting state of a scenario. Nothing of it reaches the agent yet, except leads. */
export async function prepareScenario(deps: RunDeps, sandbox: Sandbox, scenario: Scenario): Promise<PreparedPlay> {
  const { simulator, number, place } = sandbox
  const { start = {} } = scenario
  const customer = await simulator.addCustomer(number.numberId, start.customer ?? 'Marina Duarte')
  const play: PreparedPlay = {
    ...{ deps, sandbox, scenario, customer },
    ...{ conversationId: null, sent: 0, turns: [], startedAt: deps.clock.now(), marks: null },
  }
  if (start.lead !== undefined)
    await deps.call('POST', `${place}/leads`, { ...start.lead, phone: `+${customer.phone}` })
  for (const lead of start.otherLeads ?? []) await deps.call('POST', `${place}/leads`, lead)
  for (const line of start.history ?? []) {
    if ('customer' in line) {
      await write(play, { text: line.customer })
      await arrived(play)
    } else await sendAsTeam(play, line.team)
  }
  return play
}

/**
 * Plays the script and returns what happened. A script that cannot be played is a `problem` of the record; throws if
 * `signal` is aborted.
 */
export async function playScenario(prepared: PreparedPlay, pace: RunSpeed, signal: AbortSignal): Promise<RecordedRun> {
  const play: Play = { ...prepared, pace, signal: AbortSignal.any([signal, AbortSignal.timeout(maxScenarioMs)]) }
  play.startedAt = play.deps.clock.now()
  const startedMs = performance.now()
  let problem: string | null = null
  try {
    if (play.conversationId !== null) {
      const before = await marks(play)
      await handBack(play, play.scenario.start?.handBack)
      await watch(play, before, play.scenario.start?.handBack?.nextStep !== undefined)
    }
    for (const step of play.scenario.script) await playStep(play, step)
    await pricesReported(play)
  } catch (error) {
    if (signal.aborted) throw error
    const isKnown = error instanceof ScriptProblem || error instanceof SimulatorRefusal
    if (!isKnown && !play.signal.aborted) throw error
    problem = isKnown ? error.message : 'The script took longer than ten minutes'
  }
  const record = await readRecord(play)
  await endConversation(play)
  return { ...record, problem, ms: Math.round(performance.now() - startedMs) }
}

async function playStep(play: Play, step: Step): Promise<void> {
  const { sandbox, customer, pace, signal } = play
  if (typeof step === 'string') return takeTurn(play, () => write(play, { text: step }))
  if ('customer' in step) {
    return takeTurn(play, async () => {
      for (const [n, text] of step.customer.entries()) {
        if (n > 0) await wait(((step.secondsBetween ?? 0) * 1000) / pace.speed, undefined, { signal })
        await write(play, { text })
      }
    })
  }
  if ('send' in step) return takeTurn(play, () => write(play, { kind: step.send, text: step.caption ?? '' }))
  if ('press' in step) return takeTurn(play, () => press(play, step.press))
  if ('pause' in step) return void (await wait((step.pause * 1000) / pace.speed, undefined, { signal }))
  if ('marketing' in step) {
    await sandbox.simulator.changeCustomer(customer.id, { stopsMarketing: step.marketing === 'stop' })
    return void (await wait(watchMs, undefined, { signal }))
  }
  return playTeam(play, step)
}

/** Lets the customer write, then waits until the agent has reacted, or has had its time. */
async function takeTurn(play: Play, write: () => Promise<void>): Promise<void> {
  const before = play.conversationId === null ? null : await marks(play)
  await write()
  const writtenMs = performance.now()
  await arrived(play)
  const isAgents = before === null || before.owner === 'agent'
  const first: Marks = before ?? { version: '', inbound: 0, agentMessages: 0, owner: 'agent', isOpen: true }
  const reacted = await watch(play, first, isAgents)
  play.turns.push({ isAgents, reactedAfterMs: reacted === null ? null : Math.round(reacted - writtenMs) })
}

/** Returns when the agent reacted; null if it did not. Without `expectsReaction` it only watches for a while. */
async function watch(play: Play, before: Marks, expectsReaction: boolean): Promise<number | null> {
  const { pace, signal } = play
  const startedMs = performance.now()
  const untilMs = startedMs + (expectsReaction ? pace.answerSeconds * 1000 : watchMs)
  let reactedMs: number | null = null
  let newest = before
  let calmSinceMs = startedMs
  for (;;) {
    const now = await marks(play)
    const nowMs = performance.now()
    if (now.agentMessages !== newest.agentMessages || now.owner !== newest.owner) calmSinceMs = nowMs
    newest = now
    if (reactedMs === null && (await hasReacted(play, before, now))) reactedMs = nowMs
    const isCalm = nowMs - calmSinceMs >= calmMs || (reactedMs !== null && nowMs - reactedMs >= maxLingerMs)
    if (reactedMs === null ? nowMs >= untilMs : isCalm) return reactedMs
    await wait(pollEveryMs, undefined, { signal })
  }
}

async function hasReacted(play: Play, before: Marks, now: Marks): Promise<boolean> {
  if (now.agentMessages > before.agentMessages) return true
  if (before.owner === 'agent' && now.owner === 'people') return true
  // The agent has decided that nothing is to be said.
  if (now.owner === 'agent' && !now.isOpen) return true
  const { approval } = play.scenario.sandbox ?? {}
  return approval !== undefined && (await findDraft(play)) !== null
}

async function findDraft({ deps, sandbox, conversationId }: Play): Promise<{ id: string } | null> {
  const path = `${sandbox.place}/inbox/conversations/${conversationId}/draft`
  return (await deps.call<{ draft: { id: string } | null }>('GET', path)).draft
}

async function playTeam(play: Play, step: Extract<Step, { team: string }>): Promise<void> {
  const { deps, sandbox, conversationId } = play
  if (conversationId === null) throw new ScriptProblem('The team acts before the customer has written')
  const path = `${sandbox.place}/inbox/conversations/${conversationId}`
  const before = await marks(play)
  switch (step.team) {
    case 'takes_over':
      await deps.call('POST', `${path}/take-over`)
      if (step.says !== undefined) await sendAsTeam(play, step.says)
      return void (await watch(play, await marks(play), false))
    case 'hands_back': {
      const { summary, nextStep } = step
      await handBack(play, summary === undefined ? undefined : { summary, ...(nextStep !== undefined && { nextStep }) })
      return void (await watch(play, before, nextStep !== undefined))
    }
    case 'approves':
    case 'rejects': {
      const draft = await findDraft(play)
      if (draft === null) throw new ScriptProblem('There is no draft to decide on')
      if (step.team === 'approves') {
        const body = step.says === undefined ? {} : { text: step.says }
        await deps.call('POST', `${path}/drafts/${draft.id}/approve`, body)
      } else {
        const body = step.nextStep === undefined ? {} : { reason: step.nextStep }
        await deps.call('POST', `${path}/drafts/${draft.id}/reject`, body)
      }
      return void (await watch(play, before, step.team === 'rejects'))
    }
    default:
      return step.team satisfies never
  }
}

async function handBack(play: PreparedPlay, note: object | undefined): Promise<void> {
  const { deps, sandbox, conversationId } = play
  const body = { keyId: sandbox.keyId, ...(note !== undefined && { note }) }
  await deps.call('POST', `${sandbox.place}/inbox/conversations/${conversationId}/hand-back`, body)
}

async function sendAsTeam(play: PreparedPlay, text: string): Promise<void> {
  const { deps, sandbox } = play
  const id = play.conversationId ?? (await arrived(play))
  const path = `${sandbox.place}/inbox/conversations/${id}/messages`
  await deps.call('POST', path, { kind: 'text', text }, { 'idempotency-key': crypto.randomUUID() })
}

async function write(play: PreparedPlay, message: Parameters<Sandbox['simulator']['write']>[1]): Promise<void> {
  const text = message.text === undefined ? {} : { text: fillIn(message.text, play.customer) }
  await play.sandbox.simulator.write(play.customer.id, { ...message, ...text })
  play.sent++
}

/** Customers can name their own number. */
const fillIn = (text: string, { phone }: SimulatedCustomer): string => text.replaceAll('{{phone}}', `+${phone}`)

async function press(play: Play, title: string): Promise<void> {
  const { messages } = await play.sandbox.simulator.readCustomer(play.customer.id)
  for (const { id, offer } of messages.toReversed()) {
    const option = offer?.options.find((one) => one.title === title)
    if (option === undefined) continue
    return write(play, { about: id, choiceId: option.id })
  }
  throw new ScriptProblem(`The agent has offered no option “${title}”`)
}

/** Waits until everything that the customer has sent is in the conversation, and returns its id. */
async function arrived(play: PreparedPlay): Promise<string> {
  const { deps, sandbox, customer } = play
  const untilMs = performance.now() + arrivesWithinMs
  for (;;) {
    play.conversationId ??= (await findConversation(deps.call, sandbox.place, customer.phone))?.id ?? null
    const { conversationId } = play
    if (conversationId !== null && (await marks(play)).inbound >= play.sent) return conversationId
    if (performance.now() >= untilMs) {
      throw new ScriptProblem(
        'The message did not arrive: the simulator does not reach this service, or a worker is missing',
      )
    }
    await wait(pollEveryMs)
  }
}

async function marks(play: PreparedPlay): Promise<Marks> {
  const { deps, sandbox, customer } = play
  play.marks = await readMarks(deps.call, sandbox.place, customer.phone, play.marks)
  return play.marks
}

/** Waits for the prices of the agent's messages, if the scenario limits the cost. */
async function pricesReported(play: Play): Promise<void> {
  if (play.scenario.expect.costAtMost === undefined || play.conversationId === null) return
  const { agentMessages } = await marks(play)
  const untilMs = performance.now() + pricesWithinMs
  while (performance.now() < untilMs) {
    const charges = await readCharges(play)
    if (Object.values(charges).reduce((sum, n) => sum + n, 0) >= agentMessages) return
    await wait(pollEveryMs, undefined, { signal: play.signal })
  }
}

/** Returns how many messages of the conversation the platform charges, by category. */
async function readCharges({ deps, sandbox, conversationId }: PreparedPlay): Promise<Record<string, number>> {
  const rows = await deps.db.sql<{ category: string; count: number }[]>`
    select category, count(*)::integer as count
    from message_charges
    where workspace_id = ${sandbox.workspaceId}
      and conversation_id = ${conversationId}
      and type = 'regular'
    group by category`
  return Object.fromEntries(rows.map(({ category, count }) => [category, count]))
}

async function readRecord(play: Play): Promise<Omit<RecordedRun, 'ms' | 'problem'>> {
  const { deps, sandbox, customer, turns, startedAt, conversationId } = play
  if (conversationId === null) return blankRecord
  const keyring = await deps.keyStore.keyring(sandbox.workspaceId)
  const [state, calls, lead, charges] = await Promise.all([
    readState(deps.call, sandbox.place, conversationId),
    listSandboxCalls(deps.db, keyring, sandbox.workspaceId),
    findLead(play),
    readCharges(play),
  ])
  return recordOf({
    ...{ state, calls, turns, startedAt, lead, charges },
    ...{ phone: customer.phone, labels: sandbox.labelIds, isAlone: play.scenario.sandbox?.own === true },
  })
}

const blankRecord: Omit<RecordedRun, 'ms' | 'problem'> = {
  ...{ entries: [], calls: [], turns: [], handovers: [], handedOver: false, intrusions: 0, drafts: 0, lead: null },
  ...{ charges: {}, phoneReceived: false },
  conversation: { status: 'open', owner: 'agent', labels: [], optedOut: false },
}

async function findLead({ deps, sandbox, customer }: Play): Promise<Record<string, unknown> | null> {
  const path = `${sandbox.place}/leads/${encodeURIComponent(`+${customer.phone}`)}`
  try {
    return (await deps.call<{ lead: Record<string, unknown> }>('GET', path)).lead
  } catch (error) {
    if (error instanceof ApiError && error.statusCode === 404) return null
    throw error
  }
}

/** Takes the conversation from the agent, so that it costs nothing while the others are played. */
async function endConversation({ deps, sandbox, conversationId }: Play): Promise<void> {
  if (conversationId === null) return
  const path = `${sandbox.place}/inbox/conversations/${conversationId}`
  await deps.call('POST', `${path}/take-over`)
  await deps.call('PATCH', path, { status: 'closed' })
}
