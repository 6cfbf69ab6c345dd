import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSignal } from '../../src/base/async/loop.ts'

const pollMs = 20

/** Polls until the condition holds; fails after a timeout. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs: number = 30_000,
  everyMs: number = pollMs,
): Promise<void> {
  const endsAt = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > endsAt) assert.fail(`Timed out after ${timeoutMs} ms waiting for ${what}`)
    await sleep(everyMs)
  }
}

/** Resolves when the condition holds; `listen` signals when to check it again. */
export async function untilNotified(
  listen: (notify: () => void) => () => void,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const { wake, next } = createSignal()
  const stop = listen(wake)
  for (let signal = next(); !(await condition()); signal = next()) await signal
  stop()
}
