import type { Connection } from '../connection/connection.ts'
import type { CheckLine } from './report.ts'

/** What a channel needs besides the connection to check it. */
export interface CheckContext {
  now: Date
  /** Callback URL of the connection; null if the platform sends no callbacks. */
  callbackUrl: string | null
  /** Callback URLs of all connections of the workspace that belong to the same app, with this one's. */
  ownUrls: readonly string[]
  /** Since when the connection exists. */
  createdAt: Date
  history: HistoryRequests
}

/** Requests of contacts and history of a number that stays on the phone's app; null: not requested. */
export type HistoryRequests = Record<'contacts' | 'history', HistoryRequest | null>

export interface HistoryRequest {
  at: string
  /** Why the platform refused it; null if it accepted it. */
  errorCode: string | null
}

export const noRequests: HistoryRequests = { contacts: null, history: null }

/** An account that the token can access, with its numbers. */
export interface AccountNumbers {
  id: string
  name: string
  numbers: { id: string; phone: string; name: string; isOnPhone: boolean }[]
}

export type ListedAccounts = { ok: true; accounts: AccountNumbers[] } | { ok: false; errorCode: string }

/**
 * Steps of connecting that Parley performs at the platform, as far as the channel has them. They can be repeated, and
 * never throw. They return the line of a step that failed; null if it worked or was done before.
 */
export interface NumberSetup<C extends Connection> {
  /** Returns the numbers of an account, or of all accounts of the token. */
  listNumbers?(connection: C, accountId: string | null): Promise<ListedAccounts>
  /** Has the messages of the number sent to the callback URL. */
  subscribe?(connection: C, callbackUrl: string): Promise<CheckLine | null>
  /** Registers the number. The PIN is only passed on. */
  register?(connection: C, pin: string): Promise<CheckLine | null>
  /** Requests contacts and history, as far as they were not requested before. */
  requestHistory?(connection: C, before: HistoryRequests, now: Date): Promise<HistoryRequests>
}
