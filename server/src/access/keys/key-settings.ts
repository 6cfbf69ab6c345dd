import { InvalidInput, type Issue } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { normalRange } from '../../base/outgoing/address.ts'
import { isScope, type Scope, scopes } from './scopes.ts'

/** What is chosen when a key is made. Who sees phones, and until when it works, stays as it is for the key's life. */
export interface KeySettingsInput {
  name: string
  scopes: readonly string[]
  /** Empty or absent: every connection of the workspace. */
  connectionIds?: readonly string[]
  phoneVisibility?: 'full' | 'masked'
  /** Addresses and CIDR ranges, at most 100; empty or absent: any address. */
  allowlist?: readonly string[]
  /** Whether it gets customers who write for the first time; absent: if it may answer them. */
  answersNewConversations?: boolean
  /** How much it may send; null or absent: the usual. Routes know the ranges. */
  unansweredSends?: number | null
  dailySends?: number | null
  expiresAt?: Date | null
}

export interface KeySettings {
  name: string
  scopes: Scope[]
  connectionIds: string[]
  phoneVisibility: 'full' | 'masked'
  allowlist: string[]
  answersNewConversations: boolean
  unansweredSends: number | null
  dailySends: number | null
  expiresAt: Date | null
}

const answeringScope: Scope = 'inbox.write'

/** The one thing that a key without the scope to answer cannot be given. */
const needsAnsweringScope: Issue = {
  path: 'answersNewConversations',
  message: `needs the scope ${answeringScope}: set it to false, or give the key the scope`,
}

export const mayAnswer = (scopes: readonly string[]): boolean => scopes.includes(answeringScope)

const maxNameLength = 100
const maxListLength = 100

/** Checks and normalises the settings of a new key; throws one `InvalidInput` that names every problem. */
export function checkKeySettings(input: KeySettingsInput, now: Date): KeySettings {
  const issues: Issue[] = []
  const settings: KeySettings = {
    name: input.name.trim(),
    scopes: checkScopes(input.scopes, issues),
    connectionIds: checkConnectionIds(input.connectionIds ?? [], issues),
    phoneVisibility: input.phoneVisibility ?? 'full',
    allowlist: checkAllowlist(input.allowlist ?? [], issues),
    answersNewConversations: input.answersNewConversations ?? mayAnswer(input.scopes),
    unansweredSends: input.unansweredSends ?? null,
    dailySends: input.dailySends ?? null,
    expiresAt: input.expiresAt ?? null,
  }
  if (settings.name.length < 1 || settings.name.length > maxNameLength) {
    issues.push({ path: 'name', message: `must have 1 to ${maxNameLength} characters` })
  }
  if (settings.answersNewConversations && !mayAnswer(settings.scopes)) issues.push(needsAnsweringScope)
  // Written so that a time that is no time (NaN) is refused as well.
  if (settings.expiresAt !== null && !(settings.expiresAt.getTime() > now.getTime())) {
    issues.push({ path: 'expiresAt', message: 'must be in the future' })
  }
  if (issues.length > 0) throw new InvalidInput(issues)
  return settings
}

function checkScopes(chosen: readonly string[], issues: Issue[]): Scope[] {
  if (chosen.length === 0) issues.push({ path: 'scopes', message: `must name at least one of ${scopes.join(', ')}` })
  for (const [at, scope] of chosen.entries()) {
    if (!isScope(scope)) issues.push({ path: `scopes[${at}]`, message: `must be one of ${scopes.join(', ')}` })
  }
  return scopes.filter((scope) => chosen.includes(scope))
}

function checkConnectionIds(ids: readonly string[], issues: Issue[]): string[] {
  if (ids.length > maxListLength) issues.push({ path: 'connectionIds', message: `must have at most ${maxListLength}` })
  for (const [at, id] of ids.entries()) {
    if (!isUuid(id)) issues.push({ path: `connectionIds[${at}]`, message: 'must be the id of a connection' })
  }
  return [...new Set(ids.map((id) => id.toLowerCase()))]
}

function checkAllowlist(entries: readonly string[], issues: Issue[]): string[] {
  if (entries.length > maxListLength) issues.push({ path: 'allowlist', message: `must have at most ${maxListLength}` })
  const ranges: string[] = []
  for (const [at, entry] of entries.entries()) {
    const range = normalRange(entry.trim())
    if (range === null) issues.push({ path: `allowlist[${at}]`, message: 'must be an address or a CIDR range' })
    else ranges.push(range)
  }
  return [...new Set(ranges)]
}
