import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Locator, Page } from 'playwright-core'
import type { Demo } from './demo.ts'

/** A customer of one test, who has written. */
export interface Writer {
  /** Id of the conversation. */
  id: string
  number: string
  /** Path of the conversation. */
  place: string
  write(words: string): Promise<unknown>
  /** Messages that arrived at the customer's phone. */
  receivedMessages(): Promise<string[]>
}

let people = 0

/** Creates a customer for one test, who has written. People answer unless an agent is given. */
export async function newWriter(
  demo: Demo,
  name: string,
  text: string,
  ownedBy: 'human' | 'agent' = 'human',
): Promise<Writer> {
  const path = `/workspaces/${demo.workspaceId}/inbox/conversations`
  const number = `55119777${String(1000 + people++)}`
  const customers = `${demo.simulatorUrl}/simulator/customers`
  const { body: customer } = await demo.call('POST', customers, { name, phone: number })
  const write = (words: string) => demo.call('POST', `${customers}/${customer.id}/messages`, { text: words })
  await write(text)
  const find = async () => (await demo.team('GET', `${path}?phone=${number}`)).conversations[0]
  const conversation = await waitUntil(find, (found) => found !== undefined)
  if (ownedBy === 'human') await demo.team('POST', `${path}/${conversation.id}/take-over`, {})
  const chat = async () => (await demo.call('GET', `${customers}/${customer.id}`)).body
  const receivedMessages = async (): Promise<string[]> =>
    (await chat()).messages
      .filter((one: { from: string }) => one.from === 'business')
      .map((one: { text: string }) => one.text)
  return { id: conversation.id as string, number, write, receivedMessages, place: `inbox/${conversation.id}` }
}

/** Expected result: a condition, a value, or some properties of an object. */
type Expected<T> = ((found: T) => boolean) | string | number | boolean | null | { [property: string]: unknown }

/** Polls until the result is as expected, for state that no page shows. Returns the result. */
export async function waitUntil<T>(poll: () => Promise<T>, expected: Expected<T>): Promise<T> {
  for (const endMs = Date.now() + 30_000; ; ) {
    const found = await poll()
    if (typeof expected === 'function' ? expected(found) : fieldFits(found, expected)) return found
    assert.ok(Date.now() < endMs, `still ${JSON.stringify(found)}`)
    // Polling without a pause would delay what it waits for.
    await sleep(20)
  }
}

function fieldFits(found: unknown, expected: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return found === expected
  if (typeof found !== 'object' || found === null) return false
  return Object.entries(expected).every(([name, value]) => fieldFits((found as Record<string, unknown>)[name], value))
}

export const field = (page: Page): Locator => page.getByRole('textbox', { name: /^Reply to/ })
export const noteField = (page: Page): Locator => page.getByRole('textbox', { name: 'Note for the team' })
export const thread = (page: Page): Locator => page.getByRole('region', { name: /^Conversation with/ })
