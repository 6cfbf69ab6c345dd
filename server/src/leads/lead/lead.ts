import type { Caller } from '../../auth/api-keys/caller.ts'
import type { LookupLimit, LookupLimitOf } from '../../auth/rate-limit/lookup-limit.ts'
import type { Clock } from '../../base/clock.ts'
import { type Db, type Tx, violates } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type ApiError, conflict, type Issue, notFound, tooManyRequests } from '../../base/errors.ts'
import { type LeadSettings, pickLeadSettings } from '../../base/lead-settings.ts'
import { secondsToNextUtcDay } from '../../base/time.ts'
import { joinPath } from '../../base/validation.ts'
import type { Actor } from '../../workspaces/actor.ts'
import type { CustomField } from './custom-fields.ts'

export const priorities = ['low', 'medium', 'high', 'urgent'] as const
export const sources = ['website', 'chat_app', 'phone', 'email', 'referral', 'social', 'ads', 'event', 'other'] as const
export const adPlatforms = ['meta', 'google', 'tiktok', 'linkedin', 'chatgpt', 'x', 'other'] as const

export type Priority = (typeof priorities)[number]
export type Source = (typeof sources)[number]
export type AdPlatform = (typeof adPlatforms)[number]

/** Fields that a caller can set, in stored form. */
export interface LeadFields {
  uniqueCode: string
  externalRef: string | null
  firstName: string
  lastName: string | null
  email: string | null
  /** Digits with country code. */
  phone: string | null
  status: string
  priority: Priority
  source: Source
  adPlatform: AdPlatform | null
  assignedTo: string | null
  estimatedValue: number | null
  actualValue: number | null
  notes: string | null
}

export const leadFieldNames = [
  'firstName',
  'lastName',
  'email',
  'phone',
  'status',
  'priority',
  'source',
  'adPlatform',
  'assignedTo',
  'estimatedValue',
  'actualValue',
  'notes',
  'uniqueCode',
  'externalRef',
] as const satisfies readonly (keyof LeadFields)[]

/** Phones and e-mails of a merged lead, including its own. */
export interface LeadContacts {
  phones: string[]
  emails: string[]
}

export interface Lead extends LeadFields {
  id: string
  /** Set only if the lead has several phones or e-mails. */
  contacts?: LeadContacts
  /** Former phones, needed for masking; set only if there are any. */
  formerPhones?: string[]
  customFields: CustomField[]
  createdAt: Date
  updatedAt: Date
  deletedAt: Date | null
}

/** A lead of a list, with times as ISO texts. Read-only: parts are shared with the plaintext cache. */
export type ListedLead = Readonly<Omit<Lead, 'createdAt' | 'updatedAt'> & { createdAt: string; updatedAt: string }>

/** Caller for which leads are read and written. */
export interface LeadUser extends LeadSettings {
  workspaceId: string
  /** True if responses contain masked phones. */
  masked: boolean
  /** Lookup limit of a masked key; absent means no limit. */
  lookupLimit?: LookupLimit
  actor: Actor
  /** Operation that the changes belong to, such as `import:<id>`; shown in the timeline. */
  partOf?: string
}

/** Returns the lead caller for an API key, by the settings of the key. */
export function leadUserOfKey(caller: Caller, lookupLimits: LookupLimitOf): LeadUser {
  const masked = caller.phoneVisibility === 'masked'
  return {
    ...pickLeadSettings(caller.workspace),
    workspaceId: caller.workspaceId,
    masked,
    lookupLimit: masked ? lookupLimits(caller.keyId) : undefined,
    actor: { type: 'agent', id: caller.keyId },
  }
}

export interface LeadDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  /** Absent where leads are neither labelled nor added to sequences. */
  sequences?: LeadSequences
}

/** What labels and bulk changes need of the sequences of messages, in their transaction. */
export interface LeadSequences {
  /** Starts a sequence for leads; throws 404 and 409 before anything is written. */
  start(
    tx: Tx,
    workspaceId: string,
    start: { sequenceId: string; leadIds: readonly string[]; entry: 'bulk'; actor: Actor; bulkChangeId: string },
    now: Date,
  ): Promise<{ started: string[]; running: string[] }>
  /** Takes back what a bulk change has started for these leads; returns how many runs it has ended. */
  undo(tx: Tx, workspaceId: string, bulkChangeId: string, leadIds: readonly string[], now: Date): Promise<number>
  /** Starts the sequences of these labels. */
  labelsAdded(
    tx: Tx,
    workspaceId: string,
    changes: readonly { leadId: string; added: readonly string[] }[],
    actor: Actor,
    now: Date,
  ): Promise<void>
}

/** A transaction that changes leads for a caller. */
export interface LeadTx {
  tx: Tx
  keyring: Keyring
  user: LeadUser
  now: Date
}

export type UniqueField = 'externalRef' | 'uniqueCode'

export const leadNotFound = (): ApiError => notFound('Lead not found')

export const noLeadToUpdate = (): ApiError => notFound('Lead not found and createIfMissing is false')

export const valueTaken = (field: UniqueField, cause?: unknown): ApiError =>
  conflict(`Lead with this ${field} already exists`, { field }, cause)

/** Returns the unique field whose value another live lead has, from a database error; null for other errors. */
export function takenField(error: unknown): UniqueField | null {
  if (violates(error, 'leads_external_ref_key')) return 'externalRef'
  return violates(error, 'leads_unique_code_key') ? 'uniqueCode' : null
}

export const quotaReached = (now: Date): ApiError =>
  tooManyRequests('Daily lead limit reached', secondsToNextUtcDay(now))

export const assigneeIssue = (at: string): Issue => ({
  path: joinPath(at, 'assignedTo'),
  message: 'must be a member of the workspace',
})
