import type { Entry, RecordedCall, RecordedRun, Turn } from '../scenario/recorded-run.ts'
import type { TeamCall } from './prepare-sandbox.ts'
import type { SandboxCall } from './sandbox-calls.ts'

/** A conversation of a sandbox, with what has happened in it. */
export interface ConversationState {
  conversation: TeamConversation
  items: TimelineItem[]
  notes: { text: string; actor: { type: string } }[]
}

interface TeamConversation {
  id: string
  owner: string
  status: string
  labelIds: string[]
  optedOutAt: string | null
  contact: { phone: string | null }
  updatedAt: string
  lastMessage: { id: string; status: string } | null
}

interface Actor {
  type: string
  name?: string | null
}

interface TimelineItem {
  type: 'message' | 'note' | 'activity' | 'handover'
  id: string
  at: string
  message?: { direction: string; kind: string; text: string; status: string; author: Actor }
  note?: { text: string; actor: Actor }
  activity?: { kind: string; from: string | null; to: string | null; toName: string | null; actor: Actor }
  handover?: { to: string; urgency: string; summary: string; reason: string | null; actor: Actor }
}

const maxItems = 200

/** Returns the conversation of a customer; null before it exists. */
export async function findConversation(call: TeamCall, place: string, phone: string): Promise<TeamConversation | null> {
  const { conversations } = await call<{ conversations: TeamConversation[] }>(
    'GET',
    `${place}/inbox/conversations?phone=${phone}&limit=1`,
  )
  return conversations[0] ?? null
}

export async function readState(call: TeamCall, place: string, id: string): Promise<ConversationState> {
  const path = `${place}/inbox/conversations/${id}`
  const [{ conversation, notes }, { items }] = await Promise.all([
    call<Pick<ConversationState, 'conversation' | 'notes'>>('GET', path),
    readTimeline(call, path),
  ])
  return { conversation, notes, items }
}

/** What a step waits for, counted. */
export interface Marks {
  /** Changes with the conversation. */
  version: string
  inbound: number
  agentMessages: number
  owner: 'agent' | 'people'
  isOpen: boolean
}

/** Returns the marks of a conversation. Reads its messages only if it has changed since `known`. */
export async function readMarks(call: TeamCall, place: string, phone: string, known: Marks | null): Promise<Marks> {
  const conversation = await findConversation(call, place, phone)
  if (conversation === null) return { version: '', inbound: 0, agentMessages: 0, owner: 'agent', isOpen: true }
  const { id, owner, status, updatedAt, lastMessage } = conversation
  const version = JSON.stringify([owner, status, updatedAt, lastMessage])
  if (version === known?.version) return known
  const { items } = await readTimeline(call, `${place}/inbox/conversations/${id}`)
  return {
    version,
    inbound: items.filter(({ message }) => message?.direction === 'inbound').length,
    agentMessages: items.filter(isOfAgent).length,
    owner: ownerOf(conversation),
    isOpen: status === 'open',
  }
}

const readTimeline = (call: TeamCall, path: string) =>
  call<{ items: TimelineItem[] }>('GET', `${path}/timeline?limit=${maxItems}`)

const isOfAgent = ({ message }: TimelineItem): boolean =>
  message !== undefined && message.author.type === 'agent' && message.status !== 'failed'

const ownerOf = ({ owner }: TeamConversation) => (owner === 'human' ? 'people' : 'agent')

interface Recording {
  state: ConversationState
  calls: readonly SandboxCall[]
  turns: Turn[]
  startedAt: Date
  phone: string
  lead: Record<string, unknown> | null
  charges: Record<string, number>
  labels: ReadonlyMap<string, string>
  /** All calls of the sandbox belong to this scenario. */
  isAlone: boolean
}

/** Returns what is recorded of a scenario whose script has ended. */
export function recordOf(recording: Recording): Omit<RecordedRun, 'ms' | 'problem'> {
  const { state, turns, startedAt, phone, lead, charges, labels } = recording
  const { conversation, items } = state
  const since = (at: string | Date) => Math.max(0, new Date(at).getTime() - startedAt.getTime())
  const own = recording.calls.filter((one) => recording.isAlone || isAbout(one, conversation.id, phone, lead))
  const calls = own.map(({ tool, input, code, at }): RecordedCall => ({ atMs: since(at), tool, input, code }))
  const toPeople = items.flatMap(({ handover }) =>
    handover?.to === 'people' && handover.actor.type === 'agent' ? handover : [],
  )
  const names = new Map([...labels].map(([name, id]) => [id, name]))
  return {
    entries: items.flatMap((item) => entryOf(item, since) ?? []).sort(inOrder),
    calls,
    turns,
    handovers: toPeople.map(({ urgency, reason, summary }) => ({ urgency, reason, summary })),
    handedOver: items.some(
      ({ activity }) => activity?.kind === 'owner' && activity.to === 'human' && activity.actor.type === 'agent',
    ),
    intrusions: intrusionsIn(items),
    drafts: own.filter(({ answer }) => answer.includes('"status":"drafted"')).length,
    conversation: {
      status: conversation.status,
      owner: ownerOf(conversation),
      labels: conversation.labelIds.flatMap((id) => names.get(id) ?? []),
      optedOut: conversation.optedOutAt !== null,
    },
    lead,
    charges,
    phoneReceived: recording.calls.some(({ answer }) => containsNumber(answer, phone)),
  }
}

/** A handover and its change of owner have the same time: in the order of their ids, equal runs would differ. */
const inOrder = (a: Entry, b: Entry): number => a.atMs - b.atMs || rankOf(a) - rankOf(b)
const rankOf = ({ kind }: Entry): number => ['handover', 'change'].indexOf(kind)

/** A call is about a customer if it names the conversation, the number or the lead. Others are about no one. */
function isAbout({ input }: SandboxCall, id: string, phone: string, lead: Record<string, unknown> | null): boolean {
  const text = JSON.stringify(input)
  const leadId = typeof lead?.id === 'string' ? lead.id : null
  return text.includes(id) || containsNumber(text, phone) || (leadId !== null && text.includes(leadId))
}

/** Digits at the end of a number by which it is recognized, also without country code. */
const nationalDigits = 10

function containsNumber(text: string, phone: string): boolean {
  return text.replaceAll(/[\s().+-]/g, '').includes(phone.slice(-nationalDigits))
}

// Counted by the order of events: what the agent sent while people had the conversation.
function intrusionsIn(items: readonly TimelineItem[]): number {
  let isOfPeople = false
  let count = 0
  for (const item of items) {
    if (item.activity?.kind === 'owner') isOfPeople = item.activity.to === 'human'
    else if (isOfPeople && isOfAgent(item)) count++
  }
  return count
}

function entryOf(item: TimelineItem, since: (at: string) => number): Entry | null {
  const { message, note, activity, handover } = item
  const atMs = since(item.at)
  if (message !== undefined) {
    const text = message.kind === 'text' ? message.text : `[${message.kind}] ${message.text}`.trim()
    const failed = message.status === 'failed' ? ' [not delivered]' : ''
    return { atMs, from: writerOf(message), kind: 'message', text: text + failed }
  }
  if (note !== undefined) return { atMs, from: partyOf(note.actor), kind: 'note', text: note.text }
  if (handover !== undefined) {
    const text = [`to ${handover.to} (${handover.urgency})`, handover.summary, handover.reason]
      .filter(Boolean)
      .join(' — ')
    return { atMs, from: partyOf(handover.actor), kind: 'handover', text }
  }
  if (activity === undefined) return null
  return { atMs, from: partyOf(activity.actor), kind: 'change', text: `${activity.kind}: ${newValueOf(activity)}` }
}

/** The id of a key differs from run to run. */
function newValueOf({ kind, to, toName }: NonNullable<TimelineItem['activity']>): string {
  if (kind === 'owner') return to === 'human' ? 'people' : 'the agent'
  return toName ?? to ?? ''
}

const writerOf = ({ direction, author }: NonNullable<TimelineItem['message']>): Entry['from'] =>
  direction === 'inbound' ? 'customer' : partyOf(author)

function partyOf({ type }: Actor): Entry['from'] {
  if (type === 'agent') return 'agent'
  return type === 'user' || type === 'token' || type === 'app' ? 'team' : 'system'
}
