/** A workspace as it is generated: all of it follows from these, so that several threads can each write a share. */
export interface Tenant {
  workspaceId: string
  keyId: string
  key: string
  leads: number
  conversations: number
  /** Messages of each conversation, the newest of which came a minute before that of the next one. */
  each: number
  /** The n-th conversation is of the n-th of them, and round again. */
  connectionIds: string[]
  /** The moment at which it was generated, in ms. */
  endMs: number
}

/** A stretch of a tenant's leads, conversations or minutes with messages, the oldest first. */
export interface Job {
  tenant: number
  kind: 'leads' | 'conversations' | 'messages'
  from: number
  to: number
  /** Of messages: how many come before its first. */
  before: number
}

const minuteMs = 60_000
/** How long a conversation rests between two messages. */
const restMinutes = 60
/** Leads and messages are as old as this at most; events are kept for the days that the product keeps them. */
const leadsYears = 2
const eventDays = 30

/** Minutes in which messages come; the last one is that of the end. */
export const minutesOf = ({ conversations, each }: Tenant): number => conversations + restMinutes * (each - 1)

/** The messages of the minute that lies so far back: each is the `age`-th newest of a conversation. */
export function agesAt({ conversations, each }: Tenant, minutesBack: number): { first: number; last: number } {
  const first = Math.max(0, Math.ceil((minutesBack - conversations + 1) / restMinutes))
  return { first, last: Math.min(each - 1, Math.floor(minutesBack / restMinutes)) }
}

export const conversationAt = (minutesBack: number, age: number): number => minutesBack - restMinutes * age

export const messageTime = (tenant: Tenant, minutesBack: number, age: number): Date =>
  new Date(tenant.endMs - minutesBack * minuteMs + age * 1000)

/** When the conversation began. */
export const beginOf = (tenant: Tenant, n: number): Date =>
  messageTime(tenant, n + restMinutes * (tenant.each - 1), tenant.each - 1)

/** The n-th lead; the newest is of the last minute. */
export const leadTime = (tenant: Tenant, n: number): Date =>
  new Date(Math.round(tenant.endMs - ((tenant.leads - n) * leadsYears * 365 * 86_400_000) / tenant.leads))

/** The id of the n-th conversation, which the messages of other threads name: ids of one workspace grow with time. */
export function conversationId(tenant: Tenant, n: number): string {
  const ms = beginOf(tenant, n).getTime().toString(16).padStart(12, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-${n.toString(16).padStart(12, '0')}`
}

export const connectionOf = ({ connectionIds }: Tenant, n: number): string =>
  connectionIds[n % connectionIds.length] ?? ''

/**
 * Whether the messages of a conversation open. Of a tenant with many those of each hundredth do, which are the ones that are
 * read: sealing all of them would take longer than all the rest, and whoever lists, takes in or sends opens no others.
 */
export const opens = (tenant: Tenant, n: number): boolean => !isLarge(tenant) || n % 100 === 0

/** Of the messages of such a one no tokens are made either. */
export const isLarge = ({ conversations }: Tenant): boolean => conversations >= 10_000

/** A step from one lead that opens to the next, of those that are old. */
export const openEvery = 50

/** The same of leads: of many, one in fifty opens, and all of the oldest and newest, which lists show. */
export const opensLead = ({ leads }: Tenant, n: number): boolean =>
  leads <= 1_000_000 || n % openEvery === 0 || n < 2_000 || n >= leads - 50_000

const openStep = ({ leads }: Tenant): number => (leads <= 1_000_000 ? 1 : openEvery)

/** How many leads of all ages open; the oldest and newest that do are among them only by the step. */
export const openLeads = (tenant: Tenant): number => Math.ceil(tenant.leads / openStep(tenant))

/** The n-th of them, round and round. */
export const openLead = (tenant: Tenant, n: number): number => (n % openLeads(tenant)) * openStep(tenant)

/** The place in the feed of what happened at a time, as the `nth` event of its minute; null when it is too old to be there. */
export function positionAt(tenant: Tenant, at: Date, nth: number): number | null {
  const minute = Math.floor((at.getTime() - (tenant.endMs - eventDays * 86_400_000)) / minuteMs)
  return minute < 0 ? null : 1 + minute * eventsAMinute(tenant) + nth
}

/** Behind all that is given to events. */
export const lastPosition = (tenant: Tenant): number => (eventDays * 1440 + 2) * eventsAMinute(tenant)

/** Every message has two at most, and behind these come those of leads. */
export const messageEvents = 2
const eventsAMinute = (tenant: Tenant): number =>
  tenant.each * messageEvents + Math.ceil(tenant.leads / (leadsYears * 365 * 1440)) + 1

/** What is to be written, in pieces of about this many rows, old ones of all tenants before newer ones. */
export function jobsOf(tenants: readonly Tenant[], piece: number): Job[] {
  const jobs = tenants.flatMap((tenant, n) => [
    ...piecesOf(tenant.leads, piece).map((part) => ({ ...part, tenant: n, kind: 'leads' as const, before: 0 })),
    ...piecesOf(tenant.conversations, piece).map((part) => ({
      ...part,
      tenant: n,
      kind: 'conversations' as const,
      before: 0,
    })),
    ...messageJobs(tenant, n, piece),
  ])
  return jobs.sort((a, b) => a.share - b.share)
}

function messageJobs(tenant: Tenant, n: number, piece: number) {
  if (tenant.conversations === 0) return []
  const minutes = minutesOf(tenant)
  let before = 0
  return piecesOf(minutes, Math.max(1, Math.floor(piece / tenant.each))).map((part) => {
    const job = { ...part, tenant: n, kind: 'messages' as const, before }
    for (let minute = part.from; minute < part.to; minute++) {
      const { first, last } = agesAt(tenant, minutes - 1 - minute)
      before += Math.max(0, last - first + 1)
    }
    return job
  })
}

const piecesOf = (count: number, piece: number) =>
  Array.from({ length: Math.ceil(count / piece) }, (_, n) => ({
    from: n * piece,
    to: Math.min(count, (n + 1) * piece),
    share: (n * piece) / count,
  }))
