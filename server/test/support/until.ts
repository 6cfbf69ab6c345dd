import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSignal } from '../../src/base/async/loop.ts'

const lookEveryMs = 20

/** Polls until the condition holds; fails after a timeout. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  what: string,
  patienceMs: number = 30_000,
  everyMs: number = lookEveryMs,
): Promise<void> {
  const endsAt = performance.now() + patienceMs
  while (!(await isSo())) {
    if (performance.now() > endsAt) assert.fail(`Timed out after ${patienceMs} ms waiting for ${what}`)
    await sleep(everyMs)
  }
}

/** Resolves when the condition holds; `listen` signals when to check it again. */
export async function untilTold(
  listen: (look: () => void) => () => void,
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  const { wake, next } = createSignal()
  const stop = listen(wake)
  for (let told = next(); !(await isSo()); told = next()) await told
  stop()
}
