import { test as once } from 'node:test'
import { inboxWorld } from './inbox-world.ts'

export type WorldMaker = typeof inboxWorld

/** A test of what holds whether events are told in one delivery, or in one each that go together. */
export function test(name: string, body: (inboxWorld: WorldMaker) => Promise<void>): void {
  once(name, () => body(inboxWorld))
  once(`${name}; each told in a delivery of its own`, () =>
    body((options) => inboxWorld({ ...options, isTogether: true })),
  )
}
