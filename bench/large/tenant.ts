/** Generated workspace: all its data follows from these values, so that several threads can each write a share. */
export interface Tenant {
  workspaceId: string
  keyId: string
  key: string
  leads: number
  conversations: number
  /** Messages per conversation; the newest is a minute older than that of the next conversation. */
  each: number
  /** The n-th conversation uses the n-th connection, repeating from the start. */
  connectionIds: string[]
  /** Time of generation, in milliseconds. */
  endMs: number
}

/** Range of a tenant's leads, conversations or minutes with messages, oldest first. */
export interface Job {
  tenant: number
  kind: 'leads' | 'conversations' | 'messages'
  from: number
  to: number
  /** For messages: number of messages before the first one. */
  before: number
}

const minuteMs = 60_000
/** Minutes between two messages of a conversation. */
const minutesBetweenMessages = 60
/** Maximum age of leads and messages; events are kept for the product's retention period. */
const leadsYears = 2
const eventDays = 30

/** Returns the number of minutes with messages; the last one is the minute of the end. */
export const minutesOf = ({ conversations, each }: Tenant): number =>
  conversations + minutesBetweenMessages * (each - 1)

/** Returns the messages of the minute this far back: each is the `age`-th newest of a conversation. */
export function agesAt({ conversations, each }: Tenant, minutesBack: number): { first: number; last: number } {
  const first = Math.max(0, Math.ceil((minutesBack - conversations + 1) / minutesBetweenMessages))
  return { first, last: Math.min(each - 1, Math.floor(minutesBack / minutesBetweenMessages)) }
}

export const conversationAt = (minutesBack: number, age: number): number => minutesBack - minutesBetweenMessages * age

export const messageTime = (tenant: Tenant, minutesBack: number, age: number): Date =>
  new Date(tenant.endMs - minutesBack * minuteMs + age * 1000)

/** Returns when the conversation began. */
export const startOf = (tenant: Tenant, n: number): Date =>
  messageTime(tenant, n + minutesBetweenMessages * (tenant.each - 1), tenant.each - 1)

/** Returns the time of the n-th lead; the newest is from the last minute. */
export const leadTime = (tenant: Tenant, n: number): Date =>
  new Date(Math.round(tenant.endMs - ((tenant.leads - n) * leadsYears * 365 * 86_400_000) / tenant.leads))

/** Returns the n-th conversation's id, to which messages of other threads refer: ids of a workspace grow with time. */
export function conversationId(tenant: Tenant, n: number): string {
  const ms = startOf(tenant, n).getTime().toString(16).padStart(12, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-${n.toString(16).padStart(12, '0')}`
}

export const connectionOf = ({ connectionIds }: Tenant, n: number): string =>
  connectionIds[n % connectionIds.length] ?? ''

/**
 * Returns whether the messages of a conversation can be decrypted: in a large tenant one conversation in a hundred, and
 * only those are read. Encrypting all would take longer than everything else, and lists, intake and sends decrypt no
 * others.
 */
export const isDecryptable = (tenant: Tenant, n: number): boolean => !isLarge(tenant) || n % 100 === 0

/** Messages of a large tenant also have no search tokens. */
export const isLarge = ({ conversations }: Tenant): boolean => conversations >= 10_000

/** Distance between old leads that can be decrypted. */
export const decryptableEvery = 50

/** Returns whether a lead can be decrypted: of many, one in fifty, and all of the oldest and newest, shown in lists. */
export const isLeadDecryptable = ({ leads }: Tenant, n: number): boolean =>
  leads <= 1_000_000 || n % decryptableEvery === 0 || n < 2_000 || n >= leads - 50_000

const decryptableStep = ({ leads }: Tenant): number => (leads <= 1_000_000 ? 1 : decryptableEvery)

/** Returns the number of decryptable leads of all ages; includes the oldest and newest ones only at this distance. */
export const decryptableLeads = (tenant: Tenant): number => Math.ceil(tenant.leads / decryptableStep(tenant))

/** Returns the n-th of them, repeating from the start. */
export const decryptableLead = (tenant: Tenant, n: number): number =>
  (n % decryptableLeads(tenant)) * decryptableStep(tenant)

/** Returns the feed position of the `nth` event of its minute; null if it is older than the retention. */
export function positionAt(tenant: Tenant, at: Date, nth: number): number | null {
  const minute = Math.floor((at.getTime() - (tenant.endMs - eventDays * 86_400_000)) / minuteMs)
  return minute < 0 ? null : 1 + minute * eventsPerMinute(tenant) + nth
}

/** Position after all events. */
export const lastPosition = (tenant: Tenant): number => (eventDays * 1440 + 2) * eventsPerMinute(tenant)

/** Every message has at most two events; events of leads follow them within a minute. */
export const messageEvents = 2
const eventsPerMinute = (tenant: Tenant): number =>
  tenant.each * messageEvents + Math.ceil(tenant.leads / (leadsYears * 365 * 1440)) + 1

/** Returns pieces of about this many rows to write, old ones of all tenants before newer ones. */
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
