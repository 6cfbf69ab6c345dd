/** What the worker tells whoever counts. Ids stay out: a label for each endpoint would be too many. */
export interface WebhookObserver {
  /** An attempt was taken. The delay is that of a first attempt, from the event to the answer; null for another one. */
  delivered(attempt: { ms: number; delayMs: number | null }): void
  /** An attempt was not taken; `error` when no answer came. The last one of its schedule is final. */
  failed(attempt: { ms: number; error: string | null; isFinal: boolean }): void
  /** An endpoint was disabled because it is gone or has failed for too long. */
  disabled(): void
}

export const noObserver: WebhookObserver = { delivered: () => {}, failed: () => {}, disabled: () => {} }
