import assert from 'node:assert/strict'

/** Fails if any window of this length contains more accepted requests than the limit. */
export function assertNeverMoreThan(limit: number, acceptedMs: readonly number[], windowMs = 60_000): void {
  for (const [at, timeMs] of acceptedMs.entries()) {
    const next = acceptedMs[at + limit]
    assert.ok(next === undefined || next - timeMs >= windowMs, `${limit + 1} accepted between ${timeMs} and ${next}`)
  }
}
